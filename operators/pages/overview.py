"""A pool at a glance: its best teams, its growth, its costs, and its warnings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...pool.command.figures import score
from ...pool.command.reports import dropped_lines, summary_line
from ...pool.values.layout import EVOLUTIONS
from ...runtime.values.usage import Usage
from ...runtime.view import Links, Page, PageTable, TableCell
from ...schema.values.errors import CoterieError
from ..evolution.folder import Manifest
from ..evolution.lines import lines_in
from ..report.report import EvolutionReport
from .pool_source import PoolSource
from .templates import TEMPLATES

MOST_DROPPED = 200
STREAMS = {
    "evolution": "<",
    "strategy": "<",
    "": "<",
    "tasks": ">",
    "online score": ">",
    "95 %": ">",
    "tokens": ">",
    "cost": ">",
}
SPENDING = {"purpose": "<", "calls": ">", "tokens": ">", "cost": ">"}


def overview_page(source: PoolSource, links: Links) -> Page:
    """Return the page of a pool."""
    pool = source.pool
    reports = dict(_reports(source))
    spending: dict[str, Usage] = {}
    for report, _ in reports.values():
        for name, usage in report.spending.items() if report else ():
            spending[name] = spending.get(name, Usage()) + usage
    trials = sum(entry.value["kind"] in {"evaluated", "failed"} for entry in source.entries)
    dropped = [*dropped_lines(pool)]
    return TEMPLATES.page(
        f"Pool {source.folder.resolve().name}",
        "overview.html",
        links,
        title=source.folder.resolve().name,
        folder=str(source.folder),
        summary=summary_line(pool),
        facts=[
            ("Teams", str(len(pool.members))),
            ("Retired", str(len(pool.teams) - len(pool.members))),
            ("Agents", str(len(pool.agents) or "")),
            ("Trials", f"{trials:,}"),
            ("Entries of the memory", f"{len(pool.learnt):,}"),
            ("Evolutions", str(len(reports))),
            ("Cost of evolutions", sum(spending.values(), Usage()).cost if spending else ""),
        ],
        best=[
            (
                expectation.name,
                str(expected),
                score(expectation.statistics),
                links.to("", f"team/{expectation.name}"),
            )
            for expectation, expected in source.ranked.items()
            if expectation.retired is None and expectation.name not in source.structures
        ][:5],
        population=links.to("", "population") if source.structures else "",
        warnings=[*_warnings(reports)],
        streams=PageTable(
            caption="Evolutions",
            heads=STREAMS,
            rows=[_row(source, name, report, links) for name, (report, _) in reports.items()],
            empty="none yet. Create one with mas-evolve.",
        ),
        spending=spending_table("What its evolutions consumed, by purpose", spending),
        dropped=dropped[-MOST_DROPPED:],
        more_dropped=max(0, len(dropped) - MOST_DROPPED),
    )


def _reports(source: PoolSource) -> Iterator[tuple[str, tuple[EvolutionReport | None, str]]]:
    """Yield the report of each evolution, or the reason why it cannot be read."""
    for name in source.evolutions:
        try:
            report = EvolutionReport.of(lines_in(source.evolution(name)))
            if (whole := source.whole(name)) is not None:
                report.spending = dict(whole.spending)
            yield name, (report, "")
        except CoterieError as error:
            yield name, (None, str(error))


def _warnings(reports: Mapping[str, tuple[EvolutionReport | None, str]]) -> Iterator[str]:
    for name, (report, why) in reports.items():
        if report is None:
            yield f"{name}: {why}"
        else:
            yield from (f"{name}: {warning}" for warning in report.warnings)


def _row(
    source: PoolSource, name: str, report: EvolutionReport | None, links: Links
) -> Sequence[str | TableCell]:
    if report is None:
        return (name, "", TableCell("damaged", badge=True), *([""] * 5))
    manifest, whole = Manifest.read(source.evolution(name)), source.whole(name)
    is_done = whole.is_over if whole else report.tasks >= len(manifest.tasks)
    low, high = report.interval
    total = sum(report.spending.values(), Usage())
    return (
        TableCell(name, links.to("", f"{EVOLUTIONS}/{name}")),
        str(manifest.recipe["strategy"]),
        TableCell(status_of(source, name, is_done=is_done), badge=True),
        str(len(manifest.tasks)) if whole else f"{report.tasks} of {len(manifest.tasks)}",
        "" if report.score is None else f"{report.score:.3f}",
        f"{low:.3f} to {high:.3f}" if report.tasks else "",
        f"{total.tokens:,}",
        total.cost,
    )


def status_of(source: PoolSource, name: str, *, is_done: bool) -> str:
    """Return the status of an evolution."""
    if name in source.at_work:
        return "under way"
    return "done" if is_done else "interrupted"


def spending_table(caption: str, spending: Mapping[str, Usage]) -> PageTable:
    """Return the table of usage by purpose."""
    return PageTable(
        caption=caption,
        heads=SPENDING,
        rows=[
            (name, f"{usage.calls:,}", f"{usage.tokens:,}", usage.cost)
            for name, usage in spending.items()
        ],
    )

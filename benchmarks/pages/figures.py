"""The figures of an evaluation."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ...runtime.values.usage import tokens_of
from ...runtime.view import Page, PageTable, TableCell
from ...runtime.view.plots import Bar, Bars
from ...schema.loading.loading import read_team
from ...schema.picture.svg import draw_marked
from ...schema.values.json_text import dumps
from ..command.figures import warnings_of
from ..comparison.tables import by_agent, by_niche, figure_text
from .samples import KINDS, kind_of
from .templates import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from markupsafe import Markup

    from ...runtime.view import Links
    from .evaluated import EvaluationFolder

MOST_NICHES = 60
WORDS = frozenset(
    {
        "agent",
        "benchmark",
        "claim",
        "deployed",
        "effect",
        "models",
        "note",
        "stream",
        "team",
        "test",
    }
)
"""Columns that have words, and no figures."""


def figures_page(evaluated: EvaluationFolder, prefix: str, links: Links) -> Page:
    """Make the page of an evaluation's figures."""
    fields = evaluated.figures
    niches = {name: each for name, each in fields["niches"].items() if each["value"] is not None}
    counts = Counter(map(kind_of, evaluated.samples))
    return TEMPLATES.page(
        f"{fields['team']} on {fields['benchmark']}",
        "figures.html",
        links,
        told=fields,
        status=evaluated.status,
        folder=str(evaluated.folder),
        facts=[*_facts(fields)],
        warnings=warnings_of(fields),
        kinds=[
            (kind, counts[kind], links.to("", f"{prefix}samples/{kind}/1"))
            for kind in KINDS
            if counts[kind]
        ],
        samples=links.to("", f"{prefix}samples"),
        bars=Bars(
            caption="Score by niche, with 95 % intervals",
            bars=[bar_of(name or "all", each) for name, each in niches.items()][:MOST_NICHES],
        ),
        niches=table_of("Score by niche", by_niche([fields])),
        agents=table_of("What each agent consumed", by_agent([fields])),
        measures=_measures(fields),
        graph=_graph(evaluated, links),
        made=[*_provenance(fields)],
    )


def bar_of(name: str, figure: Mapping[str, Any], address: str = "") -> Bar:
    """Make a bar of a figure as results.json has it."""
    low, high = figure["interval"]
    text = figure_text(figure)
    return Bar(name=name, value=figure["value"], low=low, high=high, label=text, address=address)


def table_of(
    caption: str, rows: Sequence[Mapping[str, str]], links: Mapping[str, str] | None = None
) -> PageTable:
    """Make a table of rows as `mas-bench table` has them.

    Args:
        links: Where the words of first columns lead.
    """
    heads = [*dict.fromkeys(name for row in rows for name in row)]
    addresses = links or {}
    return PageTable(
        caption=caption,
        heads={
            name: "<" if place == 0 or name in WORDS else ">" for place, name in enumerate(heads)
        },
        rows=[
            [
                TableCell(
                    row.get(name, ""), addresses.get(row.get(name, ""), "") if not place else ""
                )
                for place, name in enumerate(heads)
            ]
            for row in rows
        ],
    )


def _facts(figures: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    headline, usage, ran = figures["headline"], figures["usage"], figures["execution_rate"]
    yield headline["name"], figure_text(headline) or "no sample has a score"
    yield "Tasks x trials", f"{figures['tasks']} x {figures['trials']}"
    for k, value in figures["pass@k"].items():
        if figures["trials"] > 1 and value is not None:
            yield f"pass@{k}", f"{value:.3f}"
    if ran["value"] is not None:
        yield "Ran to an answer", f"{figure_text(ran)} of {ran['n']}"
    yield "Missing", str(figures["missing"] or "")
    yield "Cost", usage["cost"]
    yield "Tokens", f"{tokens_of(usage):,}"
    yield "Model calls", f"{usage['calls']:,}"
    yield "Seconds of runs", f"{figures['seconds']:,.1f}"
    for name, seconds in (figures["latency"] or {}).items():
        yield f"Seconds of a trial, {name}", f"{seconds:.3g}"


def _measures(figures: Mapping[str, Any]) -> PageTable:
    return PageTable(
        caption="What else was measured",
        heads={"measure": "<", "mean": ">", "95 %": ">", "of samples": ">"},
        rows=[
            (
                name,
                f"{measure['mean']:.3f}",
                " to ".join(f"{end:.3f}" for end in measure.get("interval", ())),
                f"{measure['n']} of {measure['of']}",
            )
            for name, measure in figures["measures"].items()
        ],
    )


def _graph(evaluated: EvaluationFolder, links: Links) -> Markup | str:
    """Draw the team; nothing, where what was evaluated is none."""
    from markupsafe import Markup

    if not (evaluated.folder / "team.yaml").is_file():
        return ""
    team = read_team(evaluated.folder / "team.yaml")
    # Drawn from a team that loads; what it says is escaped there.
    return Markup(draw_marked(team, {}, team.edges, tip=links.id("tip")))  # noqa: S704


def _provenance(figures: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield how it was made."""
    yield "Command", figures["command"]
    yield "Models", ", ".join(f"{alias} = {model}" for alias, model in figures["models"].items())
    for name in ("endpoints", "evaluation", "seed", "data", "versions", "host", "content_hash"):
        item = figures.get(name)
        if item not in (None, "", {}):
            text = item if isinstance(item, str) else dumps(item, ensure_ascii=False)
            yield name.replace("_", " ").capitalize(), text

"""The teams of a pool, and the page of a team: its content, origin, and results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...pool.command.arguments import Tasks
from ...pool.command.figures import cost, made_by, score
from ...pool.command.reports import COLUMNS, team_row
from ...pool.ledger.ledger import LedgerEntry
from ...pool.ledger.members import Member
from ...pool.teams.lineage import blame
from ...pool.values.statistics import EVOLVE, Trial
from ...runtime.view import Links, Page, PageTable, TableCell, verdict
from ...runtime.view.plots import Bar, Bars
from ...schema.values.codec import from_value
from ...schema.values.errors import StorageError
from ...schema.values.problems import quoted
from ...schema.values.terminal import counted
from .choices import choices_of, filtered
from .pool_source import PoolSource
from .templates import TEMPLATES, graph_of

MOST_BARS = 25
MOST_TRIALS = 500
TRIALS = {
    "line": "<",
    "task": "<",
    "": "<",
    "score": ">",
    "niche": "<",
    "split": "<",
    "tokens": ">",
    "cost": ">",
    "said": "<",
}
NICHES = {"niche": "<", "score": ">", "95 %": ">", "n": ">", "failed": ">", "cost each": ">"}
ORIGINS = {"field": "<", "set in": "<", "by": "<", "value": "<"}


def teams_page(source: PoolSource, page: tuple[str, int], links: Links) -> Page:
    """Return a page of teams, the most promising first.

    Raises:
        NoPage: There is no such filter.
        StorageError: The pool is damaged.
    """
    ranked = source.ranked
    choices = choices_of(source.pool.teams.values())
    shown, part, labels = filtered("teams", ranked, choices, page, links)
    tasks = Tasks(split=EVOLVE)
    return TEMPLATES.page(
        "Teams",
        "teams.html",
        links,
        choices=labels,
        part=part,
        bars=Bars(
            caption="What is expected of them, with 95 % intervals",
            bars=[
                Bar(
                    name=member.name,
                    value=ranked[member].score,
                    low=ranked[member].low,
                    high=ranked[member].high,
                    label=str(ranked[member]),
                    address=links.to("", f"team/{member.name}"),
                )
                for member in part.shown[:MOST_BARS]
            ],
        ),
        table=PageTable(
            caption=counted(len(shown), "team"),
            heads={head: ">" if side == ">" else "<" for head, side in COLUMNS.items()},
            rows=[
                _linked(member, team_row(member, tasks, ranked[member]), links)
                for member in part.shown
            ],
            empty="none.",
        ),
    )


def _linked(member: Member, row: Sequence[str], links: Links) -> Sequence[str | TableCell]:
    name, *others = row
    return (TableCell(name, links.to("", f"team/{member.name}")), *others)


def team_page(source: PoolSource, name: str, links: Links) -> Page:
    """Return the page of a team."""
    pool = source.pool
    member, expected = pool.teams[name], source.ranked[pool.teams[name]]
    own, lineage = member.statistics, member.lineage
    children = [team.name for team in pool.teams.values() if name in team.lineage.parents]
    trials = [entry for entry in source.entries if _is_trial_of(entry, name)]
    graph, text, problem = _drawn(member, links)
    return TEMPLATES.page(
        f"Team {name}",
        "team.html",
        links,
        name=name,
        retired=member.retired,
        problem=problem,
        facts=[
            ("Expected", str(expected)),
            ("Its own trials", score(own)),
            ("Adapted", _mean(own.adapted_sum, own.adapted)),
            ("Taken in for", _mean(own.chosen_sum, own.chosen)),
            ("Failed", str(own.failures or "")),
            ("Cost each", cost(own)),
            ("Spent", f"{own.usage.tokens:,} tokens, {own.usage.cost}"),
        ],
        made_by=made_by(lineage),
        parents=[_family(parent, name, links) for parent in lineage.parents],
        children=[_family(child, name, links) for child in children],
        born=lineage,
        steps=[(step.operator, step.reason, step.edits) for step in lineage.steps],
        graph=graph,
        text=text,
        file=str(member.path),
        niches=PageTable(
            caption="Its niches",
            heads=NICHES,
            rows=[*_niches(member)],
        ),
        trials=PageTable(
            caption=f"Its trials ({len(trials)})",
            heads=TRIALS,
            rows=[_trial(trial) for trial in trials[-MOST_TRIALS:]],
        ),
        origins=_origins(source, name, links) if not problem else None,
        others=links.to("", f"compare/{name}"),
    )


def _drawn(member: Member, links: Links) -> tuple[Any, str, str]:
    try:
        team = member.team
        return graph_of(team, links.id("tip")), member.path.read_text(encoding="utf-8"), ""
    except StorageError as error:
        return "", "", str(error)


def _family(team_name: str, name: str, links: Links) -> tuple[str, str, str]:
    """Return a relative's name, its page, and the page that compares both."""
    return team_name, links.to("", f"team/{team_name}"), links.to("", f"compare/{team_name}/{name}")


def _mean(total: float, n: int) -> str:
    return f"{total / n:.3f} ({n})" if n else ""


def _niches(member: Member) -> Iterator[Sequence[str]]:
    for niche, result in member.niches.items():
        low, high = result.interval
        is_known = result.score is not None
        yield (
            niche,
            f"{result.score:.3f}" if is_known else "",
            f"{low:.3f} to {high:.3f}" if is_known else "",
            str(result.n),
            str(result.failures or ""),
            cost(result),
        )


def _is_trial_of(entry: LedgerEntry, name: str) -> bool:
    value = entry.value
    return value["kind"] in {"evaluated", "failed"} and value["team"] == name


def _trial(entry: LedgerEntry) -> Sequence[str | TableCell]:
    trial = from_value(Trial, entry.value)
    kinds = {"plain": "", "adapted": "adapted to the task", "chosen": "taken in for this"}
    status = "failed" if trial.score is None else verdict(trial.score)
    return (
        f"{entry.end.line}",
        trial.task,
        TableCell(status, badge=True),
        "" if trial.score is None else f"{trial.score:g}",
        trial.niche or "",
        trial.split,
        f"{trial.usage.tokens:,}",
        trial.usage.cost,
        ", ".join(filter(None, (kinds[trial.kind], trial.reason[:200]))),
    )


def _origins(source: PoolSource, name: str, links: Links) -> PageTable:
    try:
        origins = blame(source.pool.teams, name)
    except StorageError as error:
        return PageTable(caption="Who set what", heads=ORIGINS, rows=(), empty=str(error))
    return PageTable(
        caption="Who set what",
        heads=ORIGINS,
        rows=[
            (
                origin.field,
                TableCell(origin.team, links.to("", f"team/{origin.team}")),
                origin.operator,
                quoted(origin.value)[:300],
            )
            for origin in origins
        ],
    )

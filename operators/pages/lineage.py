"""The lineage of teams and agents over time: births, trials and retirements, one row each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...pool.command.figures import made_by, score
from ...pool.ledger.agents import PoolAgent
from ...pool.ledger.ledger import LedgerEntry
from ...pool.ledger.records import TrialRecord
from ...runtime.view import Links, Page, PageTable, TableCell
from .choices import choices_of, filtered
from .pool_source import PoolSource
from .templates import TEMPLATES

WIDTH, LABELS, ROW, AXIS = 1000, 230, 18, 26
"""Measures of the figure in pixels: its width, the width of names, and two heights."""
MOST_ROWS = 1_000
"""The most teams and agents in the figure, the youngest ones."""
MOST_DOTS = 20_000
NEAR = 3
"""The fewest pixels between two trials that are drawn separately."""
LONGEST = 26
HEADS = {
    "name": "<",
    "born at line": ">",
    "made by": "<",
    "of": "<",
    "its own trials": "<",
    "retired": "<",
}


@dataclass(kw_only=True)
class _Life:
    """The events of a team or an agent, by line of the ledger."""

    added_at: int = 0
    retired: list[tuple[int, bool]] = field(default_factory=list["tuple[int, bool]"])
    trials: list[tuple[int, float | None]] = field(default_factory=list["tuple[int, float | None]"])


def lineage_page(source: PoolSource, page: tuple[str, int], links: Links) -> Page:
    """Return the page of the descent of teams and agents.

    Raises:
        NoPage: There is no such filter.
        StorageError: The pool is damaged.
    """
    family: Mapping[str, TrialRecord] = {**source.pool.teams, **source.pool.all_agents}
    choices = choices_of(family.values())
    shown, part, labels = filtered("lineage", family.values(), choices, page, links)
    lives: Mapping[str, _Life] = source.once("lives", lambda: _lives(source.entries))
    drawn = {record.name: record for record in shown[-MOST_ROWS:]}
    return TEMPLATES.page(
        "Lineage",
        "lineage.html",
        links,
        choices=labels,
        chart=_chart(drawn, lives, len(source.entries), links),
        left_out=len(shown) - len(drawn),
        part=part,
        table=PageTable(
            caption="Teams and agents in the order of their births",
            heads=HEADS,
            rows=[_row(member, lives[member.name], links) for member in part.shown],
            empty="none.",
        ),
    )


def _lives(entries: Iterable[LedgerEntry]) -> Mapping[str, _Life]:
    fields: dict[str, _Life] = {}
    for entry in entries:
        value, line = entry.value, entry.end.line
        match value["kind"]:
            case "born":
                fields.setdefault(_member_of(value), _Life()).added_at = line
            case "evaluated" | "failed":
                working = {part["member"] for part in value.get("agents", {}).values()}
                for name in (value["team"], *sorted(working)):
                    fields[name].trials.append((line, value.get("score")))
            case "retired" | "restored":
                fields[_member_of(value)].retired.append((line, value["kind"] == "retired"))
            case _:
                pass
    return fields


def _member_of(value: Mapping[str, Any]) -> str:
    return value["agent"] if "agent" in value else value["team"]


def _page_of(record: TrialRecord, links: Links) -> str:
    kind = "agent" if isinstance(record, PoolAgent) else "team"
    return links.to("", f"{kind}/{record.name}")


def _row(record: TrialRecord, life: _Life, links: Links) -> Sequence[str | TableCell]:
    return (
        TableCell(record.name, _page_of(record, links)),
        f"{life.added_at:,}",
        made_by(record.lineage),
        ", ".join(record.lineage.parents),
        score(record.statistics),
        record.retired or "",
    )


def _chart(
    family: Mapping[str, TrialRecord], lives: Mapping[str, _Life], lines: int, links: Links
) -> dict[str, Any]:
    """Return the positions of rows, bars, trials and lines of descent, in pixels."""
    order = [*_families(family)]
    place = {name: number for number, (name, _) in enumerate(order)}
    first = min((lives[name].added_at for name in family), default=1)
    scale = (WIDTH - LABELS - 16) / max(1, lines - first)
    near = max(NEAR, len(family) * (WIDTH - LABELS) / MOST_DOTS)

    def x(line: int) -> float:
        return round(LABELS + (line - first) * scale, 1)

    rows: list[dict[str, Any]] = []
    for number, (name, depth) in enumerate(order):
        life, top = lives[name], AXIS + ROW * number
        text = name if len(name) <= LONGEST - depth else f"{name[: LONGEST - depth - 1]}…"
        rows.append(
            {
                "name": name,
                "told": text,
                "indent": 4 + 6 * depth,
                "top": top,
                "address": _page_of(family[name], links),
                "spans": [
                    (x(start), round(x(end) - x(start), 1)) for start, end in _spans(life, lines)
                ],
                "trials": [*_dots(life, x, near)],
                "parents": [
                    (x(life.added_at), AXIS + ROW * place[parent] + ROW // 2, top + ROW // 2)
                    for parent in family[name].lineage.parents
                    if parent in place
                ],
                "is_retired": family[name].retired is not None,
            }
        )
    return {
        "width": WIDTH,
        "height": AXIS + ROW * len(rows) + 6,
        "rows": rows,
        "first": first,
        "last": lines,
        "left": LABELS,
        "right": WIDTH - 16,
    }


def _spans(life: _Life, end: int) -> Iterator[tuple[int, int]]:
    """Yield the periods of membership, as first and last line."""
    start: int | None = life.added_at
    for line, is_retired in life.retired:
        if is_retired and start is not None:
            yield start, line
            start = None
        elif not is_retired:
            start = line
    if start is not None:
        yield start, end


def _dots(life: _Life, x: Any, near: float) -> Iterator[tuple[float, str, str]]:
    """Yield the position, kind and tooltip of trials; of very near ones, only the first."""
    last = float("-inf")
    for line, value in life.trials:
        at = x(line)
        if at - last >= near:
            last = at
            kind = (
                "odd"
                if value is None
                else "good"
                if value >= 1
                else "bad"
                if value <= 0
                else "part"
            )
            text = "no answer" if value is None else f"score {value:g}"
            yield at, kind, f"line {line}: {text}"


def _families(family: Mapping[str, TrialRecord]) -> Iterator[tuple[str, int]]:
    """Yield names with their depth, so that children follow their first parents."""
    children: dict[str | None, list[str]] = {}
    for name, record in family.items():
        first = next((parent for parent in record.lineage.parents if parent in family), None)
        children.setdefault(first, []).append(name)
    waiting = [(root, 0) for root in reversed(children.get(None, []))]
    while waiting:
        name, depth = waiting.pop()
        yield name, min(depth, 10)
        waiting += [(child, depth + 1) for child in reversed(children.get(name, []))]

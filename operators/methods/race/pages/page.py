"""A race as a page: candidates by tasks, how beliefs narrowed, and its last word."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .....runtime.view import PageTable, TableCell, Templates
from .beliefs import beliefs_table, moments_of, panels_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from markupsafe import Markup

    from .....runtime.view import Links
    from ..result import Entrant, RaceResult

TEMPLATES = Templates(folder=Path(__file__).parent)
MOST_SLOTS = 200
"""Columns of the grid, the first slots."""
MOST_HELD_BACK = 1_000
SLOTS = {"slot": ">", "task": "<", "original": ">", "win": ">", "tie": ">", "loss": ">"}
LAST_WORD = {"task": "<", "": "<", "original": ">", "candidate": ">"}
SIGNS = {"win": ("good", "+"), "loss": ("bad", "−"), "tie": ("idle", "="), "unpaired": ("odd", "·")}  # noqa: RUF001 - a minus
"""The colour and the sign of each outcome in a slot."""


def race_page(result: RaceResult, links: Links, members: Container[str]) -> Markup:
    """Write the current result of a race, as a part of its evolution's page.

    Args:
        links: Names the parts of the page.
        members: The names of the pool's teams, which have pages.
    """
    moments, rows = moments_of(result), [_row(entrant, result) for entrant in result.entrants]
    return TEMPLATES.render(
        "race.html",
        links,
        facts=[*_facts(result)],
        candidates=[*_candidates(result, links, members)],
        runs=len(result.slots),
        columns=_columns(result),
        left_out=max(0, _slots(result) - MOST_SLOTS),
        signs=SIGNS,
        rows=rows,
        slots=_slots_table(rows, result),
        order=" ".join(map(str, result.slots)),
        panels=panels_of(result, moments),
        beliefs=beliefs_table(result, moments),
        last_word=_last_word(result),
    )


def _facts(result: RaceResult) -> Iterator[tuple[str, str]]:
    word, spent = result.last_word, result.spent
    if word is not None:
        yield "Gain", str(word).removeprefix("gain ")
        yield "Held-back tasks", str(len(word.tasks))
    yield "Leader", f"candidate {result.leader}" if result.leader else "the original"
    yield "Candidates", str(len(result.entrants) - 1)
    yield "Useless proposals", str(result.dropped or "")
    yield "Merges that conflicted", str(len(result.conflicts) or "")
    yield "Runs", f"{len(result.slots):,}"
    yield "Tasks to race on", str(len(result.tasks))
    yield "Calls", f"{spent.calls:,}"
    yield "Tokens", f"{spent.tokens:,}"
    yield "Cost", spent.cost


def _candidates(
    result: RaceResult, links: Links, members: Container[str]
) -> Iterator[Mapping[str, Any]]:
    last = {number: at for at, number in enumerate(result.slots, start=1)}
    for entrant in result.entrants:
        is_member = entrant.member in members
        yield {
            "number": entrant.number,
            "member": entrant.member,
            "page": links.to("", f"team/{entrant.member}") if is_member else "",
            "kind": entrant.kind,
            "parent": f"candidate {entrant.parent}" if entrant.parent else "the original",
            "partner": f" with candidate {entrant.partner}" if entrant.partner else "",
            "reason": entrant.reason,
            "edits": "\n".join(entrant.edits),
            "runs": len(entrant.scores),
            "last": last.get(entrant.number, ""),
            "belief": f"{entrant.mean:.3f} ± {entrant.spread:.3f}",
            "gain": "{:+.2f} to {:+.2f}".format(*entrant.gain) if entrant.gain else "",
            "state": entrant.state,
            "leads": entrant.number == result.leader,
            "calls": f"{entrant.usage.calls:,}",
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    """A candidate in the grid.

    Attributes:
        cells: For each slot that it ran in: the outcome beside the original (for the original
            itself, its score), and both scores.
        missing: The number of the grid's slots in which it did not run.
    """

    entrant: Entrant
    cells: Sequence[tuple[str, str]]
    missing: int

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of slots with each outcome."""
        return Counter(outcome for outcome, _ in self.cells)


def _row(entrant: Entrant, result: RaceResult) -> _Row:
    original, scores = result.entrants[0].scores, entrant.scores[:MOST_SLOTS]
    cells: list[tuple[str, str]] = []
    for slot, score in enumerate(scores):
        old = original[slot] if slot < len(original) else None
        outcome = _outcome(score, old) if entrant.number else _figure(score)
        cells.append((outcome, f"{_figure(score)}, the original {_figure(old)}"))
    return _Row(entrant=entrant, cells=cells, missing=len(_columns(result)) - len(cells))


def _outcome(score: float | None, original: float | None) -> str:
    if score is None or original is None:
        return "unpaired"
    return "win" if score > original else "loss" if score < original else "tie"


def _figure(score: float | None) -> str:
    return "no score" if score is None else f"{score:.2g}"


def _slots(result: RaceResult) -> int:
    return max(len(entrant.scores) for entrant in result.entrants)


def _columns(result: RaceResult) -> range:
    """Return the slots of the grid, from 0."""
    return range(min(MOST_SLOTS, _slots(result)))


def _slots_table(rows: Sequence[_Row], result: RaceResult) -> PageTable:
    """Return the slots in their order, each with its task and the candidates' results."""
    original, *others = ([outcome for outcome, _ in row.cells] for row in rows)

    def row_of(slot: int) -> Sequence[str]:
        counts = Counter(outcomes[slot] for outcomes in others if slot < len(outcomes))
        return (
            str(slot + 1),
            result.tasks[slot % len(result.tasks)],
            original[slot] if slot < len(original) else "",
            *(str(counts[outcome] or "") for outcome in ("win", "tie", "loss")),
        )

    return PageTable(
        caption="Slots in their order, and how candidates fared beside the original",
        heads=SLOTS,
        rows=[row_of(slot) for slot in _columns(result)],
    )


def _last_word(result: RaceResult) -> PageTable:
    word = result.last_word
    scores = [*zip(word.tasks, word.original, word.winner, strict=True)] if word else []
    return PageTable(
        caption=f"Candidate {result.leader} beside the original: means of one or two runs a task",
        heads=LAST_WORD,
        rows=[
            (task, TableCell(_outcome(new, old), badge=True), _figure(old), _figure(new))
            for task, old, new in scores[:MOST_HELD_BACK]
        ],
        empty="none, as the original leads." if result.is_over else "not yet.",
    )

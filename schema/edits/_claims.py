"""Finds edits of a list that decide the same thing, and resolves repetitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..values.problems import Path
from .kinds.kinds import AddAgent, Edit, RemoveAgent, RenameAgent


def conflicts(edits: Sequence[Edit]) -> Iterator[tuple[int, int, Path]]:
    """Yield pairs of edits that decide the same thing, or of which one decides a part of the other.

    Yields:
        The positions of both, and the place that is decided twice.
    """
    owners: dict[Path, int] = {}
    for index, edit in enumerate(edits):
        for claim in edit.claims:
            if (first := owners.setdefault(claim, index)) != index:
                yield first, index, claim
    for claim, index in owners.items():
        wholes = (owners.get(claim[:depth], index) for depth in range(1, len(claim)))
        for whole in {*wholes} - {index}:
            yield min(whole, index), max(whole, index), claim


def settled(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Resolve repeated and overlapping edits of one writer.

    * Of edits of one kind about the same thing, the last counts. Of several new output agents, too,
      the last is the output, and the others report to it.
    * An agent that a new one hears or reports to is not removed.
    * No other edit of a removed agent counts.

    Other contradictions stay in the list. A list that `apply` accepts is returned unchanged.
    """
    latest: dict[tuple[type[Edit], Path], Edit] = {}
    for edit in edits:
        latest[type(edit), edit.claims[0]] = edit
    outputs = [edit for edit in latest.values() if isinstance(edit, AddAgent) and edit.is_output]
    for edit in outputs[:-1]:
        latest[AddAgent, edit.claims[0]] = replace(edit, is_output=False)
    stay = {id_ for edit in latest.values() for id_ in _heard_by_new(edit)}
    texts = {edit.agent.id for edit in latest.values() if isinstance(edit, AddAgent)}
    texts |= {edit.id for edit in latest.values() if isinstance(edit, RenameAgent)}
    removed = {edit.agent for edit in latest.values() if isinstance(edit, RemoveAgent)}
    void, lost = removed & stay - texts, removed - stay - texts
    return tuple(
        edit
        for edit in latest.values()
        if not (isinstance(edit, RemoveAgent) and edit.agent in void)
        and lost.isdisjoint(edit.about)
    )


def _heard_by_new(edit: Edit) -> tuple[str, ...]:
    return (*edit.reports_to, *edit.receives_from) if isinstance(edit, AddAgent) else ()

"""Makes edits to a team's plain value, kind by kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..team.team import Team, natural
from ..team.writing import team_value
from ._joining import join_ends, join_rounds
from .kinds.kind import Objection, Value
from .kinds.kinds import KINDS, Edit


def draft(
    team: Team, edits: Sequence[Edit], *, joined: bool = True
) -> tuple[Value, list[Objection]]:
    """Make edits to a copy of a team's plain value.

    Args:
        edits: Edits of which no two decide the same thing. Their order does not matter.
        joined: Whether agents that removals cut off are joined to those further down.

    Returns:
        The value, which need not load, and the edits that have no place in it.
    """
    value = {"execution": {}, **team_value(replace(team, lineage=None))}
    value["topology"] = {"reports_to": {}, **value.get("topology", {})}
    ordered = in_canonical_order(edits)
    objections: list[Objection] = []
    for kind in KINDS:
        chosen: Any = [edit for edit in ordered if type(edit) is kind]
        objections += kind.make_all(value, chosen) if chosen else ()
    if joined:
        join_ends(team, value, ordered)
    join_rounds(value, ordered)
    value["topology"] = {key: item for key, item in value["topology"].items() if item}
    empty = {key for key in ("topology", "execution") if not value[key]}
    return {key: item for key, item in value.items() if key not in empty}, objections


def in_canonical_order(edits: Sequence[Edit]) -> list[Edit]:
    """Sort edits as they are applied and written: by kind, then by what they decide."""

    def key(edit: Edit) -> tuple[Any, ...]:
        return KINDS.index(type(edit)), [natural(str(part)) for part in edit.claims[0]]

    return sorted(edits, key=key)

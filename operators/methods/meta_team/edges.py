"""Who reports to whom among those who stay, as a team decides when it looks back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ....schema.edits import AddEdge, Edit, RemoveEdge, is_tied
from ....schema.team.team import Team
from ....schema.values.values import is_mapping
from ...core.answers import closed
from .gate import Refused
from .notes import shown_name

FIELDS = ("change", "sender", "receiver")
FEWEST = 3
"""Agents below which there is no other edge than the one that there is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EdgeOffer:
    """Which edges may come and go; the gate says which of those that are chosen may.

    In an open roster everybody may write to everybody, and where rounds are arranged who hears
    whom follows from that: there nothing is offered.

    Attributes:
        most: The most edges that change at once.
    """

    team: Team
    most: int = 2

    @property
    def schema(self) -> Mapping[str, Any]:
        """The list of an answer that is about edges."""
        team = self.team
        is_free = team.execution.roster is None and is_tied(team)
        if not self.most or not is_free or len(team.agents) < FEWEST:
            return {}
        agent = {"type": "string", "enum": [*team.agents]}
        change = {"type": "string", "enum": ["add", "remove"]}
        item = closed(change=change, sender=agent, receiver=agent)
        return {"edges": {"type": "array", "items": item, "minItems": 0, "maxItems": self.most}}

    def read(self, said: Mapping[str, Any]) -> tuple[tuple[Edit, ...], tuple[Refused, ...]]:
        """Read what an answer says of edges."""
        edits: dict[Edit, None] = {}
        refused: list[Refused] = []
        for number, item in enumerate(said.get("edges", ())):
            if number >= self.most:
                refused.append(_refused(item, f"at most {self.most} edges may change at once."))
            elif (edit := self._made(item)) is None:
                names = ", ".join(self.team.agents)
                why = f"an edge has change (add or remove), sender and receiver, two of {names}."
                refused.append(_refused(item, why))
            else:
                edits[edit] = None
        return tuple(edits), tuple(refused)

    def _made(self, item: Any) -> AddEdge | RemoveEdge | None:
        if not is_mapping(item) or item.keys() != {*FIELDS}:
            return None
        change, sender, receiver = (item[name] for name in FIELDS)
        if sender not in self.team.agents or receiver not in self.team.agents:
            return None
        kinds = {"add": AddEdge, "remove": RemoveEdge}
        return kinds[change](sender=sender, receiver=receiver) if change in kinds else None


def _refused(item: Any, why: str) -> Refused:
    return Refused(what=f"edge {shown_name(item)}", reasons=(why,))

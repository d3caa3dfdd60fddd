"""Edits of one component, as a type: a mutation of a team."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from ..components import Component
from ..kinds.kind import tag
from ..kinds.kinds import (
    Edit,
    MetadataEdit,
    ModelEdit,
    NoteEdit,
    ParameterEdit,
    PromptEdit,
    RosterEdit,
    ToolEdit,
    TopologyEdit,
)

OfOneComponent = TypeVar(
    "OfOneComponent",
    PromptEdit,
    ModelEdit,
    ToolEdit,
    TopologyEdit,
    ParameterEdit,
    RosterEdit,
    NoteEdit,
    MetadataEdit,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Mutation(Generic[OfOneComponent]):
    """Edits of exactly one component, on any number of agents (EvoMAS §3.2.2).

    Type checkers and the constructor refuse edits of two components in one mutation.

    Raises:
        ValueError: An edit is of another component, or there is no edit.
    """

    component: Component
    edits: tuple[OfOneComponent, ...]

    def __post_init__(self) -> None:
        if not self.edits:
            raise ValueError(f"a mutation of {self.component} without an edit changes nothing.")
        for index, edit in enumerate(self.edits):
            if edit.component != self.component:
                raise ValueError(
                    f"edits[{index}].{tag(type(edit))} is an edit of {edit.component}; this is a"
                    f" mutation of {self.component}."
                )


def components(edits: Iterable[Edit]) -> frozenset[Component]:
    """Return the components that edits touch."""
    return frozenset(edit.component for edit in edits)

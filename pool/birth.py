"""A team on its way into a pool: its name, its lineage, and whether it may come in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..schema import dump
from ..schema.edits import summary
from ..schema.errors import ConfigError
from ..schema.loading import check_team
from ..schema.team import Lineage, LineageStep
from ..schema.writing import lineage_value
from .layout import file_of
from .texts import LONGEST_REASON, MOST_NOTES, told, told_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..schema.catalogue import Catalogue
    from ..schema.ceiling import Ceiling
    from ..schema.team import Team
    from .members import Member
    from .state import State

__all__ = ["checked_text", "named", "twin_line"]


def named(
    team: Team, born: Lineage, parents: Sequence[Member], state: State, *, wish: str | None
) -> Team:
    """Give a team the name and the lineage that it has in a pool.

    A child's name begins as its first ancestor's does, so no model has a say in it.
    """
    stem = parents[0].stem if parents else team.name
    name = wish or (None if parents else stem)
    if name is None or name in state.teams:
        name = state.name_for(stem)
    edits = born.edits
    if parents and not edits:
        edits = summary(parents[0].team, replace(team, name=parents[0].team.name))
    lineage = Lineage(
        operator=born.operator,
        parents=tuple(dict.fromkeys(born.parents)),
        edits=told_all(edits),
        reason=told(born.reason, LONGEST_REASON),
        task=told(born.task),
        run=told(born.run),
        steps=tuple(map(_step, born.steps[:MOST_NOTES])) if len(born.steps) > 1 else (),
    )
    return replace(team, name=name, lineage=lineage)


def checked_text(team: Team, catalogue: Catalogue, ceiling: Ceiling | None) -> str:
    """Write a team's file, once it is sure that it loads.

    Raises:
        ConfigError: It does not, or is above the ceiling.
    """
    text, file = dump(team), file_of(team.name)
    # What is not text at all, like half a character, is for loading to refuse.
    _, problems = check_team(text.encode("utf-8", "surrogatepass"), file, catalogue)
    if ceiling is not None:
        problems += ceiling.problems(team, file)
    if problems:
        raise ConfigError(problems)
    return text


def twin_line(team: Team, twin: str) -> dict[str, Any]:
    """Say in the ledger that a team was not added, because another is equal to it."""
    return {"kind": "twin", "team": twin, "lineage": _value(team)}


def _value(team: Team) -> dict[str, Any]:
    return lineage_value(team.lineage) if team.lineage else {}


def _step(step: LineageStep) -> LineageStep:
    return LineageStep(
        operator=step.operator,
        edits=told_all(step.edits),
        fields=step.fields,
        reason=told(step.reason, LONGEST_REASON),
    )

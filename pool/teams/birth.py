"""On the way into a pool: names, lineages, and whether a team may come in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from ...schema import dump
from ...schema.edits import summary
from ...schema.loading.loading import check_team
from ...schema.team.team import Lineage, LineageStep
from ...schema.team.writing import agent_value, team_value
from ...schema.values.codec import to_value
from ...schema.values.errors import ConfigError
from ..ledger.agents import differences
from ..ledger.state import SEED
from ..values.layout import file_of
from ..values.texts import LONGEST_REASON, MOST_NOTES, told, told_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...schema.host.catalogue import Catalogue
    from ...schema.loading.ceiling import CapabilityPolicy
    from ...schema.team.team import Agent, Team
    from ..ledger.agents import PoolAgent
    from ..ledger.changes import Added
    from ..ledger.members import Member
    from ..ledger.records import TrialRecord
    from ..ledger.state import State


def named(change: Added, parents: Sequence[Member], state: State, *, op: str) -> Team:
    """Give a team the name and the lineage that it has in a pool.

    A child's name begins as its first ancestor's does, so no model has a say in it.
    """
    team, born = cast("Team", change.member), change.lineage
    edits = born.edits
    if parents and not edits:
        edits = summary(parents[0].team, replace(team, name=parents[0].team.name))
    lineage = _kept(born, edits)

    def said() -> tuple[str, Any]:
        return op, team_value(replace(team, lineage=lineage))

    name = _name(team.name, parents, state, change.name, said)
    return replace(team, name=name, lineage=lineage)


def named_agent(
    change: Added, parents: Sequence[PoolAgent], state: State, *, op: str
) -> tuple[Agent, Lineage]:
    """Give an agent its name in a pool, and the lineage that it has there."""
    agent, born = cast("Agent", change.member), change.lineage
    edits = born.edits
    if parents and not edits:
        edits = differences(parents[0].agent, replace(agent, id=parents[0].name))
    lineage = _kept(born, edits)

    def said() -> tuple[str, Any]:
        value = agent_value(replace(agent, member=None))
        return op, [value, to_value(lineage), change.inherits]

    name = _name(agent.id, parents, state, change.name, said)
    return replace(agent, id=name, member=None), lineage


def _name(
    own: str,
    parents: Sequence[TrialRecord],
    state: State,
    wish: str | None,
    said: Callable[[], tuple[str, Any]],
) -> str:
    """Choose a name: the one that is wished for, or its own, or its stem with an ending.

    In a pool whose branches are merged, only what a pool begins with has a name without one, and
    the ending is made of all that is said of who is to be called so: the operation, and what.
    """
    stem = parents[0].stem if parents else own
    if state.shared and not (told := said())[0].startswith(SEED):
        return state.unique_name(stem, told)
    name = wish or (None if parents else stem)
    return state.name_for(stem) if name is None or state.find(name) else name


def _kept(born: Lineage, edits: Sequence[str]) -> Lineage:
    """Give a lineage as it is kept: clean, and not too long."""
    return Lineage(
        operator=born.operator,
        parents=tuple(dict.fromkeys(born.parents)),
        edits=told_all(edits),
        reason=told(born.reason, LONGEST_REASON),
        task=told(born.task),
        run=told(born.run),
        steps=tuple(map(_step, born.steps[:MOST_NOTES])) if len(born.steps) > 1 else (),
    )


def checked_text(team: Team, catalogue: Catalogue, ceiling: CapabilityPolicy | None) -> str:
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
    return to_value(team.lineage) if team.lineage else {}


def _step(step: LineageStep) -> LineageStep:
    return LineageStep(
        operator=step.operator,
        edits=told_all(step.edits),
        fields=step.fields,
        reason=told(step.reason, LONGEST_REASON),
    )

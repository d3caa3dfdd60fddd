"""TacoMAS: a team that adapts while it works on one task, in rounds.

Capability changes after every round. The topology changes only every few rounds, and by little, so
that what agents learn about working together stays useful for a while (TacoMAS §3.2). Nothing is
kept: the pool stays unchanged, and the next task starts afresh.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ....schema.team.writing import agent_value, write_agent_yaml
from ....schema.values.errors import ConfigError
from ...core.operator import operator_of
from ...core.roles import ROLES, alone, ceiling_with, load_roles
from ...evolution.strategy import Strategy, read_schema
from .adaptation import Adaptation, AdaptationSettings, calls_at_most
from .unadapted import SOLVE, given_team, unadapted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ....schema.host.catalogue import Catalogue
    from ....schema.loading.ceiling import CapabilityPolicy
    from ....schema.team.team import Agent, Team
    from ...core.meta import OperatorModel
    from ...evolution.episode import Episode
    from ...evolution.strategy import Material, Need

SCHEMA = read_schema(Path(__file__).with_name("tacomas.schema.json"), AdaptationSettings)
DIALOGUE = 8_000
"""The most characters of each agent's dialogue in a round."""


async def tacomas(episode: Episode) -> None:
    """Run a team on a task in rounds, and adapt it between them."""
    settings: AdaptationSettings = episode.settings
    roles = _roles(settings, episode.context.beside, episode.context.catalogue)
    first = given_team(episode)
    meta = replace(episode.meta_model, ceiling=_ceiling(episode, first, roles))
    team = await _enlisted(episode, meta, first, roles) if settings.begin == "roles" else first
    work = Adaptation(
        model=meta,
        judge=episode.judge,
        task=episode.task,
        path=f"{episode.path}{SOLVE}/",
        settings=settings,
        roles=roles,
        tell=episode.note,
        usable=episode.usable,
        keep=episode.write,
        rubric=episode.context.recipe.rubric,
    )
    rounds = await episode.rounds(team, SOLVE, work, most=settings.most, dialogue=DIALOGUE)
    episode.answered(await work.answer(rounds))


async def _enlisted(
    episode: Episode, model: OperatorModel, team: Team, roles: Mapping[str, Agent]
) -> Team:
    """Return a team of roles that the meta-model chose; without a valid answer, the given team."""
    most = episode.settings.most_agents
    path = f"{episode.path}enlist"
    act = operator_of("enlist").act
    result = episode.usable(await act(model, path, episode.task, team, roles, most=most))
    if result is None:
        return team
    episode.note("enlist", agents=[*result.child.agents], reason=result.reason)
    return result.child


def _ceiling(episode: Episode, first: Team, roles: Mapping[str, Agent]) -> CapabilityPolicy:
    """Return the ceiling of the team: what it and the roles ask for, within the policy."""
    most, stage = episode.settings.most_agents, episode.context
    ceiling = ceiling_with(first, roles, most)
    if stage.recipe.policy is None:
        return ceiling
    problems = [
        problem
        for team in alone(roles)
        for problem in stage.ceiling.problems(team, f"role {team.name}")
    ]
    if problems:
        raise ConfigError(problems)
    limits = [number for number in (stage.ceiling.agents, ceiling.agents) if number is not None]
    return replace(stage.ceiling, agents=min(limits))


def _roles(settings: AdaptationSettings, beside: Path, catalogue: Catalogue) -> Mapping[str, Agent]:
    folder = ROLES if settings.roles is None else beside / settings.roles
    return load_roles(folder, catalogue)


def _find(settings: AdaptationSettings, beside: Path, catalogue: Catalogue, /) -> Material:
    roles = _roles(settings, beside, catalogue)
    files = {
        f"roles/{name}.yaml": write_agent_yaml(agent_value(role)) for name, role in roles.items()
    }
    return replace(settings, roles="roles"), files


def _needs(_settings: AdaptationSettings, /) -> frozenset[Need]:
    return frozenset({"teams", "meta_model"})


TACOMAS = Strategy(
    name="tacomas",
    episode=tacomas,
    control=unadapted,
    settings=AdaptationSettings,
    schema=SCHEMA,
    needs=_needs,
    find=_find,
    calls_at_most=calls_at_most,
)

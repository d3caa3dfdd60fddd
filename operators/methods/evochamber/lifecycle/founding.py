"""The first agents of a population: all alike, until tasks make them differ (App. E.4)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .....pool.ledger.changes import Added
from .....schema.loading.agent_file import load_agent
from .....schema.loading.seeds import SEEDS
from .....schema.team.team import Lineage
from .....schema.team.writing import agent_value, write_agent_yaml
from .....schema.values.errors import ConfigError, InputError
from .....schema.values.hints import did_you_mean
from .....schema.values.problems import quoted
from .....schema.values.terminal import counted
from ....core.roles import with_text
from ....evolution.strategy import SettingError
from ..structures import LEADER, structures

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from .....schema.host.catalogue import Catalogue
    from .....schema.team.team import Agent, Team
    from ....evolution.context import EvolutionContext
    from ....evolution.strategy import Material
    from ..settings import PopulationSettings

FOUNDER = SEEDS / "founders" / "solver.yaml"
"""The generic assistant that ships with coterie."""
GENESIS = "genesis"
"""The operator of agents without parents."""


def founder(settings: PopulationSettings, beside: Path, catalogue: Catalogue) -> Agent:
    """Load the agent from which a population starts.

    Raises:
        SettingError: The file is missing or unreadable.
        ConfigError: It does not load.
    """
    path = FOUNDER if settings.founder is None else beside / settings.founder
    own_catalogue = catalogue.beside(path.parent)
    try:
        return with_text(load_agent(path, own_catalogue).agent, own_catalogue)
    except ConfigError:
        raise
    except InputError as error:
        raise SettingError("founder", str(error)) from None


def founders(settings: PopulationSettings, beside: Path, catalogue: Catalogue) -> tuple[Agent, ...]:
    """Return the first agents of a population: `pool_size` identical agents, numbered."""
    agent = founder(settings, beside, catalogue)
    numbers = range(1, settings.pool_size + 1)
    return tuple(replace(agent, id=f"{agent.id}_{number}") for number in numbers)


def find(settings: PopulationSettings, beside: Path, catalogue: Catalogue, /) -> Material:
    """Return the founder's file and the settings that name it; see `Strategy.find`.

    Raises:
        SettingError: The file is missing or unreadable.
        ConfigError: It does not load.
    """
    agent = founder(settings, beside, catalogue)
    file = f"{agent.id}.yaml"
    return replace(settings, founder=file), {file: write_agent_yaml(agent_value(agent))}


def begin(context: EvolutionContext) -> Iterator[Added]:
    """Yield the first agents of a pool that has no active agents.

    After a crash it yields all of them again, including those already born.
    """
    settings: PopulationSettings = context.recipe.settings
    own = f"{context.name}/begin/"
    if any(not agent.revisions[0].op.startswith(own) for agent in context.pool.agents.values()):
        return
    reason = f"one of the {settings.pool_size} that the population began with"
    lineage = Lineage(operator=GENESIS, reason=reason, run=context.name)
    for item in founders(settings, context.beside, context.catalogue):
        yield Added(member=item, lineage=lineage, name=item.id)


def check(settings: PopulationSettings, written: Mapping[str, Any]) -> dict[str, str]:
    """Return the problems of settings that no schema can express, by field."""
    fields: dict[str, str] = {}
    size, most = settings.pool_size, settings.largest
    if not settings.lessons and (settings.learning or settings.codream):
        fields["lessons"] = (
            "agents keep lessons, but none is ever shown to them. Make it at least 1, or write"
            " learning: false and codream: false."
        )
    if settings.team_size > size:
        fields["team_size" if "team_size" in written else "pool_size"] = (
            f"a team of {settings.team_size} agents cannot be chosen among {size}. Make pool_size"
            f" at least {settings.team_size}, or team_size smaller."
        )
    if most < size:
        fields["largest" if "largest" in written else "pool_size"] = (
            f"{size} agents are there at first, and largest allows {most}. Make largest at least"
            f" {size}, or pool_size smaller."
        )
    return fields


def suits(
    settings: PopulationSettings, teams: Sequence[Team], agents: Sequence[Agent]
) -> dict[str, str]:
    """Return the problems of settings in combination with a pool, by field."""
    fields: dict[str, str] = {}
    if not structures(settings, teams):
        fields["structure"] = _without(settings, teams)
    if 0 < len(agents) < settings.team_size:
        fields["team_size"] = (
            f"the pool has {len(agents)} agents that are not retired, fewer than a team of"
            f" {settings.team_size}. Restore some (mas-pool restore), or make team_size smaller."
        )
    return fields


def _without(settings: PopulationSettings, teams: Sequence[Team]) -> str:
    """Return the message that a pool has no fitting structure, or none of the wanted name."""
    of, wanted = f"a team of {counted(settings.team_size, 'agent')}", settings.structure
    names = [LEADER, *structures(replace(settings, structure=LEADER), teams)]
    if len(names) == 1:
        return f"the pool has no structure in which {of} can work. Leave seeds out, or write one."
    if wanted in {team.name for team in teams}:
        return f"{of} cannot work as {wanted}. Known: {', '.join(names)}."
    hint = did_you_mean(wanted, names) or f" Known: {', '.join(names)}."
    return f"the pool has no structure {quoted(wanted)}.{hint}"

"""The agents that a population begins with: all alike, until tasks make them differ (App. E.4)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .....pool.ledger.changes import Added
from .....runtime.values.terminal import counted
from .....schema.loading.agent_file import load_agent
from .....schema.loading.seeds import SEEDS
from .....schema.team.team import Lineage
from .....schema.team.writing import agent_value, write_agent_yaml
from .....schema.values.errors import ConfigError, InputError
from .....schema.values.hints import did_you_mean
from .....schema.values.problems import quoted
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
"""The generic assistant that comes with coterie."""
GENESIS = "genesis"
"""The operator that agents come from who have no parents."""


def founder(settings: PopulationSettings, beside: Path, catalogue: Catalogue) -> Agent:
    """Load the agent that a population begins as.

    Raises:
        SettingError: There is no such file, or it cannot be read.
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
    """Return the agents that a population begins with: N of them, all alike, numbered."""
    agent = founder(settings, beside, catalogue)
    numbers = range(1, settings.pool_size + 1)
    return tuple(replace(agent, id=f"{agent.id}_{number}") for number in numbers)


def find(settings: PopulationSettings, beside: Path, catalogue: Catalogue, /) -> Material:
    """Find the founder; see `Strategy.find`.

    Raises:
        SettingError: There is no such file, or it cannot be read.
        ConfigError: It does not load.
    """
    agent = founder(settings, beside, catalogue)
    file = f"{agent.id}.yaml"
    return replace(settings, founder=file), {file: write_agent_yaml(agent_value(agent))}


def begin(context: EvolutionContext) -> Iterator[Added]:
    """Give a pool its first agents, where it has none that are not retired.

    After a crash it gives all of them again, those that were born then as well.
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
    """Find what is wrong with settings that no schema can say, by the field."""
    fields: dict[str, str] = {}
    size, most = settings.pool_size, settings.largest
    if not settings.lessons and (settings.learning or settings.codream):
        fields["lessons"] = (
            "agents keep lessons, and are reminded of none, so nobody would ever read them. Make it"
            " at least 1, or write learning: false and codream: false."
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
    """Find what is wrong with settings beside what a pool has, by the field."""
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
    """Say that there is no structure, or none of that name, for teams of that size."""
    of, wanted = f"a team of {counted(settings.team_size, 'agent')}", settings.structure
    names = [LEADER, *structures(replace(settings, structure=LEADER), teams)]
    if len(names) == 1:
        return f"the pool has no structure in which {of} can work. Leave seeds out, or write one."
    if wanted in {team.name for team in teams}:
        return f"{of} cannot work as {wanted}. Known: {', '.join(names)}."
    hint = did_you_mean(wanted, names) or f" Known: {', '.join(names)}."
    return f"the pool has no structure {quoted(wanted)}.{hint}"

"""The served teams, by the names that clients use."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ...schema.host.catalogue import load_named
from ...schema.loading.agent_document import is_team_folder
from ...schema.loading.loading import load_team, team_path
from ...schema.values.errors import CoterieError, InputError
from ...schema.values.hints import did_you_mean
from ..messages.recall import open_recall
from ..plan.plan import compile
from .refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ...schema.host.catalogue import Catalogue
    from ..messages.recall import Recaller
    from ..plan.plan import Plan
    from ..runs.services import Services

POOL = "pool:"
LEDGER = "ledger.jsonl"
GROUP = "teams"


@dataclass(frozen=True, kw_only=True, slots=True)
class ServedTeam:
    """A served team.

    Attributes:
        source: The argument that named it: a file, `seed:NAME`, a pool's folder, or `pool:FOLDER`.
        recaller: Gives its agents its pool's memory; None if none of them recalls.
    """

    name: str
    source: str
    file: Path
    plan: Plan
    recaller: Recaller | None = None

    @property
    def description(self) -> str:
        """Its purpose, in a sentence."""
        team = self.plan.team
        return team.description or f"A team of agents: {', '.join(team.agents)}."


def _pool_of(source: str) -> Path | None:
    """Return the folder of a pool, if the argument names one; None if it names a team."""
    if source.startswith(POOL):
        return Path(source.removeprefix(POOL))
    folder = Path(source)
    return folder if (folder / LEDGER).is_file() and not is_team_folder(folder) else None


def load(source: str, catalogue: Catalogue) -> ServedTeam:
    """Load a team; of a pool, the one with the highest expected score."""
    pool = _pool_of(source)
    file = team_path(source) if pool is None else load_named(GROUP, "pool")(pool)
    catalogue = catalogue.beside(file.parent)
    plan = compile(load_team(file, catalogue), catalogue)
    if pool is None:
        return ServedTeam(name=plan.team.name, source=source, file=file, plan=plan)
    recalls = any(planned.agent.recall is not None for planned in plan.agents.values())
    return ServedTeam(
        name=f"{POOL}{pool.resolve().name}",
        source=source,
        file=file,
        plan=plan,
        recaller=open_recall(pool, catalogue.models, None) if recalls else None,
    )


@dataclass(eq=False)
class Teams:
    """The served teams. `opened` loads them, and `reload` reloads them."""

    catalogue: Catalogue
    by_name: dict[str, ServedTeam] = field(default_factory=dict[str, ServedTeam])

    @classmethod
    def opened(cls, sources: Iterable[str], catalogue: Catalogue) -> Teams:
        """Load teams.

        Raises:
            InputError: A team does not load, or two have the same name.
        """
        teams = cls(catalogue)
        for source in dict.fromkeys(sources):
            team = load(source, catalogue)
            if (first := teams.by_name.get(team.name)) is not None:
                raise InputError(
                    f"{source} and {first.source} are both called {team.name!r}, so clients cannot"
                    " tell them apart. Rename one."
                )
            teams.by_name[team.name] = team
        return teams

    def __iter__(self) -> Iterator[ServedTeam]:
        return iter(self.by_name.values())

    def named(self, name: object) -> ServedTeam:
        """Return the team with a name.

        Raises:
            Refusal: There is none.
        """
        if isinstance(name, str) and name in self.by_name:
            return self.by_name[name]
        hint = did_you_mean(str(name), self.by_name)
        message = f"no team {name!r} is served here. Teams: {', '.join(self.by_name)}.{hint}"
        raise Refusal(404, message, code="model_not_found", param="model")

    async def reload(self, services: Services) -> Mapping[str, CoterieError]:
        """Reload all teams. A team that cannot be loaded or run stays unchanged.

        Running requests finish with the team that they began with.

        Returns:
            The errors of the teams that stayed unchanged, by their names.
        """
        errors: dict[str, CoterieError] = {}
        for name, team in [*self.by_name.items()]:
            try:
                reloaded = await asyncio.to_thread(load, team.source, self.catalogue)
                if reloaded.name != name:
                    raise InputError(
                        f"{reloaded.file}: the team is now called {reloaded.name!r}, but clients"
                        f" know it as {name!r}. Change the name back, or restart the server."
                    )
                await services.prepare(reloaded.plan)
            except CoterieError as error:
                errors[name] = error
            else:
                self.by_name[name] = reloaded
        return errors

"""The starting point of an evolution, checked before anything is created or spent."""

from __future__ import annotations

import os
import re
import socket
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...schema.host.models import require_model
from ...schema.loading.ceiling import CapabilityPolicy, load_ceiling
from ...schema.loading.recipe import DEFAULT_SEEDS, seeds_problem, settings_problems
from ...schema.loading.seeds import is_seed
from ...schema.loading.tasks import require_answers
from ...schema.team.team import Team
from ...schema.values.errors import ConfigError, InputError, ModelError
from ...schema.values.terminal import counted
from ..evolution.readers import nobody_reads
from ..evolution.strategy import SettingError, asked_models, strategy_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from ...pool.ledger.agents import PoolAgent
    from ...pool.teams.pool import Pool
    from ...runtime.gateway.sharing import Shared
    from ...runtime.runs.services import Setting
    from ...schema.host.catalogue import Catalogue
    from ...schema.host.models import Model
    from ...schema.loading.recipe import Recipe
    from ...schema.team.task import Task
    from ...schema.team.team import Agent
    from ..evolution.strategy import Need

PHI = ("seed:single_agent",)
"""The first teams of a pool if the recipe has no seeds: the pool φ of EvoMAS, Table 7."""
SECONDS_TO_CONNECT = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class EvolutionStart:
    """The starting point of an evolution.

    Attributes:
        folder: The pool's folder, which may not exist yet.
        sources: The sources of the recipe's seeds.
        written: All teams of the pool that people wrote; for a new pool, the seeds.
        built: The teams that the strategy makes from the pool's teams and agents, if any.
        agents: Its active agents; for a new pool, the first ones.
        operator_models: The aliases of the meta-model and the judge, if they are called.
        embedder: The embedder's name; None if neither the strategy nor a team needs a memory.
    """

    recipe: Recipe
    folder: Path
    catalogue: Catalogue
    sources: tuple[str | Path, ...]
    written: tuple[Team, ...]
    others: tuple[Team, ...]
    built: tuple[Team, ...]
    agents: tuple[Agent, ...]
    ceiling: CapabilityPolicy
    needs: frozenset[Need]
    operator_models: frozenset[str]
    embedder: str | None

    @property
    def models(self) -> list[Model]:
        """The models that may be called, including fallbacks, sorted by alias."""
        waiting = [*self.asked_models, *self.ceiling.models]
        models: dict[str, Model] = {}
        while waiting:
            alias = waiting.pop()
            if alias not in models and alias in self.catalogue.models:
                models[alias] = self.catalogue.models[alias]
                waiting += models[alias].fallback
        return [models[alias] for alias in sorted(models)]

    @property
    def asked_models(self) -> frozenset[str]:
        """The aliases that are certainly called: those of teams, of operators and of the judge."""
        agents = ((team, agent) for team in self.teams for agent in team.agents.values())
        used = {agent.model_id for team, agent in agents if team.asks_model(agent)}
        return frozenset(used) | self.operator_models

    @property
    def teams(self) -> tuple[Team, ...]:
        """The first teams, and each agent as a team of its own."""
        return (*self.teams_at_work, *_alone(self.agents))

    @property
    def teams_at_work(self) -> tuple[Team, ...]:
        """The teams that first run on tasks: those that the strategy makes, or the pool's."""
        return self.built or (*self.written, *self.others)

    def refuse_unread(self, tasks: Sequence[Task]) -> None:
        """Raise if a task lacks what teams require of it, or if no team can read its images."""
        from ...runtime.messages.attached import refuse_unread
        from ...runtime.messages.messages import refuse_unfilled
        from ...runtime.plan.plan import compile

        plans = [compile(team, self.catalogue) for team in self.teams]
        refuse_unfilled(plans, tasks)
        for task in tasks:
            if task.attachments:
                refuse_unread(plans, task)

    @property
    def is_there(self) -> bool:
        """Whether the pool exists already, with all its first teams."""
        from ...pool.values.layout import has_begun

        return has_begun(self.folder)

    @property
    def recalls(self) -> bool:
        """Whether agents of teams that people wrote recall entries; no child changes that."""
        return any(team.recalls for team in self.written)

    @property
    def outlook(self) -> str | None:
        """The ceiling of children in words, if it leaves no team room to grow; else None."""
        ceiling, most = self.ceiling, self.ceiling.agents
        if "children" not in self.needs or self.recipe.policy is not None or most is None:
            return None
        if any(len(team.agents) < most for team in self.written):
            return None
        tools = f"the tools {', '.join(sorted(ceiling.tools))}" if ceiling.tools else "no tools"
        size = f"{counted(most, 'agent')}, {counted(ceiling.edges or 0, 'edge')}"
        return (
            f"children may have at most {size}, {tools} and the models"
            f" {', '.join(sorted(ceiling.models))}: the union of the seeds, so no team can grow."
            " Larger seeds, seeds: [], or a policy in the recipe allow more."
        )

    def open_pool(self, *, shared: bool = False) -> Pool:
        """Open the pool, or create it with the recipe's seeds.

        Args:
            shared: Whether branches of a new pool will be merged with git.

        Raises:
            InputError: The folder cannot be created.
            StorageError: It cannot be written, or its pool is damaged.
        """
        from ...pool.teams.pool import Pool

        if self.is_there:
            return Pool.open(self.folder, catalogue=self.catalogue)
        return Pool.init(self.folder, self.sources, catalogue=self.catalogue, shared=shared)

    async def check_host(
        self, setting: Setting, shared: Shared | None = None, *, begun: bool = False
    ) -> None:
        """Check that the teams, the operators and the judge can run on this host."""
        from ...runtime.messages.recall import nothing
        from ...runtime.plan.plan import compile
        from ...runtime.runs.services import open_services

        check_addresses(self.catalogue, self.asked_models)
        async with open_services(
            self.catalogue, setting, connected=False, shared=shared, lazy=begun
        ) as opened:
            services = replace(opened, recaller=nothing)  # each episode will have its own
            for team in (*(self.built or self.written), *_alone(self.agents)):
                await services.prepare(compile(team, self.catalogue))
            priced = setting.must_be_priced
            await services.gateway.prepare(self.operator_models, priced=priced)


def prepare_start(
    *,
    recipe_file: Path,
    recipe: Recipe,
    tasks: Sequence[Task],
    pool_folder: Path,
    host: Catalogue,
    embedder: str | None = None,
    name: str | None = None,
) -> EvolutionStart:
    """Return the starting point of an evolution, after all checks that are possible beforehand.

    Args:
        recipe_file: The recipe. Paths in it are relative to its folder.
        name: The evolution's name, perhaps without its suffix. By default, the recipe's.

    Raises:
        InputError: A strategy, model, seed, policy or embedder is unavailable; the pool has only
            retired teams; a task lacks the answer that the recipe demands; or no team can read a
            task's image.
    """
    strategy = strategy_of(recipe.strategy)
    needs = frozenset(strategy.needs(recipe.settings))
    _check_models(recipe, host)
    if recipe.score == "answer" or "answers" in needs:
        require_answers(tasks)
    catalogue = host.beside(recipe_file.parent)
    beside, sources = recipe_file.parent, _sources(recipe, needs)
    try:
        strategy.find(recipe.settings, beside, catalogue)
    except SettingError as error:
        problems = settings_problems(recipe_file, {error.field: str(error)})
        raise ConfigError(problems) from None
    places = tuple(source if is_seed(source) else beside / source for source in sources)
    pool = _pool_there(pool_folder, catalogue)
    written, others = _teams(places, pool, catalogue, must_have="teams" in needs)
    everybody = tuple(pool.all_agents.values()) if pool and "agents" in needs else ()
    first = tuple(strategy.agents(recipe.settings, beside, catalogue))
    living = tuple(agent.agent for agent in everybody if agent.retired is None)
    if _is_cut_short(everybody, first, name or recipe_file.stem):
        living = first
    there = tuple(member.team for member in pool.members.values()) if pool else ()
    if wrong := strategy.suits(recipe.settings, there or written, living):
        raise ConfigError(settings_problems(recipe_file, wrong))
    asking = tuple(agent.agent for agent in everybody if not agent.lineage.parents) or first
    result = strategy.teams(recipe.settings, written, asking, catalogue) if strategy.teams else ()
    start = EvolutionStart(
        recipe=recipe,
        folder=pool_folder,
        catalogue=catalogue,
        sources=places,
        written=written,
        others=others,
        built=tuple(result),
        agents=living or first,
        ceiling=_ceiling(recipe, beside, (*written, *_alone(asking), *result), catalogue),
        needs=needs,
        operator_models=asked_models(recipe, tasks),
        embedder=None,
    )
    start.refuse_unread(tasks)
    if unread := nobody_reads(strategy.keeps(recipe.settings), start.teams_at_work):
        raise ConfigError([seeds_problem(recipe_file, f"{recipe.strategy} {unread}")])
    remembers = "memory" in needs or start.recalls
    return replace(start, embedder=_embedder(embedder, host)) if remembers else start


def check_addresses(catalogue: Catalogue, aliases: Iterable[str]) -> None:
    """Check that models' addresses accept connections, rather than wait for retries.

    Models with fallbacks are left out: another one may answer for them.

    Raises:
        InputError: An alias has no address or key.
        ModelError: An address refuses connections.
    """
    from ...runtime.gateway import endpoint_of

    models = {aliase: catalogue.models[aliase] for aliase in aliases if aliase in catalogue.models}
    for alias, model in sorted(models.items()):
        endpoint = endpoint_of(model, os.environ)
        if model.fallback or endpoint.kind != "openai":
            continue
        address = urlsplit(endpoint.api_base)
        port = address.port or (443 if address.scheme == "https" else 80)
        try:
            socket.create_connection((address.hostname or "", port), SECONDS_TO_CONNECT).close()
        except (ConnectionRefusedError, socket.gaierror) as error:
            raise ModelError(
                f"model {model.model!r} (alias {alias!r}): nothing answers at {endpoint.shown}"
                f" ({error.strerror}). Is the endpoint running?"
            ) from None
        except OSError:
            continue  # inconclusive; calls have retries of their own


def _sources(recipe: Recipe, needs: frozenset[Need]) -> tuple[str, ...]:
    """Return the first teams of a new pool; none if the strategy needs no teams."""
    if "teams" not in needs:
        return () if recipe.seeds == DEFAULT_SEEDS else recipe.seeds
    return recipe.seeds or PHI


def _check_models(recipe: Recipe, catalogue: Catalogue) -> None:
    named = {"meta_model": recipe.meta_model, "judge_model": recipe.judge_model}
    named |= {f"models[{number}]": alias for number, alias in enumerate(recipe.models)}
    for field, alias in named.items():
        require_model(field, alias, catalogue.aliases)


def _pool_there(folder: Path, catalogue: Catalogue) -> Pool | None:
    from ...pool.teams.pool import Pool
    from ...pool.values.layout import has_begun

    return Pool.open(folder, catalogue=catalogue) if has_begun(folder) else None


def _teams(
    sources: Sequence[str | Path], pool: Pool | None, catalogue: Catalogue, *, must_have: bool
) -> tuple[tuple[Team, ...], tuple[Team, ...]]:
    """Return the pool's teams, those that people wrote and others; for a new pool, its seeds."""
    from ...pool.teams.sources import load_source

    if pool is None:
        return tuple(load_source(source, catalogue) for source in sources), ()
    if must_have and not pool.members:
        raise InputError(
            f"{pool.folder} has only retired teams. Use mas-pool restore, or import a team with"
            " mas-pool import."
        )
    written = tuple(team.team for team in pool.teams.values() if not team.lineage.parents)
    return written, tuple(member.team for member in pool.members.values() if member.lineage.parents)


def _is_cut_short(everybody: Sequence[PoolAgent], first: Sequence[Agent], name: str) -> bool:
    """Return whether an evolution was interrupted while it added its first agents.

    Then `Strategy.begin` adds the missing ones, before any task.
    """
    own = re.compile(rf"{re.escape(name)}(-[0-9a-f]+)?/begin/\d+")
    begun = all(own.fullmatch(agent.revisions[0].op) for agent in everybody)
    return begun and 0 < len(everybody) < len(first)


def _alone(agents: Iterable[Agent]) -> Iterable[Team]:
    """Return each agent as a team of its own, without duplicates."""
    teams = (Team(name="alone", agents={"one": replace(agent, id="one")}) for agent in agents)
    return {team.content_hash: team for team in teams}.values()


def _ceiling(
    recipe: Recipe, folder: Path, teams: Sequence[Team], catalogue: Catalogue
) -> CapabilityPolicy:
    """Return the policy's ceiling, or the union of what teams and agents ask for."""
    from ...pool.teams.sources import load_source

    if recipe.policy is not None:
        return load_ceiling(folder / recipe.policy)
    if (grown := strategy_of(recipe.strategy).ceiling) is not None and teams:
        allowed = grown(teams[0])
        return replace(allowed, models=allowed.models | frozenset(recipe.models))
    # The ceiling of a single agent would leave nothing to evolve.
    wants_more = not recipe.seeds or not teams
    more = [load_source(seed, catalogue) for seed in DEFAULT_SEEDS] if wants_more else []
    ceiling = CapabilityPolicy.of(*teams, *more)
    return replace(ceiling, models=ceiling.models | frozenset(recipe.models))


def _embedder(name: str | None, catalogue: Catalogue) -> str:
    """Return the embedder's name, after a test that it works on this host."""
    from ...pool.embedding import choose_embedder

    chosen = choose_embedder(name, models=catalogue.models)
    chosen.embed(["Is it here?"])
    return chosen.name

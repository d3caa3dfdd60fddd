"""A strategy at work within one run: the entry point behind `mas-run --adapt`.

Any strategy works here that needs no more of a pool than a team. It gets a temporary pool with that
team alone, and the run's only task as a stream of one episode.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...pool.teams.pool import Pool
from ...pool.view import Views
from ...runtime.agents.outcomes import Run
from ...runtime.plan.plan import Plan
from ...runtime.record.trace import Trace
from ...runtime.runs.adapting import RECIPE
from ...runtime.runs.record import RunRecord, as_json
from ...runtime.runs.services import Services
from ...runtime.scoring.scorers import scored
from ...runtime.scrubbing.scrubber import Scrubber
from ...runtime.values.budget import Budget
from ...runtime.values.operator_answers import summed_answers, values_of
from ...schema.host.catalogue import Catalogue
from ...schema.host.models import Model, require_model
from ...schema.loading.ceiling import CapabilityPolicy, load_ceiling
from ...schema.loading.recipe import Recipe, load_recipe
from ...schema.team.task import Task
from ...schema.team.team import Lineage, Team
from ...schema.team.writing import write_yaml
from ...schema.values.errors import InputError, LimitError, RunError
from .context import EvolutionContext
from .episode import Episode
from .strategy import Strategy, strategy_of

PROVIDED = frozenset({"teams", "children", "meta_model"})
"""The needs of a strategy that a single run can meet."""
POLICY = "policy.yaml"
STORY = "story.json"
"""The events of a run, in the form of an episode's line."""
RECORDED = ("meta_model", "judge_model", "score", "rubric", "seed")
"""The recipe fields that count within a run, beside strategy, settings and policy."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Adapted:
    """A strategy that adapts the team of a run; see `runtime.runs.adapting.Adapting`.

    Attributes:
        ceiling: The most that the team may ask for.
        files: The files to record in the run's folder, by name.
    """

    strategy: Strategy
    recipe: Recipe
    beside: Path
    catalogue: Catalogue
    ceiling: CapabilityPolicy
    files: Mapping[str, str]

    @property
    def name(self) -> str:
        """The name of the strategy."""
        return self.strategy.name

    @property
    def models(self) -> Mapping[str, Model]:
        """The models that operators may call, by alias."""
        named = {self.recipe.meta_model, self.recipe.judge_model or self.recipe.meta_model}
        return {
            word: self.catalogue.models[word]
            for word in sorted(named)
            if word in self.catalogue.models
        }

    def calls_at_most(self, plan: Plan) -> int | None:
        """Return an upper bound on the model calls of a run, including those of operators."""
        bound = self.strategy.calls_at_most
        return None if bound is None else bound(self.recipe.settings, plan)

    async def run(
        self,
        plan: Plan,
        task: Task,
        services: Services,
        *,
        record: RunRecord,
        scrubber: Scrubber,
        trace: Trace,
        budget: Budget | None,
    ) -> Run:
        """Run the team; see `Adapting`.

        Raises:
            StorageError: An event cannot be written.
        """
        trace.emit("run_started", team=plan.team.name, task=task.id, content_hash=plan.content_hash)
        with TemporaryDirectory() as folder:
            pool = Pool.init(folder, catalogue=self.catalogue)
            pool.add(plan.team, Lineage(operator="seed"), op="seed")
            fold = self.strategy.fold(self.recipe.settings)
            episode = Episode(
                context=EvolutionContext(
                    name=self.name,
                    recipe=self.recipe,
                    catalogue=self.catalogue,
                    ceiling=self.ceiling,
                    services=services,
                    journal=record.journal,
                    scrubber=scrubber,
                    budget=budget or Budget(),
                    pool=pool,
                    memory=None,
                    beside=self.beside,
                ),
                number=0,
                task=task,
                view=Views(pool, self.name, fold=fold).upto(-1),
                learning=False,
                path=f"{self.name}/",
                folder=None if record.journal.replaying else record.folder.path,
                trace=trace,
                artifacts=None if record.journal.replaying else record.keep,
            )
            run = await self._result(episode, record)
        run = replace(run, operators=summed_answers([episode.tally.answers]))
        if not record.journal.replaying:
            values = {
                "by": self.name,
                "story": episode.story,
                "operators": values_of(run.operators),
            }
            record.folder.write(STORY, as_json(values))
        trace.emit("run_finished", status=run.status, error=run.error, seconds=run.seconds)
        trace.check()
        return run

    async def _result(self, episode: Episode, record: RunRecord) -> Run:
        """Return the scored run with the operators' usage, also if it was stopped or failed."""
        try:
            await self.strategy.episode(episode)
        except LimitError as error:
            return Run(status="stopped", error=str(error), over_budget=True, usage=record.spent())
        except RunError as error:
            return Run(status="failed", error=str(error), usage=record.spent())
        if episode.answer is None:
            raise InputError(f"the strategy of {self.name} left the task unanswered. Correct it.")
        jails = episode.context.services.jails
        run = await scored(episode.answer.run, episode.task, jails)  # never by a judge
        return replace(run, usage=run.usage + episode.operators + episode.judging)


def adapted(recipe_file: Path, team: Team, catalogue: Catalogue) -> Adapted:
    """Load the recipe by which a team adapts, and check all of it.

    Args:
        recipe_file: The recipe. Paths in it are relative to its folder.

    Raises:
        InputError: The recipe does not load, its strategy needs more than a team, or a model or
            file that it names is missing.
    """
    recipe = load_recipe(recipe_file)
    strategy, beside = strategy_of(recipe.strategy), recipe_file.parent
    if wanting := sorted({*strategy.needs(recipe.settings)} - PROVIDED):
        raise InputError(
            f"{recipe_file}: {recipe.strategy} needs {', '.join(wanting)} of a pool, which a single"
            " run has not. Use mas-evolve."
        )
    for alias in (recipe.meta_model, recipe.judge_model):
        require_model(str(recipe_file), alias, catalogue.aliases)
    settings, files = strategy.find(recipe.settings, beside, catalogue)
    policy = None if recipe.policy is None else beside / recipe.policy
    ceiling = CapabilityPolicy.of(team) if policy is None else load_ceiling(policy)
    records = {**files, RECIPE: write_yaml(_value(recipe, settings))}
    if policy is not None:
        records[POLICY] = policy.read_text(encoding="utf-8")
    return Adapted(
        strategy=strategy,
        recipe=recipe,
        beside=beside,
        catalogue=catalogue,
        ceiling=ceiling,
        files=records,
    )


def _value(recipe: Recipe, settings: Any) -> dict[str, Any]:
    """Return the part of a recipe that counts within a run, without default values."""
    value: dict[str, Any] = {"strategy": recipe.strategy}
    defaults = Recipe(strategy=recipe.strategy, settings=None)
    value |= {
        name: own for name in RECORDED if (own := getattr(recipe, name)) != getattr(defaults, name)
    }
    value |= {"policy": POLICY} if recipe.policy is not None else {}
    usual = type(settings)()
    record = {field.name: getattr(settings, field.name) for field in fields(settings)}
    changed = {name: item for name, item in record.items() if item != getattr(usual, name)}
    return {**value, **({"settings": _plain(changed)} if changed else {})}


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: list(item) if isinstance(item, tuple) else item for name, item in value.items()}

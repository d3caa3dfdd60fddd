"""An evolution as commands make it: its pool, its folder, its progress and its report."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from ...runtime.terminal import speakable
from ...schema.errors import CoterieError, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ...pool.pool import Pool
    from ...runtime.services import Setting
    from ...schema.catalogue import Catalogue
    from ...schema.ceiling import Ceiling
    from ...schema.recipe import Recipe
    from ...schema.task import Task
    from ..report import Report

__all__ = ["Evolving"]


@dataclass(eq=False)
class Evolving:
    """An evolution on its way, whatever ends it."""

    recipe_file: Path
    recipe: Recipe
    tasks: Sequence[Task]
    pool_folder: Path
    known: Catalogue
    options: dict[str, Any]
    done: int = 0

    @property
    def name(self) -> str:
        """What the evolution is called."""
        return self.options["name"] or self.recipe_file.stem

    def to_the_end(self) -> int:
        """Evolve, show the report, and give the exit code."""
        from ...runtime.command.models import fetch_embedded
        from ...runtime.command.signals import to_the_end

        self._check()
        fetch_embedded(self.known.models.values())
        try:
            code = to_the_end(self._evolved(), lambda: " The same command goes on.")
        except InputError:
            raise
        except CoterieError as error:
            self._show_report()
            click.echo(f"stopped: {speakable(str(error))} The same command goes on.", err=True)
            return error.exit_code
        if code == 0:
            self._show_report()
        return code

    def _check(self) -> None:
        """Find what is wrong before anything is made or spent."""
        from ..strategies import strategy_of
        from ..trying import require_answers

        strategy_of(self.recipe.strategy)
        self._setting()
        if self.recipe.score == "answer":
            require_answers(self.tasks)
        if self.recipe.meta_model not in self.known.aliases:
            models = ", ".join(sorted(self.known.aliases))
            raise InputError(
                f"meta_model: no model {self.recipe.meta_model!r} on this host. Known: {models}."
            )

    async def _evolved(self) -> int:
        from ..evolution import Evolution
        from ..folder import open_folder
        from ..stage import open_stage
        from ..strategies import asked_models, strategy_of

        pool, ceiling = self._pool()
        folder = open_folder(self.pool_folder, self.name, self._manifest())
        async with open_stage(
            name=self.name,
            recipe=self.recipe,
            catalogue=pool.catalogue,
            ceiling=ceiling,
            setting=self._setting(),
            pool=pool,
            folder=folder,
        ) as stage:
            priced = stage.services.setting.must_be_priced
            await stage.services.gateway.prepare(
                asked_models(self.recipe, self.tasks), priced=priced
            )
            evolution = Evolution(
                stage=stage,
                strategy=strategy_of(self.recipe.strategy),
                tasks=self.tasks,
                folder=folder,
                on_turn=self._on_turn,
            )
            await evolution.to_the_end()
        return 0

    def _pool(self) -> tuple[Pool, Ceiling]:
        """Open the pool, or begin it with the recipe's seeds; and say what children may ask for."""
        from ...pool.pool import Pool
        from ...schema.ceiling import Ceiling, load_ceiling

        beside = self.recipe_file.parent
        known = self.known.beside(beside)
        seeds = [one if one.startswith("seed:") else beside / one for one in self.recipe.seeds]
        if (self.pool_folder / "ledger.jsonl").exists():
            pool = Pool.open(self.pool_folder, catalogue=known)
        else:
            pool = Pool.init(self.pool_folder, seeds, catalogue=known)
        if not pool.members:
            raise InputError(
                f"{self.pool_folder} has no team that is not retired. Use mas-pool restore, or take"
                " one in with mas-pool import."
            )
        if self.recipe.policy is not None:
            return pool, load_ceiling(beside / self.recipe.policy)
        written = [one.team for one in pool.teams.values() if not one.born.parents]
        ceiling = Ceiling.of(*written)
        return pool, replace(ceiling, models=ceiling.models | frozenset(self.known.models))

    def _setting(self) -> Setting:
        from ...runtime.budget import Caps
        from ...runtime.services import Setting

        budget = self.options["budget"]
        return Setting(
            seed=self.recipe.seed,
            budget=Caps.parse(budget) if budget else Caps(),
            allow_unpriced=self.options["allow_unpriced"],
            cache=self.options["cache"],
            unsafe_local=self.options["unsafe_local"],
        )

    def _manifest(self) -> dict[str, Any]:
        """Say what makes this evolution: a change of it would make another one."""
        recipe = json.dumps(asdict(self.recipe), sort_keys=True)
        tasks = json.dumps([[task.id, task.query, task.context] for task in self.tasks])
        return {
            "recipe": hashlib.sha256(recipe.encode()).hexdigest(),
            "tasks": hashlib.sha256(tasks.encode("utf-8", "backslashreplace")).hexdigest(),
        }

    def _on_turn(self, turn: Mapping[str, Any]) -> None:
        """Show a turn, and commit the pool where that is wanted."""
        self.done += 1
        if not self.options["quiet"]:
            made = f"{len(turn['candidates'])} tried, {len(turn['dropped'])} dropped"
            text = f"{turn['task']}: {turn['score']:g} by {turn['team']} ({made})"
            click.echo(f"{self.done:5} of {len(self.tasks)}  {speakable(text)}", err=True)
        if self.options["use_git"]:
            commit(self.pool_folder, f"{turn['task']}: {turn['score']:g} by {turn['team']}")

    def report(self) -> Report:
        """Sum up what was done until now."""
        from ...pool.ledger import Ledger
        from ..folder import EVOLUTIONS, TURNS
        from ..report import Report

        turns = Ledger(self.pool_folder / EVOLUTIONS / self.name / TURNS)
        return Report.of(entry.value for entry in turns.read())

    def _show_report(self) -> None:
        from ...pool.expectation import most_promising
        from ...pool.pool import Pool

        report = self.report()
        best, expected = most_promising(Pool.open(self.pool_folder))
        if self.options["as_json"]:
            told = {"team": best.name, "expected": expected, "path": str(best.path)}
            click.echo(json.dumps({**report.value(), "best": told}, indent=2))
        else:
            said = f"best team: {best.path}, expected to score {expected:.3f}"
            click.echo(f"{report}\n{speakable(said)}")


def commit(folder: Path, message: str) -> None:
    """Commit a pool, in a repository of its own where it stands in none.

    Raises:
        AgentError: git is not installed, or failed.
    """
    from ...runtime.workspace import git

    if not (folder / ".git").exists():
        git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    if git(folder, "status", "--porcelain"):
        git(folder, "commit", "--quiet", "--message", message)

"""An evolution as a command runs it: its pool, folder, progress, test, and report."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...pool.folder.own_files import refuse_links
from ...pool.values.layout import EVOLUTIONS, LEDGER
from ...runtime.command.spending import exporting
from ...runtime.otel.many import TurnSpans, around
from ...runtime.record.journal import FILE, digest
from ...schema.values.errors import InputError, LimitError
from ...schema.values.files import write_atomically
from ...schema.values.json_text import dumps
from ...schema.values.terminal import counted, speakable
from ..evolution.folder import FROZEN, frozen_under

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from ...runtime.gateway.sharing import Shared
    from ...runtime.otel.telemetry import Telemetry
    from ...runtime.runs.services import Setting
    from ...runtime.values.budget import Budget, Caps
    from ...runtime.values.usage import Usage
    from ...schema.host.catalogue import Catalogue
    from ...schema.loading.recipe import Recipe
    from ...schema.team.task import Task
    from ...schema.team.team import Team
    from ..evolution.context import EvolutionContext
    from ..evolution.folder import Manifest
    from ..evolution.islands import Islands
    from ..evolution.strategy import Strategy
    from ..evolution.stream import TaskStream
    from ..report.heldout import Subject
    from .racing import HandOver
    from .starting import EvolutionStart
    from .watching import Watch

DIGITS = 6
"""The digits of a digest in an evolution's name, if names must not collide."""
OTHERS = "Choose other tasks for --test; different tasks need different ids."


@dataclass(frozen=True, kw_only=True, slots=True)
class Testing:
    """The held-out tasks, and how teams are tested on them.

    Attributes:
        places: The place of each task in its file, by id.
        caps: The test's own budget. Then learning ends when the evolution's budget is reached, and
            the frozen result is tested. None: the test shares the evolution's budget.
    """

    tasks: Sequence[Task]
    repeats: int
    beside: Sequence[Team] = ()
    workers: int = 1
    caps: Caps | None = None
    places: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(eq=False)
class Evolving:
    """An evolution in progress, to its end or an interruption.

    Attributes:
        pool_folder: The folder of the pool, which may not exist yet.
        places: The place of each task in its file, by id.
        elsewhere: The usage and seconds of evolutions that share the budget.
        islands: The islands that it is one of; recipe and tasks are then its own.
        shared: The resources that its models share with other evolutions; None: none.
        stem: The default for its name; "": the recipe's name.
        hand_over: Where the better team of a race is written; None: it stays in the pool.
        budget: The budget, once it is running.
    """

    recipe_file: Path
    recipe: Recipe
    tasks: Sequence[Task]
    pool_folder: Path
    catalogue: Catalogue
    options: dict[str, Any]
    testing: Testing | None = None
    places: Mapping[str, str] = field(default_factory=dict[str, str])
    elsewhere: tuple[Usage, float] | None = None
    islands: Islands | None = None
    shared: Shared | None = None
    stem: str = ""
    _finished: int = field(default=0, init=False)
    hand_over: HandOver | None = field(default=None, init=False)
    budget: Budget | None = field(default=None, init=False)
    telemetry: Telemetry | None = field(default=None, init=False)
    page: AsyncExitStack = field(default_factory=AsyncExitStack, init=False)

    def __post_init__(self) -> None:
        """Check the pool for links before anything of it is read."""
        refuse_links(self.pool_folder, whole=True)

    @cached_property
    def name(self) -> str:
        """The name of the evolution.

        In a pool whose branches are merged, it has a suffix that depends on the recipe and the
        first task.
        """
        name = self.options["name"] or self.stem or self.recipe_file.stem
        if self.options["name"] or not self._is_shared or (self._evolutions / name).exists():
            return name
        made_with = (self.manifest.recipe, next(iter(self.manifest.tasks.items())))
        return f"{name}-{digest(*made_with)[:DIGITS]}"

    @property
    def _is_shared(self) -> bool:
        from ...pool.ledger.state import is_shared

        is_there = (self.pool_folder / LEDGER).exists()
        return is_shared(self.pool_folder) if is_there else self.options["use_git"]

    @property
    def _evolutions(self) -> Path:
        return self.pool_folder / EVOLUTIONS

    @property
    def folder(self) -> Path:
        """The evolution's folder in its pool."""
        return self._evolutions / self.name

    def to_the_end(self) -> int:
        """Evolve and test, print the report, and return the exit code."""
        from ...runtime.command.signals import same_command, stopped_in_order, to_the_end

        self.check()
        if self.options["dry_run"]:
            self.foretell()
            return 0
        show = self.show
        with exporting(self.options) as self.telemetry:
            self.fetch()
            code = stopped_in_order(
                lambda: to_the_end(self.work(), same_command), self.how_to_go_on, show=show
            )
        if code == 0:
            show()
            self._give()
        return code

    def _give(self) -> None:
        """Write the better team of a race, if there is one."""
        from ...pool.teams.pool import Pool
        from ..methods.race.result import RaceResult

        status = RaceResult.read(self.folder) if self.hand_over else None
        if self.hand_over is not None and status is not None:
            pool = Pool.open(self.pool_folder, catalogue=self.start.catalogue)
            self._say(self.hand_over.give(status, pool, self.start.catalogue) or None)

    def how_to_go_on(self) -> str:
        """Return the command that resumes, with a larger budget if the current one is used up."""
        from ...runtime.command.ending import larger
        from ...runtime.command.signals import same_command

        if self.budget is None or not self.budget.reached:
            return same_command()
        return f"\nResume: {typed(without='--budget')} --budget {larger(self.budget)}"

    def check(self) -> None:
        """Check everything before anything is created or spent.

        Raises:
            InputError: There is a problem.
        """
        from ...pool.ledger.ledger import Ledger
        from ...pool.memory.learnt_tasks import LearntTasks
        from ..evolution.folder import TURNS, find_folder
        from .commits import check_repository

        find_folder(self.pool_folder, self.name, self.manifest)
        if self.islands is not None:
            self.islands.check(self.recipe)
        _ = self.setting
        self._finished = sum(1 for _ in Ledger(self.folder / TURNS).read())
        status = self.strategy.status(self.folder)
        if self.strategy.whole is not None and self.islands is not None:
            raise InputError(f"--island: {self.recipe.strategy} works on all tasks together.")
        self.strategy.check_tasks(self.tasks, self._held_out)
        if status is not None and status.is_over and not self._is_prolonged(status.caps):
            self._finished = len(self.tasks)
        elif self.hand_over is not None:
            self.hand_over.check(self.pool_folder)
        if self.testing is not None:
            self.start.refuse_unread(self.testing.tasks)
            learnt = self.islands.stream if self.islands else self.tasks
            learnt_tasks = LearntTasks.of(learnt, self.places) | LearntTasks.by(self.pool_folder)
            learnt_tasks.refuse(self.testing.tasks, OTHERS, places=self.testing.places)
        if self.options["use_git"]:
            check_repository(self.pool_folder)

    def _is_prolonged(self, before: Caps) -> bool:
        """Return whether there are more tasks, or a larger budget, than at the last end."""
        from ..evolution.folder import Manifest

        now, earlier = self.setting.budget.value(), before.value()
        more = any(now[name] > cap for name, cap in earlier.items() if name in now)
        return more or len(Manifest.read(self.folder).tasks) < len(self.tasks)

    def refuse_unused(self) -> None:
        """Raise if `--model` names a model that is never called."""
        from ...runtime.command.loading import refuse_unused

        beside = self.testing.beside if self.testing else ()
        tested = [agent.model_id for team in beside for agent in team.agents.values()]
        used = [*(model.alias for model in self.start.models), *tested, self.options["embedder"]]
        refuse_unused(self.options["model"], used)

    def foretell(self) -> None:
        """Print what would be done."""
        from .outlook import outlook

        click.echo(speakable(outlook(self, finished=self._finished)))

    def fetch(self) -> None:
        """Download the embedded model, if it may be called."""
        from ...runtime.command.loading import fetch_embedded

        if self._finished < len(self.tasks) or self.testing is not None:
            fetch_embedded(self.start.models)

    async def work(self) -> int:
        """Run everything that remains."""
        with around(
            self.telemetry,
            "evolution",
            **{"coterie.evolution": self.name, "coterie.seed": self.recipe.seed},
        ):
            async with AsyncExitStack() as self.page:
                code = await self._worked()
                if self.options.get("view"):
                    from ...runtime.command.viewer import kept_open

                    await kept_open()
                return code

    async def _open_page(self) -> None:
        from ...runtime.command.viewer import viewer

        if self.options.get("view"):
            await self.page.enter_async_context(viewer(self.folder))

    async def _worked(self) -> int:
        from ...runtime.scoring.form_check import FormCheck
        from ..evolution.context import open_stage
        from ..evolution.folder import open_folder
        from ..evolution.progress_check import ProgressCheck

        if self._finished < len(self.tasks) or not self.tasks:
            begun = (self.folder / FILE).exists()
            await self.start.check_host(self.setting, self.shared, begun=begun)
        elif self._is_finished:
            await self._open_page()
            return 0
        pool = self.start.open_pool(shared=self.options["use_git"])
        async with open_stage(
            name=self.name,
            recipe=self.recipe,
            catalogue=self.start.catalogue,
            ceiling=self.start.ceiling,
            setting=self.setting,
            pool=pool,
            folder=open_folder(self.pool_folder, self.name, self.manifest),
            embedder=self.options.get("embedder"),
            recalls=self._recalls,
            beside=self.recipe_file.parent,
            forms=None if self.options["allow_zeros"] else FormCheck(),
            progress=None if self.options["yes"] else ProgressCheck(),
            shared=self.shared,
            say=self._say,
        ) as stage:
            self.budget = stage.budget
            if self.elsewhere is not None:
                usage, seconds = self.elsewhere
                stage.budget.deposit(usage, seconds=seconds)
            await self._open_page()
            if self.testing is not None and self.testing.caps is not None:
                await self._freeze(stage)
                await self._test(self._apart(stage, self.testing.caps))
            elif self.strategy.whole is not None:
                await self._whole(stage, self.strategy.whole)
            else:
                await self._learn(stage)
                await self._test(stage)
        return 0

    @property
    def _held_out(self) -> Sequence[Task]:
        """The held-out tasks of a strategy that works on all tasks together."""
        return self.testing.tasks if self.testing and self.testing.caps is None else ()

    async def _learn(self, context: EvolutionContext) -> None:
        if self.strategy.whole is not None:
            await self._whole(context, self.strategy.whole)
        else:
            await self._evolve(context)
            await self._race(context)

    async def _freeze(self, context: EvolutionContext) -> None:
        """Learn once, to the end or until the budget is reached: resuming never learns more."""
        if frozen_under(self.folder) is not None:
            return
        try:
            await self._learn(context)
        except LimitError as error:
            self._say(f"frozen: {error}")
        text = dumps({"budget": self.setting.budget.value()}) + "\n"
        write_atomically(self.folder / FROZEN, text)

    def _apart(self, context: EvolutionContext, caps: Caps) -> EvolutionContext:
        """Return the test's context: the same, with its own budget."""
        from ...runtime.values.budget import Budget
        from ..report.heldout import PLACE

        self.budget = Budget(caps, name="the test")
        self.budget.deposit(context.journal.spent(PLACE))
        return replace(context, budget=self.budget)

    @property
    def _recalls(self) -> bool:
        """Whether any evolved or tested team recalls what was learnt."""
        tested = [*self._seeds(), *self.testing.beside] if self.testing else []
        return self.start.recalls or any(team.recalls for team in tested)

    def _seeds(self) -> list[Team]:
        from ...pool.teams.sources import load_source

        return [load_source(source, self.start.catalogue) for source in self.start.sources]

    async def _evolve(self, context: EvolutionContext) -> None:
        from ..evolution.evolution import Evolution
        from .watching import Watch

        if self._finished < len(self.tasks):
            self._say(self._heading())
        self._say(self.start.outlook)
        if self._finished:
            self._say(f"resuming after {self._finished} of {counted(len(self.tasks), 'task')}")
        if self.islands is not None:
            self.islands.claim(self.recipe)
        watch = Watch(
            tasks=self.tasks,
            count=self._finished,
            scrub=context.scrubber,
            quiet=self.options["quiet"],
        )
        turns = self._turns(context)
        with watch.shown(), turns:
            await Evolution(
                context=context,
                strategy=self.strategy,
                tasks=self.tasks,
                folder=self.folder,
                on_episode=partial(self._on_episode, watch, turns),
                hear=turns.beside(watch.hear),
                islands=self.islands and replace(self.islands, say=watch.say),
                is_final=self.testing is not None and self.testing.caps is not None,
            ).to_the_end()

    @property
    def _is_finished(self) -> bool:
        """Whether nothing remains once all tasks are done."""
        if self.strategy.whole is not None:
            return self.testing is None or self.testing.caps is None
        return self.testing is None and self.options.get("race") is None

    async def _race(self, context: EvolutionContext) -> None:
        """Race the pool's most promising teams, if requested."""
        from ..evolution.stream import TaskStream
        from ..methods.race.pool_race import race_pool

        if (calls := self.options.get("race")) is None:
            return
        context.pool.refresh()
        stream = TaskStream(context=context, tasks=self.tasks, folder=self.folder, say=self._say)
        result = await race_pool(stream, calls)
        self._say(str(result))
        self._commit(f"raced: {result.first}")

    async def _whole(
        self, context: EvolutionContext, work: Callable[[TaskStream], Awaitable[object]]
    ) -> None:
        from ..evolution.stream import TaskStream

        self._say(self._heading())
        stream = TaskStream(
            context=context,
            tasks=self.tasks,
            folder=self.folder,
            held_out=self._held_out,
            say=self._say,
        )
        with around(self.telemetry, self.recipe.strategy):
            await work(stream)
        self._finished = len(self.tasks)
        self._commit(f"{self.recipe.strategy}: {self.name}")

    @cached_property
    def strategy(self) -> Strategy:
        """The recipe's strategy."""
        from ..evolution.strategy import strategy_of

        return strategy_of(self.recipe.strategy)

    def _turns(self, context: EvolutionContext) -> TurnSpans:
        """Return the exporter of spans for the evolution's tasks, if traces are exported."""
        return TurnSpans(self.telemetry, self.catalogue.models, context.scrubber)

    def _heading(self) -> str:
        from ..evolution.reuse import told_reuse

        recipe, start = self.recipe, self.start
        models = (model for model in start.models if model.alias in start.asked_models)
        named = (f"{model.alias} = {model.model}" for model in models)
        what = f"{recipe.strategy}: {counted(len(self.tasks), 'task')}, {recipe.workers} at a time"
        reuse = told_reuse(self.recipe)
        return "; ".join([what, *named, *([reuse] if reuse else []), f"{self.folder}{os.sep}"])

    async def _test(self, context: EvolutionContext) -> None:
        """Test the team to deploy, or the strategy, and additional teams."""
        from ..report.frozen import HeldOutFigures, write_figures
        from ..report.heldout import HeldOut

        if self.testing is None:
            return
        context.pool.refresh()
        subjects = self._subjects(context, self.testing.beside)
        self._say(
            f"testing {', '.join(subject.name for subject in subjects)} on"
            f" {counted(len(self.testing.tasks), 'held-out task')} x {self.testing.repeats}"
        )
        with self._turns(context) as parts:
            trials = await HeldOut(
                context=context,
                subjects=subjects,
                tasks=self.testing.tasks,
                repeats=self.testing.repeats,
                workers=self.testing.workers,
                parts=None if self.telemetry is None else parts,
            ).to_the_end()
        write_figures(
            self.folder, HeldOutFigures.of(subjects, trials, after=self._finished), trials
        )
        self._commit(f"held out: {subjects[0].name}")

    def _subjects(self, context: EvolutionContext, beside: Sequence[Team]) -> list[Subject]:
        """Return the subjects of the test: teams, or the strategy if it leaves no team."""
        from ..report.heldout import frozen_teams, learned

        if self.strategy.leaves_team:
            is_apart = self.testing is not None and self.testing.caps is not None
            status = self.strategy.status(self.folder)
            seeds = [] if is_apart else self._seeds()
            return [*frozen_teams(context, seeds, beside, status.deployed if status else "")]
        return learned(context, self._finished, beside)

    @cached_property
    def start(self) -> EvolutionStart:
        """Its checked starting point."""
        from .starting import prepare_start

        return prepare_start(
            recipe_file=self.recipe_file,
            recipe=self.recipe,
            tasks=self.tasks,
            pool_folder=self.pool_folder,
            host=self.catalogue,
            embedder=self.options.get("embedder"),
            name=self.options["name"] or self.stem,
        )

    @cached_property
    def manifest(self) -> Manifest:
        """The manifest that identifies this evolution."""
        from ..evolution.folder import Manifest

        return Manifest.of(
            recipe=self.recipe,
            ceiling=self.start.ceiling,
            models=self.start.models,
            embedder=self.start.embedder,
            tasks=self.tasks,
            command=typed(),
            islands=self.islands and self.islands.value(),
            batch=self.options["batch"],
        )

    @cached_property
    def setting(self) -> Setting:
        """The setting of its runs."""
        from ...runtime.command.spending import setting_of

        return setting_of({**self.options, "seed": self.recipe.seed, "embedder": None})

    def _on_episode(self, watch: Watch, turns: TurnSpans, line: Mapping[str, Any]) -> None:
        """Print an episode's result, and commit the pool if requested."""
        from ..evolution.lines import runs_of, score_text

        turns.finished(self._finished, line.get("score"))
        self._finished += 1
        text = f"{runs_of(line)} tried, {len(line['dropped'])} dropped"
        if learnt := line.get("learnt"):
            text += f", {learnt} {'entry' if learnt == 1 else 'entries'} kept"
        text += f"; {line['said']}" if "said" in line else ""
        words = f"{line['task']}: {score_text(line)}"
        watch.finished(f"{words} ({text})")
        self._commit(words)

    def _commit(self, message: str) -> None:
        from .commits import commit

        if self.options["use_git"]:
            commit(self.pool_folder, message)

    def _say(self, text: str | None) -> None:
        if text is not None and not self.options["quiet"]:
            click.echo(speakable(text), err=True)

    def show(self) -> None:
        """Print the report; nothing if the evolution has not begun."""
        from ..evolution.folder import MANIFEST
        from ..report.rows import rows, write_csv
        from .telling import EvolutionStatus

        if not (self.folder / MANIFEST).exists():
            return
        if self.options.get("csv"):
            write_csv(self.options["csv"], list(rows(self.pool_folder, self.name)))
        status = EvolutionStatus.of(self.pool_folder, self.name)
        click.echo(status.shown(as_json=self.options["as_json"]))
        if not (self.options["as_json"] or self.options["quiet"] or self.options.get("view")):
            from ...runtime.command.ending import how_to_look

            click.echo(speakable(how_to_look(self.folder)), err=True)


def typed(*, without: str | None = None) -> str:
    """Return the command as typed, without texts that look like secrets.

    Args:
        without: An option to leave out, with its value.
    """
    from ...schema.values.secrets import scrubbed, secrets_of

    words = [
        word
        for before, word in pairwise(["", Path(sys.argv[0]).name, *sys.argv[1:]])
        if without not in {before, word.partition("=")[0]}
    ]
    return scrubbed(shlex.join(words), secrets_of(os.environ))

"""The computation of `mas dev op credit`: the players of a run, their runs, and their worth."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from ...runtime.record.branch import Branch, Locks
from ...runtime.runs.whole import as_run
from ...runtime.values.budget import Budget
from ...runtime.values.usage import Usage
from ...schema.loading.ceiling import CapabilityPolicy
from ...schema.values.errors import InputError, RunError
from ...schema.values.terminal import counted
from ..core.account import RoundAccount
from ..core.judge import JudgeVerdict, judge
from ..core.meta import MetaModel
from ..credit.counterfactual import MOST_NAMED, Counterfactuals, Player, by_answer, name_of
from ..credit.naive import naive_agents, naive_turns
from ..credit.players import agents_of, calls_at_most, turns_of
from ..credit.schemes import Credit, Game
from ..credit.table import Cost, CreditTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...runtime.agents.outcomes import Run
    from ...runtime.plan.plan import Plan
    from ...runtime.record.journal import Journal
    from ...runtime.rounds.rounds import Round
    from ...runtime.runs.services import Services
    from ...schema.host.catalogue import Catalogue
    from ...schema.team.task import Task
    from ..credit.counterfactual import Score, Worth

JUDGING = "by judge"
"""The journal path of a judge's answers. No agent's name has a space."""


@dataclass(kw_only=True, eq=False)
class Making:
    """The computation of a run's credit, while services and journals are open."""

    plan: Plan
    task: Task
    catalogue: Catalogue
    services: Services
    base: Journal
    options: dict[str, Any]

    def __post_init__(self) -> None:
        self.judge: str = self.options["judge"] or ""
        self.scrubber = self.services.scrubber(os.environ)
        self.budget = Budget(self.services.setting.budget, name="the credit")

    async def again(self, answer: str) -> tuple[Round, ...]:
        """Replay the run from its journal, and check that it gives the same answer.

        Raises:
            InputError: It does not.
        """
        rounds = await self._runs(self.base, (), by_answer(self.task, self.services)).factual()
        text = as_run(rounds, self.plan).answer
        if text is None or self.scrubber(text) != answer:
            raise InputError(
                "the journal does not reproduce this run's answer. The run may have been changed,"
                " or made by another version of coterie."
            )
        return rounds

    def bound(self, rounds: tuple[Round, ...]) -> str:
        """Return the planned runs, and the most calls that they take."""
        scheme, players = self.options["scheme"], self._players(rounds)
        what = "agent" if self.options["per"] == "agent" else "turn"
        head = f"{scheme}, {counted(len(players), what)}"
        if scheme == "naive":
            times = 1 if what == "agent" else len({number for _, number in players})
            return f"{head}: at most {counted(2 * times, 'call')} to {self.judge}"
        coalitions = self._game(players).coalitions
        silent = [[player for player in players if player not in some] for some in coalitions]
        calls = sum(calls_at_most(self.plan, some) for some in silent)
        judged = f", and {counted(2 * len(silent), 'call')} to {self.judge}" if self.judge else ""
        return (
            f"{head}: {counted(len(silent), 'run')}, including the run itself; at most"
            f" {counted(calls, 'call')} that its journal does not answer{judged}"
        )

    async def prepare(self) -> None:
        """Check that everything needed is available, without spending anything."""
        await self.services.prepare(self.plan)
        if self.judge:
            priced = self.services.setting.must_be_priced
            await self.services.gateway.prepare([self.judge], priced=priced)

    async def table(self, rounds: tuple[Round, ...], own: Journal) -> CreditTable:
        """Compute the worth of all players."""
        self.budget.deposit(own.spent(), seconds=own.seconds)
        players = self._players(rounds)
        if self.options["scheme"] == "naive":
            return await self._naive(rounds, players, own)
        return await self._played(players, own)

    async def _played(self, players: tuple[Player, ...], own: Journal) -> CreditTable:
        task, game = self.task, self._game(players)
        score = self._by_judge(own) if self.judge else by_answer(task, self.services)
        runs = self._runs(own, players, score)
        worths = await runs.worths(game.coalitions, functools.partial(self._tell, players))
        values = {some: worth.value for some, worth in worths.items()}
        everybody = frozenset(players)
        return CreditTable(
            team=self.plan.team.name,
            task=task.id,
            scheme=game.scheme,
            score=values[everybody],
            nobody=values.get(frozenset()),
            credits=game.credits(values),
            costs={player: Cost.of([worths[everybody - {player}]]) for player in players}
            if game.scheme == "difference"
            else {},
            cost=Cost.of(worths.values()),
            runs=len(worths),
            others=_others(own),
        )

    async def _naive(
        self, rounds: tuple[Round, ...], players: tuple[Any, ...], own: Journal
    ) -> CreditTable:
        meta, task = self._meta(own), self.task
        path = f"{JUDGING}/contributions"
        if self.options["per"] == "turn":
            shares = await naive_turns(meta, path, task, rounds, players)
        else:
            account = RoundAccount(team=self.plan.team, run=as_run(rounds, self.plan))
            shares = await naive_agents(meta, path, task, account, players)
        return CreditTable(
            team=self.plan.team.name,
            task=task.id,
            scheme="naive",
            credits={player: Credit(worth=share) for player, share in shares.items()},
            others=_others(own),
        )

    def _players(self, rounds: tuple[Round, ...]) -> tuple[Any, ...]:
        named = self.options["agents"]
        chosen = [part.strip() for part in named.split(",")] if named else []
        agents = agents_of(self.plan, rounds, chosen)
        return agents if self.options["per"] == "agent" else turns_of(rounds, agents)

    def _game(self, players: tuple[Player, ...]) -> Game[Player]:
        return Game(
            scheme=self.options["scheme"],
            players=players,
            permutations=self.options["permutations"],
            seed=self.options["seed"] or 0,
        )

    def _runs(
        self, own: Journal, players: tuple[Player, ...], score: Score
    ) -> Counterfactuals[Player]:
        model = self.catalogue.models[self.judge].model if self.judge else None
        return Counterfactuals(
            services=self.services,
            plan=self.plan,
            task=self.task,
            base=self.base,
            own=own,
            players=players,
            score=score,
            judged=[self.judge, model] if self.judge else None,
            scrubber=self.scrubber,
            budget=self.budget,
            workers=self.options["workers"],
        )

    def _meta(self, own: Journal) -> MetaModel:
        """Return the judge. Concurrent equal questions share one answer."""
        journal = Branch.of(own, own, JUDGING, locks=Locks())
        return MetaModel(
            calls=self.services.calls(journal=journal, scrubber=self.scrubber),
            catalogue=self.catalogue,
            ceiling=CapabilityPolicy.of(self.plan.team),
            model=self.judge,
            budget=self.budget,
        )

    def _by_judge(self, own: Journal) -> Score:
        meta = self._meta(own)

        async def score(run: Run) -> float:
            verdict = await judge(meta, JUDGING, self.task, run.answer or "")
            if isinstance(verdict, JudgeVerdict):
                return verdict.score.value
            problems = "; ".join(verdict.problems)
            raise RunError(
                f"the judge {self.judge}: {verdict.reason} {problems} Choose another model."
            )

        return score

    def _tell(self, players: tuple[Player, ...], some: frozenset[Player], worth: Worth) -> None:
        if not self.options["quiet"]:
            name = name_of((player for player in players if player not in some), most=MOST_NAMED)
            calls = counted(Cost.of([worth]).paid.calls, "call")
            click.echo(f"{name}: score {worth.value:.3g}, {calls} beyond the run's", err=True)


def _others(own: Journal) -> dict[str, Usage]:
    """Return the usage beside the runs' answers, by purpose."""
    answered = _sum(own.values("model"))
    usages = {
        "judging": _sum(own.values("model", under=JUDGING)),
        "failed calls": own.spent() - answered,
    }
    return {name: usage for name, usage in usages.items() if usage.calls or usage.cached_calls}


def _sum(values: Iterable[Mapping[str, Any]]) -> Usage:
    return sum((Usage(**value["usage"]) for value in values), Usage())

"""Counterfactuals: the result of a run without some who took part in it (MATTRL §5.1).

A coalition's value is the score of the run in which all other players are silenced. What such a run
has in common with the factual one is answered from its journal; the rest is paid for once, however
many coalitions need it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ...runtime.agents.ablation import Ablation
from ...runtime.record.branch import Branch, Locks
from ...runtime.record.journal import digest
from ...runtime.runs.whole import as_run, passes
from ...runtime.scoring.scoring import scored
from ...runtime.values.together import by_workers
from ...runtime.values.usage import Usage
from ...schema.values.codec import from_value, kept, to_value
from ...schema.values.errors import InputError, LimitError
from ..evolution.task_runs import Halted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...runtime.agents.outcomes import Run
    from ...runtime.plan.plan import Plan
    from ...runtime.record.journal import Journal
    from ...runtime.rounds.rounds import Round
    from ...runtime.runs.services import Services
    from ...runtime.scrubbing.scrubber import Scrubber
    from ...runtime.values.budget import Budget
    from ...schema.team.task import Task

MOST_NAMED = 3
"""Players that a message names."""

Turn = tuple[str, int]
"""One utterance: an agent, and a round in which it worked."""

Player = TypeVar("Player", bound="str | Turn")

Score = Callable[["Run"], Awaitable[float]]
"""Says how good a run's answer is, in [0, 1]. It **must not** depend on anything but the run."""


@kept()
class Worth:
    """The result of a coalition.

    Attributes:
        value: The score of its run, in [0, 1]; 0 where it came to no answer.
        needed: What all answers cost that its run follows from, whoever paid for them and when.
        paid: What those of them cost that the factual run had not paid, by question. Coalitions
            that have a question in common pay for it once.
    """

    value: float
    needed: Usage
    paid: Mapping[str, Usage]


@dataclass(kw_only=True, eq=False)
class Counterfactuals(Generic[Player]):
    """The runs of coalitions of players, each made once.

    Attributes:
        services: Models, tools and jails, as the factual run had them: its seed, too.
        plan: The plan of the factual run.
        own: Where what differs is kept. It may be the same one.
        players: All players: agents, or utterances of theirs. Whoever is none always takes part.
        score: Says how good an answer is.
        judged: What scores depend on beside the run: who judges, and how.
        path: Where the factual run stands in its journal: empty, or ending with a slash.
        dialogue: Characters that the factual run kept of what each agent read and said.
        workers: How many runs are at work at once.
    """

    services: Services
    plan: Plan
    task: Task
    base: Journal
    own: Journal
    players: tuple[Player, ...]
    score: Score
    judged: Any = None
    path: str = ""
    dialogue: int = 0
    scrubber: Scrubber | None = None
    budget: Budget | None = None
    workers: int = 4
    locks: Locks = field(default_factory=Locks)
    _worths: dict[frozenset[Player], Worth] = field(
        default_factory=dict[frozenset[Player], Worth], init=False
    )

    async def factual(self) -> tuple[Round, ...]:
        """Make the factual run again from its journal alone, and give its passes.

        Raises:
            InputError: The journal does not answer all that the run asks, so that a run without
                somebody would differ in more than that.
        """
        branch = Branch.of(self.base, self.base, "again", locks=Locks(), is_live=False)
        rounds = await self._passes(branch, Ablation())
        if branch.missing:
            raise InputError(
                f"the run cannot be made again from its journal, which has nothing under"
                f" {branch.missing[0]!r}: what it does without somebody would not tell what they"
                " were worth. An agent may have failed for its model's or the host's sake, or the"
                " run is of another version."
            )
        return rounds

    async def worth(self, coalition: frozenset[Player]) -> Worth:
        """Make the run in which all players but these are silenced, and score it; once."""
        if coalition not in self._worths:
            self._worths[coalition] = await self._computed(coalition)
        return self._worths[coalition]

    async def worths(
        self,
        coalitions: Iterable[frozenset[Player]],
        tell: Callable[[frozenset[Player], Worth], None] = lambda *_: None,
    ) -> Mapping[frozenset[Player], Worth]:
        """Make the runs of several coalitions, some at once.

        Args:
            tell: Told of each when it is there.
        """
        wanted = tuple(dict.fromkeys(coalitions))

        async def make(coalition: frozenset[Player]) -> None:
            tell(coalition, await self.worth(coalition))

        await by_workers(wanted, make, self.workers)
        return {item: self._worths[item] for item in wanted}

    async def _computed(self, coalition: frozenset[Player]) -> Worth:
        """Find the result of a coalition in the own journal, or make its run."""
        silent = [player for player in self.players if player not in coalition]
        name = name_of(silent)
        task = self.task
        question = digest(
            self.plan.content_hash, task.id, task.query, task.context, silent, self.judged
        )

        async def work() -> Mapping[str, Any]:
            branch = Branch.of(self.own, self.base, name, locks=self.locks)
            rounds = await self._passes(branch, _silence(silent))
            for item in rounds:
                _must_count(item.run, name_of(silent, most=MOST_NAMED))
            run = as_run(rounds, self.plan)
            value = 0.0 if run.answer is None else await self.score(run)
            return to_value(Worth(value=value, needed=branch.needed, paid=branch.paid))

        value = await self.own.once(f"{self.path}worth {name}", "worth", question, work)
        return from_value(Worth, value)

    async def _passes(self, journal: Journal, silent: Ablation) -> tuple[Round, ...]:
        context = self.services.context(
            journal=journal, scrubber=self.scrubber, budget=self.budget, dialogue=self.dialogue
        )
        return await passes(self.plan, self.task, context, path=self.path, silent=silent)


def by_answer(task: Task, services: Services) -> Score:
    """Return what scores a run by the task's reference answer."""

    async def score(run: Run) -> float:
        result = await scored(run, task, services.jails)
        if result.fault is not None:
            raise Halted(f"task {task.id}: {result.error}")
        if result.score is None:
            raise InputError(f"task {task.id!r} has no answer to score against.")
        return result.score.value

    return score


def name_of(silent: Iterable[str | Turn], *, most: int | None = None) -> str:
    """Return who is silenced: `without ann and bob in round 2`, or `with all`.

    Args:
        most: How many are named at most; None for all.
    """
    names = [item if isinstance(item, str) else f"{item[0]} in round {item[1]}" for item in silent]
    if most is not None and len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return f"without {' and '.join(names)}" if names else "with all"


def _silence(silent: Iterable[str | Turn]) -> Ablation:
    targets = [*silent]
    return Ablation(
        agents=frozenset(item for item in targets if isinstance(item, str)),
        turns=frozenset(item for item in targets if not isinstance(item, str)),
    )


def _must_count(run: Run, name: str) -> None:
    """Make sure that the result of a run is what the team does without somebody."""
    if run.over_budget:
        raise LimitError(f"{name}: {run.error}")
    if run.is_infrastructure_failure:
        raise Halted(f"{name}: {run.why_failed}")

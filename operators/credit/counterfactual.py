"""Counterfactuals: the result of a run without some of its participants (MATTRL §5.1).

The value of a coalition is the score of the run in which all other players are silenced. What such
a run shares with the factual one is answered from the journal. The rest is paid once, however many
coalitions need it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ...runtime.record.branch import Branch, Locks
from ...runtime.record.journal import digest
from ...runtime.rounds.rounds import Ablation
from ...runtime.runs.whole import as_run, passes
from ...runtime.scoring.scorers import scored
from ...runtime.values.together import by_workers
from ...runtime.values.usage import Usage
from ...schema.values.codec import from_value, stored, to_value
from ...schema.values.errors import InputError, LimitError
from ..core.utterances import Turn
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
"""The most players that a message names."""

Player = TypeVar("Player", bound="str | Turn")

Score = Callable[["Run"], Awaitable[float]]
"""Scores a run's answer, in [0, 1]. It **must** depend only on the run."""


@stored()
class Worth:
    """The result of a coalition.

    Attributes:
        value: The score of its run, in [0, 1]; 0 without an answer.
        needed: The cost of all answers behind its run, whoever paid for them.
        paid: The cost of those answers that the factual run had not paid, by question. Coalitions
            with a common question pay for it once.
    """

    value: float
    needed: Usage
    paid: Mapping[str, Usage]


@dataclass(kw_only=True, eq=False)
class Counterfactuals(Generic[Player]):
    """The runs of coalitions of players, each made once.

    Attributes:
        services: Models, tools and jails as in the factual run, including its seed.
        own: The journal for the differences. It may be the same as `base`.
        players: All players: agents, or their utterances. Everyone else always takes part.
        judged: The judge and its settings, which scores also depend on.
        path: The prefix of the factual run in its journal: empty, or ending with a slash.
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
    scrubber: Scrubber | None = None
    budget: Budget | None = None
    workers: int = 4
    locks: Locks = field(default_factory=Locks)
    _worths: dict[frozenset[Player], Worth] = field(
        default_factory=dict[frozenset[Player], Worth], init=False
    )

    async def factual(self) -> tuple[Round, ...]:
        """Replay the factual run from its journal alone, and return its passes.

        Raises:
            InputError: The journal is incomplete, so a counterfactual run would differ in more than
                the silenced players.
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
        """Return the score of a coalition's run, in which the other players are silenced."""
        if coalition not in self._worths:
            self._worths[coalition] = await self._computed(coalition)
        return self._worths[coalition]

    async def worths(
        self,
        coalitions: Iterable[frozenset[Player]],
        tell: Callable[[frozenset[Player], Worth], None] = lambda *_: None,
    ) -> Mapping[frozenset[Player], Worth]:
        """Make the runs of several coalitions, concurrently.

        Args:
            tell: Receives each result as soon as it is complete.
        """
        wanted = tuple(dict.fromkeys(coalitions))

        async def make(coalition: frozenset[Player]) -> None:
            tell(coalition, await self.worth(coalition))

        await by_workers(wanted, make, self.workers)
        return {item: self._worths[item] for item in wanted}

    async def _computed(self, coalition: frozenset[Player]) -> Worth:
        """Return the result of a coalition from the own journal, or make its run."""
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
        context = self.services.context(journal=journal, scrubber=self.scrubber, budget=self.budget)
        return await passes(self.plan, self.task, context, path=self.path, silent=silent)


def by_answer(task: Task, services: Services) -> Score:
    """Return a function that scores a run by the task's reference answer."""

    async def score(run: Run) -> float:
        result = await scored(run, task, services.jails)
        if result.fault is not None:
            raise Halted(f"task {task.id}: {result.error}")
        if result.score is None:
            raise InputError(f"task {task.id!r} has no answer to score against.")
        return result.score.value

    return score


def name_of(silent: Iterable[str | Turn], *, most: int | None = None) -> str:
    """Return a name for silenced players: `without ann and bob in round 2`, or `with all`.

    Args:
        most: The most players to name; None for all.
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
    """Raise unless the result of a run is due to the silenced players alone."""
    if run.over_budget:
        raise LimitError(f"{name}: {run.error}")
    if run.is_infrastructure_failure:
        raise Halted(f"{name}: {run.why_failed}")

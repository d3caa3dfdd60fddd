"""An evolution: a stream of tasks, one turn each, several at work, committed in order.

A task sees what came of every task but the last `workers` before it. So several can be at work,
and yet what a task sees does not depend on how long the others took: the same stream with the same
answers leads to the same pool. A turn is committed whole, after the one before it. After a crash
the turns that were not are taken again, from the journal as far as it goes.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..pool.ledger import Ledger
from ..pool.state import Admission
from .folder import EVOLUTIONS, TURNS
from .turn import Halted, Turn
from .view import View, op, turn_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from ..pool.experience import Experience
    from ..schema.task import Task
    from .stage import Stage, Strategy

__all__ = ["EVOLUTIONS", "TURNS", "Evolution"]


@dataclass(kw_only=True, eq=False)
class Evolution:
    """An evolution in its folder.

    Attributes:
        stage: What it has of this host.
        strategy: What it does with a task.
        tasks: The stream.
        folder: Where its turns and its journal are kept.
        on_turn: Told each turn that was committed, as its line has it.
    """

    stage: Stage
    strategy: Strategy
    tasks: Sequence[Task]
    folder: Path
    on_turn: Callable[[Mapping[str, Any]], None] = lambda _value: None
    _running: dict[int, asyncio.Task[Turn]] = field(default_factory=dict[int, "asyncio.Task[Turn]"])

    def __post_init__(self) -> None:
        self._turns = Ledger(self.folder / TURNS)
        self._view = View(self.stage.pool.folder, self.stage.name)

    @property
    def committed(self) -> int:
        """How many turns were committed."""
        return sum(1 for _ in self._turns.read())

    def lines(self) -> list[Mapping[str, Any]]:
        """Give the committed turns, as their lines have them.

        Raises:
            StorageError: The file is damaged.
        """
        return [entry.value for entry in self._turns.read()]

    async def to_the_end(self) -> None:
        """Take all turns that were not taken yet.

        Raises:
            Halted: A provider or a jail failed. What was paid for is kept.
            LimitError: The budget is used up. What was paid for is kept.
            StorageError: Something cannot be written down.
        """
        first, workers = self.committed, self.stage.recipe.workers
        try:
            for number in range(first, min(first + workers, len(self.tasks))):
                self._begin(number)
            for number in range(first, len(self.tasks)):
                turn = await self._running[number]
                del self._running[number]
                self._commit(turn)
                if number + workers < len(self.tasks):
                    self._begin(number + workers)
        except asyncio.CancelledError:
            for one in self._running.values():
                one.cancel()
            raise
        finally:
            # Others may have paid for answers that they wait for: these are kept.
            await asyncio.gather(*self._running.values(), return_exceptions=True)

    def _begin(self, number: int) -> None:
        """Begin a turn with what it is to see, which is settled before anything is awaited."""
        seen = number - self.stage.recipe.workers
        self._view.catch_up(seen)
        task = self.tasks[number]
        turn = Turn(
            stage=self.stage,
            number=number,
            task=task,
            members=self._view.members,
            experiences=self._experiences(task, seen),
        )
        self._running[number] = asyncio.create_task(self._taken(turn), name=turn.path)

    async def _taken(self, turn: Turn) -> Turn:
        await self.strategy(turn)
        if not turn.candidates:
            why = turn.dropped[-1].reason if turn.dropped else "the pool has no team for it."
            raise Halted(f"task {turn.task.id}: nothing could be tried and scored: {why}")
        return turn

    def _experiences(self, task: Task, seen: int) -> list[tuple[Experience, float]]:
        """Find experiences with similar tasks, but none of turns that this one may not see."""
        memory, wanted = self.stage.memory, self.stage.recipe.memory
        if memory is None or wanted == 0:
            return []
        # After a crash, memory may hold what turns between the seen ones and this one learnt.
        found = memory.search(task.text, wanted + self.stage.recipe.workers)
        turns = ((entry, near, turn_of(self.stage.name, entry.id)) for entry, near in found)
        return [(entry, near) for entry, near, turn in turns if turn is None or turn <= seen][
            :wanted
        ]

    def _commit(self, turn: Turn) -> None:
        """Put what came of a turn into the pool, and last its line: then it is done."""
        kept = self._kept(turn)
        self._remember(turn)
        best = turn.best
        value = {
            "task": turn.task.id,
            "niche": turn.task.niche or None,
            "team": kept.name,
            "new": kept.is_new,
            "score": best.score,
            "scored_by": self.stage.recipe.score,
            "verdict": None if turn.task.answer is None else best.verdict,
            "first": None if turn.task.answer is None else turn.candidates[0].verdict,
            "reward": best.reward,
            "best": turn.candidates.index(best),
            "candidates": [one.value() for one in turn.candidates],
            "dropped": [{"operator": one.operator, "reason": one.reason} for one in turn.dropped],
            "operators": turn.spent.value(),
            "judging": turn.judging.value(),
        }
        self._turns.append(value, op=self._op(turn, "turn"))
        self.on_turn(value)

    def _kept(self, turn: Turn) -> Admission:
        """Put the best team of a turn into the pool, and the trials of those that are there."""
        pool, best = self.stage.pool, turn.best
        for number, lost in enumerate(turn.dropped):
            pool.rejected(
                operator=lost.operator,
                reason=lost.reason,
                problems=lost.problems,
                parents=[name for name in lost.parents if name in pool.teams],
                task=turn.task.id,
                run=self.stage.name,
                op=self._op(turn, f"dropped {number}"),
            )
        for one in turn.candidates:
            if one.member is not None:
                trial = one.trial(turn.task, self.stage.name)
                pool.record(one.member, trial, op=self._op(turn, f"trial {one.number}"))
        if best.member is not None:
            return Admission(name=best.member, is_new=False)
        kept = pool.add(best.team, best.born, op=self._op(turn, "best"))
        trial = best.trial(turn.task, self.stage.name)
        pool.record(kept.name, trial, op=self._op(turn, f"trial {best.number}"))
        return kept

    def _remember(self, turn: Turn) -> None:
        if self.stage.memory is not None and turn.learnt is not None:
            self.stage.memory.add(replace(turn.learnt, id=self._op(turn, "learnt")))

    def _op(self, turn: Turn, what: str) -> str:
        return op(self.stage.name, turn.number, what)

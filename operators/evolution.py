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

from ..pool.expectation import ranked
from ..pool.ledger import Ledger
from ..pool.view import Views, op
from ..schema.team import SolvedTask
from .folder import EVOLUTIONS, TURNS
from .material import clip
from .trying import Halted, is_judged
from .turn import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ..schema.edits import Component
    from ..schema.task import Task
    from ..schema.team import Team
    from .candidates import Candidate
    from .stage import Stage, Strategy

__all__ = ["EVOLUTIONS", "TURNS", "Evolution"]

Gain = tuple["Component", float]
"""The component that a mutation touched, and what the child's reward was more than its parent's."""
LONGEST_QUERY = 500
"""Characters of a task that a team's file quotes, when it has solved it."""


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
    _gains: list[list[Gain]] = field(default_factory=list["list[Gain]"])

    def __post_init__(self) -> None:
        self._turns = Ledger(self.folder / TURNS)
        self._views = Views(self.stage.pool, self.stage.name, self.stage.memory)
        self._gains += [[*_gains(line)] for line in self.lines()]

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
        view, task = self._views.upto(seen), self.tasks[number]
        turn = Turn(
            stage=self.stage,
            number=number,
            task=task,
            members=view.members,
            experiences=view.search(task.text, self.stage.recipe.memory),
            gains=[gain for one in self._gains[: max(0, seen + 1)] for gain in one],
        )
        self._running[number] = asyncio.create_task(self._taken(turn), name=turn.path)

    async def _taken(self, turn: Turn) -> Turn:
        await self.strategy(turn)
        if not turn.candidates:
            why = turn.dropped[-1].reason if turn.dropped else "the pool has no team for it."
            raise Halted(f"task {turn.task.id}: nothing could be tried and scored: {why}")
        return turn

    def _commit(self, turn: Turn) -> None:
        """Put what came of a turn into the pool, and last its line: then it is done."""
        names, is_new = self._keep(turn)
        self._remember(turn)
        best, first = turn.best, turn.candidates[0]
        recipe, known = self.stage.recipe, turn.task.answer is not None
        value = {
            "task": turn.task.id,
            "niche": turn.task.niche or None,
            "team": names[best.number] or best.born.parents[0],
            "kept": names[best.number] is not None,
            "new": is_new,
            "pool": len(self.stage.pool.members),
            "score": best.score,
            "scored_by": "judge" if is_judged(recipe, turn.task) else "answer",
            "verdict": best.verdict if known else None,
            "first": first.verdict if known else None,
            "reward": best.reward,
            "best": turn.candidates.index(best),
            "candidates": [{**one.value(), "team": names[one.number]} for one in turn.candidates],
            "dropped": [
                {
                    "operator": one.operator,
                    "reason": one.reason,
                    "problems": list(one.problems),
                }
                for one in turn.dropped
            ],
            "operators": turn.spent.value(),
            "judging": turn.judging.value(),
        }
        self._turns.append(value, op=self._op(turn, "turn"))
        self._gains.append([*_gains(value)])
        self.on_turn(value)

    def _keep(self, turn: Turn) -> tuple[dict[int, str | None], bool]:
        """Put a turn's newcomer into the pool, and every trial of a team that is there.

        Returns:
            What the pool calls each candidate, by its number; None where it has no such team. And
            whether a team came in.
        """
        pool, newcomer = self.stage.pool, turn.newcomer
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
        names: dict[int, str | None] = {}
        is_new = False
        if newcomer is not None:
            # It may have been born meanwhile, in a turn that this one did not see.
            team = _solved(newcomer, turn.task)
            came_in = pool.add(team, newcomer.born, op=self._op(turn, "best"))
            names[newcomer.number], is_new = came_in.name, came_in.is_new
        for one in turn.candidates:
            if one is not newcomer:
                names[one.number] = pool.twin_of(one.team)
            if (name := names[one.number]) is not None:
                self._record(turn, one, name, chosen=is_new and one is newcomer)
            if one.is_adapted:
                self._record(turn, one, one.born.parents[0], adapted=True)
        if is_new and newcomer is not None:
            self._make_room(turn, newcomer=names[newcomer.number])
        return names, is_new

    def _record(self, turn: Turn, one: Candidate, name: str, **marks: bool) -> None:
        """Record a candidate's trials for a team, whether it was the best of its task or not."""
        what = "adapted" if marks.get("adapted") else "trial"
        for number, trial in enumerate(one.trials(turn.task, self.stage.name)):
            again = f".{number}" if number else ""
            op = self._op(turn, f"{what} {one.number}{again}")
            self.stage.pool.record(name, replace(trial, **marks), op=op)

    def _make_room(self, turn: Turn, *, newcomer: str | None) -> None:
        """Retire those that are expected to score least, until no more are left than may be."""
        pool, cap = self.stage.pool, self.stage.recipe.cap
        if cap is None or len(pool.members) <= cap:
            return
        order = [
            one.name
            for one in ranked(pool.teams.values())
            if one.retired is None and one.name != newcomer
        ]
        for name in order[cap - 1 :]:
            pool.retire(
                name,
                reason=f"the pool has {cap} teams at most, and it was expected to score least.",
                op=self._op(turn, f"retired {name}"),
            )

    def _remember(self, turn: Turn) -> None:
        if self.stage.memory is not None and turn.learnt is not None:
            self.stage.pool.commit(turn.learnt, op=self._op(turn, "learnt"))

    def _op(self, turn: Turn, what: str) -> str:
        return op(self.stage.name, turn.number, what)


def _solved(one: Candidate, task: Task) -> Team:
    """Note on a team that comes into the pool which task it comes for (EvoMAS App. B.2)."""
    solved = SolvedTask(q=clip(task.text, LONGEST_QUERY), notes=f"scored {one.score:.3g}")
    return replace(one.team, successful_tasks=(solved,))


def _gains(line: Mapping[str, Any]) -> Iterator[Gain]:
    """Read from a turn's line what its mutations gained."""
    rewards = {one["number"]: one["reward"] for one in line["candidates"]}
    for one in line["candidates"]:
        if one["component"] is not None:
            yield one["component"], one["reward"] - rewards[one["sources"][0]]

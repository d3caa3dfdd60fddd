"""An evolution: a stream of tasks, one episode each, run concurrently and committed in order.

A task sees the results of all earlier tasks except the last `workers`. So episodes can run
concurrently, yet what a task sees never depends on their speed. The same stream with the same
answers yields the same pool. An episode is committed as a whole, after its predecessor. After a
crash, uncommitted episodes are repeated, from the journal as far as it goes.
"""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from ...pool.ledger.changes import ChildRejected, EventNoted
from ...pool.ledger.ledger import Ledger
from ...pool.ledger.scaffold import HEAD, next_head
from ...pool.view import Views
from .episode import EarlierEpisodes, Episode
from .folder import EPISODES, EVOLUTIONS, TURNS
from .lines import lines_in
from .log import EpisodeLog
from .room import has_room

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from ...runtime.record.trace import Event
    from ...schema.team.task import Task
    from .context import EvolutionContext
    from .islands import Islands
    from .strategy import Strategy

__all__ = ["EVOLUTIONS", "TURNS", "Evolution"]


@dataclass(kw_only=True, eq=False)
class Evolution:
    """An evolution in its folder.

    Attributes:
        on_episode: Receives the line of each committed episode.
        hear: Receives the events of an episode, with its number. If set, they are also logged in
            the episode's folder.
        islands: The group of islands that it is part of; None if it is alone.
    """

    context: EvolutionContext
    strategy: Strategy
    tasks: Sequence[Task]
    folder: Path
    on_episode: Callable[[Mapping[str, Any]], None] = lambda _value: None
    hear: Callable[[int, Event], None] | None = None
    islands: Islands | None = None
    is_final: bool = False
    _running: dict[int, asyncio.Task[Episode]] = field(
        default_factory=dict[int, "asyncio.Task[Episode]"]
    )

    def __post_init__(self) -> None:
        self._lines = Ledger(self.folder / TURNS)
        stage, settings = self.context, self.context.recipe.settings
        self._end = len(self.tasks)
        self._closing = self.strategy.closing_calls if self.is_final else None
        self._views = Views(stage.pool, stage.name, stage.memory, self.strategy.fold(settings))
        needs = self.strategy.needs(settings)
        self._past = self.lines() if "past" in needs else None

    @property
    def committed(self) -> int:
        """The number of committed episodes."""
        return sum(1 for _ in self._lines.read())

    def lines(self) -> list[Mapping[str, Any]]:
        """Return the lines of the committed episodes."""
        return [*lines_in(self.folder)]

    async def to_the_end(self) -> None:
        """Run all remaining episodes. After an error, everything that was paid for is kept.

        Raises:
            Halted: A provider or a jail failed, or operators get no valid answers.
            LimitError: The budget is used up.
            NotYet: Another island is behind, and this one does not wait.
            StorageError: A file cannot be written.
        """
        first, workers = self.committed, self.context.recipe.workers
        if not first:
            self._prepare()
        try:
            for number in range(first, first + workers):
                self._begin(number)
            number = first
            while number < self._end:
                episode = await self._running[number]
                del self._running[number]
                await self._before_commit(episode)
                self._commit(episode)
                await self._meet(episode)
                self._close(episode)
                self._begin(number + workers)
                number += 1
        except asyncio.CancelledError:
            for task in self._running.values():
                task.cancel()
            raise
        finally:
            # Other episodes may await answers that are already paid for: let these be recorded.
            await asyncio.gather(*self._running.values(), return_exceptions=True)

    def _prepare(self) -> None:
        """Apply the strategy's initial changes to the pool, once."""
        for number, change in enumerate(self.strategy.begin(self.context)):
            self.context.pool.commit(change, op=f"{self.context.name}/begin/{number:03d}")
        if self.strategy.scaffold and (head := next_head(self.context.pool.members)):
            noted = EventNoted(what=HEAD, about={"team": head})
            self.context.pool.commit(noted, op=f"{self.context.name}/begin/head")

    def _begin(self, number: int) -> None:
        """Start an episode. What it sees is fixed before anything is awaited."""
        if number < self._end and not self._has_room(number, self._past or ()):
            self._end = number
        if number >= self._end:
            return
        log = self._log(number, self._folder(number))
        episode = self._episode(number, self._views)
        episode.trace = log.trace if log else None
        self._running[number] = asyncio.create_task(self._ended(episode, log), name=episode.path)

    def _has_room(self, number: int, lines: Sequence[Mapping[str, Any]]) -> bool:
        """Return whether there is room for a task in a budget that nobody raises.

        The lines that are there whenever it may begin decide, so a restart decides the same.
        """
        done = lines[: max(0, number + 1 - self.context.recipe.workers)]
        if self._closing is None or not done:
            return True
        tasks = number + 1 - len(done)
        calls = self._closing(self.context.recipe.settings, done, tasks)
        return has_room(self.context.budget.caps, done, tasks=tasks, calls=calls)

    def _is_last(self, episode: Episode) -> bool:
        """Return whether no task follows one that is to be committed."""
        coming = episode.number + 1
        if coming == self._end or coming in self._running or self._closing is None:
            return coming == self._end
        lines = [*(self._past or ()), episode.line(self.context.pool)]
        return not self._has_room(coming, lines)

    def _episode(self, number: int, views: Views) -> Episode:
        last = number - self.context.recipe.workers
        return Episode(
            context=self.context,
            number=number,
            task=self.tasks[number],
            view=views.upto(last),
            past=(self._past or [])[: max(0, last + 1)],
            folder=self._folder(number),
        )

    def _folder(self, number: int) -> Path:
        return self.folder / EPISODES / f"{number:06d}"

    def _log(self, number: int, folder: Path) -> EpisodeLog | None:
        if self.hear is None:
            return None
        hear = partial(self.hear, number)
        return EpisodeLog(folder=folder, scrub=self.context.scrubber, beside=(hear,))

    async def _ended(self, episode: Episode, log: EpisodeLog | None) -> Episode:
        with log or nullcontext():
            if log:
                log.trace.emit("task_given", task=episode.task.value())
            await self.strategy.episode(episode)
            await episode.finish()
            if log:
                log.trace.check()
        return episode

    async def _before_commit(self, episode: Episode) -> None:
        """Run the strategy's step that needs all earlier episodes."""
        episode.trace = None  # its log is closed
        stage = self.context
        fold = self.strategy.fold(stage.recipe.settings)
        views = Views(stage.pool, stage.name, stage.memory, fold)
        earlier = EarlierEpisodes(
            lines=self._past or (),
            again=lambda number: self._episode(number, views),
            is_last=self._is_last(episode),
            is_final=self.is_final,
        )
        await self.strategy.before_commit(episode, earlier)

    def _commit(self, episode: Episode) -> None:
        pool = self.context.pool
        for number, lost in enumerate(episode.rejected):
            change = ChildRejected(
                operator=lost.operator,
                reason=lost.reason,
                problems=lost.problems,
                parents=[
                    parent
                    for parent in lost.parents
                    if parent in pool.teams or parent in pool.all_agents
                ],
                task=episode.task.id,
                run=self.context.name,
            )
            pool.commit(change, op=episode.op(f"dropped {number}"))
        for change, what in episode.changes:
            pool.commit(change, op=episode.op(what))

    async def _meet(self, episode: Episode) -> None:
        """Exchange teams with the other islands, if a meeting is due."""
        if self.islands and (meeting := self.islands.meeting_after(episode.number)):
            await self.islands.meet(self.context.pool, meeting, episode.op)

    def _close(self, episode: Episode) -> None:
        """Write an episode's line. This is the last step: only then is the episode committed."""
        pool, closing = self.context.pool, episode.closing
        if closing is None:
            value = episode.line(pool)
        else:  # Views advance in order, because no later episode sees less.
            value = closing.close(pool, self._views.upto(episode.number - 1))
        self._lines.append(value, op=episode.op("turn"))
        if self._past is not None:
            self._past.append(value)
        self.on_episode(value)
        if self.context.progress is not None and episode.number + 1 < len(self.tasks):
            self.context.progress.take(value)

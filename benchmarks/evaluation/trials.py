"""Runs trials of tasks in parallel; each is in the journal before it counts.

So an interrupted evaluation can resume, and a finished one can be repeated offline from its
recorded answers.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...runtime.record.journal import Journal, digest
from ...runtime.record.trace import Parts, Trace
from ...runtime.repository.repository import state_of
from ...runtime.values.together import by_workers
from ...schema.team.task import Task
from ...schema.values.codec import to_value
from ...schema.values.errors import RunError
from .provenance import beside_the_question
from .samples import Sample, journaled

FAILURES_IN_A_ROW = 10
"""The number of consecutive provider failures after which no further trial starts."""

Key = tuple["Task", int]


@dataclass(kw_only=True, eq=False)
class Trials(ABC):
    """Trials of any subject, in progress.

    Attributes:
        trials: The number of trials per task. Every task is tried once before any is tried again.
        workers: The number of parallel trials.
        journal: The store of answers and samples.
        on_sample: Called with each sample, including those of earlier processes.
        parts: Listens to the trials.
    """

    tasks: Sequence[Task]
    trials: int
    workers: int
    journal: Journal
    on_sample: Callable[[Sample], None] = lambda _sample: None
    parts: Parts | None = None
    _unscored: dict[tuple[str, int], Sample] = field(default_factory=dict[tuple[str, int], Sample])
    _in_a_row: int = 0
    _state: Callable[[Path, str], str] = field(default_factory=lambda: functools.cache(state_of))
    _beside: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    @abstractmethod
    def subject(self) -> str:
        """The identity of the subject: trials of another subject do not count."""

    @abstractmethod
    async def make_sample(self, task: Task, trial: int, trace: Trace | None = None) -> Sample:
        """Run a trial.

        Raises:
            LimitError: The budget is used up.
        """

    async def to_the_end(self) -> None:
        """Run all missing trials."""
        await by_workers(self._keys(), self._make, self.workers)

    def samples(self) -> Iterator[Sample]:
        """Yield all samples so far, by task and trial; they are read again, not cached."""
        for task, trial in self._keys():
            sample = self._recorded(task, trial) or self._unscored.get((task.id, trial))
            if sample is not None:
                yield sample

    async def shown(self, task: Task, trial: int, trace: Trace) -> Sample:
        """Repeat one recorded trial from the answers of a replayed journal.

        An unfinished trial is repeated as far as it got, and has no score.
        """
        sample = await self.make_sample(task, trial, trace)
        if self._recorded(task, trial) is None:  # it did not finish, which is no failure
            return replace(sample, status="unscored", score=None)
        return sample

    async def again(self) -> list[str]:
        """Repeat every recorded trial from the answers of a replayed journal.

        Returns:
            The trials with another outcome.
        """
        differing: list[str] = []

        async def repeat(key: Key) -> None:
            if (recorded := self._recorded(*key)) is None:
                return
            sample = await self.make_sample(*key)
            self.on_sample(sample)
            if (sample.score, sample.answer) != (recorded.score, recorded.answer):
                task, trial = key
                differing.append(f"{task.id}, trial {trial}: {sample.error or sample.reason}")

        await by_workers(self._keys(), repeat, self.workers)
        return sorted({*differing, *map(str, self.journal.divergences)})

    def _keys(self) -> Iterator[Key]:
        return ((task, trial) for trial in range(1, self.trials + 1) for task in self.tasks)

    async def _make(self, key: Key) -> None:
        """Run a trial, unless it is recorded."""
        sample = self._recorded(*key)
        self.on_sample(await self._perform(*key) if sample is None else sample)

    async def _perform(self, task: Task, trial: int) -> Sample:
        """Run a trial and store it; one without a score is repeated another time."""
        key, trace = (task.id, trial), None
        if self.parts is not None:
            trace = self.parts.begin(key, "trial", task=task.id, trial=trial)
        sample = await self.make_sample(task, trial, trace)
        if self.parts is not None:
            self.parts.finished(key, sample.score)
        if sample.score is None:
            self._unscored[task.id, trial] = sample
            self._in_a_row += 1
            if self._in_a_row == FAILURES_IN_A_ROW:
                self.on_sample(sample)
                raise RunError(
                    f"{FAILURES_IN_A_ROW} trials in a row could not be completed; the last one:"
                    f" task {task.id}: {sample.error}"
                )
            return sample
        self._in_a_row = 0
        self._unscored.pop((task.id, trial), None)
        await self.journal.put(*self._entry(task, trial), to_value(sample))
        return sample

    def _recorded(self, task: Task, trial: int) -> Sample | None:
        path, _, question = self._entry(task, trial)
        value = self.journal.get(path, question)
        return None if value is None else journaled(path, value)

    def _entry(self, task: Task, trial: int) -> tuple[str, str, str]:
        """Return the path, the kind and the question of a sample in the journal."""
        return f"{path_of(task, trial)}sample", "sample", self._question(task)

    def _extras(self, task: Task) -> tuple[Any, ...]:
        """Return everything that agents get with a task besides its question, cached."""
        if task.id not in self._beside:
            more = {
                **beside_the_question(task, self._state),
                "files": dict(task.files),
                "commit": task.commit,
            }
            self._beside[task.id] = {name: item for name, item in more.items() if item}
        extras = self._beside[task.id]
        return (extras,) if extras else ()

    def _question(self, task: Task) -> str:
        question: Sequence[Any] = (self.subject, task.id, task.query, task.context)
        question = [*question, *self._extras(task)]
        return digest(*question, task.answer, *task.scorer.identity)


def path_of(task: Task, trial: int) -> str:
    """Return the path of a trial in the journal."""
    return f"{task.id}/trial {trial}/"

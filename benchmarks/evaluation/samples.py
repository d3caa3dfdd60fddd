"""Samples: the result of each trial of a team on a task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Annotated, Any

from ...runtime.agents.outcomes import Run
from ...runtime.gateway.chat.dialogue import clipped
from ...runtime.values.usage import COUNTED, Usage
from ...schema.team.task import Task
from ...schema.values.codec import Form, Misfit, from_value, stored, to_value
from ...schema.values.errors import InputError, StorageError
from ...schema.values.json_text import dumps, loads
from ...schema.values.problems import quoted
from ...schema.values.values import is_mapping

TASK_FIELDS = ("question", "reference")
"""The fields of the task in a line of samples.jsonl, for readers."""
LONGEST = 4_000
"""Maximum characters of each of them."""


def task_fields(task: Task) -> dict[str, str]:
    """Return the task's fields of a line of samples.jsonl: its question and reference answer."""
    answer = task.answer
    reference = answer if isinstance(answer, str) else dumps(answer, ensure_ascii=False)
    texts = {"question": task.text, **({} if answer is None else {"reference": reference})}
    return {name: clipped([text], LONGEST)[0] for name, text in texts.items()}


@stored(omit=True, closed=True)
class Sample:
    """One trial of a team on a task.

    Attributes:
        trial: The number of the trial of this task, from 1.
        status: `done`; `failed` or `stopped` by the team's own limits, which count as a score of 0;
            `unscored` after a failure of the provider or the host, which does not count.
        score: In [0, 1]; None if unscored.
        lost: The number of agents that failed because of the provider or the host.
        substituted: The number of agents for which another model answered than the named one.
    """

    task: str
    trial: int
    niche: str = ""
    status: str
    score: Annotated[float | None, Form(omit=False)] = None
    reason: str = ""
    measures: Mapping[str, float] = field(default_factory=dict[str, float])
    answer: str | None = None
    error: str | None = None
    lost: int = 0
    substituted: int = 0
    usage: Annotated[Usage, COUNTED] = field(default_factory=Usage)
    seconds: float = 0.0

    @classmethod
    def of_run(cls, task: Task, trial: int, run: Run) -> Sample:
        """Return the sample of a run.

        Raises:
            InputError: The task has no answer to score against.
        """
        unscored = run.is_infrastructure_failure
        if run.score is None and run.answer is not None:
            raise InputError(f"task {task.id!r} has no answer to score against.")
        score = run.score.value if run.score else 0.0
        return cls(
            task=task.id,
            trial=trial,
            niche=task.niche or "",
            status="unscored" if unscored else run.status,
            score=None if unscored else score,
            reason=run.score.reason if run.score and not unscored else "",
            measures=run.score.measures if run.score and not unscored else {},
            answer=run.answer,
            error=run.why_failed if unscored else run.error,
            lost=run.infrastructure_failures,
            substituted=len(run.substituted),
            usage=run.usage,
            seconds=round(run.seconds, 3),
        )

    def scrubbed(self, scrub: Callable[[str], str]) -> Sample:
        """Return the sample without the host's secrets: it is compared with the journal."""
        return Sample.of_value(loads(scrub(dumps(to_value(self), ensure_ascii=False))))

    @classmethod
    def of_value(cls, value: Any) -> Sample:
        """Return the sample of a line of samples.jsonl, without the task's fields."""
        if is_mapping(value):
            value = {name: item for name, item in value.items() if name not in TASK_FIELDS}
        return from_value(cls, value)


def journaled(path: str, value: Any) -> Sample:
    """Return the sample of a journal entry.

    Raises:
        StorageError: It is damaged.
    """
    try:
        return Sample.of_value(value)
    except Misfit as error:
        raise StorageError(f"the entry {quoted(path)} (sample) is damaged: {error}.") from None

"""The judge: a model that scores an answer without knowing the right one (EvoMAS Eq. 4).

It is the default reward where no ground truth may be used. How far it can be trusted is measured
where there is ground truth: `agreement`.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from ...pool.values.statistics import wilson
from ...runtime.values.score import Score
from ...schema.edits.offer.strict import ANY_TEXT, FRACTION, Schema, closed
from ...schema.team.task import Task
from ...schema.values.errors import CoterieError
from .answers import reason_schema, structured
from .material import clip, fenced, material, task_text
from .meta import OperatorModel, Question, prompt
from .proposal import RejectedProposal

OPERATOR = "judge"
TENTHS: Schema = {"type": "number", "enum": [tenth / 10 for tenth in range(11)]}
"""Choices, since a small model that writes a fraction may not find its end."""
RIGHT = 0.5
"""From this score on, an answer counts as right."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeVerdict:
    """What a judge says of an answer.

    Attributes:
        score: The mean of the samples, in [0, 1], with the reason of the sample nearest to it.
        samples: The scores, in the order of their paths.
        dropped: How many samples gave no valid answer.
    """

    score: Score
    samples: tuple[float, ...]
    dropped: int = 0

    @property
    def spread(self) -> float:
        """The standard deviation of the samples; 0 for a single one."""
        return statistics.pstdev(self.samples)


async def judge(
    model: OperatorModel,
    path: str,
    task: Task,
    answer: str,
    *,
    rubric: str = "",
    samples: int = 1,
) -> JudgeVerdict | RejectedProposal:
    """Score an answer.

    Args:
        rubric: What makes an answer good. Empty for the one that comes with this module.
        samples: How often the model is asked, at least once.
    """
    paths = [f"{path}/sample {number}" for number in range(1, samples + 1)]
    calls: list[asyncio.Task[Score | RejectedProposal]] = []
    failure = None
    try:
        async with asyncio.TaskGroup() as group:
            for name in paths:
                calls.append(group.create_task(_sample(model, name, task, answer, rubric)))
    except* CoterieError as failed:
        failure = failed.exceptions[0]  # raised from here, some Pythons would wrap it again
    if failure is not None:
        raise failure
    results = [item.result() for item in calls]
    scores = [item for item in results if isinstance(item, Score)]
    dropped = [item for item in results if isinstance(item, RejectedProposal)]
    if not scores:
        return dropped[0]
    mean = statistics.fmean(score.value for score in scores)
    nearest = min(scores, key=lambda score: abs(score.value - mean))
    return JudgeVerdict(
        score=Score(value=mean, reason=nearest.reason),
        samples=tuple(score.value for score in scores),
        dropped=len(dropped),
    )


async def _sample(
    model: OperatorModel, path: str, task: Task, answer: str, rubric: str
) -> Score | RejectedProposal:
    limits = model.limits
    schema = closed(reason=reason_schema(limits), score=TENTHS)
    any_number = closed(reason=ANY_TEXT, score=FRACTION)

    def read(text: str) -> Score:
        fields = structured(text, any_number, limits)
        return Score(value=float(fields["score"]), reason=fields["reason"])

    shown = clip(answer.strip() or "(nothing)", limits.task_characters)
    question = Question(
        operator=OPERATOR,
        instructions=prompt("judge", rubric=rubric.strip() or prompt("rubric")),
        material=material(task_text(task, limits), fenced("answer", shown)),
        schema=schema,
        read=read,
        inputs={"task": task, "answer": answer},
    )
    return await model.ask(path, question)


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement:
    """How far a judge agrees with ground truth, over answers of which both is known.

    Attributes:
        agreed: How many of them both count as right, or both as wrong.
        passed_wrong: How many wrong ones the judge counts as right.
        failed_right: How many right ones it counts as wrong.
        distance: The mean distance of the scores.
    """

    n: int
    agreed: int
    passed_wrong: int
    failed_right: int
    distance: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share in which they agree."""
        return wilson(self.agreed, self.n)


def agreement(scores: Iterable[tuple[float, float]]) -> Agreement:
    """Compare a judge with ground truth.

    Args:
        scores: For each answer the judge's score and the true one, in [0, 1].
    """
    pairs = list(scores)
    sides = [(judged >= RIGHT, true >= RIGHT) for judged, true in pairs]
    return Agreement(
        n=len(pairs),
        agreed=sum(judged == true for judged, true in sides),
        passed_wrong=sides.count((True, False)),
        failed_right=sides.count((False, True)),
        distance=statistics.fmean(abs(judged - true) for judged, true in pairs) if pairs else 0.0,
    )

"""The judge: a model that scores an answer without the reference answer (EvoMAS Eq. 4).

It is the default reward if ground truth may not be used. `agreement` measures how far it can be
trusted on tasks that have ground truth.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from ...pool.values.statistics import wilson
from ...runtime.agents.outcomes import Score
from ...runtime.values.together import together
from ...schema.edits.offer.strict import ANY_TEXT, FRACTION, Schema, closed
from ...schema.team.task import Task
from .answers import reason_schema, structured
from .material import clip, fenced, material, task_text
from .meta import OperatorModel, Question, prompt
from .proposal import RejectedProposal

OPERATOR = "judge"
TENTHS: Schema = {"type": "number", "enum": [tenth / 10 for tenth in range(11)]}
"""An enumeration, because a small model that writes a free fraction may never end it."""
RIGHT = 0.5
"""The lowest score of an answer that counts as right."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeVerdict:
    """A judge's score of an answer.

    Attributes:
        score: The mean of the samples, in [0, 1], with the reason of the sample nearest to it.
        samples: The scores, in the order of their paths.
        dropped: The number of samples without a valid answer.
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
        rubric: What makes an answer good. Empty: this module's own rubric.
        samples: The number of times to ask the model, at least 1.
    """
    paths = [f"{path}/sample {number}" for number in range(1, samples + 1)]
    results = await together(*(_sample(model, name, task, answer, rubric) for name in paths))
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
    """How far a judge agrees with ground truth, over answers that have both scores.

    Attributes:
        agreed: Answers that both count as right, or both as wrong.
        passed_wrong: Wrong answers that the judge counts as right.
        failed_right: Right answers that the judge counts as wrong.
        distance: The mean distance between the scores.
    """

    n: int
    agreed: int
    passed_wrong: int
    failed_right: int
    distance: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson interval of the share of agreement."""
        return wilson(self.agreed, self.n)


def agreement(scores: Iterable[tuple[float, float]]) -> Agreement:
    """Compare a judge with ground truth.

    Args:
        scores: The judge's score and the true score of each answer, in [0, 1].
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

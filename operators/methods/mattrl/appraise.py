"""The judge of utterances: how good each agent's utterance in a round was (MATTRL Eq. 9).

It reads the task and the round, never the reference answer, and is called once a round. So the
score of an utterance is a judge's opinion; the outcome of the run comes in later, as credit.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....runtime.values.together import together
from ....schema.edits.offer.strict import ANY_TEXT, FRACTION, closed
from ....schema.team.task import Task
from ....schema.values.terminal import on_one_line
from ...core.answers import reason_schema, structured
from ...core.bounds import Bounds
from ...core.judge import TENTHS
from ...core.material import CHARACTERS_PER_TOKEN, clip, fenced, material, task_text
from ...core.meta import OperatorModel, Question, prompt
from ...core.operator import Operator, operator_of
from ...core.printed import Printed
from ...core.proposal import RejectedProposal
from ...core.utterances import Turn, Utterance
from ...credit.contributions import Contribution

OPERATOR = "appraise"
FULL_SHARES = 4
"""The number of utterances that are shown at full length; more of them share that room."""
ROOM_OF_READ = 1 / 3
"""The share of an utterance's room for the agent's input."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Appraisal:
    """A judge's scores of the utterances of a round.

    Attributes:
        of: Each agent's score, in [0, 1], with its reason; no agent is missing.
    """

    of: Mapping[str, Contribution]
    reason: str

    def value(self) -> dict[str, Any]:
        """Return it as a JSON object in the judge's form."""
        agents = {
            name: {"reason": contribution.reason, "score": contribution.value}
            for name, contribution in self.of.items()
        }
        return {"reason": self.reason, "agents": agents}


async def appraise(
    model: OperatorModel,
    path: str,
    task: Task,
    utterances: Sequence[Utterance],
    *,
    rubric: str = "",
) -> Appraisal | RejectedProposal:
    """Score the utterances of a round (MATTRL Eq. 9).

    Args:
        utterances: The utterances of that round, one per agent; at least one.
        rubric: What makes an utterance good. Empty for the one that comes with this module.
    """
    limits = model.limits
    share = room(limits) * min(len(utterances), FULL_SHARES) // len(utterances)
    names = [utterance.agent for utterance in utterances]
    question = Question(
        operator=OPERATOR,
        instructions=prompt(OPERATOR, rubric=rubric.strip() or prompt("utterance")),
        material=material(
            task_text(task, limits), *(shown(utterance, share) for utterance in utterances)
        ),
        schema=_schema(names, reason_schema(limits), TENTHS),
        read=functools.partial(_read, names, limits),
        inputs={"task": task, "said": utterances},
    )
    return await model.ask(path, question)


async def appraised(
    model: OperatorModel,
    path: str,
    task: Task,
    utterances: Sequence[Utterance],
    *,
    rubric: str = "",
) -> Appraised:
    """Score all utterances of a run, with one question for each round."""
    rounds = {
        number: [*of]
        for number, of in itertools.groupby(utterances, lambda utterance: utterance.round)
    }
    result = await together(
        *(
            operator_of(OPERATOR).act(
                model, f"{path}/round {number}/{OPERATOR}", task, of, rubric=rubric
            )
            for number, of in rounds.items()
        )
    )
    scores = {
        (agent, number): score
        for number, item in zip(rounds, result, strict=True)
        if isinstance(item, Appraisal)
        for agent, score in item.of.items()
    }
    rejected = [item for item in result if isinstance(item, RejectedProposal)]
    return Appraised(utterances=utterances, scores=scores, rejected=rejected)


@dataclass(frozen=True, kw_only=True, slots=True)
class Appraised:
    """The scores of all utterances of a run.

    Attributes:
        scores: The score of each, by its turn; those of a lost round are missing.
    """

    utterances: Sequence[Utterance]
    scores: Mapping[Turn, Contribution]
    rejected: Sequence[RejectedProposal]

    def printed(self) -> Printed:
        """Return it as `mas dev op` prints it."""
        scored = [
            (utterance, self.scores[utterance.turn])
            for utterance in self.utterances
            if utterance.turn in self.scores
        ]
        return Printed(
            value=[
                {
                    "agent": utterance.agent,
                    "round": utterance.round,
                    "score": score.value,
                    "reason": score.reason,
                }
                for utterance, score in scored
            ],
            notes=tuple(f"a round without scores: {lost.text}" for lost in self.rejected),
        )


async def appraise_rounds(
    model: OperatorModel,
    path: str,
    task: Task,
    utterances: Sequence[Utterance],
    *,
    rubric: str = "",
) -> Appraised | RejectedProposal:
    """Score all utterances of a run; see `appraised`."""
    result = await appraised(model, path, task, utterances, rubric=rubric)
    return result if result.scores else result.rejected[0]


def room(bounds: Bounds) -> int:
    """Return the characters for a single utterance together with its agent's input."""
    return bounds.digest_tokens * CHARACTERS_PER_TOKEN


def shown(utterance: Utterance, most: int) -> str:
    """Write an utterance and its agent's input within a number of characters."""
    read = clip(utterance.read, round(most * ROOM_OF_READ))
    name = (
        f"{utterance.agent}, {on_one_line(utterance.role)}" if utterance.role else utterance.agent
    )
    return material(
        fenced("had_read", read, utterance.agent),
        fenced("utterance", clip(utterance.text, most - len(read)) or "(nothing)", name),
    )


def _schema(
    names: Sequence[str], reason: Mapping[str, Any], score: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Require every agent exactly once: each is a field of its own."""
    fields = closed(reason=reason, score=score)
    return closed(reason=reason, agents=closed(**dict.fromkeys(names, fields)))


def _read(names: Sequence[str], bounds: Bounds, text: str) -> Appraisal:
    """Accept any fractions, and reasons of any length, which are cut."""
    fields = structured(text, _schema(names, ANY_TEXT, FRACTION), bounds)
    of = {name: fields["agents"][name] for name in names}
    scores = {
        name: Contribution.read(item["score"], item["reason"], bounds) for name, item in of.items()
    }
    return Appraisal(of=scores, reason=fields["reason"])


APPRAISE = Operator(
    name="appraise",
    scale="team",
    act=appraise,
    about="Let a model score every utterance of a run, with one question for each round. The"
    " model does not see the reference answer. `distil` reads the scores with --judged.",
    alone=appraise_rounds,
    inputs={"task": "recorded_task"},
    gives="words",
)

"""Distilling: one utterance that was worth a lot becomes what its agent knows (MATTRL Eq. 14).

An entry is short and says three things: when it applies, what to do then, and why that was worth
it. It is about one utterance, so the agent is asked for by name and learns only what it did itself.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ....pool.ledger.learnt import LONGEST_TASK, Learnt
from ....schema.edits.offer.strict import ANY_TEXT, closed, free_text
from ....schema.team.task import Task
from ....schema.values.terminal import on_one_line
from ...core.answers import InvalidAnswer, structured
from ...core.bounds import Bounds
from ...core.material import fenced, material, task_text
from ...core.meta import OperatorModel, Question, prompt
from ...core.operator import Operator
from ...core.printed import Printed
from ...core.proposal import RejectedProposal
from ...core.utterances import Utterance
from ...credit.contributions import Contribution
from .appraise import appraise, room, shown

OPERATOR = "distil"
KIND = "experience"
"""The kind of the entries."""
LONGEST: Mapping[str, int] = {"context": 300, "action": 600, "rationale": 300}
"""Characters of each part, at most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Distilled:
    """What there is to know of an utterance.

    Attributes:
        context: When it applies: what a similar task is recognised by.
    """

    context: str
    action: str
    rationale: str

    @property
    def text(self) -> str:
        """What an entry of the memory says, for people and models."""
        return f"When: {self.context}\nDo: {self.action}\nWhy: {self.rationale}"

    def printed(self) -> Printed:
        """Return it as `mas dev op` prints it."""
        return Printed(value=self.text)

    def entry(
        self,
        task: Task,
        utterance: Utterance,
        *,
        credit: float,
        outcome: float | None = None,
        by_case: bool,
        run: str,
    ) -> Learnt:
        """Make it an entry of the memory that says where it comes from (MATTRL Eq. 15).

        Args:
            credit: What that was worth, in [0, 1].
            outcome: How its run ended: its score, in [0, 1]; None where nobody knows.
            by_case: Whether it is found by the case's text. Else by when it applies.
            run: The run or the recipe that it comes from.
        """
        return Learnt(
            kind=KIND,
            task=(task.text if by_case else self.context)[:LONGEST_TASK],
            text=self.text,
            niche=task.niche,
            owner=utterance.member or utterance.agent,
            case=task.id,
            turn=utterance.round,
            credit=credit,
            reward=outcome,
            run=run,
        )


async def distil(
    model: OperatorModel,
    path: str,
    task: Task,
    utterance: Utterance,
    *,
    score: Contribution,
) -> Distilled | RejectedProposal:
    """Put an utterance into few words, for whoever comes to a similar task (MATTRL Eq. 14).

    Args:
        score: What the judge thought of it.
    """
    limits = model.limits
    lengths = {name: min(most, limits.characters) for name, most in LONGEST.items()}
    question = Question(
        operator=OPERATOR,
        instructions=prompt(OPERATOR, agent=utterance.agent, **lengths),
        material=material(
            task_text(task, limits),
            shown(utterance, room(limits)),
            fenced("judge", f"score {score.value:.3g}: {score.reason}"),
        ),
        schema=closed(**{name: free_text(most) for name, most in lengths.items()}),
        read=functools.partial(_read, lengths, limits),
        inputs={"task": task, "utterance": utterance, "score": score},
    )
    return await model.ask(path, question)


async def distil_alone(
    model: OperatorModel,
    path: str,
    task: Task,
    utterances: Sequence[Utterance],
    utterance: Utterance,
    *,
    score: Contribution | None,
    rubric: str = "",
) -> Distilled | RejectedProposal:
    """Distil an utterance, after its round was scored where it is not yet.

    Args:
        score: What the judge thought of it. None: it is asked first.
        rubric: What makes an utterance good. Empty for the one that comes with `appraise`.
    """
    if score is None:
        beside = [item for item in utterances if item.round == utterance.round]
        judged = await appraise(model, f"{path}/appraise", task, beside, rubric=rubric)
        if isinstance(judged, RejectedProposal):
            return judged
        score = judged.of[utterance.agent]
    return await distil(model, path, task, utterance, score=score)


def _read(lengths: Mapping[str, int], bounds: Bounds, text: str) -> Distilled:
    """Read the three parts; what is longer than its room is cut."""
    fields = structured(text, closed(**dict.fromkeys(lengths, ANY_TEXT)), bounds)
    parts = {name: on_one_line(fields[name])[:most] for name, most in lengths.items()}
    if empty := [name for name, part in parts.items() if not any(map(str.isalnum, part))]:
        raise InvalidAnswer(f"{' and '.join(empty)}: nothing is said there. Write some words.")
    return Distilled(**parts)


DISTIL = Operator(
    name="distil",
    scale="agent",
    act=distil,
    about="Let a model distil an agent's utterance into advice for similar cases: when it"
    " applies, what to do, and why.",
    alone=distil_alone,
    inputs={"task": "recorded_task", "score": "utterance_score"},
    gives="words",
)

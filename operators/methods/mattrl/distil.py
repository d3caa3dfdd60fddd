"""Distilling: one valuable utterance becomes a part of its agent's experience (MATTRL Eq. 14).

An entry is short and says when it applies, what to do then, and why that was worth
it. It is about one utterance, so the prompt names the agent, which learns only from itself.
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
"""The most characters of each part."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Distilled:
    """A distilled utterance.

    Attributes:
        context: When it applies: how to recognise a similar task.
    """

    context: str
    action: str
    rationale: str

    @property
    def text(self) -> str:
        """The text of the entry, for people and models."""
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
        """Return it as an entry of the memory, with its origin (MATTRL Eq. 15).

        Args:
            credit: The reward of the utterance, in [0, 1].
            outcome: The score of its run, in [0, 1]; None if unknown.
            by_case: Whether it is found by the case's text rather than by when it applies.
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
    """Condense an utterance for similar tasks (MATTRL Eq. 14)."""
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
    """Distil an utterance, after scoring its round if necessary.

    Args:
        score: The judge's score. None: the judge is called first.
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
    """Parse the three parts; texts that are too long are cut."""
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

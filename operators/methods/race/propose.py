"""Proposes a child of a team from many runs at once: one question, one hypothesis, one child."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....schema.edits.offer.strict import closed
from ....schema.values.terminal import on_one_line
from ...core.answers import InvalidAnswer, child_of, edits_in, reason_schema
from ...core.digest import digest
from ...core.material import clip, fenced, material, models_text, parent_text, task_text
from ...core.meta import Question, prompt
from ...core.proposal import Parent, Proposal, RejectedProposal
from ..search.components import offer
from .showing import FAILURES, credits_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from ....schema.edits import Component
    from ....schema.team.team import Team
    from ...core.meta import OperatorModel
    from .task_trial import TaskTrial

OPERATOR = "race_hypothesis"
MOST_CHANGES = 40
LONGEST_CHANGE = 240


@dataclass(frozen=True, kw_only=True, slots=True)
class EarlierChange:
    """A change that was tried before.

    Attributes:
        effect: Its effect on the mean score, according to its runs.
    """

    edits: tuple[str, ...]
    effect: float
    runs: int

    @property
    def text(self) -> str:
        """The change and its effect, on one line."""
        measured = f"{self.effect:+.2f} in {self.runs} runs" if self.runs else "not measured yet"
        return f"- {clip(on_one_line('; '.join(self.edits)), LONGEST_CHANGE)}: {measured}"


async def propose(
    model: OperatorModel,
    path: str,
    team: Team,
    trials: Sequence[TaskTrial],
    *,
    components: Sequence[Component],
    changes: Sequence[EarlierChange] = (),
    hashes: AbstractSet[str] = frozenset(),
    answers: bool = True,
    is_own: bool = True,
) -> Proposal | RejectedProposal:
    """Make one child of a team.

    Args:
        trials: The runs to show, on tasks that are neither raced on nor held back.
        hashes: The content hashes of teams that were tried: none of them is proposed again.
        is_own: Whether the runs are the team's, not those of one of its ancestors.
        answers: Whether reference answers, and scorers' reasons that may quote them, are shown.
    """
    schema = offer(model, team, *components)
    if schema is None:
        why = "there is nothing to change that is known and below the ceiling."
        return model.drop(path, OPERATOR, why, parents=(team.name,))
    limits = model.limits
    shown = material(
        parent_text(Parent(team=team), model.catalogue, limits),
        *(_trial_text(model, number, trial, answers=answers)
          for number, trial in enumerate(trials, start=1)),
        models_text(model) if "model_id" in components else "",
        fenced("tried", "\n".join(change.text for change in changes[-MOST_CHANGES:])),
    )  # fmt: skip
    question = Question(
        operator=OPERATOR,
        instructions=prompt(
            "race_propose",
            answers=answers,
            is_own=is_own,
            components=", ".join(components),
            edits=limits.edits,
        ),
        material=shown,
        schema=closed(reason=reason_schema(limits), **schema["properties"]),
        read=functools.partial(_child, model, team, tuple(components), hashes),
        parents=(team.name,),
        team=team,
        inputs={"trials": trials, "tried": changes},
    )
    return await model.ask(path, question)


def _trial_text(model: OperatorModel, number: int, trial: TaskTrial, *, answers: bool) -> str:
    limits, task, run = model.limits, trial.task, trial.run
    reference = f"right answer: {task.answer}" if answers and task.answer is not None else ""
    reason = f"scorer: {on_one_line(trial.score.reason)}" if answers and trial.score.reason else ""
    tokens = limits.digest_tokens // (FAILURES + 1)
    each = credits_text(trial.credits)
    feedback = material(digest(run, verdict=trial.score, tokens=tokens), each, reference, reason)
    niche = fenced("niche", task.niche or "")
    return material(task_text(task, limits), niche, fenced("run", feedback, f"task {number}"))


def _child(
    model: OperatorModel,
    team: Team,
    components: tuple[Component, ...],
    hashes: AbstractSet[str],
    text: str,
) -> Proposal:
    """Parse an answer into a child that was not tried before."""
    reason, edits = edits_in(text, model.limits, components)
    if not edits:
        raise InvalidAnswer("there is no edit. Change something.")
    child = child_of(team, edits, model.catalogue, model.ceiling)
    if child.content_hash == team.content_hash:
        raise InvalidAnswer("the edits change nothing that is run. Change something.")
    if child.content_hash in hashes:
        raise InvalidAnswer("this change was tried before. Propose another one.")
    fields: dict[str, Any] = {"reason": reason, "child": child}
    return Proposal.of(OPERATOR, team, edits, **fields)

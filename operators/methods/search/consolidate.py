"""Consolidation: the result of an evolution as a memory entry (EvoMAS §3.2.4, Eq. 6).

The evolution trace `O_q = ((o_1, C'_1, r_1), …)` becomes a summary `h_q`, which the memory keeps
with the task and the best team. A model distils what helped; without a model, the trace itself is
the summary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ....pool.ledger.learnt import LONGEST_TASK, Learnt, OperatorOutcome
from ....schema.edits import Component
from ....schema.edits.offer.strict import closed, free_text
from ....schema.team.task import Task
from ....schema.values.terminal import on_one_line
from ...core.answers import InvalidAnswer, structured
from ...core.material import clip, fenced, material, task_text
from ...core.meta import OperatorModel, Question, prompt
from ...core.operator import Operator
from ...core.proposal import RejectedProposal

OPERATOR = "consolidate"
KIND = "evolution"
LONGEST_SUMMARY = 2_000
LONGEST_DETAILS = 600
"""The most characters of the edits and the reason of one step."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EvolutionStep:
    """A step of an evolution: how a team was made, and its result.

    Attributes:
        number: The step's unique number in the evolution.
        operator: The operator that made the team. The initial teams are steps, too.
        team: The team's name, which may also be its parent's.
        reward: Its reward on the task; None without one, for example after a failed run.
        sources: The numbers of its parents' steps, the first parent's first. A parent from the pool
            that was not tried unchanged has no step.
        component: The only component that was touched, if it is a single one.
        edits: The differences from the first parent, as `edit_words` describes them.
    """

    number: int
    operator: str
    team: str
    content_hash: str
    reward: float | None
    parents: tuple[str, ...] = ()
    sources: tuple[int, ...] = ()
    component: Component | None = None
    edits: tuple[str, ...] = ()
    reason: str = ""


async def consolidate(
    model: OperatorModel | None,
    path: str,
    task: Task,
    steps: Sequence[EvolutionStep],
    *,
    run: str | None = None,
) -> Learnt | RejectedProposal:
    """Return a memory entry that summarises an evolution.

    Args:
        steps: The evolution trace, at least one step.
        run: The run or the recipe that it comes from.

    Raises:
        ValueError: There is no step.
    """
    if not steps:
        raise ValueError("an evolution without a step has nothing to consolidate.")
    if model is None:
        summary = clip("\n".join(tell_steps(steps)), LONGEST_SUMMARY)
    else:
        summary = await _ask(model, path, task, steps)
    if isinstance(summary, RejectedProposal):
        return summary
    best = max(steps, key=lambda step: (step.reward is not None, step.reward or 0))
    return Learnt(
        kind=KIND,
        task=task.text[:LONGEST_TASK],
        text=summary,
        niche=task.niche,
        team=best.content_hash,
        operators=tuple(
            OperatorOutcome(
                operator=step.operator,
                component=step.component,
                team=step.content_hash,
                reward=step.reward,
            )
            for step in steps
        ),
        reward=best.reward,
        run=run,
    )


def tell_steps(steps: Sequence[EvolutionStep], details: int = LONGEST_DETAILS) -> list[str]:
    """Return an evolution trace in words, one line for each step, with its gain over its sources.

    Args:
        details: The most characters of the edits and the reason of one step.
    """
    rewards = {step.number: step.reward for step in steps}
    return [f"{step.number}. {_summary(step, rewards, details)}" for step in steps]


def _summary(step: EvolutionStep, rewards: Mapping[int, float | None], most: int) -> str:
    what = f"{step.operator} ({step.component})" if step.component else step.operator
    texts = [*step.edits] or ["no edits"] * bool(step.parents or step.sources)
    because = [f"because {step.reason}"] if step.reason else []
    details = clip(on_one_line("; ".join([*texts, *because])), most)
    return f"{what}{_origin(step)}: {_result_text(step, rewards)}. {details}".rstrip()


def _origin(step: EvolutionStep) -> str:
    if step.sources:
        noun = "step" if len(step.sources) == 1 else "steps"
        return f" of {noun} {' and '.join(map(str, step.sources))}"
    return f" of {' and '.join(step.parents or (step.team,))} in the pool"


def _result_text(step: EvolutionStep, rewards: Mapping[int, float | None]) -> str:
    """Return a team's reward, and its gain over the better of its parents."""
    if step.reward is None:
        return "no reward"
    before = [reward for source in step.sources if (reward := rewards.get(source)) is not None]
    gained = f", {step.reward - max(before):+.3g}" if before else ""
    return f"reward {step.reward:.3g}{gained}"


async def _ask(
    model: OperatorModel, path: str, task: Task, steps: Sequence[EvolutionStep]
) -> str | RejectedProposal:
    most = min(model.limits.characters, LONGEST_SUMMARY)
    details = min(LONGEST_DETAILS, model.limits.team_characters // len(steps))
    words = "\n".join(tell_steps(steps, details))
    schema = closed(summary=free_text(most))

    def read(text: str) -> str:
        summary = structured(text, schema, model.limits)["summary"].strip()
        if not summary:
            raise InvalidAnswer("the summary is empty.")
        return summary

    question = Question(
        operator=OPERATOR,
        instructions=prompt("consolidate", characters=most),
        material=material(task_text(task, model.limits), fenced("evolution", words)),
        schema=schema,
        read=read,
        inputs={"task": task, "steps": steps},
    )
    return await model.ask(path, question)


CONSOLIDATE = Operator(
    name="consolidate",
    scale="team",
    act=consolidate,
    about="Write the lessons of an evolution on a task into its pool's memory. With --no-model,"
    " the summary is the trace in words.",
    asks="maybe",
    gives="entry",
)

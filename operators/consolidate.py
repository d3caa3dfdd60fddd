"""Consolidation: what an evolution came to, as an entry of the memory (EvoMAS §3.2.4, Eq. 6).

The evolution trace `O_q = ((o_1, C'_1, r_1), …)` becomes a summary `h_q`; the memory keeps it with
the task and the best team. A model distils what helped; without one, the trace is told as it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..pool.experience import Experience, OperatorOutcome, Provenance
from ..schema.terminal import on_one_line
from .answers import Unfit, closed, structured
from .material import clip, fenced, material, task_text
from .meta import Question, prompt
from .proposal import Dropped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..schema.edits import Component
    from ..schema.task import Task
    from .meta import Meta

__all__ = ["Step", "consolidate", "tell_steps"]

OPERATOR = "consolidate"
KIND = "evolution"
LONGEST_SUMMARY = 2_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """A step of an evolution: what made a team, and what the team came to.

    Attributes:
        operator: What made it. The teams that evolution began with are steps too.
        team: The team's name.
        content_hash: Its content hash.
        reward: Its reward on the task; None where it has none, as when its run failed.
        parents: The names of its parents.
        component: The only component that was touched, where it is one.
        edits: What differs from the first parent, in words.
        reason: Why it was made.
    """

    operator: str
    team: str
    content_hash: str
    reward: float | None
    parents: tuple[str, ...] = ()
    component: Component | None = None
    edits: tuple[str, ...] = ()
    reason: str = ""


async def consolidate(
    meta: Meta | None,
    path: str,
    task: Task,
    steps: Sequence[Step],
    *,
    provenance: Provenance | None = None,
) -> Experience | Dropped:
    """Make an entry of the memory out of an evolution.

    Args:
        meta: The model to ask. None: the summary is the trace in words.
        path: Which consolidation this is, `task 12/consolidate`; also the entry's id.
        task: The task. Its reference answer is not shown.
        steps: The evolution trace, at least one step.
        provenance: The run and the config that it comes from.

    Raises:
        ValueError: There is no step.
        CoterieError: As for `Meta.ask`.
    """
    if not steps:
        raise ValueError("an evolution without a step has nothing to consolidate.")
    told = "\n".join(tell_steps(steps))
    summary = clip(told, LONGEST_SUMMARY) if meta is None else await _ask(meta, path, task, told)
    if isinstance(summary, Dropped):
        return summary
    best = max(steps, key=lambda step: (step.reward is not None, step.reward or 0))
    return Experience(
        id=path,
        kind=KIND,
        task=task.query,
        summary=summary,
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
        provenance=provenance or Provenance(),
    )


def tell_steps(steps: Sequence[Step]) -> list[str]:
    """Tell an evolution trace, a line for each step, with what it gained over its parents."""
    rewards = {step.team: step.reward for step in steps}
    return [f"{number}. {_told(step, rewards)}" for number, step in enumerate(steps, start=1)]


def _told(step: Step, rewards: Mapping[str, float | None]) -> str:
    what = f"{step.operator} ({step.component})" if step.component else step.operator
    before = [known for one in step.parents if (known := rewards.get(one)) is not None]
    came = "no reward" if step.reward is None else f"reward {step.reward:.3g}"
    gained = f", {step.reward - max(before):+.3g}" if before and step.reward is not None else ""
    line = f"{what} made {step.team}"
    if step.parents:
        line += f" of {' and '.join(step.parents)}"
    details = "; ".join(filter(None, [*step.edits, step.reason and f"because {step.reason}"]))
    return f"{line}: {came}{gained}. {clip(on_one_line(details), 300)}".rstrip()


async def _ask(meta: Meta, path: str, task: Task, told: str) -> str | Dropped:
    most = min(meta.limits.characters, LONGEST_SUMMARY)
    schema = closed(summary={"type": "string", "minLength": 1, "maxLength": most})

    def read(text: str) -> str:
        summary = structured(text, schema, meta.limits)["summary"].strip()
        if not summary:
            raise Unfit("the summary is empty.")
        return summary

    question = Question(
        operator=OPERATOR,
        instructions=prompt("consolidate", characters=most),
        material=material(task_text(task, meta.limits), fenced("evolution", told)),
        schema=schema,
        read=read,
    )
    return await meta.ask(path, question)

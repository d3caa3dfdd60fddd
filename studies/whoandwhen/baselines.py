"""The published baselines: all-at-once, step-by-step and binary search (arXiv 2505.00212, §4.1).

Their rules are the published ones, their prompts are ours, and answers are held to a schema. Where
an answer is of no use also after one repair, all-at-once blames nobody, step-by-step goes on as if
it had found nothing, and binary search takes a half by chance, which the question's path draws.
"""

from __future__ import annotations

import functools
import random
from pathlib import Path
from typing import TYPE_CHECKING

from coterie.operators.blame import TextBudget, view
from coterie.operators.core.answers import InvalidAnswer, reason_schema, structured
from coterie.operators.core.material import clip, fenced, material
from coterie.operators.core.meta import Question
from coterie.operators.core.proposal import RejectedProposal
from coterie.runtime.messages.messages import render
from coterie.schema.edits.offer.strict import closed

from .verdicts import Told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coterie.operators.blame import FailedRun, RunStep
    from coterie.operators.core.bounds import Bounds
    from coterie.operators.core.meta import OperatorModel

PROMPTS = Path(__file__).parent / "prompts"
HALVES = ("upper half", "lower half")
"""Of a part of a trace, as the original calls them: its earlier steps, and its later ones."""


async def all_at_once(model: OperatorModel, path: str, trace: FailedRun) -> Told | None:
    """Ask once, with the whole trace, for the agent and the step; they need not belong together.

    Raises:
        CoterieError: As for `OperatorModel.ask`.
    """
    limits = model.limits
    seen = view(trace.steps, TextBudget.of(limits))
    fields = {
        "reason": reason_schema(limits),
        "agent": {"type": "string", "enum": [*trace.agents]},
        "step": {"type": "integer", "enum": [*seen.shown]},
    }
    question = Question(
        operator="all_at_once",
        instructions=_prompt("all_at_once", trace),
        material=material(_case(trace, limits), seen.text),
        schema=closed(**fields),
        read=functools.partial(_read_pair, trace, limits),
    )
    result = await model.ask(path, question)
    return None if isinstance(result, RejectedProposal) else result


async def step_by_step(model: OperatorModel, path: str, trace: FailedRun) -> Told | None:
    """Ask of each step in order, with those before it, and blame the first that has a mistake.

    Raises:
        CoterieError: As for `OperatorModel.ask`.
    """
    for place, step in enumerate(trace.steps):
        question = _of_step(trace, trace.steps[: place + 1], model.limits)
        result = await model.ask(f"{path}/step {step.number}", question)
        if result is True:
            return Told(agent=step.agent, step=step.number)
    return None


async def binary_search(model: OperatorModel, path: str, trace: FailedRun) -> Told | None:
    """Ask in which half of the trace the mistake is, then in which half of that, down to a step.

    Raises:
        CoterieError: As for `OperatorModel.ask`.
    """
    first, last = 0, len(trace.steps) - 1
    while first < last:
        middle = first + (last - first) // 2
        question = _of_halves(trace, (first, middle, last), model.limits)
        part = f"{path}/steps {first} to {last}"
        half = await model.ask(part, question)
        if isinstance(half, RejectedProposal):
            half = random.Random(part).choice(HALVES)  # noqa: S311 - not for secrets
        first, last = (first, middle) if half == HALVES[0] else (middle + 1, last)
    return Told(agent=trace.steps[first].agent, step=trace.steps[first].number)


def _of_step(trace: FailedRun, until: Sequence[RunStep], bounds: Bounds) -> Question[bool]:
    """Ask of the newest step, which may take half of what is shown.

    What changes from question to question stands last, so that an endpoint need not read again
    what does not.
    """
    newest, whole = until[-1].number, bounds.trace_characters
    seen = view(until, TextBudget(whole=whole, step=whole // 2), focus=newest)
    return Question(
        operator="step_by_step",
        instructions=_prompt("step_by_step", trace),
        material=material(_case(trace, bounds), seen.text, f"The newest step is {newest}."),
        schema=closed(reason=reason_schema(bounds), mistake={"type": "boolean"}),
        read=functools.partial(_read_mistake, bounds),
    )


def _of_halves(trace: FailedRun, part: tuple[int, int, int], bounds: Bounds) -> Question[str]:
    first, middle, last = part
    seen = view(trace.steps[first : last + 1], TextBudget.of(bounds))
    halves = f"Upper half: steps {first} to {middle}. Lower half: steps {middle + 1} to {last}."
    return Question(
        operator="binary_search",
        instructions=_prompt("binary_search", trace),
        material=material(_case(trace, bounds), seen.text, halves),
        schema=closed(half={"type": "string", "enum": [*HALVES]}),
        read=functools.partial(_read_half, bounds),
    )


def _prompt(name: str, trace: FailedRun) -> str:
    return render(name, folder=PROMPTS, has_answer=bool(trace.expected))


def _case(trace: FailedRun, bounds: Bounds) -> str:
    """Show what was asked, and the right answer where it may be shown."""
    return material(
        fenced("problem", clip(trace.question, bounds.task_characters)),
        fenced("right_answer", clip(trace.expected, bounds.task_characters)),
    )


def _read_pair(trace: FailedRun, bounds: Bounds, text: str) -> Told:
    fields = {"reason": {}, "agent": {"type": "string"}, "step": {"type": "integer"}}
    record = structured(text, closed(**fields), bounds)
    if record["agent"] not in trace.agents:
        raise InvalidAnswer(
            f"nobody is called {record['agent']!r}. There are {', '.join(trace.agents)}."
        )
    if not 0 <= record["step"] < len(trace.steps):
        raise InvalidAnswer(
            f"there is no step {record['step']}: the last is {len(trace.steps) - 1}."
        )
    return Told(agent=record["agent"], step=int(record["step"]))


def _read_mistake(bounds: Bounds, text: str) -> bool:
    fields = structured(text, closed(reason={}, mistake={"type": "boolean"}), bounds)
    return fields["mistake"]


def _read_half(bounds: Bounds, text: str) -> str:
    return structured(text, closed(half={"enum": [*HALVES]}), bounds)["half"]

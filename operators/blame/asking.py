"""The questions that an attribution asks, and the parsing of their answers."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ...schema.edits.offer.strict import ANY_TEXT, FRACTION, among, array, closed
from ..core.answers import InvalidAnswer, reason_schema, structured
from ..core.bounds import Bounds
from ..core.material import clip, fenced, material
from ..core.meta import Question, prompt
from .trace import FailedRun
from .verdict import BlameVerdict
from .view import TextBudget, view
from .votes import Ballot, Pair, Submission, Vote

OPERATOR = "attribute"
NOBODY = "(nobody)"
"""The value by which an analyzer accuses no agent."""
MOST_NUMBERS = 250
"""The most steps that a schema lists one by one, because endpoints limit the size of schemas."""
MOST_EVIDENCE = 8
MOST_LISTED = 30
"""The most step numbers of another agent that an analyzer sees."""
ANY_STEP: Mapping[str, Any] = {"type": "integer"}
ANY_PAIR: Mapping[str, Any] = closed(agent=ANY_TEXT, step=ANY_STEP)
TWENTIETHS: Mapping[str, Any] = {"type": "number", "enum": [of / 20 for of in range(21)]}
"""The confidence of a model, with few digits if decoding is constrained to the schema."""


def whole_question(trace: FailedRun, bounds: Bounds, room: TextBudget) -> Question[BlameVerdict]:
    """Return the question for agent and step, with the whole flat trace (App. C, global)."""
    shown = view(trace.steps, room)
    fields = {
        "reason": reason_schema(bounds),
        "accused": {"anyOf": _pair_schemas(trace, {*shown.shown})},
        "confidence": TWENTIETHS,
    }
    return Question(
        operator=OPERATOR,
        instructions=prompt("attribute"),
        material=material(case_text(trace, bounds), shown.text),
        schema=closed(**fields),
        read=functools.partial(_read_whole, trace, bounds),
        inputs={"trace": trace},
    )


def own_question(
    trace: FailedRun, agent: str, bounds: Bounds, room: TextBudget, *, is_posted: bool
) -> Question[Submission]:
    """Return the question to one agent's analyzer, with that agent's steps alone (local).

    Args:
        is_posted: Whether other analyzers will read the reason.
    """
    own = trace.of(agent)
    record = {"agent": agent, "has_read": any(step.read for step in own), "is_posted": is_posted}
    shown = view(own, room, own=True)
    fields = {
        "reason": reason_schema(bounds),
        "erred": {"type": "boolean"},
        "step": _step_schema(shown.shown or trace.numbers(agent)),
        "confidence": TWENTIETHS,
    }
    return Question(
        operator=OPERATOR,
        instructions=prompt("attribute_own", **record),
        material=material(case_text(trace, bounds), shown.text),
        schema=closed(**fields),
        read=functools.partial(_read_own, trace, agent, bounds),
        inputs={"trace": trace, "agent": agent},
    )


def again_question(
    trace: FailedRun,
    agent: str,
    bounds: Bounds,
    room: TextBudget,
    *,
    posted: Sequence[Submission],
    ballot: Ballot,
) -> Question[Submission]:
    """Return the next question to one agent's analyzer, with all findings (collaborative).

    Args:
        ballot: The verdict that follows from the findings.
    """
    own = trace.of(agent)
    has_read = any(step.read for step in own)
    nobody = closed(agent=among([NOBODY]))
    fields = {
        "reason": reason_schema(bounds),
        "accused": {"anyOf": [*_pair_schemas(trace), nobody]},
        "confidence": TWENTIETHS,
        "evidence": array(_step_schema(trace.numbers(agent)), MOST_EVIDENCE, least=None),
    }
    return Question(
        operator=OPERATOR,
        instructions=prompt("attribute_again", agent=agent, has_read=has_read, nobody=NOBODY),
        material=material(
            case_text(trace, bounds),
            view(own, room, focus=_focus(agent, posted, ballot), own=True).text,
            *(_posted(trace, submission, agent) for submission in posted),
            fenced("verdict", _charge(ballot)),
        ),
        schema=closed(**fields),
        read=functools.partial(_read_again, trace, agent, (ballot.agent, ballot.step), bounds),
        inputs={"trace": trace, "agent": agent, "posted": posted, "standing": ballot},
    )


def case_text(trace: FailedRun, bounds: Bounds) -> str:
    """Return the task, the run's answer, the right answer and the ending, as shown to a model."""
    most = bounds.task_characters
    return material(
        fenced("task", clip(trace.question, most)),
        fenced("team_answer", clip(trace.answer.strip() or "(none)", most)),
        fenced("right_answer", clip(trace.expected, most)),
        fenced("ended", clip(trace.ended, bounds.reason)),
    )


def _focus(agent: str, posted: Sequence[Submission], ballot: Ballot) -> int | None:
    """Return the step of an agent that the verdict accuses, else that its analyzer accuses."""
    own = [submission.accuses for submission in posted if submission.analyzer == agent]
    pairs = [(ballot.agent, ballot.step), *(pair for pair in own if pair)]
    return next((step for accused, step in pairs if accused == agent), None)


def _posted(trace: FailedRun, submission: Submission, reader: str) -> str:
    numbers = trace.numbers(submission.analyzer)
    listed = ", ".join(map(str, numbers[:MOST_LISTED]))
    more = f" and {len(numbers) - MOST_LISTED} more" if len(numbers) > MOST_LISTED else ""
    says = (
        f"accuses {submission.accuses[0]} of step {submission.accuses[1]}"
        if submission.accuses
        else "accuses nobody"
    )
    kind = "your_finding" if submission.analyzer == reader else "finding"
    sure = f"sure {submission.confidence:.3g}"
    text = f"steps of {submission.analyzer}: {listed}{more}\n{says}, {sure}\n{submission.why}"
    return fenced(kind, text, submission.analyzer)


def _charge(ballot: Ballot) -> str:
    charged = f"{ballot.agent}, step {ballot.step}"
    default = "; nobody accuses anybody, and this one denies least surely"
    return charged + (default if ballot.by_default else "")


def _pair_schemas(trace: FailedRun, shown: Collection[int] = ()) -> list[Mapping[str, Any]]:
    """Return a schema for each agent with its own steps; only the shown ones, if there are any."""
    own = {agent: trace.numbers(agent) for agent in trace.doers}
    shown_steps = {
        agent: [number for number in numbers if number in shown] for agent, numbers in own.items()
    }
    return [
        closed(agent=among([agent]), step=_step_schema(shown_steps[agent] or own[agent]))
        for agent in trace.doers
    ]


def _step_schema(numbers: Sequence[int]) -> Mapping[str, Any]:
    if len(numbers) <= MOST_NUMBERS:
        return {"type": "integer", "enum": [*numbers]}
    return {"type": "integer", "minimum": min(numbers), "maximum": max(numbers)}


def _read_whole(trace: FailedRun, bounds: Bounds, text: str) -> BlameVerdict:
    fields = {"reason": {}, "accused": ANY_PAIR, "confidence": FRACTION}
    record = structured(text, closed(**fields), bounds)
    agent, step = _accused(trace, record["accused"])
    sure = float(record["confidence"])
    return BlameVerdict(
        agent=agent,
        step=step,
        why=record["reason"],
        confidence=sure,
        scheme="global",
        votes=(Vote(agent=agent, step=step, weight=sure, by=()),),
    )


def _read_own(trace: FailedRun, agent: str, bounds: Bounds, text: str) -> Submission:
    fields = {"reason": {}, "erred": {"type": "boolean"}, "step": ANY_STEP, "confidence": FRACTION}
    record = structured(text, closed(**fields), bounds)
    own = _pair(trace, agent, int(record["step"]))
    return _submission(trace, agent, record, own if record["erred"] else None)


def _read_again(trace: FailedRun, agent: str, pair: Pair, bounds: Bounds, text: str) -> Submission:
    """Parse an analyzer's new accusation; whether it counters the verdict is derived from it."""
    fields = {
        "reason": {},
        "accused": {**ANY_PAIR, "required": ["agent"]},
        "confidence": FRACTION,
        "evidence": {"type": "array", "items": ANY_STEP},
    }
    record = structured(text, closed(**fields), bounds)
    evidence = [_pair(trace, agent, int(item)) for item in record["evidence"]]
    if record["accused"]["agent"] == NOBODY:
        return _submission(trace, agent, record, None)
    accuses = _accused(trace, record["accused"])
    countered = bool(evidence) and accuses != pair
    return _submission(trace, agent, record, accuses, countered=countered)


def _submission(
    trace: FailedRun,
    analyzer: str,
    answer: Mapping[str, Any],
    accuses: Pair | None,
    *,
    countered: bool = False,
) -> Submission:
    return Submission(
        analyzer=analyzer,
        first=trace.numbers(analyzer)[0],
        confidence=float(answer["confidence"]),
        accuses=accuses,
        countered=countered,
        why=answer["reason"],
    )


def _accused(trace: FailedRun, answer: Mapping[str, Any]) -> Pair:
    """Parse an accusation, which must have a step."""
    if "step" not in answer:
        raise InvalidAnswer(f"it accuses {answer['agent']!r} of no step. Give the number of one.")
    return _pair(trace, answer["agent"], int(answer["step"]))


def _pair(trace: FailedRun, agent: str, number: int) -> Pair:
    """Return an existing pair of agent and step, or raise `InvalidAnswer`."""
    if agent not in trace.doers:
        raise InvalidAnswer(f"nobody is called {agent!r}. There are {', '.join(trace.doers)}.")
    if number not in (own := trace.numbers(agent)):
        listed = ", ".join(map(str, own[:MOST_LISTED]))
        more = ", …" if len(own) > MOST_LISTED else ""
        raise InvalidAnswer(f"{agent} has no step {number}. Its steps are {listed}{more}.")
    return agent, number

"""Events in a few words, for the progress of a run and for its timeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...schema.team.words import span
from ...schema.values.json_text import dumps
from ...schema.values.terminal import counted
from ..values.usage import tokens_of

LONGEST = 200
"""Characters that are shown of an agent's message to another agent or to a tool."""
SENT = {"message": "to", "answer": "answers", "start": "starts", "stop": "stops"}
"""Actions of an open roster's agents on each other, in words."""
CUT_OFF = {
    "length": "its answer was cut off at max_tokens",
    "too_long": "its answer was cut off: it was too long",
}

Fields = Any
"""The fields of an event, by name."""


def event_text(event: str, fields: Fields) -> str:
    """Return an event in words; empty for an event that means nothing to people."""
    saying = SAYINGS.get(event)
    return saying(fields) if saying else ""


def about(agent: str | None, fields: Fields) -> str:
    """Return the subject of an event: an agent, an operator, a round, or the team."""
    if who := agent or fields.get("operator"):
        return who
    number = fields.get("round", fields.get("rounds"))
    return "the team" if number is None else f"round {number}"


def _started(fields: Fields) -> str:
    received = fields["received"]
    starts = f"starts on {counted(items, 'item')}" if (items := fields.get("items")) else "starts"
    return f"{starts}, reads {span(received)}" if received else starts


def _called(fields: Fields) -> str:
    usage = fields["usage"]
    source = f", from the {fields['source']}" if "source" in fields else ""
    tools = (
        f", calls {', '.join(call['name'] for call in calls)}"
        if (calls := fields["tool_calls"])
        else ""
    )
    often = f", {fields['attempts']} attempts" if fields["attempts"] > 1 else ""
    read, wrote = usage["prompt_tokens"], usage["completion_tokens"]
    instead = f" (in place of {fields['alias']})" if "answered_by" in fields else ""
    question = f"asks {fields['model'] or fields['alias']}{instead}: {read} + {wrote} tokens"
    return f"{question}, {fields['seconds']:.1f} s{often}{source}{tools}"


def _tool(fields: Fields) -> str:
    arguments = dumps(fields["arguments"], ensure_ascii=False)[:LONGEST]
    took = f", {fields['seconds']:.1f} s" if "seconds" in fields else ""
    text = f"failed: {fields['error']}" if "error" in fields else str(fields.get("result"))
    return f"tool {fields['tool']} {arguments}{took}: {text[:LONGEST]}"


def _finished(fields: Fields) -> str:
    usage = fields["usage"]
    tokens = tokens_of(usage)
    status = fields["status"]
    if status == "cancelled":
        if not fields.get("attempts", 1):
            return "cancelled before it began"
        status = "cancelled at work"
    text = f"{status}, {fields['seconds']:.1f} s, {tokens} tokens"
    return f"{text}: {fields['error']}" if fields["error"] else text


def _adapted(fields: Fields) -> str:
    """Return the parameter that a model refuses: `fast refuses temperature 0.5: left out`."""
    wanted, parameter = fields["asked"], fields["parameter"]
    what = parameter if wanted == parameter else f"{parameter} {wanted}"
    return f"{fields['alias']} refuses {what}: {fields['instead']}"[:LONGEST]


def _posted(fields: Fields) -> str:
    """Return what an agent of an open roster did to another: `starts coder: write the test`."""
    does = SENT.get(fields["kind"], f"{fields['kind']},")
    text = f": {fields['text']}" if fields["text"] else ""
    return f"{does} {fields['to'] or 'all'}{text}"[:LONGEST]


def _round(fields: Fields) -> str:
    """Name a pass and the agents that are settled in a round."""
    number, settled = fields["round"], fields["given"]
    if isinstance(number, int):
        return f"round {number}" + (f", not asked: {span(settled)}" if settled else "")
    places = {"opening": "before all others", "closing": "after the rounds"}
    return places.get(number, f"{number}")


def _rounds_ended(fields: Fields) -> str:
    unjudged = "; no round was scored" if fields.get("judged") == 0 else ""
    return f"ended, {fields['why']}; round {fields['answer_of']} answers{unjudged}"


def _cut_off(fields: Fields) -> str:
    reason = fields["finish_reason"]
    return CUT_OFF.get(reason, f"its answer was cut off ({reason})")


def _again(fields: Fields) -> str:
    wait = f" (after {fields['wait']:g} s)" if fields.get("wait") else ""
    return f"again{wait}: {fields['error']}"


def _ended(fields: Fields) -> str:
    error = f": {fields['error']}" if fields["error"] else ""
    return f"{fields['status']}, {fields['seconds']:.1f} s{error}"


SAYINGS: Mapping[str, Callable[[Fields], str]] = {
    "agent_started": _started,
    "agent_finished": _finished,
    "agent_retried": _again,
    "agent_given": lambda fields: f"is not called again; its outcome stays: {fields['status']}",
    "agent_joined": lambda fields: f"joins, started by {fields['by']}",
    "agent_left": lambda _fields: "is no longer active",
    "agent_moved": lambda fields: f"restarts on another host: {fields['error']}",
    "contributions": lambda fields: f"score {fields['score']:g} by the judge",
    "cut_off": _cut_off,
    "drafted": lambda fields: f"has a draft: {fields['status']}",
    "files_written": lambda fields: f"wrote {', '.join(fields['files']) or 'files'}",
    "mail_taken": lambda fields: f"turn {fields['turn']}",
    "mail_returned": lambda fields: f"turn {fields['turn']} had no result",
    "message_posted": _posted,
    "model_call": _called,
    "model_error": lambda fields: f"{fields['error']}",
    "model_fallback": lambda fields: f"asks {fields['alias']} after: {fields['error']}",
    "model_retried": _again,
    "operator_dropped": lambda fields: ": ".join(
        ["nothing of use", *(fields["problems"] or [fields["reason"]])]
    ),
    "operator_repair": lambda fields: f"must repair its answer: {'; '.join(fields['problems'])}",
    "only_thought": lambda fields: f"an invalid answer: {fields['why']}",
    "parameter_adapted": _adapted,
    "answer_unread": lambda fields: f"the answer cannot be used: {fields['problem']}",
    "question_asked": lambda fields: f"waiting for an answer: {fields['file']}",
    "recalled": lambda fields: f"recalls {counted(fields['shown'], 'case')}",
    "recruited": lambda fields: f"recruited {span(fields['agents'])}",
    "repair": lambda fields: f"must repair its answer: {'; '.join(fields['problems'])}",
    "roster_ended": lambda fields: (
        f"ended after {counted(fields['sent'], 'message')}, {fields['why']}"
    ),
    "round_started": _round,
    "rounds_ended": _rounds_ended,
    "run_finished": _ended,
    "step_failed": lambda fields: f"a step failed: {fields['error']}",
    "tool_call": _tool,
    "trimmed": lambda fields: (
        f"{counted(fields['left_out'], 'character')} of its conversation were left out"
    ),
    "work_merged": lambda fields: "starts from the others' changes in the repository",
    "work_unused": lambda fields: f"changed {counted(fields['count'], 'file')} without effect",
}
"""The text of each type of event. Types that are missing here are for machines."""

"""A recorded run as text: its head, graph, agents, timeline, conversations and patch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...schema.picture.text import draw
from ...schema.values.codec import from_value
from ...schema.values.terminal import counted, on_one_line, speakable
from ..gateway.chat.dialogue import clipped, spoken
from ..values.operator_answers import OperatorAnswers, answer_warnings, useless_answers
from .conversation import news
from .saying import about, event_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from .conversation import AnsweredCall
    from .recorded import Recorded

LONGEST = 1_200
"""Characters of a text that are shown, unless the user asks for all of it."""
LONGEST_LINE = 300
BAR = "  | "
"""The prefix of each line written by a model, a tool or a person, so that none can pose as ours."""


def written(run: Recorded, *, agent: str | None = None, full: bool = False) -> str:
    """Write a run for people; no text in it can control their terminal.

    Args:
        full: Show texts whole. Otherwise the middle of long texts is left out, and their size
            shown.
    """
    agents = [agent] if agent is not None else [*run.speakers]
    lines = [*_head(run, full=full)]
    if agent is None:
        lines += ["", "GRAPH", *_indented(draw(run.team, run.states)), "", *_agents(run)]
    lines += ["", *_timeline(run, agent, full=full)]
    lines += conversations(run.calls, agents, full=full)
    if agent is None and (patch := _patch(run)):
        lines += ["", "PATCH", *_quoted(patch, full=full)]
    return speakable("\n".join(lines)) + "\n"


def _head(run: Recorded, *, full: bool) -> Iterator[str]:
    result, task = run.result, run.task
    yield f"run      {run.place}"
    yield f"task     {on_one_line(str(task.get('id', '')))}"
    yield from _quoted(str(task.get("query", "")), full=full)
    yield f"status   {run.status}{_why(result)}"
    if score := result.get("score"):
        yield f"score    {score['value']:g} ({_line(score.get('reason', ''))})"
    elif result.get("answer") is not None:
        yield "score    none: the task has no reference answer"
    for name, value in result.get("measures", {}).items():
        yield f"measured {on_one_line(name)} {value:g}"
    answers = from_value(Mapping[str, OperatorAnswers], result.get("operators", {}))
    yield from (f"useless  {_line(line)}" for line in useless_answers(answers))
    yield from (f"warning  {_line(warning)}" for warning in answer_warnings(answers))
    seconds = f", {result['seconds']:.1f} s" if "seconds" in result else ""
    usage = run.usage
    yield (
        f"cost     {counted(usage.calls, 'call')}, {counted(usage.tokens, 'token')},"
        f" {usage.cost}{seconds}"
    )
    if run.started:
        yield f"started  {run.started}"
    yield from (f"model    {on_one_line(model)}" for model in run.models)
    yield from (f"file     {on_one_line(str(item))}" for item in result.get("artifacts", ()))
    if log := result.get("log"):
        yield f"log      {on_one_line(str(log))}"
    if run.damage:
        yield f"damaged  {on_one_line(run.damage)}"
    yield from (f"next     {hint}" for hint in run.hints)
    if cut := [call for call in run.calls if call.is_cut_off]:
        agents = ", ".join(dict.fromkeys(call.agent for call in cut))
        yield f"cut off  {counted(len(cut), 'answer')}, of {agents}"
    if others := [call for call in run.calls if call.is_substituted]:
        agents = ", ".join(dict.fromkeys(call.agent for call in others))
        yield f"warning  another model gave {counted(len(others), 'answer')}, for {agents}"
    if _patch(run):
        yield "answer   a patch; see below"
    elif (answer := result.get("answer")) is not None:
        yield from ("answer", *_quoted(str(answer), full=full))


def _why(result: Mapping[str, Any]) -> str:
    return f": {_line(result['error'])}" if result.get("error") else ""


def _agents(run: Recorded) -> Iterator[str]:
    """Write one line for each agent, with its usage."""
    yield "AGENTS"
    width = max(map(len, run.speakers), default=0)
    for agent in run.speakers:
        usage, ended = run.usage_of(agent), run.ended(agent)
        own = run.calls_by(agent)
        retries = sum(call.event["attempts"] - 1 for call in own)
        cut = sum(call.is_cut_off for call in own)
        took = run.time.seconds_of(agent) if run.time.of_agent(agent) else None
        parts = [
            run.states.get(agent, "asked"),
            counted(usage.calls, "call"),
            counted(usage.tokens, "token"),
            usage.cost,
            "" if took is None else f"{took:.1f} s",
            f"{ended['attempts']} attempts" if ended.get("attempts", 1) > 1 else "",
            f"{counted(retries, 'call')} retried" if retries else "",
            f"{counted(cut, 'answer')} cut off" if cut else "",
            _line(str(ended.get("error") or "")),
        ]
        yield f"  {agent:<{width}}  {', '.join(filter(None, parts))}"
        yield from (f"  {'':<{width}}  mishap: {_line(mishap)}" for mishap in ended["mishaps"])


def _timeline(run: Recorded, agent: str | None, *, full: bool) -> Iterator[str]:
    yield "TIMELINE"
    begun = False
    for event in run.events:
        if event["type"] == "run_started":
            if begun:
                yield "  -- resumed; the journal provides the earlier answers --"
            begun = True
        whom = event.get("agent")
        text = event_text(event["type"], event)
        if not text or (agent is not None and whom != agent):
            continue
        line = on_one_line(f"{about(whom, event)}: {text}")
        yield f"{event['t']:8.1f} s  {line if full else line[:LONGEST_LINE]}"


def conversations(calls: Sequence[AnsweredCall], names: Sequence[str], *, full: bool) -> list[str]:
    """Write the conversations of some agents or operators, line by line."""
    return [line for name in names for line in ("", *_conversation(calls, name, full=full))]


def _conversation(all_calls: Sequence[AnsweredCall], agent: str, *, full: bool) -> Iterator[str]:
    """Write an agent's calls, with the new messages of each."""
    calls = [all_call for all_call in all_calls if all_call.agent == agent]
    yield f"CONVERSATION of {agent}" + ("" if calls else ": no model was asked")
    for call, messages in news(calls):
        yield f"  {call.path}"
        for message in messages:
            yield f"  {on_one_line(str(message.get('role')))}:"
            yield from _quoted(spoken(message), full=full)
        yield from _answer(call, full=full)


def _answer(call: AnsweredCall, *, full: bool) -> Iterator[str]:
    if thinking := call.event.get("thinking"):
        yield from ("  thinking:", *_quoted(thinking, full=full))
    end = " (CUT OFF)" if call.is_cut_off else ""
    yield f"  {event_text('model_call', call.event)} ->{end}"
    yield from _quoted(spoken(call.answer), full=full)


def _patch(run: Recorded) -> str:
    answer = run.result.get("answer")
    is_patch = isinstance(answer, str) and answer.startswith("diff --git ")
    return answer if is_patch and isinstance(answer, str) else ""


def _line(text: str) -> str:
    return clipped([on_one_line(text)], LONGEST_LINE)[0]


def _quoted(text: str, *, full: bool) -> list[str]:
    shown = text if full else clipped([text], LONGEST)[0]
    return [f"{BAR}{line}" for line in speakable(shown).splitlines()]


def _indented(text: str) -> Sequence[str]:
    return [f"  {line}".rstrip() for line in text.splitlines()]

"""Steps are read off events: what each agent said, did and came to, each once."""

from typing import Any

import pytest

from coterie.operators.blame.steps import blamable, outage_of, steps_of

STARTED = {"type": "run_started"}


def told(*events: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"v": 1, "n": number, "t": 0.0, **event} for number, event in enumerate(events, 1)]


def said(
    text: str, *heard: str, path: str = "solver/attempt 1/call 1", **fields: Any
) -> dict[str, Any]:
    """What an agent says; of all but the last that it had heard, it had said something to it."""
    messages = [{"role": "system", "content": "You are."}]
    for name in heard:
        messages += [{"role": "user", "content": name}, {"role": "assistant", "content": "Hm."}]
    known = {"type": "model_call", "agent": "solver", "path": path, "text": text, "tool_calls": []}
    return {**known, "messages": messages[: -1 if heard else None], **fields}


def started(agent: str = "solver", backend: str = "llm", **fields: Any) -> dict[str, Any]:
    return {"type": "agent_started", "agent": agent, "backend": backend, **fields}


def ended(content: str | None, **fields: Any) -> dict[str, Any]:
    known = {"type": "agent_finished", "agent": "solver", "status": "done", "attempts": 1}
    return {**known, "content": content, "error": None, **fields}


def used(result: str, **fields: Any) -> dict[str, Any]:
    known = {"type": "tool_call", "agent": "solver", "tool": "count", "arguments": {"of": "pears"}}
    return {**known, "result": result, **fields}


def lines(*events: dict[str, Any]) -> list[tuple[int, str, str, str]]:
    return [(step.number, step.kind, step.where, step.text) for step in steps_of(told(*events))]


def test_an_answer_is_one_step_though_two_events_tell_it() -> None:
    events = (STARTED, started(), said("Six.", "How many?"), ended(" Six. "))
    assert lines(*events) == [(3, "answer", "", "Six.")]
    [step] = steps_of(told(*events))
    assert (step.agent, step.read) == ("solver", "How many?")


def test_a_tool_s_result_is_a_step_beside_the_call_that_asked_for_it() -> None:
    calls = [{"id": "1", "name": "count", "arguments": '{"of": "pears"}'}]
    second = said("Six.", "How many?", "count gave: 6", path="solver/attempt 1/call 2")
    events = (STARTED, started(), said("", "How many?", tool_calls=calls), used("6"), second)
    assert lines(*events, ended("Six.")) == [
        (3, "action", "", 'calls count {"of": "pears"}'),
        (4, "tool", "", 'count {"of": "pears"}\ngave: 6'),
        (5, "answer", "", "Six."),
    ]


def test_what_came_of_code_stands_with_the_code() -> None:
    second = said("Six.", "How many?", "Observation: 6", path="solver/attempt 1/call 2")
    events = (STARTED, started(), said("print(6)", "How many?"), second, ended("Six."))
    assert lines(*events) == [
        (3, "action", "", "print(6)\n\nWhat came of it:\nObservation: 6"),
        (4, "answer", "", "Six."),
    ]


def test_what_came_of_code_is_told_though_it_came_before() -> None:
    paths = [f"round {r}/solver/attempt 1/call {c}" for r in (1, 2) for c in (1, 2)]
    heard = ["How many?", "Observation: 6"] * 2
    events = [
        said("print(6)", *heard[: place % 2 + 1], path=path, round=1 + place // 2)
        for place, path in enumerate(paths)
    ]
    word = "What came of it:\nObservation: 6"
    assert [word in line[3] for line in lines(STARTED, *events)] == [True, False, True, False]


def test_what_came_of_a_command_that_no_event_tells_stands_with_it() -> None:
    calls = [{"id": "1", "name": "bash", "arguments": '{"command": "wc"}'}]
    asked = [{"role": "user", "content": "How many?"}, {"role": "assistant", "content": ""}]
    result = [*asked, {"role": "tool", "content": "6"}]
    first = said("", "How many?", tool_calls=calls)
    second = said("Six.", path="solver/attempt 1/call 2", messages=result)
    assert lines(STARTED, started(), first, second) == [
        (3, "action", "", 'calls bash {"command": "wc"}\n\nWhat came of it:\n6'),
        (4, "answer", "", "Six."),
    ]


def test_messages_in_parts_are_read() -> None:
    parts = [{"role": "user", "content": [{"type": "text", "text": "How many?"}, {"type": "x"}]}]
    [step] = steps_of(told(STARTED, started(), said("Six.", messages=parts)))
    assert step.read == "How many?"


def test_rounds_and_attempts_tell_where_it_was() -> None:
    again = said("Seven.", path="round 2/solver/attempt 2/call 1", round=2)
    close = said("So seven.", path="closing/solver/attempt 1/call 1", round="closing")
    assert lines(STARTED, again, close) == [
        (2, "answer", "round 2, attempt 2", "Seven."),
        (3, "answer", "closing", "So seven."),
    ]


def test_what_functions_and_code_come_to_is_a_step_of_its_own() -> None:
    events = (STARTED, started(backend="function"), ended("six"))
    assert lines(*events) == [(3, "outcome", "", "six")]
    assert blamable(told(*events, started("writer"))) == ("writer",)


def test_who_fails_by_itself_has_a_step_that_says_so() -> None:
    failed = ended(None, status="failed", error="it gave up.")
    slip = {"type": "step_failed", "agent": "solver", "error": "no such name"}
    assert lines(STARTED, started(), said("x"), slip, failed) == [
        (3, "answer", "", "x"),
        (4, "failure", "", "step failed: no such name"),
        (5, "failure", "", "failed: it gave up."),
    ]


@pytest.mark.parametrize(("kind", "steps"), [("down", 0), ("slow", 0), ("overflow", 1)])
def test_what_a_provider_does_is_no_step_of_an_agent(kind: str, steps: int) -> None:
    error = {"type": "model_error", "agent": "solver", "kind": kind, "error": "no answer."}
    failed = ended(None, status="failed", error="its model: no answer.")
    events = (STARTED, started(), error, failed)
    assert len(lines(*events)) == steps
    assert outage_of(told(*events), "agent solver: its model: no answer.") == (
        None if steps else "no answer."
    )
    assert outage_of(told(*events), "agent writer: it gave up.") is None


def test_who_never_worked_has_no_step() -> None:
    skipped = ended(None, status="skipped", error="it depends on a.", attempts=0)
    lost = ended(None, status="failed", error="none reported.", attempts=0)
    assert lines(STARTED, skipped, lost) == []


def test_a_step_that_is_told_again_after_an_interruption_is_one_step() -> None:
    second = said("Six.", "How many?", "Observation: 6", path="solver/attempt 1/call 2")
    first = (STARTED, started(), said("print(6)", "How many?"), used("6"))
    again = (*first, second, ended("Six."))
    assert lines(*first, *again) == [
        (3, "action", "", "print(6)\n\nWhat came of it:\nObservation: 6"),
        (4, "tool", "", 'count {"of": "pears"}\ngave: 6'),
        (9, "answer", "", "Six."),
    ]


def test_what_comes_out_differently_takes_the_place_of_what_it_was() -> None:
    second = (STARTED, started(), said("Seven."), ended("Seven."))
    assert lines(STARTED, started(), said("Six."), *second) == [(6, "answer", "", "Seven.")]


def test_an_agent_that_uses_a_tool_twice_alike_does_two_steps() -> None:
    assert [line[0] for line in lines(STARTED, used("6"), used("6"))] == [2, 3]


def test_what_operators_ask_is_no_step() -> None:
    asked = {**said("x"), "operator": "coach"}
    whole = {key: item for key, item in said("x").items() if key != "agent"}
    assert lines(STARTED, asked, whole, {"type": "recalled", "agent": "solver"}) == []


def posted(text: str, **fields: Any) -> dict[str, Any]:
    known = {"type": "message_posted", "agent": "solver", "number": 2, "sender": "solver"}
    return {**known, "to": "writer", "kind": "message", "text": text, **fields}


def test_a_message_is_a_step_unless_the_step_that_sent_it_tells_it() -> None:
    sent = {"to": "writer", "text": 'It is "six".\nReally.'}
    call = used("sent", tool="send", arguments=sent)
    assert lines(STARTED, call, posted(sent["text"]), posted("It is seven.")) == [
        (2, "tool", "", 'send {"to": "writer", "text": "It is \\"six\\".\\nReally."}\ngave: sent'),
        (4, "message", "", "message to writer: It is seven."),
    ]
    of_nobody = {key: item for key, item in posted("task").items() if key != "agent"}
    assert lines(STARTED, of_nobody) == []

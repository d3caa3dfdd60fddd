"""What a turn does to its team is read off its tool calls, and off what it came to."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime import AgentOutcome
from coterie.runtime.agents.acts import Finalize, Send, Start, Stop, Terminate, TurnAnswer, acts
from coterie.runtime.agents.outcomes import Kind, Posted, ToolCall
from coterie.runtime.runners import AgentResult

IDS = st.sampled_from(["planner", "coder", "critic"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=4,
)


def note(sender: str, kind: Kind = "message") -> Posted:
    return Posted(number=1, sender=sender, to="coder", kind=kind)


def turn(content: str = "", *calls: ToolCall, **fields: Any) -> AgentOutcome:
    record: dict[str, Any] = {"status": "done", "result": AgentResult(content=content), **fields}
    return AgentOutcome(tool_calls=calls, **record)


def call(tool: str, error: str | None = None, **arguments: Any) -> ToolCall:
    return ToolCall(tool=tool, arguments=arguments, error=error)


def test_what_an_agent_did_comes_in_order() -> None:
    done = turn(
        "",
        call("list_pool"),
        call("start_agent", agent="coder", text="Write it."),
        call("calculator", text="6 * 7"),
        call("send", to="coder", text="In Python."),
        call("stop_agent", agent="coder"),
        call("finalize", answer="42"),
        call("terminate", reason="No."),
    )
    assert acts(done) == (
        Start(agent="coder", text="Write it."),
        Send(to="coder", text="In Python."),
        Stop(agent="coder"),
        Finalize(answer="42"),
        Terminate(reason="No."),
    )


def test_what_was_refused_or_failed_did_not_happen() -> None:
    refused = call("send", "no such agent.", to="codre", text="x")
    assert acts(turn("", refused)) == ()
    sent = call("send", to="coder", text="x")
    assert acts(turn("", sent, status="failed", result=None)) == ()


@given(st.text(max_size=12) | st.sampled_from(["send", "start_agent", "finalize"]), JSON)
def test_calls_with_other_arguments_are_no_acts(tool: str, arguments: Any) -> None:
    done = turn("", ToolCall(tool=tool, arguments=arguments))
    assert len(acts(done)) <= 1


def test_what_a_turn_came_to_goes_back_to_those_who_asked() -> None:
    read = [note("planner", "start"), note("planner"), note("critic"), note("", "task")]
    outcome = turn(" It is 42. ")
    assert acts(outcome, read) == (
        TurnAnswer(to="planner", text="It is 42."),
        TurnAnswer(to="critic", text="It is 42."),
    )
    report = turn("Told the critic.", call("send", to="critic", text="42"))
    assert acts(report, read)[1:] == (TurnAnswer(to="planner", text="Told the critic."),)
    assert acts(turn("x", call("finalize", answer="42")), read) == (Finalize(answer="42"),)
    assert acts(turn(""), read) == ()


@given(st.lists(st.builds(note, IDS, st.sampled_from(["answer", "failed", "refused", "task"]))))
def test_an_answer_asks_for_none(read: list[Posted]) -> None:
    assert acts(turn("Thank you."), read) == ()

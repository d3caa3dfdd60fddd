"""Models that think within a loop of tool calls: each gets back what it wants back, or refuses."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime import Journal
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.doubles.script import Request
from coterie.runtime.gateway import ChatAnswer, ToolRequest, bare, spoken
from coterie.runtime.runners._kept import KeptAnswers, numbered
from coterie.schema import Agent

from ...jails import needs_jail
from .conftest import Workbench, body_of

SIGNATURE = {"google": {"thought_signature": "c2lnbmVk"}}
DETAILS = [
    {"type": "reasoning.text", "text": "hm", "signature": "s", "format": "anthropic-claude-v1"},
    {"type": "reasoning.encrypted", "data": "x", "id": "own_0"},
]
PARTS = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
    {"type": "text", "text": "so"},
]
FORMS: Mapping[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "deepseek": ({"content": "", "reasoning_content": "hm"}, {}),
    "deepseek, silent": ({"content": "", "reasoning_content": ""}, {}),
    "openrouter": ({"content": None, "reasoning": "hm", "reasoning_details": DETAILS}, {}),
    "groq": ({"content": None, "reasoning": "hm"}, {}),
    "mistral": ({"content": PARTS}, {}),
    "minimax": ({"content": "<think>hm</think>\n\nso"}, {}),
    "gemini": ({"content": None}, {"extra_content": SIGNATURE}),
}
"""What a message with tool calls has beside them, and what its calls have."""

CODERS = ("CodeAgent", "DefaultAgent")


class Thinker:
    """A model that refuses a request in which one of its messages is not as it sent it.

    Args:
        form: How it thinks.
        tools: The calls that it makes, one after the other.
    """

    def __init__(self, form: str, *tools: tuple[str, dict[str, Any]]) -> None:
        self._message, self._call = FORMS[form]
        self._tools = tools

    def __call__(self, request: Request) -> Reply:
        said = [item for item in request["messages"] if item.get("tool_calls")]
        if any(not self._is_whole(number, message) for number, message in enumerate(said)):
            words = "The `reasoning_content` in the thinking mode must be passed back to the API."
            return Reply.error(400, message=words, code="invalid_request_error")
        message = {**self._message, "tool_calls": [self._called(len(said))]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        return Reply(body=json.dumps({"choices": [choice], "model": "thinker"}))

    def _called(self, number: int) -> dict[str, Any]:
        name, arguments = self._tools[number]
        function = {"name": name, "arguments": json.dumps(arguments)}
        return {"id": f"own_{number}", "type": "function", "function": function, **self._call}

    def _is_whole(self, number: int, message: Any) -> bool:
        wanted = {**self._message, "tool_calls": [self._called(number)]}
        if "reasoning_details" in wanted:  # it documents either of them
            del wanted["reasoning"]
        wanted["content"] = wanted["content"] or None
        return message == {"role": "assistant", **wanted}


@needs_jail
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("form", ["deepseek", "minimax", "gemini"])
def test_mini_swe_agent_gives_back_what_its_model_wants(workbench: Workbench, form: str) -> None:
    submit = {"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; echo 4"}
    thinker = Thinker(form, ("bash", {"command": "echo 4"}), ("bash", submit))
    with ScriptedModel(thinker) as model:
        run = workbench.run(model, Agent(id="a", agent_type="DefaultAgent"))
    assert (run.answer, run.usage.calls) == ("4", 2)


@pytest.mark.parametrize("form", [*FORMS])
def test_a_tool_caller_gives_back_what_its_model_wants(workbench: Workbench, form: str) -> None:
    tools = ("megaphone_shout", {"text": "hi"}), ("megaphone_shout", {"text": "rude"})
    thinker = Thinker(form, *tools, ("final_answer", {"answer": "HI"}))
    agent = Agent(id="a", agent_type="ToolCallingAgent", tools=("megaphone.shout",))
    with ScriptedModel(thinker) as model:
        run = workbench.run(model, agent)
        results = [
            message for message in body_of(model, 2)["messages"] if message["role"] == "tool"
        ]
    assert (run.answer, run.usage.calls) == ("HI", 3)
    assert [result["tool_call_id"] for result in results] == ["own_0", "own_1"]
    assert results[0]["content"] == "HI"
    assert "that is rude; say something else" in results[1]["content"]


def test_a_plan_is_asked_for_without_what_is_kept(workbench: Workbench, tmp_path: Path) -> None:
    """No tools go along with it, and a provider may refuse tool calls where there are none."""
    tools = ("megaphone_shout", {"text": "hi"}), ("final_answer", {"answer": "HI"})
    thinker, asked = Thinker("deepseek", *tools), list[Any]()

    def answer(request: Request) -> Reply:
        if "tools" in request:
            return thinker(request)
        asked.append(request["messages"])
        return Reply(text="First I shout.")

    agent = Agent(
        id="a", agent_type="ToolCallingAgent", tools=("megaphone.shout",), planning_interval=1
    )
    with ScriptedModel(answer) as model:
        for replaying in (False, True):
            with Journal.open(tmp_path, replaying=replaying) as journal:
                run = workbench.run(model, agent, journal=journal)
                assert journal.divergences == []
            assert (run.answer, run.usage.calls, len(model.calls)) == ("HI", 4, 4)
    assert "'megaphone_shout'" in str(asked[1])
    assert not any("tool_calls" in message for message in asked[1])


@pytest.mark.parametrize("form", ["deepseek", "mistral"])
def test_a_replayed_loop_asks_the_same(workbench: Workbench, tmp_path: Path, form: str) -> None:
    tools = ("megaphone_shout", {"text": "hi"}), ("final_answer", {"answer": "HI"})
    agent = Agent(id="a", agent_type="ToolCallingAgent", tools=("megaphone.shout",))
    with ScriptedModel(Thinker(form, *tools)) as model:
        with Journal.open(tmp_path) as journal:
            workbench.run(model, agent, journal=journal)
        with Journal.open(tmp_path, replaying=True) as journal:
            run = workbench.run(model, agent, journal=journal)
            assert journal.divergences == []
        assert len(model.calls) == 2
    assert run.answer == "HI"
    assert [event.fields["thinking"] for event in workbench.of("model_call")] == ["hm"] * 4


def test_a_program_that_keeps_nothing_has_it_put_back() -> None:
    call = ToolRequest(id="", name="f", arguments="{}", extra={"extra_content": SIGNATURE})
    kept = {"reasoning_content": "hm", "kept_for": "m"}
    answer = ChatAnswer(text="so", tool_calls=(call,), thinking="hm", kept=kept)
    user, result = {"role": "user"}, {"role": "tool", "tool_call_id": "call_0"}
    answers = KeptAnswers()
    answers.remember(answer)
    message = bare(spoken(answer, numbered(answer)))
    plain = {"id": "call_0", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    assert message == {"role": "assistant", "content": "so", "tool_calls": [plain]}
    back = {**message, **kept, "tool_calls": [{**plain, "extra_content": SIGNATURE}]}
    assert answers.given_back([user, message, result]) == [user, back, result]


CODE = "<code>\nfinal_answer('{}')\n</code>"


@needs_jail
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize(
    "thought", ["<think>{}</think>{}", "{}\n</think>\n\n{}", "<thinking>\n{}\n</thinking>\n{}"]
)
def test_code_in_thinking_is_not_run(workbench: Workbench, thought: str) -> None:
    with ScriptedModel(thought.format(CODE.format("wrong"), CODE.format("right"))) as model:
        run = workbench.run(model, Agent(id="a", agent_type="CodeAgent"))
    assert (run.answer, run.usage.calls) == ("right", 1)


@needs_jail
@pytest.mark.usefixtures("nothing_left")
def test_code_in_endless_thinking_is_not_run_and_the_agent_goes_on(workbench: Workbench) -> None:
    script = [f"<think>{CODE.format('wrong')}", Reply.code("final_answer('right')")]
    with ScriptedModel(script) as model:
        run = workbench.run(model, Agent(id="a", agent_type="CodeAgent"))
        assert "I thought, and did not answer" in str(body_of(model, 1)["messages"])
        assert "wrong" not in str(body_of(model, 1)["messages"])
    assert (run.answer, run.usage.calls) == ("right", 2)


def test_a_call_written_in_thinking_is_not_made(workbench: Workbench) -> None:
    wrong = json.dumps({"name": "final_answer", "arguments": {"answer": "wrong"}})
    script = [f"<think>{wrong}</think>", Reply.tool("final_answer", answer="right")]
    with ScriptedModel(script) as model:
        run = workbench.run(model, Agent(id="a", agent_type="ToolCallingAgent"))
    assert (run.answer, run.usage.calls) == ("right", 2)


@needs_jail
@pytest.mark.usefixtures("nothing_left")
def test_a_command_written_in_thinking_is_not_run(workbench: Workbench) -> None:
    submit = Reply.bash("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; cat wrong || echo right")
    with ScriptedModel(["<think>```bash\ntouch wrong\n```", submit]) as model:
        run = workbench.run(model, Agent(id="a", agent_type="DefaultAgent"))
        report = body_of(model, 1)["messages"][-1]["content"]
    assert "You thought, and did not answer. Think less. Answer with a call of the tool" in report
    assert "right" in str(run.answer)


@pytest.mark.parametrize(
    "kind",
    ["ToolCallingAgent", *(pytest.param(coder, marks=needs_jail) for coder in CODERS)],
)
def test_whoever_thinks_its_tokens_away_says_why(workbench: Workbench, kind: str) -> None:
    with ScriptedModel(Reply(text="<think>so", finish_reason="length")) as model:
        run = workbench.run(model, Agent(id="a", agent_type=kind, max_steps=3, max_tokens=64))
    assert "the model spent all of its max_tokens (64) on thinking" in str(run.error)
    assert [mishap for mishap in run.agents["a"].mishaps if "an answer was none" in mishap]
    assert {item.fields["finish_reason"] for item in workbench.of("only_thought")} == {"length"}


def test_what_was_thought_is_traced_once_and_not_with_later_messages(workbench: Workbench) -> None:
    tools = ("megaphone_shout", {"text": "hi"}), ("final_answer", {"answer": "HI"})
    agent = Agent(id="a", agent_type="ToolCallingAgent", tools=("megaphone.shout",))
    with ScriptedModel(Thinker("deepseek", *tools)) as model:
        workbench.run(model, agent)
        assert "hm" in str(body_of(model, 1)["messages"])
        assert "kept_for" not in str(body_of(model, 1))
    calls = [event.fields for event in workbench.of("model_call")]
    assert [call["thinking"] for call in calls] == ["hm", "hm"]
    assert "hm" not in str([call["messages"] for call in calls])

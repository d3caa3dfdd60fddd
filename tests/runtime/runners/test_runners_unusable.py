"""Answers of which nothing may be executed: the agent is shown why, and may try again."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from coterie.runtime.doubles import Reply, ScriptedCall, ScriptedModel
from coterie.schema import Agent

from ...jails import needs_jail
from .conftest import SHOUT, Workbench, observed

DONE = Reply.tool("final_answer", answer="done")
CALLER = Agent(id="a", agent_type="ToolCallingAgent", tools=("megaphone.shout",), max_steps=4)
CODER = Agent(id="a", agent_type="CodeAgent", max_steps=4)
WORKER = Agent(id="a", backend="mini-swe-agent")
CUT = '{"text": "/srv/data/bui'
WHOLE = '{"text": "hi"}'


def called(*arguments: str, reason: str = "tool_calls", name: str = "megaphone_shout") -> Reply:
    calls = tuple(ScriptedCall(name=name, arguments=argument) for argument in arguments)
    return Reply(tool_calls=calls, finish_reason=reason)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (called(CUT, reason="length"), "your answer was cut off (length) in its calls"),
        (called(WHOLE, CUT, reason="length"), "your answer was cut off (length) in its calls"),
        (called(WHOLE, CUT), "end in the middle of the JSON"),
        (called(WHOLE, reason="max_tokens"), "your answer was cut off (length) in its calls"),
        (called(WHOLE, reason="sensitive"), "your answer was cut off (sensitive) in its calls"),
        (called("```json\n" + WHOLE + "\n```"), "stand in a fence of code"),
        (called('{"text": "hi", "times": "3"}'), "Write 3 without quotes"),
        (Reply(text="<tool_call>" + CUT), "a call in the form of Hermes cannot be read"),
        (Reply(text="I would shout."), "there is no call of a tool in it"),
    ],
)
def test_no_tool_runs_and_it_is_shown_why(workbench: Workbench, reply: Reply, words: str) -> None:
    with ScriptedModel([reply, DONE]) as model:
        run = workbench.run(model, CALLER)
        assert words in observed(model, 1)
    assert (run.answer, workbench.of("tool_call")) == ("done", [])
    assert len(run.agents["a"].mishaps) == 1


def test_a_call_that_is_written_as_text_is_done(workbench: Workbench) -> None:
    text = f'<tool_call>{{"name": "megaphone_shout", "arguments": {WHOLE}}}</tool_call>'
    with ScriptedModel([Reply(text=text), DONE]) as model:
        assert workbench.run(model, CALLER).answer == "done"
        assert "HI" in observed(model, 1)


def test_a_caller_that_repeats_its_mistake_is_given_up(workbench: Workbench) -> None:
    with ScriptedModel(called('{"text": "hi", "times": "3"}')) as model:
        run = workbench.run(model, CALLER)
        assert len(model.calls) == 2
    assert "was shown its mistake and repeats it" in str(run.error)


@needs_jail
@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(text="<code>\nprint(6 * 7)", finish_reason="length"), "was cut off (length)"),
        (Reply.code("s = '</code>'\nprint(s)"), "your code was cut where it has </code> in it"),
    ],
)
def test_half_of_a_code_is_not_run(workbench: Workbench, reply: Reply, words: str) -> None:
    with ScriptedModel([reply, Reply.code("final_answer(42)")]) as model:
        run = workbench.run(model, CODER)
        assert words in observed(model, 1)
        assert "Nothing was executed." in observed(model, 1)
    assert run.answer == "42"


@needs_jail
def test_code_with_fences_in_it_is_run_whole(workbench: Workbench) -> None:
    code = "s = '''a\n```\nb'''\nfinal_answer(len(s))"
    with ScriptedModel([Reply(text=f"Thought: x\n```py\n{code}\n```")]) as model:
        assert workbench.run(model, CODER).answer == "7"


@needs_jail
@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (called('{"command": "rm -rf x', reason="length", name="bash"), "was cut off (length)"),
        (called('{"command": "ls"}', reason="length", name="bash"), "was cut off (length)"),
        (called('{"command": ["ls"]}', name="bash"), "command: ['ls'] is not of type 'string'"),
        (called('"ls"', name="bash"), "a text in quotes"),
    ],
)
def test_a_command_that_was_cut_is_not_run(workbench: Workbench, reply: Reply, words: str) -> None:
    submit = Reply.bash("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT").replace(text="ok")
    with ScriptedModel([reply, submit]) as model:
        run = workbench.run(model, WORKER)
        assert words in observed(model, 1)
    assert run.answer == "ok"
    result = run.agents["a"].result
    assert result is not None
    assert [step["command"] for step in result.steps] == [
        "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
    ]


def test_a_caller_reads_structured_results_as_json(workbench: Workbench) -> None:
    async def rows(arguments: Mapping[str, Any], workspace: Any) -> Any:
        del arguments, workspace
        return {"rows": [1, None, True], "of": "it's"}

    workbench.tools.append(replace(SHOUT, run=rows))
    with ScriptedModel([called(WHOLE), DONE]) as model:
        workbench.run(model, CALLER)
        assert '{"rows": [1, null, true], "of": "it\'s"}' in observed(model, 1)

"""smolagents as a backend: real agents, real jails, a scripted model."""

import asyncio
import importlib.util
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.doubles import Reply, ScriptedModel, message_text
from coterie.runtime.runners.smolagents.runner import SmolagentsRunner, _import_smolagents
from coterie.schema import Agent, Task

from ....jails import holding, needs_jail
from ....support.teams import NUMBER
from ..conftest import SHOUT, Workbench, body_of, observed, result_of

pytestmark = [needs_jail, pytest.mark.usefixtures("nothing_left")]


@pytest.fixture(autouse=True, scope="module")
def imported() -> None:
    """Import smolagents ahead: it takes a second, which some tests do not give their agents."""
    _import_smolagents()


def coder(agent_id: str = "coder", **fields: Any) -> Agent:
    return Agent(id=agent_id, agent_type="CodeAgent", **fields)


def caller(agent_id: str = "caller", **fields: Any) -> Agent:
    return Agent(id=agent_id, agent_type="ToolCallingAgent", **fields)


def test_a_code_agent_computes_over_several_steps(workbench: Workbench) -> None:
    with ScriptedModel(
        [Reply.code("x = 6 * 7\nprint('x is', x)"), Reply.code("final_answer(x)")]
    ) as model:
        run = workbench.run(model, coder())
        assert "x is 42" in observed(model, 1)
    assert (run.status, run.answer, run.usage.calls) == ("done", "42", 2)
    steps = result_of(run, "coder").steps
    assert [step["step"] for step in steps] == [1, 2]
    assert "x is 42" in steps[0]["observations"]


def test_only_the_backend_named_means_a_code_agent(workbench: Workbench) -> None:
    with ScriptedModel(Reply.code("final_answer('yes')")) as model:
        run = workbench.run(model, Agent(id="a", backend="smolagents"))
    assert run.answer == "yes"


def test_a_code_agent_sees_the_files_of_its_task(workbench: Workbench) -> None:
    task = Task(id="t", query="What does it say?", files={"note.txt": "hello"})
    with ScriptedModel(Reply.code("final_answer(open('note.txt').read())")) as model:
        assert workbench.run(model, coder(), task=task).answer == "hello"


def test_code_calls_granted_tools_as_functions(workbench: Workbench) -> None:
    code = "final_answer(megaphone_shout('hi', times=2) + megaphone_shout(text='!'))"
    with ScriptedModel(Reply.code(code)) as model:
        run = workbench.run(model, coder(tools=("megaphone.shout",)))
        assert "def megaphone_shout(text: string, times: integer)" in model.calls[0].text
    assert run.answer == "HIHI!"
    assert [event.fields["result"] for event in workbench.of("tool_call")] == ["HIHI", "!"]


def test_a_tool_calling_agent_calls_tools_and_hears_their_errors(workbench: Workbench) -> None:
    script = [
        Reply.tool("megaphone_shout", text="rude"),
        Reply.tool("megaphone_shout", text="hi", times=0),
        Reply.tool("megaphone_shout", text="hi"),
        Reply.tool("final_answer", answer="HI"),
    ]
    with ScriptedModel(script) as model:
        run = workbench.run(model, caller(tools=("megaphone.shout",)))
        definitions = body_of(model, 0)["tools"]
        assert body_of(model, 0)["tool_choice"] == "required"
        assert "say something else" in observed(model, 1)
        assert "less than the minimum" in observed(model, 2)
        assert "HI" in observed(model, 3)
    assert run.answer == "HI"
    assert definitions[0]["function"]["parameters"]["properties"]["times"]["minimum"] == 1
    assert [definition["function"]["name"] for definition in definitions] == [
        "megaphone_shout",
        "final_answer",
    ]


@pytest.mark.parametrize(
    ("agent", "script"),
    [
        (coder("a", tools=("megaphone.shout",)), Reply.code("megaphone_shout('bug')")),
        (caller("a", tools=("megaphone.shout",)), Reply.tool("megaphone_shout", text="bug")),
    ],
)
def test_a_bug_in_a_tool_ends_no_agent(workbench: Workbench, agent: Agent, script: Reply) -> None:
    ends = (
        Reply.code("final_answer(1)")
        if agent.agent_type == "CodeAgent"
        else Reply.tool("final_answer", answer="1")
    )
    with ScriptedModel([script, ends]) as model:
        run = workbench.run(model, agent)
        assert "megaphone.shout: RuntimeError: a bug in the tool" in observed(model, 1)
    assert (run.status, run.answer) == ("done", "1")
    (mishap,) = run.agents["a"].mishaps
    assert "megaphone.shout: RuntimeError: a bug in the tool (conftest.py:" in mishap
    (event,) = workbench.of("tool_call")
    assert "conftest.py" in event.fields["detail"]


def test_code_is_told_of_choices_defaults_and_what_may_be_left_out(workbench: Workbench) -> None:
    place = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    parameters = {
        "type": "object",
        "properties": {
            "where": {"$ref": "#/$defs/place"},
            "unit": {"enum": ["c", "f"], "type": "string", "default": "c", "description": "Unit"},
            "days": {"type": ["integer", "null"], "description": "How many."},
            "why": {"type": "string", "description": "A reason"},
        },
        "required": ["where", "why"],
        "$defs": {"place": place},
    }
    workbench.tools.append(
        replace(SHOUT, name="forecast", description="Tells.", parameters=parameters)
    )
    with ScriptedModel(Reply.code("final_answer(1)")) as model:
        workbench.run(model, coder(tools=("forecast",)))
        prompt = model.calls[0].text
    for line in (
        "def forecast(where: any, unit: string, days: ['integer', 'null'], why: string) -> any:",
        'where: JSON Schema: {"$ref": "#/$defs/place"}',
        'unit: Unit. May be left out: it is "c" then. JSON Schema: {"enum": ["c", "f"]}',
        "days: How many. May be left out.",
        "why: A reason\n",
        'Its arguments refer to: {"$defs": {"place": {"type": "object",',
    ):
        assert line in prompt


@pytest.mark.parametrize("kind", [coder, caller])
def test_arguments_are_judged_by_the_tool_s_schema_alone(workbench: Workbench, kind: Any) -> None:
    """One without properties takes any argument; smolagents would refuse them all."""
    for name, takes in {"loose": True, "closed": False}.items():
        parameters = {"type": "object", "properties": {}, "additionalProperties": takes}
        workbench.tools.append(replace(SHOUT, name=name, parameters=parameters))
    script = {
        coder: [Reply.code("closed(text='a')"), Reply.code("final_answer(loose(text='hi'))")],
        caller: [
            *(Reply.tool(name, text="hi") for name in ("closed", "loose")),
            Reply.tool("final_answer", answer="HI"),
        ],
    }
    with ScriptedModel(script[kind]) as model:
        run = workbench.run(model, kind("a", tools=("loose", "closed")))
        assert "Additional properties are not allowed ('text' was unexpected)" in observed(model, 1)
    assert (run.answer, workbench.of("tool_call")[-1].fields["result"]) == ("HI", "HI")


def test_several_tool_calls_of_one_answer_all_count(workbench: Workbench) -> None:
    both = Reply.tool("megaphone_shout", text="a")
    both = both.replace(
        tool_calls=both.tool_calls + Reply.tool("megaphone_shout", text="b").tool_calls
    )
    with ScriptedModel([both, Reply.tool("final_answer", answer="done")]) as model:
        workbench.run(model, caller(tools=("megaphone.shout",)))
        assert "A\nB" in observed(model, 1)


def test_malformed_tool_arguments_are_told_to_the_agent(workbench: Workbench) -> None:
    script = [Reply.fault("unknown_tool"), Reply.tool("final_answer", answer="ok")]
    with ScriptedModel(script) as model:
        run = workbench.run(model, caller())
        assert run.answer == "ok"
        assert "there is no tool 'no_such_tool'" in observed(model, 1)
    [mishap] = run.agents["caller"].mishaps
    assert mishap.startswith("its answer had to be repaired: there is no tool 'no_such_tool'")


def test_code_that_ends_its_process_is_told_so_and_goes_on(workbench: Workbench) -> None:
    script = [
        Reply.code("import sys\nsys.exit(3)"),
        Reply.code("raise KeyboardInterrupt"),
        Reply.code("import os\nos._exit(1)"),
        Reply.code("final_answer('still here')"),
    ]
    with ScriptedModel(script) as model:
        run = workbench.run(model, coder())
        assert run.answer == "still here"
        assert "SystemExit" in observed(model, 1)
        assert "KeyboardInterrupt" in observed(model, 2)
        assert "ended its interpreter" in observed(model, 3)
    mishaps = run.agents["coder"].mishaps
    assert [mishap.split(": ")[0] for mishap in mishaps] == ["a step failed"] * 3
    assert "SystemExit" in mishaps[0]


def test_a_loop_without_end_is_ended_by_the_agents_timeout(workbench: Workbench) -> None:
    mark = f"101.{os.getpid()}"
    sleeper = f"if os.fork() == 0: os.execvp('sleep', ['sleep', '{mark}'])"
    with ScriptedModel(Reply.code(f"import os\n{sleeper}\nwhile True: pass")) as model:
        run = workbench.out_of_time(model, coder(), lambda: holding(mark))
    assert run.error == "agent coder: it reached its timeout, 60 seconds of work."
    assert holding(mark) == []


async def test_a_run_cancelled_while_a_tool_works_ends_at_once(workbench: Workbench) -> None:
    with ScriptedModel(Reply.code("import time\nprint(1)\ntime.sleep(3600)")) as model:
        running = asyncio.create_task(workbench.started(model, coder()))
        await asyncio.to_thread(model.wait_for, lambda calls: bool(calls and calls[0].finished))
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("agent", [coder("a", max_steps=3), caller("a", max_steps=3)])
def test_an_agent_without_an_answer_in_its_steps_fails(workbench: Workbench, agent: Agent) -> None:
    with ScriptedModel("I am still thinking.") as model:
        run = workbench.run(model, agent)
        assert len(model.calls) == 3
    assert run.status == "failed"
    assert "it used its 3 steps without a final answer. The last one failed: " in str(run.error)


def test_code_imports_the_packages_that_its_agent_may_and_no_others(workbench: Workbench) -> None:
    script = [
        Reply.code("import yaml"),
        Reply.code("import numpy as np, random\nx = np.linalg.det(np.eye(3) * 2)"),
        Reply.code("final_answer(float(x.round()))"),
    ]
    with ScriptedModel(script) as model:
        run = workbench.run(model, coder(imports=("numpy",)))
        assert "'numpy'" in model.calls[0].text
        assert "No module named 'yaml'" in observed(model, 1)
    assert run.answer == "8.0"


@pytest.mark.parametrize("kind", [coder, caller])
def test_plans_are_calls_beside_steps_and_in_the_trace(workbench: Workbench, kind: Any) -> None:
    def answer(request: Any) -> Reply:
        if "<end_plan>" in request["stop"]:
            plans.append(message_text(request))
            return Reply(text=f"1. Plan {len(plans)}.<end_plan> And more.")
        if len(plans) == 2:
            return finish
        return (
            Reply.code("print('on')")
            if kind is coder
            else Reply.tool(f"no_{len(request['messages'])}")
        )

    finish = (
        Reply.code("final_answer(3)") if kind is coder else Reply.tool("final_answer", answer="3")
    )
    plans: list[str] = []
    agent = kind("a", planning_interval=2, max_steps=5)
    assert SmolagentsRunner.calls_at_most(agent) == 5 + 3
    with ScriptedModel(answer) as model:
        run = workbench.run(model, agent)
        assert "1. Plan 1.\n```" in model.calls[1].text
    assert (run.answer, run.usage.calls) == ("3", 3 + 2)
    steps = result_of(run, "a").steps
    assert [step.get("plan") for step in steps] == ["1. Plan 1.", None, None, "1. Plan 2.", None]
    assert len(workbench.of("model_call")) == 5
    assert "How many apples are left?" in plans[0]


def test_prompts_and_tasks_are_no_templates(workbench: Workbench) -> None:
    text = "Say {{ 7 * 7 }} and {% raw %} and {{ undefined.attribute }}."
    task = Task(id="t", query="Is {{ 6 * 6 }} even?")
    script = [Reply.code("final_answer('a')"), Reply.code("x"), "nothing"]
    with ScriptedModel(script) as model:
        workbench.run(model, coder(prompt=text), task=task)
        assert text in model.calls[0].text
        assert "Is {{ 6 * 6 }} even?" in model.calls[0].text


def test_a_structured_answer_is_checked_and_the_agent_repairs_it(workbench: Workbench) -> None:
    script = [
        Reply.code("final_answer('about seven')"),
        Reply.code("final_answer({'answer': 7})"),
    ]
    with ScriptedModel(script) as model:
        run = workbench.run(model, coder(output_schema=NUMBER))
        assert "'about seven'" in observed(model, 1)
        assert "does not fit its form" in observed(model, 1)
    assert run.answer == "7"
    assert result_of(run, "coder").content == '{"answer": 7}'
    assert len(workbench.of("repair")) == 1


def test_a_structured_answer_may_come_as_json_text(workbench: Workbench) -> None:
    with ScriptedModel(Reply.tool("final_answer", answer='```json\n{"answer": 7}\n```')) as model:
        assert workbench.run(model, caller(output_schema=NUMBER)).answer == "7"


def test_values_become_json_and_nothing_is_no_answer(workbench: Workbench) -> None:
    with ScriptedModel(Reply.code("final_answer({'a': [1, None]})")) as model:
        assert workbench.run(model, coder()).answer == '{"a": [1, null]}'
    with ScriptedModel(Reply.code("final_answer('  ')")) as model:
        assert "its final answer is empty: '  '." in str(workbench.run(model, coder()).error)


def test_nothing_is_printed(workbench: Workbench, capfd: pytest.CaptureFixture[str]) -> None:
    script = [Reply.code("print('hello')"), "no code", Reply.code("final_answer(1)")]
    with ScriptedModel(script) as model:
        workbench.run(model, coder())
    assert capfd.readouterr() == ("", "")


def test_a_tool_unfit_for_smolagents_fails_the_agent_not_the_run(workbench: Workbench) -> None:
    workbench.tools.append(replace(SHOUT, name="class"))
    with ScriptedModel("unused") as model:
        run = workbench.run(model, caller(tools=("class",)))
    assert "smolagents failed: Exception: Invalid Tool name 'class'" in str(run.error)


def test_other_types_are_objected_to() -> None:
    assert list(SmolagentsRunner.objections(coder())) == []
    (objection,) = SmolagentsRunner.objections(Agent(id="a", agent_type="LLM"))
    assert "not 'LLM'" in objection


IMPORT = """
import os, sys
sys.path.insert(0, {folder!r})
before = dict(os.environ)
{statement}
import smolagents
assert smolagents.__file__.startswith({folder!r}), smolagents.__file__
print("SECRET" in os.environ, os.environ == before)
"""


@pytest.mark.parametrize(
    ("statement", "printed"),
    [
        # What smolagents does by itself: else this test would show nothing.
        pytest.param("", "True False", marks=pytest.mark.nightly),
        (
            "from coterie.runtime.runners.smolagents import runner; runner._import_smolagents()",
            "False True",
        ),
    ],
)
def test_a_dotenv_above_the_library_is_unread(tmp_path: Path, statement: str, printed: str) -> None:
    spec = importlib.util.find_spec("smolagents")
    assert spec is not None
    assert spec.origin is not None
    (tmp_path / ".env").write_text("SECRET=leaked\n", "utf-8")
    folder = tmp_path / "packages"
    folder.mkdir()
    (folder / "smolagents").symlink_to(Path(spec.origin).parent)
    script = tmp_path / "script.py"
    script.write_text(IMPORT.format(folder=str(folder), statement=statement), "utf-8")
    environment = {name: value for name, value in os.environ.items() if "DOTENV" not in name}
    done = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.returncode) == (printed, 0), done.stderr

"""`mas-run --resume` and `--replay`: nothing is paid twice, and what happened can be checked."""

import json
import shlex
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.command.run import main as command
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.jail.detect import detect

from ...support.commands import invoked_in, started
from ...support.folders import state_of

TEAM = """\
name: chain
agents:
  first: {prompt: "You are [first]. Begin."}
  second: {prompt: "You are [second]. Go on."}
  third: {prompt: "You are [third]. End."}
topology:
  reports_to: {first: [second], second: [third]}
execution: {max_retries: 0}
"""
SCRIPT = {"[first]": "one", "[second]": "two", "[third]": "three"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "team.yaml").write_text(TEAM)
    (tmp_path / "task.json").write_text(json.dumps({"id": "t", "query": "Count."}))
    return tmp_path


def mas_run(folder: Path, *arguments: str) -> tuple[int, str, str]:
    result = invoked_in(folder, command, arguments, "mas-run")
    return result.code, result.out, result.err


def run_of(folder: Path) -> Path:
    (run,) = (folder / "runs").iterdir()
    return run


def test_a_killed_run_goes_on_where_it_was(folder: Path) -> None:
    reached, stay = threading.Event(), Reply.fault("hang")

    def second(_call: Any) -> Reply:
        reached.set()
        return stay

    with ScriptedModel({"[first]": "one", "[second]": second}) as model:
        process = started(folder, "team.yaml", "task.json", "--model", f"m@{model.api_base}")
        assert reached.wait(300)
        process.kill()
        process.communicate()
    run = run_of(folder)
    assert not (run / "result.json").exists()
    with ScriptedModel(SCRIPT) as model:
        chosen = ("--model", f"m@{model.api_base}")
        code, out, err = mas_run(folder, "--resume", str(run), *chosen)
        assert (code, out) == (0, "three\n")
        assert "4 calls, 1 answer from the journal" in err  # one was in flight when it was killed
        assert ["[second]" in str(call.body) for call in model.calls] == [True, False]
    result = json.loads((run / "result.json").read_text())
    assert (result["usage"]["calls"], result["usage"]["uncertain_calls"]) == (4, 1)
    assert result["agents"]["first"]["content"] == "one"
    numbers = [json.loads(line)["n"] for line in (run / "events.jsonl").read_text().splitlines()]
    assert numbers == list(range(1, len(numbers) + 1))
    code, out, err = mas_run(folder, "--resume", str(run))
    assert (code, out) == (0, "three\n")
    assert "already finished" in err


def test_a_failed_run_can_be_tried_again(folder: Path) -> None:
    with ScriptedModel({**SCRIPT, "[third]": Reply.error(401)}) as model:
        code, _, err = mas_run(folder, "team.yaml", "task.json", "--model", f"m@{model.api_base}")
    assert code == 1
    assert f"mas-run --resume runs/{run_of(folder).name}" in err
    with ScriptedModel({"[third]": "three"}) as model:
        chosen = ("--model", f"m@{model.api_base}")
        assert mas_run(folder, "--resume", str(run_of(folder)), *chosen)[:2] == (0, "three\n")


def test_an_agent_that_used_up_its_attempts_gets_new_ones(folder: Path) -> None:
    form = "{type: object, properties: {answer: {type: string}}, required: [answer]}"
    text = TEAM.replace('End."}', f'End.", output_schema: {form}}}')
    (folder / "team.yaml").write_text(text)
    with ScriptedModel({**SCRIPT, "[third]": "no JSON"}) as model:
        assert mas_run(folder, "team.yaml", "task.json", "--model", f"m@{model.api_base}")[0] == 1
    with ScriptedModel({"[third]": '{"answer": "three"}'}) as model:
        chosen = ("--model", f"m@{model.api_base}")
        assert mas_run(folder, "--resume", str(run_of(folder)), *chosen)[:2] == (0, "three\n")


def test_a_budget_stops_the_run_and_a_larger_one_goes_on(folder: Path) -> None:
    with ScriptedModel(SCRIPT) as model:
        chosen = ("--model", f"m@{model.api_base}")
        code, out, err = mas_run(folder, "team.yaml", "task.json", *chosen, "--budget", "calls=2")
        assert (code, out) == (3, "")
        assert "budget" in err
        assert "calls=2" in err
        run = run_of(folder)
        assert json.loads((run / "result.json").read_text())["status"] == "stopped"
        assert mas_run(folder, "--resume", str(run), *chosen)[0] == 3  # its budget still holds
        hint = err.split("Resume: ")[1].splitlines()[0]
        again = f"mas-run --resume {run.relative_to(folder)} --budget calls=4"
        assert hint == f"{again} {' '.join(chosen)}"
        code, out, _ = mas_run(folder, *shlex.split(hint)[1:])
        assert (code, out) == (0, "three\n")
        assert len(model.calls) == 3


def test_what_there_is_is_the_answer_where_the_output_needs_no_call(folder: Path) -> None:
    (folder / "team.yaml").write_text(
        "name: vote\nagents:\n"
        '  a: {prompt: "You are [first]."}\n  b: {prompt: "You are [second]."}\n'
        "  out: {agent_type: Function, function: concat}\n"
        "topology: {reports_to: {a: [out], b: [out]}}\n"
        "execution: {on_error: degrade, parallel_workers: 1}\n"
    )
    with ScriptedModel(SCRIPT) as model:
        chosen = ("--model", f"m@{model.api_base}", "--budget", "calls=1")
        code, out, err = mas_run(folder, "team.yaml", "task.json", *chosen)
    assert code == 3
    assert "one" in out
    assert "stopped:" in err


def test_caps_of_several_options_hold_together(folder: Path) -> None:
    with ScriptedModel(SCRIPT) as model:
        chosen = ("--model", f"m@{model.api_base}")
        caps = ("--budget", "calls=2", "--budget", "tokens=90000")
        code, _, err = mas_run(folder, "team.yaml", "task.json", *chosen, *caps)
        assert len(model.calls) == 2
    assert code == 3
    assert " --budget tokens=90000,calls=4 " in err


def test_an_agents_own_budget_is_its_failure(folder: Path) -> None:
    with ScriptedModel(SCRIPT) as model:
        chosen = ("--model", f"m@{model.api_base}", "--agent-budget", "tokens=100")
        code, _, err = mas_run(folder, "team.yaml", "task.json", *chosen)
    assert code == 3
    assert "agent first has reached its budget" in err
    assert f" --agent-budget tokens=200 {' '.join(chosen[:2])}\n" in err


def test_a_replay_needs_no_model_and_verifies(folder: Path) -> None:
    with ScriptedModel(SCRIPT) as model:
        mas_run(folder, "team.yaml", "task.json", "--model", f"m@{model.api_base}")
    run = run_of(folder)
    before = state_of(folder)
    code, out, _ = mas_run(folder, "--replay", str(run), "--cache", str(folder / "made" / "cache"))
    assert (code, out) == (0, "three\n")
    code, out, _ = mas_run(folder, "--replay", str(run), "--verify")
    assert (code, out) == (0, "verified: 3 recorded answers, no difference.\n")
    assert state_of(folder) == before


def test_verify_names_the_first_difference(folder: Path) -> None:
    with ScriptedModel(SCRIPT) as model:
        mas_run(folder, "team.yaml", "task.json", "--model", f"m@{model.api_base}")
    run = run_of(folder)
    text = (run / "team.yaml").read_text()
    (run / "team.yaml").write_text(text.replace("Go on.", "Go away."))
    code, out, _ = mas_run(folder, "--replay", str(run), "--verify")
    assert (code, out) == (
        1,
        "differs: second/attempt 1/call 1 (model): asked differs from the recording.\n",
    )


def test_a_replay_of_an_interrupted_run_says_how_far_it_got(folder: Path) -> None:
    with ScriptedModel({**SCRIPT, "[third]": Reply.error(401)}) as model:
        mas_run(folder, "team.yaml", "task.json", "--model", f"m@{model.api_base}")
    run = run_of(folder)
    code, _, err = mas_run(folder, "--replay", str(run))
    assert code == 1
    assert "nothing under 'third/attempt 1/call 1'" in err
    code, out, _ = mas_run(folder, "--replay", str(run), "--verify")
    assert (code, out) == (
        0,
        "verified: 2 recorded answers, no difference, up to where the run ended.\n",
    )


def test_a_cache_serves_the_next_run(folder: Path) -> None:
    with ScriptedModel(SCRIPT) as model:
        options = ("--model", f"m@{model.api_base}", "--cache", "answers")
        assert mas_run(folder, "team.yaml", "task.json", *options)[:2] == (0, "three\n")
        code, out, err = mas_run(folder, "team.yaml", "task.json", *options)
        assert (code, out, len(model.calls)) == (0, "three\n", 3)
    assert "3 from the cache" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--resume", "nowhere"], "does not exist"),
        (["--resume", "."], "run.json: there is no such file. Is '.' the folder of a run?"),
        (["--verify"], "--verify checks a replay"),
        (["--resume", ".", "--replay", "."], "give either"),
        (["--resume", ".", "team.yaml"], "Leave them out"),
        (["team.yaml", "task.json", "--budget", "usd=-1"], "usd is '-1'. Write a number above 0"),
        (["team.yaml", "task.json", "--budget", "token=5"], "tokens"),
        (["team.yaml", "task.json", "--budget", ""], "budget '': no cap is named ''"),
        (["team.yaml", "task.json", "--agent-budget", ""], "budget '': no cap is named ''"),
        (["team.yaml", "task.json", "--budget", "usd=1", "--budget", "usd=2"], "usd occurs twice"),
        (["team.yaml", "task.json", "--cache", "team.yaml"], "team.yaml"),
    ],
)
def test_wrong_options_are_said_alone(folder: Path, arguments: list[str], message: str) -> None:
    code, out, err = mas_run(folder, *arguments, "--model", "m@http://127.0.0.1:9/v1")
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert not (folder / "runs").exists()


def test_a_damaged_manifest_is_said(folder: Path) -> None:
    for text in ("{", "[]", '{"models": 3}', '{"models": {}, "seed": 1}'):
        (folder / "run.json").write_text(text)
        code, _, err = mas_run(folder, "--resume", ".")
        assert (code, "Traceback" in err) == (2, False)
        assert "run.json" in err


CODER = """\
name: coder
agents:
  coder: {agent_type: CodeAgent, prompt: "You are a coder.", max_steps: 4}
"""


@pytest.mark.skipif(detect().tier is None, reason=f"no jail here: {detect()}")
def test_code_is_run_again_and_shows_what_it_showed(folder: Path) -> None:
    """The state of a jail is made anew; the outcome that the agent saw is the recorded one."""
    (folder / "team.yaml").write_text(CODER)
    roll = "import random\nn = random.random()\nprint('rolled', n)"
    reached = threading.Event()

    def rolled(request: Any) -> Reply:
        if "rolled 0" not in str(request):
            return Reply.code(roll)
        reached.set()
        return Reply.fault("hang")

    with ScriptedModel(rolled) as model:
        process = started(folder, "team.yaml", "task.json", "--model", f"m@{model.api_base}")
        assert reached.wait(300)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
        assert process.returncode == 130
        seen = str(model.calls[-1].body["messages"])
    run = run_of(folder)
    with ScriptedModel([Reply.code("final_answer('n' in globals())")]) as model:
        chosen = ("--model", f"m@{model.api_base}")
        code, out, err = mas_run(folder, "--resume", str(run), *chosen)
        assert (code, out) == (0, "true\n"), err
        assert len(model.calls) == 1
        assert str(model.calls[0].body["messages"]) == seen
    assert mas_run(folder, "--replay", str(run), "--verify")[:2] == (
        0,
        "verified: 4 recorded answers, no difference.\n",
    )

"""`mas-run` as people use it: files in, answer out, exit codes, Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from coterie.runtime.command.run import main
from coterie.runtime.doubles import Reply, ScriptedModel

from ...came import invoked_in

TEAM = """\
name: pair
agents:
  worker: {role: worker, prompt: "You are [worker]. Solve it."}
  judge: {role: judge, prompt: "You are [judge]. Decide it."}
topology:
  reports_to: {worker: [judge]}
"""
TASK = {"id": "sum", "query": "What is 3 + 4?", "answer": "7", "scorer": "number"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "team.yaml").write_text(TEAM)
    (tmp_path / "task.json").write_text(json.dumps(TASK))
    return tmp_path


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "coterie.runtime.command.run", *arguments]


def mas_run(folder: Path, *arguments: str, model: ScriptedModel | None = None, **options):
    chosen = ["--model", f"scripted@{model.api_base}"] if model else []
    environment = {**os.environ, "MAS_HOME": str(folder), **options.pop("env", {})}
    return subprocess.run(
        command(*arguments, *chosen),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **options,
    )


def test_the_answer_is_on_standard_output_and_the_rest_is_not(folder: Path) -> None:
    with ScriptedModel({"[judge]": "7 it is", "": "maybe 7"}) as model:
        done = mas_run(folder, "team.yaml", "task.json", model=model)
    assert (done.returncode, done.stdout) == (0, "7 it is\n")
    assert "pair: 2 agents; default = scripted (--model)" in done.stderr
    assert "judge: done" in done.stderr
    assert "score 1 (right), 2 calls" in done.stderr
    (run,) = (folder / "runs").iterdir()
    assert {path.name for path in run.iterdir()} == {
        "team.yaml",
        "task.json",
        "run.json",
        "events.jsonl",
        "journal.sqlite",
        "result.json",
    }


def test_json_is_for_machines(folder: Path) -> None:
    with ScriptedModel("7") as model:
        done = mas_run(folder, "team.yaml", "task.json", "--json", "--quiet", model=model)
    result = json.loads(done.stdout)
    assert (result["status"], result["answer"], result["score"]["value"]) == ("done", "7", 1)
    assert done.stderr == ""


def test_a_question_needs_no_task_file(folder: Path) -> None:
    with ScriptedModel("42") as model:
        done = mas_run(folder, "team.yaml", "-q", "What is it?", model=model)
        assert "What is it?" in str(model.calls[0].body)
    assert done.stdout == "42\n"


def test_a_task_may_come_on_standard_input(folder: Path) -> None:
    with ScriptedModel("7") as model:
        done = mas_run(folder, "team.yaml", "-", model=model, input=json.dumps(TASK))
    assert (done.returncode, done.stdout) == (0, "7\n")


def test_dry_run_shows_the_plan_and_asks_nobody(folder: Path) -> None:
    with ScriptedModel("x") as model:
        done = mas_run(folder, "team.yaml", "task.json", "--dry-run", model=model)
        as_json = mas_run(folder, "team.yaml", "task.json", "--dry-run", "--json", model=model)
        assert model.calls == ()
    assert "default = scripted" in done.stdout
    assert json.loads(as_json.stdout)["levels"][1][0]["id"] == "judge"
    assert not (folder / "runs").exists()


def test_problems_of_both_files_show_at_once_and_nothing_is_spent(folder: Path) -> None:
    (folder / "team.yaml").write_text(TEAM.replace("role: judge", "rol: judge"))
    (folder / "task.json").write_text('{"id": "t"}')
    with ScriptedModel("x") as model:
        done = mas_run(folder, "team.yaml", "task.json", model=model)
        assert model.calls == ()
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        "team.yaml:4:11: error: agents.judge.rol: unknown field. Did you mean 'role'?"
        in done.stderr
    )
    assert "task.json:1:1: error: query is missing." in done.stderr
    assert not (folder / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere.yaml", "task.json"), "error: no file 'nowhere.yaml'."),
        (("teem.yaml", "task.json"), "Did you mean 'team.yaml'?"),
        (("seed:nothing", "task.json"), "error: no seed team 'seed:nothing'. Seeds:"),
        (("team.yaml",), "error: give a task file, or a question with --query; one of them."),
        (("team.yaml", "task.json", "-q", "x"), "error: give a task file, or a question"),
        (("team.yaml", "task.json", "--model", "gpt"), "error: --model: 'gpt' is neither"),
        (("team.yaml", "task.json", "--model", "openai/m"), "OPENAI_API_KEY is not set"),
        (("team.yaml", "task.json", "--models", "none.yaml"), "error: no file 'none.yaml'"),
        (("team.yaml", "task.json", "--unknown"), "No such option '--unknown'"),
        (("team.yaml", "task.json", "--model", "local:/no/such.gguf"), "/no/such.gguf"),
    ],
)
def test_wrong_input_ends_with_2_and_one_clear_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "")
    done = invoked_in(folder, main, arguments, "mas-run")
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "Traceback" not in done.err


def test_a_failed_run_ends_with_1_and_says_why(folder: Path) -> None:
    with ScriptedModel(Reply.error(400, message="too much")) as model:
        done = mas_run(folder, "team.yaml", "task.json", model=model)
    assert (done.returncode, done.stdout) == (1, "")
    assert "failed: agent worker: " in done.stderr
    assert "HTTP 400: too much" in done.stderr


def test_a_limit_ends_with_3(folder: Path) -> None:
    (folder / "team.yaml").write_text(TEAM + "execution: {timeout: 0.3}\n")
    with ScriptedModel(Reply.fault("hang")) as model:
        done = mas_run(folder, "team.yaml", "task.json", model=model)
    assert done.returncode == 3
    assert "stopped: the run reached execution.timeout, 0.3 seconds, while it waited" in done.stderr


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_the_run_and_leaves_a_readable_folder(
    folder: Path, sent: signal.Signals, code: int
) -> None:
    with ScriptedModel({"[worker]": "7", "": Reply.fault("hang")}) as model:
        running = subprocess.Popen(
            command("team.yaml", "task.json", "--model", f"scripted@{model.api_base}"),
            cwd=folder,
            env={**os.environ, "MAS_HOME": str(folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        model.wait_for(lambda calls: len(calls) == 2)
        running.send_signal(sent)
        _, said = running.communicate(timeout=10)
    assert running.returncode == code
    assert "Traceback" not in said
    (run,) = (folder / "runs").iterdir()
    assert json.loads((run / "result.json").read_text())["status"] == "interrupted"
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    assert [event["agent"] for event in events if event["type"] == "model_call"] == ["worker"]


def test_a_hostile_answer_commands_no_terminal(folder: Path) -> None:
    with ScriptedModel("\x1b]52;c;aGk=\x07fine\x1b[2J") as model:
        done = mas_run(folder, "team.yaml", "task.json", model=model)
    assert done.stdout == "fine\n"


def test_a_key_never_reaches_the_run_folder(folder: Path) -> None:
    key = "not-of-a-known-form-123"
    (folder / "models.yaml").write_text(
        "models:\n  default: {model: m, api_base: ADDRESS, key_env: MY_KEY}\n"
    )
    with ScriptedModel(f"your key is {key}", key=key) as model:
        text = (folder / "models.yaml").read_text().replace("ADDRESS", model.api_base)
        (folder / "models.yaml").write_text(text)
        done = mas_run(folder, "team.yaml", "task.json", env={"MY_KEY": key})
    assert done.returncode == 0, done.stderr
    (run,) = (folder / "runs").iterdir()
    assert all(key.encode() not in path.read_bytes() for path in run.iterdir())

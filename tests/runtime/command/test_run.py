"""`mas-run` as people use it: files in, answer out, exit codes, Ctrl-C."""

import json
import re
from pathlib import Path

import pytest

from coterie.runtime.command.run import main
from coterie.runtime.command.view import main as mas_view
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.schema.command.graph import main as mas_graph

from ...support.commands import CommandResult, invoked_in, started

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


def mas_run(
    folder: Path, *arguments: str, model: ScriptedModel | None = None, typed: str = ""
) -> CommandResult:
    chosen = ["--model", f"scripted@{model.api_base}"] if model else []
    return invoked_in(folder, main, [*arguments, *chosen], "mas-run", typed=typed)


def test_the_answer_is_on_standard_output_and_the_rest_is_not(folder: Path) -> None:
    with ScriptedModel({"[judge]": "7 it is", "": "maybe 7"}) as model:
        running = started(folder, "team.yaml", "task.json", "--model", f"scripted@{model.api_base}")
        out, err = running.communicate(timeout=300)
    assert (running.returncode, out) == (0, "7 it is\n")
    assert "pair: 2 agents; default = scripted (--model)" in err
    assert "judge: done" in err
    assert "score 1 (right), 2 calls" in err
    (run,) = (folder / "runs").iterdir()
    assert {path.name for path in run.iterdir()} == {
        "team.yaml",
        "task.json",
        "run.json",
        "events.jsonl",
        "journal.log",
        "result.json",
    }


def test_json_is_for_machines(folder: Path) -> None:
    with ScriptedModel("7") as model:
        done = mas_run(folder, "team.yaml", "task.json", "--json", "--quiet", model=model)
    result = done.json
    assert (result["status"], result["answer"], result["score"]["value"]) == ("done", "7", 1)
    assert done.err == ""
    (run,) = (folder / "runs").iterdir()
    assert result["folder"] == str(run.relative_to(folder))
    assert result["started"].endswith("+00:00")


def test_quiet_tells_the_runs_folder_alone(folder: Path) -> None:
    with ScriptedModel("7") as model:
        words = ["team.yaml", "task.json", "--quiet", "--model", f"m@{model.api_base}"]
        done = invoked_in(folder, main, words, "mas-run")
    (run,) = (folder / "runs").iterdir()
    assert (done.out, done.err) == ("7\n", f"{run.relative_to(folder)}/\n")


def test_an_answer_that_was_cut_off_is_marked_wherever_it_is_told(folder: Path) -> None:
    cut = Reply(text="7 or", finish_reason="length")
    with ScriptedModel({"[judge]": cut, "": "7"}) as model:
        words = ["team.yaml", "task.json", "--model", f"m@{model.api_base}"]
        done = invoked_in(folder, main, words, "mas-run")
    assert "judge: its answer was cut off at max_tokens\n" in done.err
    assert "score 1 (right), cut off: the answer of judge, 2 calls" in done.err
    (run,) = (folder / "runs").iterdir()
    assert json.loads((run / "result.json").read_text())["cut_off"] == ["judge"]


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_a_host_that_must_be_mended_first_is_not_asked_to_resume(folder: Path, status: int) -> None:
    with ScriptedModel(Reply.error(status, message="Not you.")) as model:
        done = mas_run(folder, "team.yaml", "task.json", model=model)
        assert len(model.calls) == 1
    assert done.code == 2
    assert f"HTTP {status}: Not you." in done.err
    assert ("No key was sent: set MAS_API_KEY" in done.err) == (status in {401, 403})
    assert "0 calls, 0 tokens, free" in done.err
    assert "--resume" not in done.err


def test_a_failure_ends_with_1_said_once_and_a_line_of_the_way_on(folder: Path) -> None:
    with ScriptedModel(Reply.error(400, message="too much")) as model:
        words = ["team.yaml", "task.json", "--model", f"m@{model.api_base}"]
        done = invoked_in(folder, main, words, "mas-run")
        assert done.err.count(model.origin) == 2  # in the error, and in the command
    assert (done.code, done.out) == (1, "")
    assert re.search("failed: agent worker: .*HTTP 400: too much", done.err)
    (run,) = (folder / "runs").iterdir()
    again = f"mas-run --resume {run.relative_to(folder)} {' '.join(words[2:])}"
    assert f"\nResume: {again}\n" in done.err


def test_levels_are_counted_as_in_a_picture_of_the_team(folder: Path) -> None:
    done = invoked_in(folder, main, ["team.yaml", "-q", "?", "--dry-run"], "mas-run")
    assert [line for line in done.out.splitlines() if line.startswith("level")] == [
        "level 1",
        "level 2",
    ]
    assert " · 2 levels\n" in invoked_in(folder, mas_graph, ["team.yaml"], "mas dev graph").out


def test_a_question_needs_no_task_file(folder: Path) -> None:
    with ScriptedModel("42") as model:
        done = mas_run(folder, "team.yaml", "-q", "What is it?", model=model)
        assert "What is it?" in str(model.calls[0].body)
    assert done.out == "42\n"


def test_a_task_may_come_on_standard_input(folder: Path) -> None:
    with ScriptedModel("7") as model:
        done = mas_run(folder, "team.yaml", "-", model=model, typed=json.dumps(TASK))
    assert (done.code, done.out) == (0, "7\n")


def test_dry_run_shows_the_plan_and_asks_nobody(folder: Path) -> None:
    with ScriptedModel("x") as model:
        done = mas_run(folder, "team.yaml", "task.json", "--dry-run", model=model)
        as_json = mas_run(folder, "team.yaml", "task.json", "--dry-run", "--json", model=model)
        assert model.calls == ()
    assert "default = scripted" in done.out
    assert as_json.json["levels"][1][0]["id"] == "judge"
    assert not (folder / "runs").exists()


def test_problems_of_both_files_show_at_once_and_nothing_is_spent(folder: Path) -> None:
    (folder / "team.yaml").write_text(TEAM.replace("role: judge", "rol: judge"))
    (folder / "task.json").write_text('{"id": "t"}')
    with ScriptedModel("x") as model:
        done = mas_run(folder, "team.yaml", "task.json", model=model)
        assert model.calls == ()
    assert (done.code, done.out) == (2, "")
    assert (
        "team.yaml:4:11: error: agents.judge.rol: unknown field. Did you mean 'role'?" in done.err
    )
    assert "task.json:1:1: error: query is missing." in done.err
    assert not (folder / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.yaml", "task.json"), "error: no file 'nowhere.yaml'."),
        (("teem.yaml", "task.json"), "Did you mean 'team.yaml'?"),
        (("seed:nothing", "task.json"), "error: no seed team 'seed:nothing'. Seeds:"),
        (("team.yaml",), "error: give either a task file or a question with --query."),
        (("team.yaml", "task.json", "-q", "x"), "error: give either a task file or a question"),
        (("team.yaml", "task.json", "--model", "gpt"), "error: --model: 'gpt' is neither"),
        (("team.yaml", "task.json", "--model", "openai/m"), "OPENAI_API_KEY is not set"),
        (("team.yaml", "task.json", "--model", "foo/bar"), "there is no provider 'foo'."),
        (("team.yaml", "task.json", "--model", "xai/grok"), "XAI_API_KEY is not set"),
        (("team.yaml", "task.json", "--model", "http://h:1/v1"), "NAME@http://h:1/v1, where NAME"),
        (("team.yaml", "task.json", "--model", "m@h:1/v1"), "default=m@http://h:1/v1, where NAME"),
        (("team.yaml", "task.json", "--models", "none.yaml"), "error: no file 'none.yaml'"),
        (("team.yaml", "task.json", "--unknown"), "No such option '--unknown'"),
        (("team.yaml", "task.json", "--model", "local:/no/such.gguf"), "/no/such.gguf"),
    ],
)
def test_wrong_input_ends_with_2_and_one_clear_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "")
    monkeypatch.delenv("XAI_API_KEY", raising=False)
    done = invoked_in(folder, main, arguments, "mas-run")
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert "Traceback" not in done.err
    assert not (folder / "runs").exists()


def test_a_key_that_is_refused_later_ends_with_1_and_keeps_what_is_done(folder: Path) -> None:
    with ScriptedModel(["So it is 7.", Reply.error(401, message="Revoked.")]) as model:
        done = mas_run(folder, "team.yaml", "task.json", model=model)
    assert done.code == 1
    assert "1 call" in done.err
    assert "--resume runs" in done.err


def test_the_end_of_a_session_stops_the_run_and_leaves_a_readable_folder(folder: Path) -> None:
    with ScriptedModel({"[worker]": "7", "": Reply.fault("hang")}) as model:
        chosen = ("--model", f"scripted@{model.api_base}")
        running = started(folder, "team.yaml", "task.json", *chosen)
        model.wait_for(lambda calls: len(calls) == 2)
        running.terminate()
        _, text = running.communicate(timeout=300)
    assert running.returncode == 143
    assert "Traceback" not in text
    (run,) = (folder / "runs").iterdir()
    assert json.loads((run / "result.json").read_text())["status"] == "interrupted"
    words, hint = text.splitlines()[-2:]
    assert words.startswith("1 agent cancelled (judge), 2 calls, ")
    assert words.endswith(f" s; runs/{run.name}/")
    assert hint == f"Resume: mas-run --resume runs/{run.name} {' '.join(chosen)}"
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    assert [event["agent"] for event in events if event["type"] == "model_call"] == ["worker"]


def test_a_program_that_is_missing_is_told_before_anybody_is_paid(
    folder: Path, stand_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAS_SWE_AGENT_PYTHON", str(stand_in))
    (stand_in.parents[1] / "swe_rex-1.4.0.dist-info" / "METADATA").write_text("Version: 1.0\n")
    (folder / "team.yaml").write_text(
        "name: t\nagents: {planner: {prompt: Plan.}, engineer: {agent_type: SWEAgent}}\n"
        "topology: {reports_to: {planner: [engineer]}}\n"
    )
    with ScriptedModel("never") as model:
        shown = mas_run(folder, "team.yaml", "task.json", "--dry-run", model=model)
        done = mas_run(folder, "team.yaml", "task.json", model=model)
        assert model.calls == ()
    word = "has swe-rex 1.0, and 1.2 or later is needed"
    assert (shown.code, done.code) == (0, 2)
    assert word in " ".join(shown.out.split())
    assert word in " ".join(done.err.split())


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (
            "writer=m@http://h:1/v1",
            "no agent here uses the model 'writer'. Aliases in use: default.",
        ),
        (
            "defualt=m@http://h:1/v1",
            "no agent here uses the model 'defualt'. Did you mean 'default'?",
        ),
    ],
)
def test_a_model_that_nobody_asks_is_told(folder: Path, choice: str, message: str) -> None:
    words = ["team.yaml", "task.json", "--dry-run", "--model", choice]
    result = invoked_in(folder, main, words, "mas-run").ended(2)
    assert f"--model {choice}: {message}" in result.err


def test_a_file_of_many_tasks_is_for_another_command(folder: Path) -> None:
    (folder / "mine.jsonl").write_text(json.dumps(TASK))
    result = invoked_in(folder, main, ["team.yaml", "mine.jsonl"], "mas-run").ended(2)
    assert "Write mas-bench run mine.jsonl --team TEAM." in result.err


def test_a_models_file_with_another_ending_is_told_and_not_passed_over(folder: Path) -> None:
    (folder / "models.yml").write_text("models: {default: {model: openai/m}}\n")
    words = ["team.yaml", "task.json", "--dry-run"]
    result = invoked_in(folder, main, words, "mas-run").ended(0)
    note = f"note: {folder / 'models.yml'} is ignored. Rename it to models.yaml, or pass"
    assert note in result.err
    named = invoked_in(folder, main, [*words, "--models", "models.yml"], "mas-run")
    assert (named.err, "default = openai/m" in named.out) == ("", True)
    (folder / "models.yml").rename(folder / "models.yaml")
    assert invoked_in(folder, main, words, "mas-run").err == ""


def test_a_models_file_beside_a_team_is_named_and_not_read_unasked(folder: Path) -> None:
    (folder / "far").mkdir()
    (folder / "team.yaml").rename(folder / "far" / "team.yaml")
    (folder / "far" / "models.yaml").write_text("models: {default: {model: openai/far}}\n")
    words = ["far/team.yaml", "--query", "?", "--dry-run"]
    done = invoked_in(folder, main, words, "mas-run")
    note = "note: far/models.yaml is ignored. To use it, pass --models far/models.yaml.\n"
    assert (done.code, "openai/far" in done.out, done.err.count(note)) == (0, False, 1), done.err
    done = invoked_in(folder, main, [*words, "--models", "far/models.yaml"], "mas-run")
    assert (done.code, "openai/far" in done.out, note in done.err) == (0, True, False), done.err


@pytest.mark.parametrize("refused", [False, True])
def test_who_answered_in_place_of_another_is_told(tmp_path: Path, *, refused: bool) -> None:
    too_long = '{"error": {"message": "This is beyond the maximum context length."}}'
    reply = Reply(status=401, body="{}") if refused else Reply(status=400, body=too_long)
    with ScriptedModel({"": reply}) as first, ScriptedModel({"": "7"}) as second:
        models = {
            "default": {"model": "one", "api_base": first.api_base, "fallback": ["spare"]},
            "spare": {"model": "other", "api_base": second.api_base},
        }
        (tmp_path / "models.yaml").write_text(json.dumps({"models": models}))
        words = ["seed:direct", "-q", "3 + 4?", "--models", "models.yaml"]
        outcome = mas_run(tmp_path, *words)
    if refused:  # the configuration is wrong, and no other model's answer hides that
        assert (outcome.code, outcome.out, len(second.calls)) == (2, "", 0)
        assert "401" in outcome.err
        return
    assert (outcome.code, outcome.out) == (0, "7\n")
    assert "warning: another model answered for" in outcome.err
    (run,) = (tmp_path / "runs").iterdir()
    result = json.loads((run / "result.json").read_text())
    assert len(result["substituted"]) == 1
    shown = invoked_in(tmp_path, mas_view, ["--text", str(run)], "mas-view").out
    assert "warning  another model gave 1 answer, for" in shown
    assert "asks other (in place of default):" in shown


def test_a_function_of_ones_own_scores_a_question(folder: Path) -> None:
    (folder / "own.py").write_text("def brief(answer):\n    return len(answer) < 3\n")
    words = ["team.yaml", "-q", "What is 3 + 4?", "--scorer", "own.py:brief", "--json", "--quiet"]
    with ScriptedModel("7") as model:
        done = mas_run(folder, *words, model=model)
    assert done.json["score"]["reason"] == "brief returned True"
    verify = ("--replay", str(folder / done.json["folder"]), "--verify", "--quiet")
    assert "no scorer 'brief'." in mas_run(folder, *verify).err
    assert mas_run(folder, *verify, "--scorer", "own.py:brief").code == 0

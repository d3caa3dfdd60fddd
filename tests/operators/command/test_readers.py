"""`mas-op` of what adapts a team while it works: on a team's file and the folder of its run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from coterie.operators.command.op import main as mas_op
from coterie.operators.operator import operator_of
from coterie.runtime.command.run import main as mas_run
from coterie.runtime.doubles import Call, Replies, Reply, ScriptedModel
from coterie.schema import load_team

TEAM = """\
name: trio
constitution: Be honest.
agents:
  planner: {role: plans, prompt: "You are [planner]."}
  solver: {role: solves, prompt: "You are [solver]."}
  writer: {role: writes, prompt: "You are [writer]."}
topology: {reports_to: {planner: [solver], solver: [writer]}}
"""
TASK = {"id": "sum", "query": "What is 3 + 4?", "answer": "sevenish"}
WORK = {"[planner]": "first count", "[solver]": "maybe 8", "[writer]": "I say 8"}
LOW: Mapping[str, float] = {"planner": 0.1, "solver": 0.2, "writer": 0.5}
COACHING = Reply.json({"wrong": "You guessed.", "plan": "Count on your fingers."})
TEAMWORK = ("trio.yaml", "--run", "run")


def judgement(values: Mapping[str, float] = LOW) -> dict[str, Any]:
    agents = {one: {"reason": f"{one} so", "contribution": value} for one, value in values.items()}
    return {"reason": "It guessed.", "agents": agents, "score": 0.3, "converged": False}


@dataclass
class Did:
    """What a command printed, and what the model was asked."""

    code: int
    out: str
    err: str
    calls: list[Call]


def mas(*arguments: str, replies: Replies = "never asked", command: Any = mas_op) -> Did:
    """Run a command; every model is the scripted one."""
    with ScriptedModel(replies) as model:
        given = [*arguments, "--model", f"scripted@{model.api_base}"]
        done = CliRunner().invoke(command, given)
        return Did(done.exit_code, done.stdout, done.stderr, list(model.calls))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a team, its run on a task, and what was said of that."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MAS_HOME", str(tmp_path))
    (tmp_path / "trio.yaml").write_text(TEAM)
    (tmp_path / "task.json").write_text(json.dumps(TASK))
    (tmp_path / "judged.json").write_text(json.dumps(judgement()))
    done = mas("trio.yaml", "task.json", "--quiet", replies=WORK, command=mas_run)
    assert done.code == 0, done.err
    [run] = (tmp_path / "runs").iterdir()
    run.rename(tmp_path / "run")
    return tmp_path


def test_strategies_find_them_by_name_with_what_they_work_on() -> None:
    names = ("contributions", "coach", "restructure", "enlist")
    assert [operator_of(one).scale for one in names] == ["team", "agent", "roster", "roster"]


def test_contributions_says_what_each_agent_was_worth_in_a_form_that_others_read(
    folder: Path,
) -> None:
    done = mas("contributions", *TEAMWORK, replies=Reply.json(judgement()))
    assert done.code == 0, done.err
    assert json.loads(done.out) == judgement()
    assert done.err == "score 0.3: It guessed.\n"
    [call] = done.calls
    assert "What is 3 + 4?" in call.text
    assert "maybe 8" in call.text
    assert "sevenish" not in call.text
    (folder / "said.json").write_text(done.out)
    again = mas("coach", "trio.yaml", "solver", *TEAMWORK[1:], "--judged", "said.json",
                replies=COACHING)  # fmt: skip
    assert again.code == 0, again.err
    assert "contribution 0.2: solver so" in again.calls[0].text


def test_a_coached_agent_has_it_in_its_notes_and_nobody_else(folder: Path) -> None:
    arguments = ("coach", "trio.yaml", "solver", "--run", "run", "--judged", "judged.json")
    done = mas(*arguments, "-o", "child.yaml", replies=COACHING)
    assert (done.code, done.out) == (0, ""), done.err
    child, parent = load_team(folder / "child.yaml"), load_team(folder / "trio.yaml")
    assert child.agents["solver"].notes.coaching == (
        "What went wrong: You guessed.\nPlan: Count on your fingers."
    )
    assert {**child.agents, "solver": None} == {**parent.agents, "solver": None}
    assert child.lineage is not None
    assert (child.lineage.operator, child.lineage.task) == ("coach", "sum")
    assert "Count on your fingers." in done.err
    [call] = done.calls
    assert "maybe 8" in call.text
    assert "first count" not in call.text


def test_who_was_not_judged_yet_is_judged_before_it_is_coached(folder: Path) -> None:
    arguments = ("coach", "trio.yaml", "planner", "--run", "run", "--dry-run", "--room", "80")
    before = sorted(folder.iterdir())
    done = mas(*arguments, replies=[Reply.json(judgement()), COACHING])
    assert done.code == 0, done.err
    assert done.out.endswith("reason: You guessed.\n")
    assert "contribution 0.1: planner so" in done.calls[1].text
    assert sorted(folder.iterdir()) == before
    unjudged = mas(*arguments, replies="no idea")
    assert unjudged.code == 1
    assert "contributions: the model gave no valid answer" in unjudged.err


def test_a_restructured_team_takes_roles_in_and_lets_go_of_who_did_little(folder: Path) -> None:
    place = {"role": "verifier", "receives_from": ["solver"], "reports_to": ["writer"]}
    changes = [{"add_agent": place}, {"remove_agent": {"agent": "planner"}}]
    judged = ("--judged", "judged.json") * 2
    done = mas(
        *("restructure", *TEAMWORK, *judged, "--agents", "2", "-o", "child.yaml"),
        replies=Reply.json({"reason": "nobody checks", "agents": changes, "edges": []}),
    )
    assert (done.code, done.out) == (0, ""), done.err
    assert "agents: -planner, +verifier" in done.err
    child = load_team(folder / "child.yaml")
    assert [*child.agents] == ["solver", "writer", "verifier"]
    assert child.agents["verifier"].prompt.strip()
    [call] = done.calls
    assert "planner: 0.1, 0.1; planner so" in call.text


def test_after_too_few_rounds_nobody_may_go() -> None:
    gone = {"reason": "r", "agents": [{"remove_agent": {"agent": "planner"}}], "edges": []}
    arguments = ("restructure", *TEAMWORK, "--judged", "judged.json", "--dry-run")
    done = mas(*arguments, replies=Reply.json(gone))
    assert done.code == 1
    assert "'planner' may not go" in done.err
    assert mas(*arguments, "--patience", "1", replies=Reply.json(gone)).code == 0


def test_an_enlisted_team_is_of_roles_and_keeps_what_the_frame_says(folder: Path) -> None:
    roles = folder / "roles"
    roles.mkdir()
    for role in ("counter", "checker"):
        (roles / f"{role}.yaml").write_text(f"role: {role}\nprompt: You are a {role}.\n")
    said = {"reason": "it is a sum", "agents": ["counter", "checker"], "edges": []}
    done = mas(
        *("enlist", "trio.yaml", "-t", "task.json", "--roles", "roles", "-o", "counting.yaml"),
        replies=Reply.json(said),
    )
    assert (done.code, done.out) == (0, ""), done.err
    assert "reason: it is a sum" in done.err
    child = load_team(folder / "counting.yaml")
    assert [*child.agents] == ["counter", "checker"]
    assert child.reports_to == {"counter": ("checker",)}
    assert (child.name, child.constitution) == ("counting", "Be honest.")
    assert "sevenish" not in done.calls[0].text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["contributions", "trio.yaml"], "--run"),
        (["contributions", "trio.yaml", "--run", ".", "-t", "task.json"], "no run that came to"),
        (["contributions", "seed:debate_3", "--run", "run"], "not those of debate_3"),
        (["coach", "trio.yaml", "slover", "--run", "run"], "Did you mean 'solver'?"),
        (["coach", "trio.yaml", "solver", "--run", "run", "--room", "9"], "--room"),
        (["coach", "trio.yaml", "solver", "--run", "run", "--judged", "task.json"], "not what mas"),
        (["coach", "trio.yaml", "solver", "--run", "run", "--judged", "none.json"], "none.json"),
        (
            ["coach", "trio.yaml", "solver", "--run", "run", "--judged", "one.json"],
            "only of writer",
        ),
        (["coach", "sum.yaml", "writer", "--run", "run"], "is a function"),
        (["restructure", *TEAMWORK, "--roles", "run"], "run has 1"),
        (["restructure", *TEAMWORK, "--low", "2"], "--low"),
        (["restructure", *TEAMWORK, "--policy", "task.json"], "task.json"),
        (["enlist", "trio.yaml"], "give the task"),
        (["enlist", "none.yaml", "-q", "x"], "no file"),
        (["enlist", "trio.yaml", "-q", "x", "--most", "1"], "--most"),
        (["enlist", "trio.yaml", "-q", "x", "--meta-model", "gpt"], "no model 'gpt'"),
    ],
)
def test_bad_input_is_2_and_asks_nobody(folder: Path, arguments: list[str], said: str) -> None:
    (folder / "one.json").write_text(json.dumps(judgement({"writer": 1})))
    function = "writer: {backend: function, function: concat}"
    (folder / "sum.yaml").write_text(
        TEAM.replace('writer: {role: writes, prompt: "You are [writer]."}', function)
    )
    done = mas(*arguments)
    assert done.code == 2, done.err
    assert said in done.err
    assert done.calls == []


@pytest.mark.parametrize("name", ["contributions", "coach", "restructure", "enlist"])
def test_each_tells_what_it_wants(name: str) -> None:
    done = CliRunner().invoke(mas_op, [name, "--help"])
    assert done.exit_code == 0
    assert "TEAM is a team file, or seed:NAME" in done.output
    assert name in CliRunner().invoke(mas_op, ["--help"]).output

"""`mas-blame`: who made a run fail, told from its folder, in which nothing else is changed."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.blame import trace_of
from coterie.operators.command.blame import main
from coterie.runtime.command.run import main as mas_run
from coterie.runtime.doubles import Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request

from ...came import Came, invoked
from ..evolving import asked
from .test_adapt import HOW, World

TEAM = """\
name: fruit
agents:
  planner: {prompt: "You are [planner]."}
  solver: {prompt: "You are [solver]."}
  writer: {prompt: "You are [writer]."}
topology: {reports_to: {planner: [solver], solver: [writer]}}
"""
ROUNDS = """\
name: talks
agents:
  planner: {prompt: "You are [planner]."}
  solver: {prompt: "You are [solver]."}
  writer: {prompt: "You are [writer]."}
topology: {reports_to: {planner: [writer], solver: [writer]}}
execution: {rounds: {most: 2, until: never, closing: [writer]}}
"""
VOTE = """\
name: vote
agents:
  planner: {prompt: "You are [planner]."}
  solver: {prompt: "You are [solver]."}
  writer: {agent_type: Function, function: majority}
topology: {reports_to: {planner: [writer], solver: [writer]}}
"""
WARD = """\
name: ward
agents:
  chief: {prompt: "You are [chief]."}
  planner: {role: plans, prompt: "You are [planner]."}
  solver: {role: solves, prompt: "You are [solver]."}
  writer: {prompt: "You are [writer]."}
topology: {reports_to: {chief: [writer], planner: [writer], solver: [writer]}}
execution:
  recruit: {by: chief, among: [planner, solver], most: 1}
  rounds: {most: 2, until: never, closing: [writer]}
"""
CREW = """\
name: crew
agents:
  planner: {role: leads, prompt: "You are [planner]."}
  solver: {role: counts, prompt: "You are [solver]."}
  writer: {role: writes, prompt: "You are [writer]."}
execution: {roster: {lead: planner}}
"""
TASK = {"id": "fruit", "query": "How many apples?", "answer": "7", "scorer": {"name": "exact"}}
FILES = ("events.jsonl", "journal.sqlite", "result.json", "run.json", "task.json", "team.yaml")
SAID = {"planner": "Count the pears.", "solver": "Six pears.", "writer": "6"}
Script = Callable[[Request], Reply]


def fruit(request: Request) -> Reply:
    """Agents take pears for apples; analyzers find that the planner said so."""
    form, text = asked(request), message_text(request)
    if "specialists" in form:
        return Reply.json({"specialists": ["solver"], "reason": "it counts"})
    if "confidence" in form:
        return accused(form, text)
    if "acts" in form:
        return Reply.json(acted(text))
    return Reply(text=next(said for name, said in SAID.items() if f"[{name}]" in text))


def acted(text: str) -> Mapping[str, Any]:
    """The lead of an open roster has somebody count, and hands in what that comes to."""
    if "[planner]" not in text:
        return {"acts": [], "report": "Six pears."}
    if "Six pears." in text:
        return {"acts": [{"act": "finalize", "answer": "6"}], "report": ""}
    start = {"act": "start_agent", "agent": "solver", "text": "Count the pears."}
    return {"acts": [start], "report": ""}


def accused(form: Mapping[str, Any], text: str) -> Reply:
    said = {"reason": "It said pears.", "confidence": 0.6}
    if "erred" in form:
        erred = "speak for the agent called planner" in text
        return Reply.json({**said, "erred": erred, "step": form["step"]["enum"][0]})
    agents = [one["properties"]["agent"]["enum"][0] for one in form["accused"]["anyOf"]]
    agent = "planner" if "planner" in agents else "solver"
    evidence = {"evidence": []} if "evidence" in form else {}
    return Reply.json(
        {**said, "accused": {"agent": agent, "step": step_of(agent, text)}, **evidence}
    )


def step_of(agent: str, text: str) -> int:
    """The first step of an agent, as the question tells it."""
    found = re.search(rf'steps of {agent}: (\d+)|"(\d+), {agent},', text)
    assert found
    return int(found[1] or found[2])


@dataclass(kw_only=True)
class Desk:
    """A folder in which somebody asks who is to blame."""

    folder: Path
    model: ScriptedModel

    @property
    def address(self) -> str:
        return f"m@{self.model.api_base}"

    def make(self, team: str = TEAM, task: Mapping[str, Any] = TASK, *words: str) -> Path:
        """Run a team; give the folder of the run."""
        (self.folder / "team.yaml").write_text(team)
        (self.folder / "task.json").write_text(json.dumps(task))
        words = ("team.yaml", "task.json", "--model", self.address, "--quiet", *words)
        invoked(mas_run, words, "mas-run")
        return max((self.folder / "runs").iterdir(), key=lambda one: one.stat().st_mtime_ns)

    def blame(self, run: Path, *words: str, command: Any = main) -> Came:
        before = len(self.model.calls)
        came = invoked(command, [str(run), *words], "mas-blame")
        came.calls = len(self.model.calls) - before
        return came


@dataclass
class Stage:
    """What the model is: it can be changed while it listens."""

    script: Script = fruit
    hung: threading.Event = field(default_factory=threading.Event)

    def __call__(self, request: Request) -> Reply:
        return self.script(request)


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
def desk(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MAS_HOME", str(tmp_path))
    with ScriptedModel(stage) as model:
        yield Desk(folder=tmp_path, model=model)


def kept(run: Path) -> dict[str, str]:
    return {name: hashlib.sha256((run / name).read_bytes()).hexdigest() for name in FILES}


def verdict(came: Came) -> tuple[str, str]:
    assert came.code == 0, came.err
    return came.json["agent"], came.json["text"]


def test_it_tells_who_which_step_where_why_and_what_it_cost(desk: Desk) -> None:
    run = desk.make()
    before = kept(run)
    came = desk.blame(run)
    assert came.code == 0, came.err
    number = step_of("planner", f'"{came.out.split("step ")[1].split(",")[0]}, planner,')
    assert came.out.splitlines() == [
        f"planner, step {number}, sure 0.6",
        "why: It said pears.",
        f"step {number} (answer; events.jsonl:{number}):",
        "  Count the pears.",
        "votes:",
        f"  1.8  planner, step {number}, by planner, solver, writer",
        came.out.splitlines()[-1],
    ]
    assert re.fullmatch(
        r"collaborative, 2 rounds: 9 calls to default, \d+ tokens, unpriced",
        came.out.splitlines()[-1],
    )
    event = json.loads((run / "events.jsonl").read_text().splitlines()[number - 1])
    assert (event["n"], event["agent"], event["text"]) == (number, "planner", "Count the pears.")
    assert kept(run) == before


def test_programs_get_the_same_and_later_readers_find_it_in_the_run_s_folder(desk: Desk) -> None:
    run = desk.make()
    for scheme in ("global", "local", "collaborative"):
        came = desk.blame(run, "--scheme", scheme, "--json")
        assert verdict(came) == ("planner", "Count the pears.")
        assert json.loads((run / "blame" / f"{scheme}.json").read_text()) == came.json
        assert came.json["usage"]["calls"] == {"global": 1, "local": 3, "collaborative": 9}[scheme]
    assert came.json["line"] == f"events.jsonl:{came.json['step']}"


def test_nothing_is_paid_for_twice(desk: Desk) -> None:
    run = desk.make()
    first = desk.blame(run, "--json")
    again = desk.blame(run, "--json")
    assert (first.calls, again.calls) == (9, 0)
    assert again.json == first.json
    assert "9 calls to default, 9 of them answered before" in desk.blame(run).out
    assert desk.blame(run, "--rounds", "3").calls == 3


@pytest.mark.parametrize(
    ("team", "agent", "text", "where"),
    [
        (ROUNDS, "planner", "Count the pears.", "round 1"),
        (VOTE, "planner", "Count the pears.", ""),
        (WARD, "solver", "Six pears.", "round 1"),
    ],
    ids=["rounds", "vote", "consultation"],
)
def test_any_run_of_a_team_can_be_read(
    desk: Desk, team: str, agent: str, text: str, where: str
) -> None:
    came = desk.blame(desk.make(team), "--json")
    assert verdict(came) == (agent, text)
    assert came.json["where"] == where


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "team.yaml").write_text(TEAM)
    (tmp_path / "task.json").write_text(json.dumps(TASK))
    (tmp_path / "adapt.yaml").write_text("strategy: tacomas\nsettings: {most: 4}\n")
    return World(tmp_path)


def test_a_run_whose_team_adapted_can_be_read(world: World) -> None:
    world.run(*HOW)
    trace = trace_of(world.made())
    assert {"planner", "solver", "writer", "verifier"} == {*trace.doers}
    assert {one.where for one in trace.steps} == {"round 1", "round 2", "round 3"}
    assert not any("Be exact" in one.text for one in trace.steps)


def test_a_run_of_an_open_roster_can_be_read(desk: Desk) -> None:
    run = desk.make(CREW)
    trace = trace_of(run)
    assert trace.doers == ("planner", "solver")
    assert [(one.agent, one.kind, one.where) for one in trace.steps] == [
        ("planner", "answer", "turn 1"),
        ("planner", "tool", "turn 1"),
        ("solver", "answer", "turn 1"),
        ("planner", "answer", "turn 2"),
        ("planner", "tool", "turn 2"),
    ]
    assert "Count the pears." in trace.steps[2].read
    assert "Six pears." in trace.steps[3].read
    assert desk.blame(run, "--json").json["line"] == f"events.jsonl:{trace.steps[0].number}"


def test_a_run_that_was_stopped_or_failed_can_be_read(desk: Desk) -> None:
    stopped = desk.make(TEAM, TASK, "--budget", "calls=2")
    came = desk.blame(stopped, "--scheme", "local", "--json")
    assert verdict(came) == ("planner", "Count the pears.")
    form = "{type: object, properties: {n: {type: integer}}, required: [n]}"
    fails = TEAM.replace('[writer]."}', f'[writer].", output_schema: {form}}}')
    came = desk.blame(desk.make(fails), "--scheme", "global", "--json")
    assert came.code == 0, came.err
    assert "failed: agent writer" in desk.model.calls[-1].text


def test_a_run_that_was_interrupted_and_one_that_went_on(desk: Desk) -> None:
    stopped = desk.make(TEAM, TASK, "--budget", "calls=2")
    before = trace_of(stopped)
    invoked(mas_run, ["--resume", str(stopped), "--budget", "calls=9", "--quiet"], "mas-run")
    after = trace_of(stopped)
    assert [one.text for one in after.steps] == ["Count the pears.", "Six pears.", "6"]
    assert after.steps[:2] == before.steps
    (stopped / "result.json").unlink()
    with (stopped / "events.jsonl").open("a") as events:
        events.write('{"v": 1, "n": 99, "type": "model_')
    assert trace_of(stopped).steps == after.steps
    assert verdict(desk.blame(stopped, "--scheme", "global", "--json"))[0] == "planner"
    assert "interrupted" in desk.model.calls[-1].text


def test_a_run_that_succeeded_is_refused_unless_one_knows_better(desk: Desk) -> None:
    run = desk.make(TEAM, {**TASK, "answer": "6"})
    came = desk.blame(run)
    assert (came.code, came.calls) == (2, 0)
    assert "this run succeeded, with score 1: nobody failed." in came.err
    assert not (run / "blame").exists()
    assert desk.blame(run, "--scheme", "local", "--wrong").code == 0
    assert desk.blame(run, "--scheme", "global", "--expected", "7").code == 0
    assert "right_answer" in desk.model.calls[-1].text
    same = desk.blame(run, "--expected", "6 ")
    assert (same.code, same.calls) == (2, 0)
    assert "came to the expected answer" in same.err


def test_of_an_answer_without_a_score_one_has_to_say_that_it_is_wrong(desk: Desk) -> None:
    run = desk.make(TEAM, {"id": "fruit", "query": "How many apples?"})
    came = desk.blame(run)
    assert came.code == 2
    assert "nothing says that it failed" in came.err
    assert "--wrong" in came.err
    assert desk.blame(run, "--wrong", "--scheme", "global").code == 0
    assert "right_answer" not in desk.model.calls[-1].text


def test_blind_no_right_answer_is_shown_nor_a_reason_that_quotes_it(desk: Desk) -> None:
    run = desk.make(TEAM, {**TASK, "answer": "seventeen"})
    desk.blame(run, "--scheme", "global")
    assert "seventeen" in desk.model.calls[-1].text
    came = desk.blame(run, "--scheme", "global", "--blind", "--json")
    assert "seventeen" not in desk.model.calls[-1].text
    assert "score 0" in desk.model.calls[-1].text
    assert came.json["knew_answer"] is False


def test_a_model_that_could_not_be_had_is_nobody_s_fault(desk: Desk, stage: Stage) -> None:
    stage.script = lambda request: (
        Reply.error(401) if "[solver]" in message_text(request) else fruit(request)
    )
    run = desk.make()
    came = desk.blame(run)
    assert (came.code, came.calls) == (2, 0)
    assert "no agent's fault" in came.err
    assert f"mas-run --resume {run}" in came.err

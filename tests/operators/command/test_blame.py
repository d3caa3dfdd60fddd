"""`mas dev blame`: who made a run fail, told from its folder, in which nothing else is changed."""

import json
import re
from pathlib import Path

import pytest

from coterie.operators.blame import trace_of
from coterie.runtime.command.run import main as mas_run
from coterie.runtime.doubles import Reply, message_text

from ...support.commands import invoked
from ..methods.tacomas.test_adaptation_teams import HOW, World
from .blaming import (
    CREW,
    ROUNDS,
    TASK,
    TEAM,
    VOTE,
    WARD,
    Cli,
    Stage,
    fruit,
    kept,
    step_of,
    verdict,
)


def test_it_tells_who_which_step_where_why_and_what_it_cost(cli: Cli) -> None:
    run = cli.make()
    before = kept(run)
    result = cli.blame(run).ended(0)
    number = step_of("planner", f'"{result.out.split("step ")[1].split(",")[0]}, planner,')
    assert result.out.splitlines() == [
        f"planner, step {number}, sure 0.6",
        "why: It said pears.",
        f"step {number} (answer; events.jsonl:{number}):",
        "  Count the pears.",
        "votes:",
        f"  1.8  planner, step {number}, by planner, solver, writer",
        result.out.splitlines()[-1],
    ]
    assert re.fullmatch(
        r"collaborative, 2 rounds: 9 calls to default, \d+ tokens, unpriced",
        result.out.splitlines()[-1],
    )
    event = json.loads((run / "events.jsonl").read_text().splitlines()[number - 1])
    assert (event["n"], event["agent"], event["text"]) == (number, "planner", "Count the pears.")
    assert kept(run) == before


def test_programs_get_the_same_and_later_readers_find_it_in_the_run_s_folder(cli: Cli) -> None:
    run = cli.make()
    for scheme in ("global", "local", "collaborative"):
        result = cli.blame(run, "--scheme", scheme, "--json")
        assert verdict(result) == ("planner", "Count the pears.")
        assert json.loads((run / "blame" / f"{scheme}.json").read_text()) == result.json
        assert (
            result.json["usage"]["calls"] == {"global": 1, "local": 3, "collaborative": 9}[scheme]
        )
    assert result.json["line"] == f"events.jsonl:{result.json['step']}"


def test_nothing_is_paid_for_twice(cli: Cli) -> None:
    run = cli.make()
    first = cli.blame(run, "--json")
    again = cli.blame(run, "--json")
    assert (first.calls, again.calls) == (9, 0)
    assert again.json == first.json
    assert "9 calls to default, 9 of them answered before" in cli.blame(run).out
    assert cli.blame(run, "--rounds", "3").calls == 3


@pytest.mark.parametrize(
    ("team", "agent", "text", "where"),
    [
        (ROUNDS, "planner", "Count the pears.", "round 1"),
        (VOTE, "planner", "Count the pears.", ""),
        (WARD, "solver", "Six pears.", "round 1"),
    ],
    ids=["rounds", "vote", "consultation"],
)
def test_any_teams_run_can_be_read(cli: Cli, team: str, agent: str, text: str, where: str) -> None:
    result = cli.blame(cli.make(team), "--json")
    assert verdict(result) == (agent, text)
    assert result.json["where"] == where


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
    assert {step.where for step in trace.steps} == {"round 1", "round 2", "round 3"}
    assert not any("Be exact" in step.text for step in trace.steps)


def test_a_run_of_an_open_roster_can_be_read(cli: Cli) -> None:
    run = cli.make(CREW)
    trace = trace_of(run)
    assert trace.doers == ("planner", "solver")
    assert [(step.agent, step.kind, step.where) for step in trace.steps] == [
        ("planner", "answer", "turn 1"),
        ("planner", "tool", "turn 1"),
        ("solver", "answer", "turn 1"),
        ("planner", "answer", "turn 2"),
        ("planner", "tool", "turn 2"),
    ]
    assert "Count the pears." in trace.steps[2].read
    assert "Six pears." in trace.steps[3].read
    assert cli.blame(run, "--json").json["line"] == f"events.jsonl:{trace.steps[0].number}"


def test_a_run_that_was_stopped_or_failed_can_be_read(cli: Cli) -> None:
    stopped = cli.make(TEAM, TASK, "--budget", "calls=2")
    result = cli.blame(stopped, "--scheme", "local", "--json")
    assert verdict(result) == ("planner", "Count the pears.")
    form = "{type: object, properties: {n: {type: integer}}, required: [n]}"
    fails = TEAM.replace('[writer]."}', f'[writer].", output_schema: {form}}}')
    cli.blame(cli.make(fails), "--scheme", "global", "--json").ended(0)
    assert "failed: agent writer" in cli.model.calls[-1].text


def test_a_run_that_was_interrupted_and_one_that_went_on(cli: Cli) -> None:
    stopped = cli.make(TEAM, TASK, "--budget", "calls=2")
    before = trace_of(stopped)
    words = ["--resume", str(stopped), "--budget", "calls=9", "--model", cli.address, "--quiet"]
    invoked(mas_run, words, "mas-run")
    after = trace_of(stopped)
    assert [step.text for step in after.steps] == ["Count the pears.", "Six pears.", "6"]
    assert after.steps[:2] == before.steps
    (stopped / "result.json").unlink()
    with (stopped / "events.jsonl").open("a") as events:
        events.write('{"v": 1, "n": 99, "type": "model_')
    assert trace_of(stopped).steps == after.steps
    assert verdict(cli.blame(stopped, "--scheme", "global", "--json"))[0] == "planner"
    assert "interrupted" in cli.model.calls[-1].text


def test_a_run_that_succeeded_is_refused_unless_one_knows_better(cli: Cli) -> None:
    run = cli.make(TEAM, {**TASK, "answer": "6"})
    result = cli.blame(run)
    assert (result.code, result.calls) == (2, 0)
    assert "this run succeeded, with score 1: no agent failed." in result.err
    assert not (run / "blame").exists()
    assert cli.blame(run, "--scheme", "local", "--wrong").code == 0
    assert cli.blame(run, "--scheme", "global", "--expected", "7").code == 0
    assert "right_answer" in cli.model.calls[-1].text
    same = cli.blame(run, "--expected", "6 ")
    assert (same.code, same.calls) == (2, 0)
    assert "gave the expected answer" in same.err


def test_of_an_answer_without_a_score_one_has_to_say_that_it_is_wrong(cli: Cli) -> None:
    run = cli.make(TEAM, {"id": "fruit", "query": "How many apples?"})
    result = cli.blame(run).ended(2)
    assert "so it may have succeeded" in result.err
    assert "--wrong" in result.err
    assert cli.blame(run, "--wrong", "--scheme", "global").code == 0
    assert "right_answer" not in cli.model.calls[-1].text


def test_blind_no_right_answer_is_shown_nor_a_reason_that_quotes_it(cli: Cli) -> None:
    run = cli.make(TEAM, {**TASK, "answer": "seventeen"})
    cli.blame(run, "--scheme", "global")
    assert "seventeen" in cli.model.calls[-1].text
    result = cli.blame(run, "--scheme", "global", "--blind", "--json")
    assert "seventeen" not in cli.model.calls[-1].text
    assert "score 0" in cli.model.calls[-1].text
    assert result.json["knew_answer"] is False


def test_a_model_that_could_not_be_had_is_nobody_s_fault(cli: Cli, stage: Stage) -> None:
    stage.script = lambda request: (
        Reply.error(401) if "[solver]" in message_text(request) else fruit(request)
    )
    run = cli.make()
    result = cli.blame(run)
    assert (result.code, result.calls) == (2, 0)
    assert "no agent's fault" in result.err
    assert f"mas-run --resume {run}" in result.err

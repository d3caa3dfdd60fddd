"""`mas dev op credit`: what agents of a finished run were worth, told from runs without them."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.doubles import Reply, message_text
from coterie.runtime.doubles.script import Request

from ...jails import needs_jail
from ...support.commands import CommandResult, started
from .blaming import Cli, Stage

GLOVES = """\
name: gloves
agents:
  left: {prompt: "You are [left]."}
  one: {prompt: "You are [one]."}
  two: {prompt: "You are [two]."}
  pair: {prompt: "You are [pair]."}
topology: {reports_to: {left: [pair], one: [pair], two: [pair]}}
"""
TALKS = """\
name: talks
agents:
  ann: {prompt: "You are [ann]."}
  bob: {prompt: "You are [bob]."}
  end: {prompt: "You are [end]."}
topology: {reports_to: {ann: [end], bob: [end]}}
execution: {rounds: {most: 2, until: never, closing: [end]}}
"""
TASK = {"id": "t", "query": "Is there a pair?", "answer": "yes", "scorer": {"name": "exact"}}


def gloves(request: Request) -> Reply:
    """There is a pair where there is a left glove, and another one."""
    text = message_text(request)
    if form := request.get("response_format"):
        return judged(form["json_schema"]["schema"]["properties"], text)
    if "[pair]" in text:
        there = [name for name in ("left", "one", "two") if f"glove {name}" in text]
        return Reply(text="yes" if "left" in there and len(there) > 1 else "no")
    name = next(name for name in ("left", "one", "two") if f"[{name}]" in text)
    return Reply(text=f"glove {name}")


def judged(form: Mapping[str, Any], text: str) -> Reply:
    """Judge: an answer of yes is worth 0.8, any other 0.2; the left glove did most."""
    if "agents" not in form:
        return Reply.json({"reason": "so", "score": 0.8 if "yes" in text else 0.2})
    share = {"left": 0.6, "ann": 0.6, "bob": 0.2}
    agents = {
        item: {"reason": "so", "contribution": share.get(item, 0.2)}
        for item in form["agents"]["properties"]
    }
    return Reply.json({"reason": "so", "agents": agents, "score": 1.0, "converged": True})


def talks(request: Request) -> Reply:
    """Who speaks in the second round says what was said to it; the end wants Bob's first word."""
    text = message_text(request)
    if form := request.get("response_format"):
        return judged(form["json_schema"]["schema"]["properties"], text)
    if "[end]" in text:
        return Reply(text="yes" if "bob 1" in text or "bob 2 after bob 1" in text else "no")
    name = "ann" if "[ann]" in text else "bob"
    return Reply(text=f"{name} 2 after {name} 1" if f"{name} 1" in text else f"{name} 1")


@pytest.fixture
def stage() -> Stage:
    return Stage(script=gloves)


def made(cli: Cli, team: str = GLOVES) -> Path:
    return cli.make(team, TASK)


def worth(result: CommandResult) -> dict[str, float]:
    assert result.code == 0, result.err
    return {player["agent"]: player["worth"] for player in result.json["players"]}


def test_difference_and_shapley_by_hand(cli: Cli) -> None:
    run = made(cli)
    result = cli.credit(run, "--json")
    assert worth(result) == {"left": 1.0, "one": 0.0, "two": 0.0}
    assert result.calls == 3  # the pair's, once for each that is silent
    assert result.json["calls"] == {"asked": 3, "answered": 4 + 3 * 2}
    assert [(player["calls"]["asked"]) for player in result.json["players"]] == [1, 1, 1]
    result = cli.credit(run, "--scheme", "shapley", "--json")
    assert worth(result) == pytest.approx({"left": 2 / 3, "one": 1 / 6, "two": 1 / 6})
    assert result.calls == 4  # of eight coalitions, four were asked before
    assert (result.json["score"], result.json["score_without_all"]) == (1, 0)
    assert result.json["calls"]["asked"] == 7
    report = cli.credit(run, "--scheme", "shapley")
    assert report.calls == 0
    assert report.out.splitlines()[:4] == [
        "gloves on t: shapley, score 1, without all of these 0",
        "agent   worth",
        "left   +0.667",
        "one    +0.167",
    ]


def test_only_those_who_are_chosen_are_silenced(cli: Cli) -> None:
    run = made(cli)
    result = cli.credit(run, "--agents", "two, one", "--scheme", "shapley", "--json")
    assert worth(result) == pytest.approx({"one": 0.5, "two": 0.5})
    assert worth(cli.credit(run, "--agents", "pair", "--json")) == {"pair": 1.0}


def test_more_than_six_are_estimated_with_their_errors(cli: Cli, stage: Stage) -> None:
    names = [f"w{number}" for number in range(7)]
    agents = "\n".join(f'  {name}: {{prompt: "You are [{name}]."}}' for name in (*names, "pair"))
    reports = ", ".join(f"{name}: [pair]" for name in names)
    team = f"name: many\nagents:\n{agents}\ntopology: {{reports_to: {{{reports}}}}}\n"

    def any_three(request: Request) -> Reply:
        text = message_text(request)
        if "[pair]" not in text:
            return Reply(text=next(f"heard {name}" for name in names if f"[{name}]" in text))
        return Reply(text="yes" if sum(f"heard {name}" in text for name in names) > 2 else "no")

    stage.script = any_three
    run = made(cli, team)
    words = ("--scheme", "shapley", "--permutations", "4", "--seed", "3", "--json")
    result = cli.credit(run, *words)
    assert sum(worth(result).values()) == pytest.approx(1)
    for player in result.json["players"]:
        low, high = player["interval"]
        assert low < player["worth"] < high
        assert player["error"] <= 0.5
    assert result.calls <= 1 + 4 * 6
    again = cli.credit(run, *words)
    assert (again.json, again.calls) == (result.json, 0)
    assert "95 % interval" in cli.credit(run, *words[:-1]).out


def test_a_turn_is_worth_what_is_lost_without_it(cli: Cli, stage: Stage) -> None:
    """Nobody misses Bob's second word, for his first says the same; nor the other way round."""
    stage.script = talks
    run = made(cli, TALKS)
    result = cli.credit(run, "--per", "turn", "--json").ended(0)
    table = {
        (player["agent"], player["round"]): player["worth"] for player in result.json["players"]
    }
    assert table.keys() == {("ann", 1), ("bob", 1), ("ann", 2), ("bob", 2)}
    assert worth(cli.credit(run, "--json")) == {"ann": 0.0, "bob": 1.0}
    shapley = cli.credit(run, "--per", "turn", "--scheme", "shapley", "--json")
    assert sum(player["worth"] for player in shapley.json["players"]) == pytest.approx(1)
    assert "round" in cli.credit(run, "--per", "turn").out.splitlines()[1]


def test_who_recruits_and_who_was_not_recruited_are_no_players(cli: Cli, stage: Stage) -> None:
    agents = "".join(
        f'  {word}: {{prompt: "You are [{word}]."}}\n' for word in ("left", "one", "two")
    )
    team = (
        f'name: chosen\nagents:\n  boss: {{prompt: "You are the boss."}}\n{agents}'
        '  pair: {prompt: "You are [pair]."}\n'
        "topology: {reports_to: {boss: [left, one, two], left: [pair], one: [pair], two: [pair]}}\n"
        "execution: {recruit: {by: boss, among: [left, one, two], most: 2}}\n"
    )

    def choosing(request: Request) -> Reply:
        if "You are the boss." in message_text(request):
            return Reply.json({"specialists": ["left", "two"], "reason": "so"})
        return gloves({name: item for name, item in request.items() if name != "response_format"})

    stage.script = choosing
    run = made(cli, team)
    result = cli.credit(run, "--json")
    assert worth(result) == {"left": 1.0, "two": 1.0}
    assert result.calls == 2
    bound = re.search(r"at most (\d+) calls", cli.credit(run, "--dry-run").out)
    assert bound is not None
    assert int(bound[1]) >= 2


def test_a_judge_scores_where_there_is_no_answer(cli: Cli) -> None:
    run = cli.make(GLOVES, {"id": "t", "query": "Is there a pair?"})
    result = cli.credit(run)
    assert (result.code, result.calls) == (2, 0)
    assert "has no reference answer" in result.err
    assert "--judge ALIAS" in result.err
    result = cli.credit(run, "--judge", "default", "--json")
    assert worth(result) == pytest.approx({"left": 0.6, "one": 0.0, "two": 0.0})
    assert result.calls == 3 + 2  # the same answer is judged once
    assert result.json["others"]["judging"]["calls"] == 2
    assert cli.credit(run, "--judge", "default").calls == 0


def test_naive_credit_is_what_a_judge_says_normalised(cli: Cli, stage: Stage) -> None:
    run = made(cli)
    assert "--judge" in cli.credit(run, "--scheme", "naive").err
    words = ("--scheme", "naive", "--judge", "default", "--json")
    result = cli.credit(run, *words)
    assert worth(result) == pytest.approx({"left": 0.6, "one": 0.2, "two": 0.2})
    assert result.calls == 1
    stage.script = talks
    run = made(cli, TALKS)
    result = cli.credit(run, *words, "--per", "turn")
    shares = {
        (player["agent"], player["round"]): player["worth"] for player in result.json["players"]
    }
    assert shares == pytest.approx(
        {("ann", 1): 0.75, ("bob", 1): 0.25, ("ann", 2): 0.75, ("bob", 2): 0.25}
    )
    assert result.calls == 2


def test_a_judge_who_says_nothing_of_use_is_no_score(cli: Cli, stage: Stage) -> None:
    def useless(request: Request) -> Reply:
        return Reply(text="well") if request.get("response_format") else gloves(request)

    stage.script = useless
    run = made(cli)
    result = cli.credit(run, "--judge", "default").ended(1)
    assert "the judge default: the model gave no valid answer" in result.err
    result = cli.credit(run, "--judge", "default", "--scheme", "naive").ended(1)
    assert "the judge said nothing of use" in result.err


def test_a_dry_run_asks_nothing_and_bounds_what_would_be_asked(cli: Cli) -> None:
    run = made(cli)
    result = cli.credit(run, "--dry-run")
    assert result.out == (
        "difference, 3 agents: 4 runs, including the run itself; at most 3 calls that its journal"
        " does not answer\n"
    )
    assert result.calls == 0
    assert not (run / "credit").exists()
    result = cli.credit(run, "--dry-run", "--judge", "default", "--scheme", "naive")
    assert result.out == "naive, 3 agents: at most 2 calls to default\n"
    words = ("--dry-run", "--judge", "default", "--scheme", "shapley")
    assert "8 runs" in cli.credit(run, *words).out
    assert "and 16 calls to default" in cli.credit(run, *words).out


def test_a_budget_holds_and_the_same_command_goes_on(cli: Cli) -> None:
    run = made(cli)
    result = cli.credit(run, "--budget", "calls=2", "--workers", "1")
    assert (result.code, result.calls) == (3, 2)
    assert "the credit has reached its budget calls=2" in result.err
    assert "Repeat the command to resume." in result.err
    result = cli.credit(run, "--budget", "calls=3", "--json")
    assert (result.calls, result.json["calls"]["asked"]) == (1, 3)


def test_a_failure_of_the_provider_is_no_score(cli: Cli, stage: Stage) -> None:
    """Without the fault of anybody, nobody's worth changes."""
    run = made(cli)

    def denied(request: Request) -> Reply:
        return Reply.error(401)

    stage.script = denied
    result = cli.credit(run).ended(1)
    assert result.err.splitlines()[-1].startswith("stopped: without ")
    assert result.err.rstrip().endswith("Repeat the command to resume.")
    assert result.out == ""
    stage.script = gloves
    assert worth(cli.credit(run, "--json")) == {"left": 1.0, "one": 0.0, "two": 0.0}


def test_secrets_are_not_kept(cli: Cli, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    run = made(cli)
    secret = "Zq7wLx93mPnT5vKd2RbY8cHf"
    monkeypatch.setenv("SOME_API_KEY", secret)
    stage.script = lambda _request: Reply(text=f"no {secret}")
    cli.credit(run).ended(0)
    kept = b"".join(path.read_bytes() for path in (run / "credit").iterdir())
    assert secret.encode() not in kept
    assert b"no " in kept


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda run: (run / "run.json").unlink(), "the folder of a run?"),
        (lambda run: (run / "run.json").write_text("{}"), "not the file that coterie wrote"),
        (lambda run: (run / "adapt.yaml").write_text("strategy: x\n"), "mas-run --adapt"),
        (lambda run: (run / "result.json").unlink(), "Finish it with: mas-run --resume"),
        (lambda run: (run / "journal.log").unlink(), "there is no such file"),
        (lambda run: (run / "task.json").write_text("{}"), "task.json"),
    ],
)
def test_unfinished_run_is_refused(cli: Cli, spoil: Callable[[Path], object], message: str) -> None:
    run = made(cli)
    spoil(run)
    result = cli.credit(run)
    assert (result.code, result.calls) == (2, 0)
    assert message in result.err
    assert not (run / "credit").exists()


def test_a_run_that_failed_has_no_score(cli: Cli, stage: Stage) -> None:
    stage.script = lambda _request: Reply.error(400)
    run = made(cli)
    result = cli.credit(run)
    assert (result.code, result.calls) == (2, 0)
    assert "this run was failed before it had an answer" in result.err


def test_a_run_at_which_somebody_is_at_work_is_refused(cli: Cli) -> None:
    from coterie.runtime.record.journal import Journal

    run = made(cli)
    with Journal.open(run):
        result = cli.credit(run)
    assert result.code == 2
    assert "another process is working on this run" in result.err


def test_a_run_that_its_journal_does_not_explain_is_refused(cli: Cli, stage: Stage) -> None:
    """An agent that was left out for its provider's sake would take part in the runs to compare."""

    def one_denied(request: Request) -> Reply:
        return Reply.error(401) if "[two]" in message_text(request) else gloves(request)

    stage.script = one_denied
    run = made(cli, GLOVES + "execution: {on_error: degrade}\n")
    result = cli.credit(run)
    assert (result.code, result.calls) == (2, 0)
    assert "cannot be made again from its journal, which has nothing under 'two/" in result.err


def test_a_run_that_was_changed_is_refused(cli: Cli) -> None:
    run = made(cli)
    result = json.loads((run / "result.json").read_text())
    (run / "result.json").write_text(json.dumps({**result, "answer": "no"}))
    outcome = cli.credit(run)
    assert (outcome.code, outcome.calls) == (2, 0)
    assert "does not reproduce this run's answer" in outcome.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--agents", "lefd"), "Did you mean 'left'?"),
        (("--agents", "pair", "--per", "turn", "--judge", "gpt"), "--judge: no model 'gpt'"),
        (("--permutations", "1"), "--permutations"),
        (("--budget", "sdu=1"), "no cap is named 'sdu'"),
    ],
)
def test_bad_options_are_2(cli: Cli, words: tuple[str, ...], message: str) -> None:
    result = cli.credit(made(cli), *words)
    assert (result.code, result.calls) == (2, 0)
    assert message in result.err


def test_nobody_can_be_silenced_in_a_team_of_one(cli: Cli, stage: Stage) -> None:
    stage.script = lambda _request: Reply(text="yes")
    run = made(cli, 'name: solo\nagents:\n  me: {prompt: "You."}\n')
    result = cli.credit(run).ended(2)
    assert "only me, whose output is the answer, took part" in result.err
    assert worth(cli.credit(run, "--agents", "me", "--json")) == {"me": 1.0}


def test_turns_are_said_in_rounds(cli: Cli, stage: Stage) -> None:
    stage.script = talks
    result = cli.credit(made(cli, TALKS), "--agents", "end", "--per", "turn").ended(2)
    assert "none of these agents worked in a round: end" in result.err


@needs_jail
def test_the_same_code_is_run_again_where_it_finds_something_else(cli: Cli, stage: Stage) -> None:
    """With and without the hint it ends with the same line, which then says something else."""

    def coding(request: Request) -> Reply:
        text = message_text(request)
        if "[hint]" in text:
            return Reply(text="It is yes.")
        if any(message["role"] == "assistant" for message in request["messages"]):
            return Reply.code("final_answer(x)")
        return Reply.code(f"x = '{'yes' if 'It is yes.' in text else 'no'}'")

    stage.script = coding
    run = made(
        cli,
        'name: code\nagents:\n  hint: {prompt: "You are [hint]."}\n'
        '  coder: {agent_type: CodeAgent, prompt: "You code.", max_steps: 4}\n'
        "topology: {reports_to: {hint: [coder]}}\n",
    )
    result = cli.credit(run, "--budget", "calls=1")
    assert (result.code, result.calls) == (3, 1)
    result = cli.credit(run, "--json")
    assert (worth(result), result.calls) == ({"hint": 1.0}, 1)


@pytest.mark.nightly
def test_after_a_kill_nothing_is_paid_twice(cli: Cli, stage: Stage) -> None:
    """Without a process of its own, the promise of branches holds it to the same."""
    run = made(cli)
    before = len(cli.model.calls)

    def hanging(request: Request) -> Reply:
        return Reply.fault("hang") if len(cli.model.calls) > before + 2 else gloves(request)

    stage.script = hanging
    words = ("op", "credit", str(run), "--model", cli.address, "--workers", "1")
    with started(cli.folder, *words, command="dev") as killed:
        cli.model.wait_for(lambda calls: len(calls) > before + 2)
        killed.kill()
    stage.script = gloves
    result = cli.credit(run, "--json")
    assert (result.calls, result.json["calls"]["asked"]) == (1, 3)
    assert worth(result) == {"left": 1.0, "one": 0.0, "two": 0.0}

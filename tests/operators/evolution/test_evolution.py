"""`mas-evolve`: tasks leave a pool of valid teams, the same however often it is killed."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from coterie.pool import Pool
from coterie.pool.command import main as pool_command
from coterie.pool.ledger.changes import Retired
from coterie.runtime.doubles import Reply
from coterie.runtime.doubles.script import Request
from coterie.schema import load_team

from ...support.commands import ran
from ...support.repositories import run_git
from ..evolving import RECIPE, asked, evolve, kept, killed_at, lines_of, oracle, write_world

CROSSING = f"{RECIPE}  instantiate: false\n  early_stop: false\n"
"""All steps are made, also where some team is right, as the vote of `crossing` is."""


def crossing(request: Request) -> Reply:
    """Mutate all workers, and take the last choice in a crossover; the lone agent is wrong."""
    shown = json.dumps(request["messages"])
    match asked(request):
        case {"topology": _}:
            return Reply.json({"reason": "why not", "topology": "first"})
        case {"positions": positions}:
            chosen = {name: item["enum"][-1] for name, item in positions["properties"].items()}
            return Reply.json({"reason": "why not", "positions": chosen})
        case {"change": change}:
            crosses = "Think of" in shown and "crossover" in change["enum"]
            chosen = "crossover" if crosses else change["enum"][0]
            return Reply.json({"reason": "why not", "change": chosen})
        case {"edits": _}:
            names = ("one", "two") if "  two:" in shown else ("one",)
            prompt = f"Think of {len(shown)}."
            edits = [{"set_prompt": {"agent": name, "prompt": prompt}} for name in names]
            return Reply.json({"reason": "why not", "edits": edits})
        case {"summary": _}:
            return Reply.json({"summary": "none"})
        case _:
            return Reply(text="8" if "You are alone" in shown else "7")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_world(tmp_path, tasks=4)


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], int]:
    """What an evolution that nothing disturbs leaves, and how many calls it takes."""
    folder = write_world(tmp_path_factory.mktemp("clean"), tasks=4)
    result = evolve(folder, "clean").ended(0)
    return kept(folder / "clean"), result.calls


def test_the_pool_holds_valid_teams_that_say_why_they_exist(folder: Path) -> None:
    result = evolve(folder, "pool").ended(0)
    assert "over 4 tasks" in result.out
    assert "4 of 4" in result.err
    pool = Pool.open(folder / "pool")
    children = [member for member in pool.members.values() if member.lineage.parents]
    assert children
    for child in children:
        assert child.lineage.operator in {"instantiate", "mutate", "crossover"}
        assert child.lineage.edits
        assert child.lineage.task.startswith("t")
        assert child.statistics.chosen == 1  # what it came in for, which is no score of it
        load_team(child.path)  # loads for everybody, not only for the pool
    best = ran(pool_command, "best", folder / "pool")
    path = best.stdout.strip()
    expected = best.stderr.split("expected ")[1].split(";")[0]
    assert result.out.endswith(
        f"best team: pool/teams/{Path(path).name}, expected to score {expected}\n"
    )
    assert f"new in the pool: {len(children)}, " in result.out
    again = evolve(folder, "pool").ended(0)
    assert (again.calls, again.out) == (0, result.out)
    assert result.calls > 4


def test_killed_at_random_moments_it_leaves_the_same_pool(
    folder: Path, clean: tuple[dict[str, Any], int], nightly: bool
) -> None:
    undisturbed, needed = clean
    chance, kills, calls = random.Random(7), 0, 0
    moments = [chance.randint(1, needed) for _ in range(50 if nightly else 1)]
    for moment in moments:
        was_killed, asked_until_then = killed_at(folder, "killed", moment)
        kills += was_killed
        calls += asked_until_then
    result = evolve(folder, "killed", "--json").ended(0)
    assert kept(folder / "killed") == undisturbed
    in_flight = 8 * 3
    assert needed <= calls + result.calls <= needed + kills * in_flight
    assert kills > 0
    reported = sum(part["calls"] for part in result.json["spending"].values())
    assert calls + result.calls <= reported + result.json["lost"]["calls"]


def test_a_failing_provider_is_no_score(folder: Path, clean: tuple[dict[str, Any], int]) -> None:
    def denied(request: Request) -> Reply:
        return Reply.error(401) if "What is 3 + 4" in json.dumps(request) else oracle(request)

    result = evolve(folder, "pool", script=denied).ended(1)
    assert "stopped: " in result.err
    assert "Repeat the command to resume." in result.err
    assert "Traceback" not in result.err
    evolve(folder, "pool").ended(0)
    assert kept(folder / "pool") == clean[0]


@pytest.mark.parametrize("strategy", ["fixed", "best_of_n"])
def test_baselines_run_in_the_same_frame_and_change_nothing(folder: Path, strategy: str) -> None:
    (folder / "recipe.yaml").write_text(RECIPE.replace("evomas", strategy))
    result = evolve(folder, "pool", "--json").ended(0)
    assert result.json["tasks"] == 4
    assert len(Pool.open(folder / "pool").teams) == 2


@pytest.mark.parametrize("choice", ["", "  choice: chance\n  crossover: [0, 1]\n"])
def test_only_teams_of_different_parents_are_crossed(folder: Path, choice: str) -> None:
    recipe = f"{CROSSING}  components: [prompts]\n{choice}"
    (folder / "recipe.yaml").write_text(recipe)
    evolve(folder, "pool", "--limit", "4", script=crossing).ended(0)
    tried = [candidate for line in lines_of(folder / "pool") for candidate in line["candidates"]]
    assert {"mutate", "crossover"} <= {item["operator"] for item in tried}
    assert {len(item["parents"]) for item in tried if item["operator"] == "crossover"} == {2}


def moved(folder: Path, more: str) -> set[str]:
    """Evolve with a recipe's field added; tell what made the teams that were tried."""
    (folder / "recipe.yaml").write_text(f"{CROSSING}{more}\n")
    pool = more.split()[1].strip("[]")
    evolve(folder, pool, "--limit", "4", script=crossing).ended(0)
    return {
        candidate["operator"]
        for line in lines_of(folder / pool)
        for candidate in line["candidates"]
    }


def test_mutation_and_crossover_can_each_be_left_out(folder: Path) -> None:
    assert moved(folder, "  moves: [mutate]") == {"select", "mutate"}
    assert moved(folder, "  moves: [crossover]\n  components: [prompts]") <= {"select", "crossover"}


def judging(request: Request) -> Reply:
    """Answer 7, which is right, or 8; and take every answer for right."""
    if "score" in asked(request):
        return Reply.json({"reason": "Sounds good.", "score": 1.0})
    return oracle(request)


def test_a_judge_scores_and_the_report_tells_how_far_to_trust_it(folder: Path) -> None:
    (folder / "recipe.yaml").write_text(
        f"{RECIPE.replace('evomas', 'fixed')}score: judge\njudge_samples: 3\n"
    )
    report = evolve(folder, "pool", "--json", script=judging).ended(0).json
    result, verdicts = report["agreement"], report["verdicts"]
    assert (report["score"], report["chosen_by"]) == (1, "a judge")
    assert result["n"] == report["candidates"] == 8
    assert report["spending"]["judge"]["calls"] == 3 * 8
    assert 0 < result["passed_wrong"] == result["n"] - result["agreed"]
    assert result["failed_right"] == 0
    assert verdicts["best"] < 4
    out = evolve(folder, "pool", script=judging).out
    assert f"the judge agrees with the reference answers on {result['agreed']} of 8 answers" in out


def test_chance_makes_children_without_a_meta_model(folder: Path) -> None:
    more = "  operators: chance\n  select: statistics\n  choice: chance\n  components: [prompts]\n"
    (folder / "recipe.yaml").write_text(RECIPE + more)

    def agents_only(request: Request) -> Reply:
        assert "response_format" not in request
        return oracle(request)

    report = evolve(folder, "pool", "--json", script=agents_only).ended(0).json
    assert report["operators"]["mutate"]["made"] > 0
    assert report["spending"]["operator"]["calls"] == 0


def test_each_task_is_a_commit(folder: Path) -> None:
    evolve(folder, "pool", "--git", "--limit", "4").ended(0)
    log = run_git(folder / "pool", "log", "--format=%s").splitlines()
    assert [line.split(":")[0] for line in reversed(log)] == ["t0", "t1", "t2", "t3"]
    body = run_git(folder / "pool", "log", "-1", "--format=%b")
    born = next(line for line in body.splitlines() if line.startswith("+ "))
    assert " of " in born
    assert "    one: prompt" in body
    assert f"{born.split()[1].rstrip(':')} on t3: " in body
    assert run_git(folder / "pool", "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("recipe", "tasks", "message"),
    [
        ("strategy: evomaas\n", None, "no strategy 'evomaas'. Did you mean 'evomas'?"),
        ("strategy: evomas\nsettings: {steps: -1}\n", None, "recipe.yaml:2"),
        ("strategy: evomas\nmeta_model: ghost\n", None, "no model 'ghost'"),
        ("strategy: evomas\nseeds: [gone.yaml]\n", None, "gone.yaml"),
        (RECIPE, "", "it has no tasks"),
        (f"{RECIPE}score: answer\n", '{"id": "a", "query": "q"}\n', "no answer to score against"),
        (RECIPE, '{"id": "a", "query": "q", "answer": 1}\n' * 2, "two tasks have the id 'a'"),
        (RECIPE, '{"id": "a"}\n', "tasks.jsonl:1"),
    ],
)
def test_wrong_input_is_said_and_nothing_is_made(
    folder: Path, recipe: str, tasks: str | None, message: str
) -> None:
    (folder / "recipe.yaml").write_text(recipe)
    if tasks is not None:
        (folder / "tasks.jsonl").write_text(tasks)
    result = evolve(folder, "pool")
    assert (result.code, result.out, result.calls) == (2, "", 0)
    assert message in result.err
    assert "Traceback" not in result.err
    assert not (folder / "pool").exists()


def test_a_pool_of_retired_teams_is_refused_before_anything_is_spent(folder: Path) -> None:
    pool = Pool.init(folder / "pool", [folder / "solo.yaml"])
    pool.commit(Retired(member="solo", reason="weak"), op="retire")
    result = evolve(folder, "pool")
    assert (result.code, result.out, result.calls) == (2, "", 0)
    assert "pool has only retired teams. Use mas-pool restore" in result.err
    assert not (folder / "pool" / "evolutions").exists()

"""`mas-bench evolve`: learn on one split, and be measured on the other."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from coterie.benchmarks.evaluation.benchmark import Source, find_benchmark
from coterie.benchmarks.evaluation.choosing import TaskChoice
from coterie.benchmarks.evaluation.results import read_samples
from coterie.pool import Pool
from coterie.pool.ledger.learnt import Learnt
from coterie.pool.ledger.ledger import Ledger
from coterie.runtime.doubles import Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request

from .conftest import NOWHERE, Came, Desk, adds

RECIPE = """\
strategy: evomas
seeds: [solo.yaml, pair.yaml]
score: answer
workers: 2
settings: {operators: chance, parents: 2, steps: 1, memory: 0}
"""


@pytest.fixture(autouse=True)
def recipe(desk: Desk) -> None:
    (desk.folder / "recipe.yaml").write_text(RECIPE)


def evolved(desk: Desk, *words: str, replies=adds, pool: str = "pool") -> Came:
    options = ("--pool", pool, "--data", "data", "--quiet")
    return desk.bench("evolve", "bbeh-mini", "recipe.yaml", *options, *words, replies=replies)


def evolution(desk: Desk, pool: str = "pool") -> Path:
    return desk.folder / pool / "evolutions" / "bbeh-mini"


def turns(desk: Desk) -> list[str]:
    """The tasks that were evolved on, in order."""
    return [entry.value["task"] for entry in Ledger(evolution(desk) / "turns.jsonl").read()]


def on_test(desk: Desk, team: str, pool: str = "pool") -> Path:
    return evolution(desk, pool) / "test" / team


def test_the_online_score_is_reported_and_kept_as_results(desk: Desk) -> None:
    came = evolved(desk, "--limit", "9", "--json")
    assert came.code == 0, came.err
    report = came.json
    assert report["tasks"] == 9
    assert report["score"] == report["verdicts"]["best"] / 9
    assert len(set(turns(desk))) == 9
    told = json.loads((evolution(desk) / "results.json").read_text())
    assert told["team"] == "evomas, online, chosen by answers"
    assert told["headline"]["value"] == pytest.approx(report["score"])
    assert told["usage"]["calls"] == sum(one["calls"] for one in report["spending"].values())
    assert [one.task for one in read_samples(evolution(desk))] == turns(desk)
    table = desk.bench("table", str(evolution(desk))).out
    assert "| bbeh-mini | evomas, online, chosen by answers | default=m |" in table
    desk.run("--limit", "9")
    compared = desk.bench("compare", str(desk.results[0]), str(evolution(desk)))
    assert "over 9 tasks" in compared.out
    assert "warning: evomas, online, chosen by answers (bbeh-mini): each task's" in compared.out
    assert "p =" not in compared.out
    assert "chosen by answers, no held-out figure" in table
    samples = evolution(desk) / "samples.jsonl"
    samples.write_text(samples.read_text().replace('"score": 0.0', '"score": 1.0'))
    assert "not what the journal has" in desk.bench("table", str(evolution(desk))).err


def test_a_task_that_no_team_has_an_answer_to_is_no_lost_sample(desk: Desk) -> None:
    """The teams failed it, not the provider: it scores 0."""

    def shy(request: Request) -> Reply:
        return Reply(text="") if "How much is 2 +" in message_text(request) else adds(request)

    came = evolved(desk, "--limit", "24", replies=shy)
    assert came.code == 0, came.err
    failed = [one for one in read_samples(evolution(desk)) if one.status != "done"]
    assert [(one.status, one.score) for one in failed] == [("failed", 0.0)]
    told = json.loads((evolution(desk) / "results.json").read_text())
    assert (told["samples"], told["unscored"], told["missing"]) == (24, 0, 0)
    assert told["execution_rate"]["value"] == pytest.approx(23 / 24)


def test_the_order_can_be_shuffled(desk: Desk) -> None:
    evolved(desk, "--limit", "6", "--shuffle", "1")
    evolved(desk, "--limit", "6", pool="in_order")
    orders = [
        [one.task for one in read_samples(evolution(desk, pool))] for pool in ("pool", "in_order")
    ]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1])


def test_frozen_the_best_team_and_those_beside_it_are_tested_on_other_tasks(desk: Desk) -> None:
    (desk.folder / "other.yaml").write_text(
        (desk.folder / "solo.yaml").read_text().replace("solo", "other").replace("are", "were")
    )
    came = evolved(desk, "--freeze", "--trials", "1", "--beside", "other.yaml")
    assert came.code == 0, came.err
    assert "frozen: " in came.err
    frozen = came.err.split("frozen: ")[1].split(",")[0]
    best = Pool.open(desk.folder / "pool").members[frozen]
    assert best.statistics.score == max(
        one.statistics.score or 0 for one in Pool.open(desk.folder / "pool").members.values()
    )
    for team in (frozen, "other"):
        samples = list(read_samples(on_test(desk, team)))
        assert len(samples) == 12
        assert not {one.task for one in samples} & set(turns(desk))
        told = json.loads((on_test(desk, team) / "results.json").read_text())
        assert told["evaluation"]["choice"]["split"] == "test"
        assert f"accuracy {told['headline']['value']:.3f} [" in came.out
    assert came.out.startswith(f"== held out, the frozen team: {Path('pool', 'teams', frozen)}")
    assert came.out.index("beside it: other.yaml") < came.out.index(
        "== online, each task's team chosen by its reference answer, so no held-out figure =="
    )
    compared = came.out.partition("== held out, the control, the same without what was learnt, and")
    assert f"{frozen} ({frozen})" in compared[2]
    assert len(set(turns(desk))) == 12
    assert not (desk.folder / "results").exists()
    compared = desk.bench("compare", str(on_test(desk, frozen)), str(on_test(desk, "other")))
    assert (compared.code, "over 12 tasks" in compared.out) == (0, True)


def test_several_seeds_have_means_with_intervals_over_seeds(desk: Desk) -> None:
    words = ("--seeds", "2", "--limit", "6", "--freeze", "--trials", "1", "--json")
    told = evolved(desk, *words, "--dry-run")
    assert (told.code, told.calls, (desk.folder / "pool").exists()) == (0, 0, False)
    came, again = evolved(desk, *words), evolved(desk, *words)
    assert came.code == 0, came.err
    assert [one["seed"] for one in came.json["seeds"]] == [0, 1]
    for figure in ("held_out", "online"):
        each = [one["held_out"]["teams"][0] if figure == "held_out" else one
                for one in came.json["seeds"]]  # fmt: skip
        assert came.json[figure]["mean"] == pytest.approx(sum(one["score"] for one in each) / 2)
        assert len(came.json[figure]["interval"]) == came.json[figure]["n"] == 2
    assert (again.calls, again.json["held_out"]) == (0, came.json["held_out"])
    for seed in (0, 1):
        results = evolution(desk, f"pool/seed_{seed}")
        assert len(list(read_samples(results))) == 6
        held_out = json.loads((results / "heldout.json").read_text())
        assert held_out["tasks"] == 6
    evolved(desk, "--limit", "3", pool="single")
    came = evolved(desk, "--seeds", "2", pool="single")
    assert (came.code, "single is a pool itself" in came.err) == (2, True)


def estimated(line: str) -> tuple[int, int]:
    """Give the least and the most calls of an estimate."""
    least, most = re.findall(r"([\d,]+)(?: to ([\d,]+))? calls, ", line)[0]
    return int(least.replace(",", "")), int((most or least).replace(",", ""))


def test_a_dry_run_tells_calls_tokens_and_usd_and_what_follows_is_within_them(desk: Desk) -> None:
    priced = "{model: m, api_base: 'http://127.0.0.1:9/v1', PER_input: 1, PER_output: 2}"
    priced = priced.replace("PER", "usd_per_mtok")
    (desk.folder / "models.yaml").write_text(f"models:\n  default: {priced}\n")
    words = ("--limit", "6", "--freeze", "--trials", "1", "--beside", "pair.yaml")
    told = evolved(desk, *words, "--dry-run", replies=None)
    assert told.code == 0, told.err
    assert not (desk.folder / "pool").exists()
    *lines, last = told.out.splitlines()
    assert last == "nothing was made or spent"
    frozen, control, beside, *_ = lines
    assert frozen.startswith("held out: 6 tasks x 1 trial by the frozen team: ")
    assert beside.startswith("held out: 6 tasks x 1 trial by pair.yaml: 12 calls, ")
    (evolution,) = (line for line in lines if line.startswith("estimate: "))
    for line in (evolution, frozen, beside):
        assert re.search(r" calls, [\d,]+ to [\d,]+ tokens, \$[\d.]+ to \$[\d.]+, ", line)
    came = evolved(desk, *words)
    assert came.code == 0, came.err
    ends = [*zip(*map(estimated, (evolution, frozen, control, beside)), strict=True)]
    assert sum(ends[0]) <= came.calls <= sum(ends[1])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--budget", "usd=lots"), "'lots'"),
        (("--model", f"judge={NOWHERE}"), "nobody here asks the model 'judge'"),
    ],
)
def test_a_dry_run_finds_what_is_wrong(words: tuple[str, str], said: str, desk: Desk) -> None:
    came = evolved(desk, "--dry-run", *words)
    assert (came.code, came.calls) == (2, 0)
    assert said in came.err


def test_the_same_command_does_nothing_again(desk: Desk) -> None:
    words = ("--freeze", "--trials", "1", "--beside", "solo.yaml")
    first = evolved(desk, *words)
    files = sorted(path for path in (desk.folder / "pool").rglob("*") if path.is_dir())
    again = evolved(desk, *words)
    assert (again.code, again.calls) == (0, 0)
    outs = [re.sub(r" in [0-9.]+ s\n", "\n", came.out) for came in (first, again)]  # at work
    assert outs[0] == outs[1]
    assert sorted(path for path in (desk.folder / "pool").rglob("*") if path.is_dir()) == files


@pytest.mark.parametrize("is_tested", [False, True])
def test_stopped_while_it_evolves_or_is_tested_the_same_command_goes_on(
    desk: Desk, is_tested: bool
) -> None:
    """What was paid for is not paid for again; it comes to what it would have come to."""
    words = ("--freeze", "--trials", "1", "--beside", "pair.yaml")
    clean = evolved(desk, *words, pool="clean")
    assert clean.code == 0, clean.err
    calls, moment = 0, clean.calls - 5 if is_tested else 10

    def fails_later(request: Request) -> Reply:
        nonlocal calls
        calls += 1
        return adds(request) if calls < moment else Reply.error(401)

    stopped = evolved(desk, *words, replies=fails_later)
    assert stopped.code == 1
    has_tested = (evolution(desk) / "test").exists()
    assert has_tested is is_tested
    came = evolved(desk, *words)
    assert came.code == 0, came.err
    in_flight = 8
    left = clean.calls - (moment - 1)
    assert left <= came.calls <= left + in_flight
    for team in (path.name for path in (evolution(desk, "clean") / "test").iterdir()):
        one, other = (
            [replace(sample, seconds=0) for sample in read_samples(on_test(desk, team, pool))]
            for pool in ("pool", "clean")
        )
        assert one == other
    assert len(list((evolution(desk) / "test").iterdir())) == len(
        list((evolution(desk, "clean") / "test").iterdir())
    )


def test_another_team_under_the_same_name_is_not_taken_for_the_one_tested(desk: Desk) -> None:
    words = ("--freeze", "--trials", "1", "--limit", "6", "--beside", "beside/third.yaml")
    (desk.folder / "beside").mkdir()
    third = desk.folder / "beside" / "third.yaml"
    third.write_text((desk.folder / "solo.yaml").read_text().replace("name: solo", "name: third"))
    assert evolved(desk, *words).code == 0
    third.write_text(third.read_text().replace("alone", "not alone"))
    came = evolved(desk, *words)
    assert (came.code, came.calls) == (2, 0)
    assert "holds another evaluation, of other tasks or another team" in came.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--beside", "solo.yaml"], "--beside runs teams on the split test. Write --freeze"),
        (["--freeze", "--split", "test"], "--freeze takes both splits. Leave out --split."),
        (["--freeze", "--beside", "gone.yaml"], "gone.yaml"),
        (["--freeze", "--evolve-share", "0.99"], "the split 'test' has no task"),
        (["--freeze", "--evolve-share", "0.01"], "the split 'evolve' has no task"),
        (["--limit", "0"], "x>=1"),
        (["--budget", "pence=1"], "'pence'"),
    ],
)
def test_wrong_input_is_said_before_anything_is_made(
    desk: Desk, words: list[str], message: str
) -> None:
    came = evolved(desk, *words, "--model", NOWHERE, replies=None)
    assert (came.code, came.out) == (2, "")
    assert message in came.err
    assert not (desk.folder / "pool").exists()


def test_a_recipe_that_is_not_there_is_said(desk: Desk) -> None:
    for words in (("nope", "recipe.yaml"), ("bbeh-mini", "gone.yaml")):
        came = desk.bench("evolve", *words, "--pool", "pool", "--data", "data")
        assert (came.code, words[0] == "nope" or "gone.yaml" in came.err) == (2, True)
        assert not (desk.folder / "pool").exists()


def test_a_team_of_the_pool_is_refused_on_the_tasks_it_evolved_on(desk: Desk) -> None:
    evolved(desk, "--split", "evolve")
    team = "pool/teams/solo"
    assert desk.run(team=team).code == 2
    came = desk.run("--split", "test", team=team)
    assert (came.code, came.calls) == (0, 12)


def test_agents_see_no_reference_answer(desk: Desk) -> None:
    with ScriptedModel("no idea") as model:
        evolved(desk, "--limit", "3", "--model", f"m@{model.api_base}", replies=None)
        assert model.calls
        assert not any(message_text(call.body or {}).endswith("target") for call in model.calls)


def test_what_a_pool_has_learnt_from_is_not_held_out(desk: Desk) -> None:
    pool = Pool.init(desk.folder / "pool", [desk.folder / "solo.yaml"])
    tasks = find_benchmark("bbeh-mini").tasks(Source(data=desk.folder / "data"))
    [first, *_] = TaskChoice(split="test").of(tasks)
    lesson = Learnt(kind="experience", task="Of sums.", text="Count.", case=first.id)
    pool.commit(lesson, op="lesson")
    came = evolved(desk, "--freeze")
    assert (came.code, came.calls) == (2, 0)
    assert f"task '{first.id}' (bbeh-mini, split test, number 1) is pool/ledger.jsonl:3" in came.err


def test_of_a_population_there_is_no_team_to_freeze(desk: Desk) -> None:
    (desk.folder / "recipe.yaml").write_text("strategy: evochamber\n")
    came = evolved(desk, "--freeze")
    assert (came.code, came.calls) == (2, 0)
    assert "evochamber makes a team for each task, and leaves none to freeze" in came.err

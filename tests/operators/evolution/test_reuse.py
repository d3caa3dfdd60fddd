"""A child runs only what differs from its parent: what that leaves, saves and does not touch."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.command.showing import Shown
from coterie.operators.evolution.reuse import reuse_of, told_reuse
from coterie.pool import Pool
from coterie.pool.population.evolutions import consumed, usage_of
from coterie.runtime.doubles import Reply
from coterie.runtime.doubles.script import Request
from coterie.runtime.record.journal import Journal
from coterie.runtime.values.usage import Usage
from coterie.schema.loading.recipe import Recipe, load_recipe

from ..evolving import RECIPE, asked, evolve, kept, killed_at, lines_of, oracle, write_world

OF_PROMPTS = RECIPE + "  components: [prompts, parameters]\n  early_stop: false\n"
"""All steps are made, so that there are children, also of teams that are right."""
ALONE = OF_PROMPTS.replace(", solo.yaml", "").replace("parents: 2", "parents: 1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A world whose three tasks have children that can save something."""
    world = write_world(tmp_path, tasks=6)
    stream = world / "tasks.jsonl"
    stream.write_text("".join(stream.read_text().splitlines(keepends=True)[-3:]))
    return world


def blind(request: Request) -> Reply:
    """Answer as the oracle, whatever the seed."""
    return oracle({name: item for name, item in request.items() if name != "seed"})


def write(folder: Path, reuse: str, recipe: str = OF_PROMPTS) -> None:
    (folder / "recipe.yaml").write_text(f"{recipe}reuse: {reuse}\n")


def without_saved(value: Any) -> Any:
    """The same with nothing said of what was saved, and of how the ledger's lines are sealed."""
    if isinstance(value, dict):
        left = {name: item for name, item in value.items() if name not in {"saved", "prev", "sum"}}
        return {name: without_saved(item) for name, item in left.items()}
    return [without_saved(item) for item in value] if isinstance(value, list) else value


def ledger_of(pool: Path) -> list[Any]:
    lines = (pool / "ledger.jsonl").read_text().splitlines()
    return [without_saved(json.loads(line)["value"]) for line in lines]


def agents_asked(model_calls: list[Any]) -> Counter[str]:
    """How often each question of an agent was asked, seed and all."""
    return Counter(json.dumps(call, sort_keys=True) for call in model_calls)


def test_the_same_answers_lead_to_the_same_pool_for_fewer_calls(folder: Path) -> None:
    """Where a model answers the same to the same, what is reused is what it would have said."""
    spent: dict[str, tuple[int, int]] = {}
    for reuse in ("never", "auto", "always"):
        write(folder, reuse)
        result = evolve(folder, reuse, "--json", script=blind).ended(0)
        report, shared, whole = result.json, folder / reuse, folder / "never"
        assert kept(shared)["teams"] == kept(whole)["teams"]
        assert without_saved(lines_of(shared)) == without_saved(lines_of(whole))
        assert ledger_of(shared) == ledger_of(whole)
        saved = report["saved"]["calls"]
        assert (saved > 0) == (reuse != "never")
        spent[reuse] = result.calls, report["spending"]["task"]["calls"]
        assert spent["never"] == (result.calls + saved, spent[reuse][1] + saved)


def test_rewards_count_what_a_run_needs_and_nobody_pays_it_twice(folder: Path) -> None:
    more = "beta: 1\ncost: {unit: calls, per: 100}\n"
    write(folder, "auto", ALONE + more)
    result = evolve(folder, "pool", "--csv", "rows.csv").ended(0)
    lines, pool = lines_of(folder / "pool"), Pool.open(folder / "pool")
    children = [
        candidate for line in lines for candidate in line["candidates"] if "saved" in candidate
    ]
    assert children
    for child in children:
        assert child["usage"]["calls"] == 3  # each of them asks once
        assert 0 < child["saved"]["calls"] <= 3
        assert child["reward"] == pytest.approx(child["score"] - 0.03)
        assert child["operator"] != "instantiate"  # what it is made of did not run on the task
    with Journal.open(folder / "pool" / "evolutions" / "recipe", replaying=True) as journal:
        spent = journal.spent()
    parts = [usage_of(line) for line in lines]
    assert sum((sum(part, Usage()) for part in parts), Usage()).calls == spent.calls == result.calls
    saved = sum(Usage(**item["saved"]).calls for item in children)
    rows = (folder / "rows.csv").read_text().splitlines()
    place = rows[0].split(",").index("saved_calls")
    assert sum(int(row.split(",")[place]) for row in rows[1:]) == saved
    share = saved / (saved + sum(runs.calls for runs, _, _ in parts))
    assert f"{share:.0%} of teams' requests reused answers of parents'" in result.out
    report = [item for entry in pool.entries() if (item := entry.value.get("trial"))]
    assert all(item["usage"]["calls"] in {3} for item in report)
    assert consumed(folder / "pool") is None


def test_a_budget_counts_what_is_paid_alone(folder: Path) -> None:
    write(folder, "auto")
    result = evolve(folder, "clean", script=blind).ended(0)
    budget = ("--budget", f"calls={result.calls}")
    evolve(folder, "pool", *budget, script=blind).ended(0)
    assert kept(folder / "pool") == kept(folder / "clean")


def test_repeats_are_drawn_anew_and_a_childs_goes_on_with_the_same(folder: Path) -> None:
    write(folder, "auto", f"{ALONE}  repeats: 2\n".replace("workers: 8", "workers: 1"))
    with_seeds: list[tuple[str, int]] = []

    def noted(request: Request) -> Reply:
        if not asked(request):
            with_seeds.append((json.dumps(request["messages"]), request["seed"]))
        return oracle(request)

    evolve(folder, "pool", "--limit", "2", script=noted).ended(0)
    assert len({*with_seeds}) == len(with_seeds)  # nothing was asked twice with the same seed
    for line in lines_of(folder / "pool"):
        for candidate in line["candidates"]:
            assert candidate["usage"]["calls"] == 6
            assert candidate.get("saved", {"calls": 0})["calls"] <= 6
        assert any("saved" in item for item in line["candidates"])


@pytest.mark.parametrize("strategy", ["fixed", "best_of_n"])
def test_baselines_draw_every_run_anew(folder: Path, strategy: str) -> None:
    write(folder, "always", OF_PROMPTS.replace("evomas", strategy))
    seeds: list[int] = []

    def noted(request: Request) -> Reply:
        seeds.append(request["seed"])
        return oracle(request)

    result = evolve(folder, "pool", "--json", script=noted).ended(0)
    assert len({*seeds}) == len(seeds) == result.calls
    assert result.json["saved"]["calls"] == 0


def test_a_model_that_refuses_the_seed_is_asked_anew(folder: Path) -> None:
    """Only `always` has a child share the luck of its parent there."""

    def without_seed(request: Request) -> Reply:
        if "seed" in request:
            return Reply.error(400, message="Unsupported parameter: 'seed'.")
        return oracle(request)

    saved: dict[str, int] = {}
    for reuse in ("auto", "always"):
        write(folder, reuse)
        result = evolve(folder, reuse, "--json", script=without_seed).ended(0)
        saved[reuse] = result.json["saved"]["calls"]
    assert saved["auto"] == 0 < saved["always"]


@pytest.mark.parametrize("reuse", [pytest.param("auto", marks=pytest.mark.nightly), "always"])
def test_killed_at_random_moments_it_saves_as_much(folder: Path, reuse: str) -> None:
    write(folder, reuse, f"{OF_PROMPTS}  repeats: 2\n")
    clean = evolve(folder, "clean").ended(0).calls
    chance = random.Random(reuse)
    for moment in (chance.randint(1, clean) for _ in range(2)):
        killed_at(folder, "killed", moment)
    evolve(folder, "killed").ended(0)
    assert kept(folder / "killed") == kept(folder / "clean")


def test_it_is_told_before_anything_is_spent(folder: Path) -> None:
    write(folder, "always")
    result = evolve(folder, "pool", "--dry-run")
    assert (result.code, result.calls) == (0, 0), result.err
    assert "reuse: children reuse their parents' answers, and share their luck\n" in result.out
    write(folder, "sometimes")
    result = evolve(folder, "pool", "--dry-run").ended(2)
    assert "reuse" in result.err


def test_where_seconds_are_the_cost_every_run_is_made_anew(folder: Path) -> None:
    costs = "beta: 0.1\ncost: {unit: seconds, per: 60}\n"
    write(folder, "always", OF_PROMPTS + costs)
    recipe = load_recipe(folder / "recipe.yaml")
    assert reuse_of(recipe) == "never"
    assert told_reuse(recipe) == "children are run as a whole, as seconds count (cost.unit)"
    result = evolve(folder, "pool", "--json", "--limit", "2").ended(0)
    assert result.json["saved"]["calls"] == 0
    assert told_reuse(Recipe(strategy="best_of_n", settings=None)) == ""


def test_what_was_saved_is_shown_with_the_candidate(folder: Path) -> None:
    write(folder, "auto", ALONE)
    evolve(folder, "pool", "--limit", "1").ended(0)
    evolution = folder / "pool" / "evolutions" / "recipe"
    assert " of them saved" in str(Shown.of(evolution, 0))
    events = evolution / "episodes" / "000000" / "events.jsonl"
    sources = {
        value.get("source")
        for line in events.read_text().splitlines()
        if (value := json.loads(line))["type"] in {"agent_finished", "model_call"}
    }
    assert sources == {None, "parent"}

"""Wrong settings of a population: one error each, with its place, before anything is made."""

from pathlib import Path

import pytest

from coterie.pool import Pool
from coterie.pool.ledger.changes import Retired
from coterie.schema.command.explain import main as explain

from ....support.commands import invoked
from . import chamber


@pytest.fixture(autouse=True)
def tasks(here: Path) -> None:
    chamber.write_tasks(here / "tasks.jsonl", "t", 6)


def recipe(*lines: str, more: str = "") -> None:
    settings = "\n".join(f"  {line}" for line in lines)
    Path("recipe.yaml").write_text(f"strategy: evochamber\n{more}settings:\n{settings}\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("pool_size: 2", "3:14: error: settings.pool_size: a team of 3 agents cannot be chosen"),
        ("largest: 12", "3:12: error: settings.largest: 20 agents are there at first, and largest"),
        ("tau: 0", "3:8: error: settings.tau: 0 is out of range (tasks, 1 to 100000)."),
        ("alpha: 1.5", "3:10: error: settings.alpha: 1.5 is out of range"),
        ("lesson: 3", "3:3: error: settings.lesson: unknown field. Did you mean 'lessons'?"),
        ("selector: random!", "3:13: error: settings.selector: "),
        ("structure: votin", "3:14: error: settings.structure: the pool has no structure 'votin'."),
        ("founder: x.yaml", "3:12: error: settings.founder: there is no file 'x.yaml'."),
    ],
)
def test_a_wrong_setting_is_told_by_place_and_makes_nothing(line: str, message: str) -> None:
    recipe(line)
    result = chamber.evolved("town")
    assert (result.code, result.out, result.calls) == (2, "", 0)
    assert message in result.err
    assert result.err.startswith("recipe.yaml:")
    assert len(result.err.strip().splitlines()) == 1
    assert sorted(path.name for path in Path().iterdir()) == ["recipe.yaml", "tasks.jsonl"]


def test_a_pool_without_a_structure_is_refused() -> None:
    Path("solo.yaml").write_text("name: solo\nagents: {one: {prompt: Solve it.}}\n")
    recipe("tau: 10", more="seeds: [solo.yaml]\n")
    result = chamber.evolved("town").ended(2)
    assert "the pool has no structure in which a team of 3 agents can work" in result.err
    assert not Path("town").exists()


def test_a_pool_with_too_few_agents_left_is_refused(tmp_path: Path) -> None:
    chamber.write_world(tmp_path, tasks=1, pool_size=3)
    assert chamber.evolved("town").code == 0
    Pool.open("town").commit(Retired(member="solver_2", reason="by hand"), op="by hand")
    chamber.write_tasks(tmp_path / "tasks.jsonl", "t", 2)
    result = chamber.evolved("town")
    assert (result.code, result.calls) == (2, 0)
    assert "the pool has 2 agents that are not retired, fewer than a team of 3." in result.err


def test_a_dry_run_says_what_would_be_done_and_makes_nothing(tmp_path: Path) -> None:
    chamber.write_world(tmp_path, tasks=6)
    result = chamber.evolved("town", "--dry-run")
    assert (result.code, result.calls) == (0, 0)
    for word in (
        "evochamber over 6 tasks, 1 at a time",
        "tasks: sums 2, dates 2, words 2",
        "agents of town (new): 6, solver_1 to solver_6",
        "scores: by the reference answers",
        "memory: hashing",
        "nothing was written or spent",
    ):
        assert word in result.out
    assert not Path("town").exists()


def test_every_setting_is_explained() -> None:
    result = invoked(explain, ["settings.theta"], "mas dev explain").ended(0)
    assert "A team dreams if its reward is below this" in result.out
    assert "0.6" in result.out

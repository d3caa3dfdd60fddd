"""Islands: parts of a stream evolve apart, and the best of each comes to all others, once."""

import json
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.evolution.islands import Islands
from coterie.pool import Pool, verify
from coterie.pool.ledger.ledger import Ledger, LedgerEntry
from coterie.runtime.doubles import ScriptedModel
from coterie.schema.team.task import Task
from coterie.schema.values.part import Part

from ...support.processes import KILLED, Child
from ...waiting import wait_for
from ..evolving import evolve, evolving, kept, oracle, write_world

OF = 3


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_world(tmp_path, tasks=7)


@pytest.fixture(scope="module")
def pools(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The pools of islands that were evolved in turns."""
    return all_of_them(write_world(tmp_path_factory.mktemp("islands"), tasks=7), "pool")


def island(which: int, *more: str) -> tuple[str, ...]:
    return ("--island", f"{which}/{OF}", "--meet", "meet", "--every", "1", "--quiet", *more)


def all_of_them(folder: Path, prefix: str, *, order: tuple[int, ...] = (1, 2, 3)) -> list[Path]:
    """Evolve all islands in turns, each as far as it comes, until all are done."""
    left = list(order)
    for _ in range(10):
        for which in list(left):
            result = evolve(folder, f"{prefix}{which}", *island(which, "--no-wait"))
            assert result.code in (0, 1), result.err
            if result.code == 0:
                left.remove(which)
            else:
                assert "are not ready yet" in result.err
        if not left:
            return [folder / f"{prefix}{which}" for which in range(1, OF + 1)]
    raise AssertionError(f"islands {left} are not done")


def test_the_best_of_each_island_comes_to_all_others_once(pools: list[Path]) -> None:
    meet = pools[0].parent / "meet"
    # Other islands may be other users'.
    assert {path.stat().st_mode for path in meet.rglob("*/")} == {meet.stat().st_mode}
    tasks = [line["task"] for pool in pools for line in turns(pool)]
    assert sorted(tasks) == sorted(f"t{n}" for n in range(7))
    for pool in pools:
        assert not verify(pool).faults
        met = [
            line.value["about"] for line in lines(pool) if line.value.get("what") == "islands.met"
        ]
        assert [item["meeting"] for item in met] == [1]  # after 1 of 2 tasks; none after the last
        named = [line.op for line in lines(pool)]
        assert len(named) == len(set(named))
    sent = sorted(path.relative_to(meet) for path in meet.glob("*/*"))
    assert list(map(str, sent)) == [f"000001/00000{which}" for which in range(1, OF + 1)]
    for which, pool in enumerate(pools, start=1):
        here = {team.identity for team in Pool.open(pool).teams.values()}
        for other in range(1, OF + 1):
            best = Pool.open(meet / "000001" / f"00000{other}")
            assert {member.identity for member in best.members.values()} <= here, (which, other)


def turns(pool: Path) -> list[dict[str, Any]]:
    path = pool / "evolutions" / "recipe" / "turns.jsonl"
    return [json.loads(line)["value"] for line in path.read_text().splitlines()]


def lines(pool: Path) -> list[LedgerEntry]:
    return list(Ledger(pool / "ledger.jsonl").read())


def test_islands_repeat_to_the_byte_whoever_comes_first(folder: Path, pools: list[Path]) -> None:
    again = all_of_them(folder, "again", order=(3, 1, 2))
    assert [kept(pool) for pool in again] == [kept(pool) for pool in pools]


def test_islands_wait_for_one_that_is_killed_and_goes_on(folder: Path, pools: list[Path]) -> None:
    with ScriptedModel(oracle) as model:

        def begun(which: int) -> Child:
            return evolving(folder, f"beside{which}", model.api_base, *island(which))

        killed = begun(1)
        gave_its_best = (folder / "meet" / "000001" / "000001").exists
        wait_for(lambda: gave_its_best() or killed.has_ended(), "it meets nobody")
        killed.kill()
        assert killed.wait() == KILLED
        children = [begun(which) for which in range(1, OF + 1)]
        assert [child.wait() for child in children] == [0] * OF
    beside = [folder / f"beside{which}" for which in range(1, OF + 1)]
    assert [kept(pool) for pool in beside] == [kept(pool) for pool in pools]


@pytest.mark.parametrize("count", range(3, 20))
def test_all_islands_meet_equally_often_and_never_after_the_last_task(count: int) -> None:
    stream = [Task(id=f"t{n}", query="?") for n in range(count)]
    often: set[tuple[int, ...]] = set()
    for which in (1, 2, 3):
        part = Part(which=which, of=3)
        item = Islands(part=part, every=2, stream=stream, place=Path("meet"))
        own = item.tasks()
        result = [item.meeting_after(number) for number in range(len(own))]
        assert result[-1] is None
        often.add(tuple(meeting for meeting in result if meeting))
        assert f"they meet {len(result) - result.count(None)} time" in str(item)
    (meetings,) = often
    assert list(meetings) == list(range(1, len(meetings) + 1))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--island", "1/3"), "name the folder where the islands meet"),
        (("--island", "4/3", "--meet", "meet"), "is invalid. Write for instance 3/8"),
        (("--island", "1/8", "--meet", "meet"), "there are only 7 tasks"),
        (("--meet", "meet"), "--meet needs an island"),
        (("--no-wait",), "--no-wait needs an island"),
        (("--island", "1/3", "--meet", "meet", "--seeds", "2"), "--seeds and --island"),
    ],
)
def test_what_makes_no_island_is_told(folder: Path, words: tuple[str, ...], message: str) -> None:
    result = evolve(folder, "pool", *words)
    assert (result.code, result.calls) == (2, 0)
    assert message in result.err
    assert not (folder / "pool").exists()
    assert not (folder / "meet").exists()


def test_others_that_meet_there_are_told(folder: Path) -> None:
    evolve(folder, "one", *island(1, "--no-wait")).ended(1)
    result = evolve(folder, "two", *island(2, "--no-wait")[:4], "--every", "3")
    assert (result.code, result.calls) == (2, 0)
    assert "another every (1, here 3)" in result.err
    result = evolve(folder, "one", *island(2, "--no-wait"))
    assert (result.code, result.calls) == (2, 0)
    assert "which: 1, now 2" in result.err


def test_a_strategy_that_learns_more_than_teams_has_no_islands(folder: Path) -> None:
    (folder / "recipe.yaml").write_text("strategy: meta_team\nseeds: [vote.yaml]\n")
    result = evolve(folder, "pool", *island(1, "--dry-run")).ended(2)
    assert "meta_team learns more than teams" in result.err

"""EvoChamber end to end: what it leaves, and that a kill at any moment changes nothing of it."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from coterie.pool import Pool
from coterie.runtime.doubles import ScriptedModel

from ..building import Killed, dying
from ..evolving import evolving
from ..test_evolution import pause
from . import chamber


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MAS_HOME", str(tmp_path))


def test_each_task_is_done_by_a_team_of_the_population(tmp_path: Path) -> None:
    chamber.write_world(tmp_path, tasks=6)
    came = chamber.evolved("town")
    assert came.code == 0, came.err
    trials = [one for one in chamber.lines_of(Path("town")) if one["kind"] == "evaluated"]
    assert [(one["task"], one["niche"]) for one in trials] == [
        (f"t{n}", chamber.NICHES[n % 3]) for n in range(6)
    ]
    known = Pool.open("town").all_agents
    for one in trials:
        members = [part["member"] for part in one["agents"].values()]
        assert [*one["agents"]] == ["anchor", "complement", "scout"]
        assert len({*members}) == 3
        assert {*members} <= {*known}
        assert re.fullmatch(r"worked/[0-9a-f]{12}\.yaml", one["run"])
        assert (Path("town") / one["run"]).is_file()
        assert one["structure"] in {"voting", "debate", "generator_critic", "decompose"}


@pytest.mark.parametrize("workers", [1, 3])
def test_killed_at_any_write_it_comes_to_the_same_pool_to_the_byte(
    tmp_path: Path, workers: int, nightly: bool
) -> None:
    chamber.write_world(tmp_path, tasks=30 if nightly else 12, workers=workers, tau=4)
    assert chamber.evolved("clean").code == 0
    clean = chamber.left(Path("clean"))
    lines = clean["ledger.jsonl"].count("\n")
    chance, kills = random.Random(workers), 0
    for _ in range(20 if nightly else 2):
        try:
            with dying(chance.randrange(2 * lines), is_written=chance.random() < 0.5):
                chamber.evolved("killed")
        except* Killed:
            kills += 1
    assert chamber.evolved("killed").code == 0
    assert kills > 0
    assert chamber.left(Path("killed")) == clean


def test_killed_with_nine_it_goes_on_to_the_same_pool(tmp_path: Path, nightly: bool) -> None:
    chamber.write_world(tmp_path, tasks=30 if nightly else 8, workers=3, tau=4)
    clean = chamber.evolved("clean")
    chance, kills = random.Random(9), 0
    for _ in range(20 if nightly else 1):
        moment = chance.randint(1, clean.calls // 2)
        with ScriptedModel(chamber.answering) as model:
            process = evolving(tmp_path, "killed", model.api_base, "--embedder", "hashing")
            while process.poll() is None and len(model.calls) < moment:
                pause()
            process.kill()
            process.communicate()
            kills += process.returncode < 0
    assert chamber.evolved("killed").code == 0
    assert kills > 0
    assert chamber.left(Path("killed")) == chamber.left(Path("clean"))

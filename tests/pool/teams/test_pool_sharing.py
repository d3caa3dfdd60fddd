"""Processes that share a pool, and processes that die."""

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from coterie.pool import Pool, verify
from coterie.pool.ledger.changes import ChildRejected, Retired
from coterie.schema import Agent, Lineage, Team

from ...conftest import Draw
from ...support.failpoints import armed
from ...support.processes import in_children, killed_at
from ..edited_teams import SEED, tried

WORKERS = 8
TEAMS = 6
BORN = Lineage(operator="mutate", parents=("made",), task="t")


def team(worker: int, number: int) -> Team:
    """Return a team. Every other one differs between workers in the names of its agents alone."""
    prompt = f"Solve it in {number} steps, " + ("all." if number % 2 else f"for {worker}.")
    names = (f"w{worker}", "judge")
    agents = {
        names[0]: Agent(id=names[0], prompt=prompt),
        names[1]: Agent(id=names[1], prompt="Pick the best."),
    }
    return Team(name="made", agents=agents, reports_to={names[0]: names[1:]})


def add_teams(folder: Path, worker: int) -> None:
    pool = Pool.open(folder)
    for number in range(TEAMS):
        op = f"worker {worker}/team {number}"
        name = pool.add(team(worker, number), BORN, op=op).name
        pool.commit(tried(name, op, 0.5), op=f"{op}/evaluate")


def test_eight_processes_add_every_team_once(tmp_path: Path) -> None:
    """Half of the teams are added by all of them at once."""
    pool = Pool.init(tmp_path)
    pool.add(team(99, 100), SEED, op="root")
    in_children(partial(add_teams, tmp_path), range(WORKERS))
    pool.refresh()
    shared, own = TEAMS // 2, WORKERS * TEAMS // 2
    assert len(pool.members) == 1 + shared + own
    assert pool.duplicates == {"mutate": shared * (WORKERS - 1)}
    assert set(Counter(member.identity for member in pool.members.values()).values()) == {1}
    counted = Counter(member.statistics.n for member in pool.members.values())
    assert counted == {0: 1, 1: own, WORKERS: shared}
    assert verify(tmp_path).faults == ()


def update(folder: Path) -> None:
    """Make all updates, or what is left of them."""
    pool = Pool.init(folder, report=lambda _: None)
    pool.add(team(0, 0), SEED, op="root")
    for number in (1, 2):
        name = pool.add(team(1, number), BORN, op=f"add {number}").name
        pool.commit(tried(name, "t", number / 4), op=f"evaluate {number}")
    pool.add(team(2, 1), BORN, op="add a twin")
    pool.commit(ChildRejected(operator="mutate", reason="bad"), op="reject")
    pool.commit(Retired(member="made_1", reason="weak"), op="retire")


def content(folder: Path) -> Any:
    """Return all that a pool holds."""
    pool = Pool.open(folder)
    files = {path.name: path.read_text() for path in folder.glob("teams/[!.]*")}
    lines = (folder / "ledger.jsonl").read_text()
    statistics = {name: str(member.statistics) for name, member in pool.teams.items()}
    return files, lines, statistics, list(pool.members), verify(folder).faults


def test_wherever_a_process_dies_the_updates_count_once(tmp_path: Path, drawn: Draw) -> None:
    with armed(f"count:{tmp_path / 'count'}"):
        update(tmp_path / "whole")
    whole = content(tmp_path / "whole")
    assert whole[-1] == ()
    visits = Counter((tmp_path / "count").read_text().split())
    moments = [f"{name}:{n}" for name, most in visits.items() for n in range(1, most + 1)]
    assert len(moments) >= 50
    for moment in drawn(moments):
        assert killed_at(moment, lambda at=moment: update(tmp_path / at))
        update(tmp_path / moment)
        assert content(tmp_path / moment) == whole, moment

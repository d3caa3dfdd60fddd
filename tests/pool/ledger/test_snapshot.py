"""Snapshots: what opening a pool begins with, which never says more than the ledger's lines."""

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.pool import Pool, ranked, repair, verify
from coterie.pool.command import main
from coterie.pool.ledger import recent, snapshot
from coterie.pool.ledger.current import Current
from coterie.pool.ledger.ledger import Ledger
from coterie.pool.ledger.plain_state import value_of
from coterie.pool.ledger.snapshot import newest
from coterie.pool.ledger.state import State
from coterie.pool.values.layout import LEDGER, SNAPSHOTS
from coterie.pool.view import PoolView, Views
from coterie.schema.values.errors import CoterieError, StorageError

from ...support.commands import ran
from ...support.failpoints import armed
from ...support.processes import in_children
from ...support.repositories import run_git
from ..drawn_histories import EVOLUTIONS, History
from ..edited_teams import child_of, pool_of, scored, tried, vote
from ..every_kind import pool_of_every_kind, sealed
from ..teams.test_pool_hostile import ODD, READING, paths


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots pay at once, and few tasks are known one by one."""
    monkeypatch.setattr(snapshot, "LEAST", 1)
    monkeypatch.setattr(snapshot, "SHARE", 1_000_000)
    monkeypatch.setattr(recent, "MOST", 6)


def known(state: State) -> tuple[str, list[bytes]]:
    """All that a state says, in its order."""
    value, tables = value_of(state)
    return json.dumps(value), tables


def read(folder: Path) -> State:
    """The state of a pool by its lines alone."""
    bare = folder.with_name(f"{folder.name} read")
    bare.mkdir()
    shutil.copy(folder / LEDGER, bare / LEDGER)
    state = State(bare)
    for entry in Ledger(bare / LEDGER).read():
        state.take(entry)
    shutil.rmtree(bare)
    return state


def snapshots(folder: Path) -> list[Path]:
    return sorted((folder / SNAPSHOTS).glob("*.snapshot"))


def kept(folder: Path) -> Path:
    """Open a pool, and give the snapshot that is left."""
    Current(folder).refresh()
    return snapshots(folder)[-1]


def resealed(content: bytes, change: Any) -> bytes:
    """What a snapshot is after a change of its value, by somebody who seals it anew."""
    _, text, tail = content.split(b"\n", 2)
    rest = b"\n".join((json.dumps(change(json.loads(text))).encode(), tail))
    return b"\n".join((hashlib.sha256(rest).hexdigest().encode(), rest))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A pool in which anything has happened, whose teams have no files."""
    history = History(Random(3))
    history.go_on(120)
    (tmp_path / "pool").mkdir()
    (tmp_path / "pool" / LEDGER).write_bytes(b"".join(history.lines))
    return tmp_path / "pool"


@given(
    seed=st.integers(0, 10**6), lines=st.integers(1, 90), cut=st.floats(0, 1), shared=st.booleans()
)
def test_a_snapshot_and_the_lines_after_it_come_to_what_all_lines_come_to(
    tmp_path_factory: pytest.TempPathFactory, seed: int, lines: int, cut: float, shared: bool
) -> None:
    folder = tmp_path_factory.mktemp("pool")
    history = History(Random(seed), shared=shared)
    history.go_on(lines)
    first = 1 + int(cut * (len(history.lines) - 1))
    ledger = folder / LEDGER
    ledger.write_bytes(b"".join(history.lines[:first]))
    Current(folder).refresh()
    assert (newest(folder) is not None) == (first > 1 or snapshots(folder) != [])
    with ledger.open("ab") as stream:
        stream.writelines(history.lines[first:])
    for _ in range(2):  # from the snapshot, and from the one that was kept then
        current = Current(folder)
        current.refresh()
        whole = State(folder)
        for entry in Ledger(ledger).read():
            whole.take(entry)
        assert known(current.state) == known(whole)
        for name, team in whole.teams.items():
            result = current.state.teams[name]
            assert [result.on_task(f"t{n}") for n in range(9)] == [
                team.on_task(f"t{n}") for n in range(9)
            ]
            assert current.state.like(team.identity) == tuple(
                current.state.teams[other.name] for other in whole.like(team.identity)
            )
        for name in whole.agents:
            assert current.state.learnt.archive(name) == whole.learnt.archive(name)
        assert [*current.state.learnt.items()] == [*whole.learnt.items()]
        assert [*current.state.agents.live] == [*whole.agents.live]
        for line in history.lines:
            op = json.loads(line)["op"]
            assert not current.ledger.append({"other": "thing"}, op=op)


def test_what_is_spoilt_counts_for_nothing_and_is_made_anew(folder: Path) -> None:
    path, whole = kept(folder), known(read(folder))
    content, chance = path.read_bytes(), Random(0)
    spoilt = [content[:size] for size in (0, 1, 64, 65, len(content) // 2, len(content) - 1)]
    for _ in range(20):
        at = chance.randrange(len(content))
        flipped = bytes([content[at] ^ 1 << chance.randrange(8)])
        spoilt.append(content[:at] + flipped + content[at + 1 :])
    for data in spoilt:
        path.write_bytes(data)
        assert newest(folder) is None
        current = Current(folder)
        current.refresh()
        assert known(current.state) == whole
        assert path.read_bytes() == content


def test_a_snapshot_of_another_pool_or_machine_does_not_fit(folder: Path, tmp_path: Path) -> None:
    other = pool_of_every_kind(tmp_path / "other")
    (theirs,) = snapshots(other)[-1:]
    path = kept(folder)
    content = path.read_bytes()
    for data in (
        theirs.read_bytes(),
        resealed(content, lambda value: {**value, "v": 0}),
        resealed(content, lambda value: {**value, "order": "middle"}),
        resealed(content, lambda _value: []),
        resealed(content, lambda value: {**value, "place": [1, 10**12, "x"]}),
        resealed(content, lambda value: {**value, "repeats": {"7": [1, 7, "x"]}}),
    ):
        path.write_bytes(data)
        assert newest(folder) is None


def test_whatever_somebody_writes_into_a_snapshot_no_command_breaks(
    tmp_path: Path, nightly: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = pool_of_every_kind(tmp_path / "whole")
    path = kept(whole)
    content = path.read_bytes()
    value = json.loads(content.split(b"\n", 2)[1])
    places = [(place, odd) for place in paths(value) for odd in (ODD if place else ())]
    chance = Random(1)
    for number, (place, odd) in enumerate(chance.sample(places, len(places) if nightly else 60)):

        def change(value: Any, place: Any = place, odd: Any = odd) -> Any:
            *way, last = place
            at = value
            for key in way:
                at = at[key]
            at[last] = odd
            return value

        path.write_bytes(resealed(content, change))
        monkeypatch.setattr(snapshot, "LEAST", 1_000)
        with suppress(CoterieError):
            look_at(Pool.open(whole))
        if nightly or number < 2:
            for command, *rest in READING:
                done = ran(main, command, str(whole), *rest)
                assert done.exit_code in {0, 1, 2}, (place, odd, command, done.output)


def look_at(pool: Pool) -> None:
    """Ask a pool for what it knows."""
    assert len(pool.learnt.values()) == len(pool.learnt)
    for niche in (None, "n"):
        ranked(pool.teams.values(), niche)
    for item in (*pool.teams.values(), *pool.all_agents.values()):
        item.on_task("t1")
        pool.learnt.archive(item.name)
        assert set(item.niches) <= {niche for _, niche in item.totals}
        assert len(item.statistics.cost) == 2
    for entry in pool.learnt:
        pool.learnt.stands(entry)
        pool.learnt.replaced_by(entry)
    Views(pool, "evomas").upto(3)


def test_a_line_that_is_damaged_ahead_of_a_snapshot_is_noticed(folder: Path) -> None:
    kept(folder)
    ledger = folder / LEDGER
    lines = ledger.read_bytes().splitlines(keepends=True)
    for number in (0, 40, len(lines) - 2):
        spoilt = lines[number].replace(b'"kind"', b'"kinD"')
        ledger.write_bytes(b"".join([*lines[:number], spoilt, *lines[number + 1 :]]))
        with pytest.raises(StorageError, match=rf"line {number + 1} .*does not match"):
            Current(folder).refresh()


def test_a_ledger_that_is_written_anew_is_read_anew(tmp_path: Path) -> None:
    folder = pool_of_every_kind(tmp_path / "pool")
    kept(folder)
    ledger = folder / LEDGER
    lines = ledger.read_bytes().splitlines(keepends=True)
    ledger.write_bytes(b"".join(lines[:-1]))  # as where git has checked out an earlier one
    fitting = newest(folder)
    assert fitting is not None
    assert fitting.index.place.line == len(lines) - 1
    assert known(Pool.open(folder)._current.state) == known(read(folder))
    ledger.write_bytes(b"".join([*lines[:4], sealed('{"op": "x", "value": {}}'), *lines[4:]]))
    assert repair(folder)
    assert verify(folder).faults == ()
    assert known(Pool.open(folder)._current.state) == known(read(folder))


def test_what_is_known_of_a_replaced_ledger_is_not_read_from_the_new_one(folder: Path) -> None:
    kept(folder)
    current = Current(folder)
    other = History(Random(4))
    other.go_on(200)
    (folder / LEDGER).write_bytes(b"".join(other.lines))
    with pytest.raises(StorageError, match="not the file that was read"):
        list(current.state.learnt.values())
    name = next(iter(current.state.learnt))
    lines = [line for line in other.lines if json.loads(line)["value"]["kind"] == "learnt"]
    offset = current.state.learnt._offsets[0]
    (folder / LEDGER).write_bytes(b" " * (offset - 1) + b"\n" + lines[0])
    with pytest.raises(StorageError, match="not the file that was read"):
        current.state.learnt[name]


def test_who_cannot_keep_a_snapshot_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = known(read(folder))
    for point in ("files.write.before", "files.write.flushed", "files.sync.before"):
        with armed(f"{point}:1:raise-enospc"):
            current = Current(folder)
            current.refresh()
        assert known(current.state) == whole
        shutil.rmtree(folder / SNAPSHOTS, ignore_errors=True)
    (folder / SNAPSHOTS).write_text("a file")
    Current(folder).refresh()
    (folder / SNAPSHOTS).unlink()
    monkeypatch.setattr("coterie.pool.ledger.current.os.access", lambda *_: False)
    current = Current(folder)
    current.refresh()
    assert known(current.state) == whole
    assert snapshots(folder) == []


def test_none_is_kept_of_a_ledger_that_is_another_by_now(folder: Path) -> None:
    current = Current(folder)
    lines = (folder / LEDGER).read_bytes().splitlines(keepends=True)
    keeping, current._keep = current._keep, lambda: None
    current.refresh()
    (folder / LEDGER).write_bytes(b"".join([*lines[:-2], lines[-1]]))
    keeping()
    assert snapshots(folder) == []


def test_the_last_two_are_kept_if_it_pays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "LEAST", 10)
    monkeypatch.setattr(snapshot, "SHARE", 4)
    pool = pool_of(tmp_path, vote())
    lines = list[int]()
    for number in range(200):
        scored(pool, "vote", 1.0, niche=f"n{number}")
        there = [int(path.stem) for path in snapshots(tmp_path)]
        assert len(there) <= 2
        content = (tmp_path / LEDGER).read_bytes()
        lines += [content[: there[-1]].count(b"\n")] if there else []
    taken = [*dict.fromkeys(lines)]
    assert len(taken) < 20
    assert all(b - a >= max(10, b // 4) for a, b in pairwise(taken))


def test_git_passes_over_snapshots(tmp_path: Path) -> None:
    folder = pool_of_every_kind(tmp_path / "pool")
    assert snapshots(folder)
    run_git(folder, "init", "-q")
    status = run_git(folder, "status", "--porcelain", "-uall")
    assert "ledger.jsonl" in status
    assert SNAPSHOTS not in status


def views(folder: Path, evolution: str, episodes: Iterator[int] | list[int]) -> list[Any]:
    """What a series of views shows, task by task."""
    seen = Views(Pool(folder), evolution)
    return [_shown(seen.upto(episode)) for episode in episodes]


def _shown(view: PoolView) -> Any:
    members = [
        (member, [member.on_task(f"t{n}") for n in range(9)]) for member in view.members.values()
    ]
    rows = [(item.name, item.totals, item.by_task, item.by_past, on) for item, on in members]
    agents = [(agent.name, agent.revisions, agent.statistics) for agent in view.agents.values()]
    return rows, agents, view.learnt, view.end


@pytest.mark.parametrize("evolution", [*EVOLUTIONS, "another"])
def test_a_view_is_the_same_with_a_snapshot_and_without(folder: Path, evolution: str) -> None:
    for first in (-1, 7, 20, 99):
        shutil.rmtree(folder / SNAPSHOTS, ignore_errors=True)
        bare = folder.with_name("bare")
        shutil.copytree(folder, bare)
        (bare / SNAPSHOTS).write_text("nothing can be kept here")
        episodes = [first, first + 1, first + 12]
        whole = views(bare, evolution, episodes)
        kept(folder)
        assert views(folder, evolution, episodes) == whole
        shutil.rmtree(bare)


def test_a_view_begins_with_the_newest_snapshot_that_no_later_episode_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = pool_of(tmp_path, vote())
    shutil.rmtree(tmp_path / SNAPSHOTS)
    for episode in range(3):
        pool.commit(tried("vote", f"t{episode}", 1.0), op=f"evomas/{episode:06d}/trial")
    result = list[Path]()
    reading = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda item: (result.append(item), reading(item))[1])
    monkeypatch.setattr(snapshot, "LEAST", 99)
    before, last = snapshots(tmp_path)
    for episode, looked_at in ((9, [last]), (2, [last]), (1, [last, before]), (0, [last, before])):
        seen = Views(Pool(tmp_path), "evomas")
        result.clear()
        view = seen.upto(episode)
        assert result == looked_at
        assert view.members["vote"].statistics.n == min(3, episode + 1)


def test_operations_ahead_of_a_snapshot_are_known(tmp_path: Path) -> None:
    pool = pool_of(tmp_path, vote())
    child = child_of(pool, "vote", op="child", prompt="Think.")
    scored(pool, "vote", 0.5)
    kept(tmp_path)
    again = Pool.open(tmp_path)
    size = (tmp_path / LEDGER).stat().st_size
    assert child_of(again, "vote", op="child", prompt="Think.") == child
    scored(again, "vote", 0.5)
    assert (tmp_path / LEDGER).stat().st_size == size
    with pytest.raises(ValueError, match="was no addition"):
        again.add(vote("Else."), again.teams["vote"].lineage, op="vote/None/0")
    assert again.remove_orphans(dry_run=True) == []
    known = again.member("vote").on_task("None-0")
    assert known is not None
    assert known.score == 0.5


def test_processes_that_open_and_write_at_once_agree(tmp_path: Path) -> None:
    pool = pool_of(tmp_path, vote())

    def write(worker: int) -> None:
        own = Pool.open(tmp_path)
        for number in range(24):
            own = own if number % 8 else Pool.open(tmp_path)
            own.commit(tried("vote", f"t{number}", 0.5), op=f"{worker}/{number}")

    in_children(write, range(3))
    pool.refresh()
    assert pool.teams["vote"].statistics.n == 72
    assert newest(tmp_path) is not None
    assert known(Pool.open(tmp_path)._current.state) == known(read(tmp_path))
    assert verify(tmp_path).faults == ()

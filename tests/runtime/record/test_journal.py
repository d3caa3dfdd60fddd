"""The journal: what is recorded is found, by path and question, by one process at a time."""

import asyncio
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from coterie.runtime.record import _entries, log_file
from coterie.runtime.record.journal import Journal, NotRecorded, digest, is_held, merge, recorded
from coterie.runtime.record.log_file import LogFile
from coterie.runtime.values.usage import Usage
from coterie.schema import InputError
from coterie.schema.values.errors import StorageError
from coterie.schema.values.files import sync

from ...effort import grows_linearly
from ...support.failpoints import armed
from ...support.folders import state_of
from ...waiting import wait_for

ANSWER = {
    "text": "7", "tool_calls": [], "finish_reason": "stop", "model": "m", "alias": "default",
    "seconds": 0.1, "attempts": 1,
}  # fmt: skip
FOR_EVER = 3600.0
"""Seconds in which a journal does nothing by itself."""


def put(journal: Journal, path: str, asked: str, value: dict[str, object]) -> None:
    asyncio.run(journal.put(path, "note", asked, value))


def test_what_is_recorded_is_found_by_the_next_process(tmp_path: Path) -> None:
    with Journal.open(tmp_path) as journal:
        put(journal, "a/call 1", "q", {"text": "ä\ud800"})
    with Journal.open(tmp_path) as journal:
        assert journal.get("a/call 1", "q") == {"text": "ä\ud800"}
        assert journal.get("a/call 2", "q") is None
        assert journal.recorded_answers == 1


def test_another_question_is_not_answered_and_both_answers_stay(tmp_path: Path) -> None:
    with Journal.open(tmp_path) as journal:
        put(journal, "a/call 1", "old", {"text": "1"})
        assert journal.get("a/call 1", "new") is None
        assert [str(divergence) for divergence in journal.divergences] == [
            "a/call 1 (note): asked differs from the recording."
        ]
        put(journal, "a/call 1", "new", {"text": "2"})
        assert journal.get("a/call 1", "old") == {"text": "1"}
        assert len(journal.values("note")) == 2


def test_a_replay_answers_by_path_and_changes_nothing(tmp_path: Path) -> None:
    with Journal.open(tmp_path) as journal:
        put(journal, "a/call 1", "old", {"text": "1"})
        put(journal, "a/call 1", "newer", {"text": "2"})
    with Journal.open(tmp_path, replaying=True) as journal:
        assert journal.get("a/call 1", "other") == {"text": "2"}
        put(journal, "a/call 2", "q", {})
        with pytest.raises(NotRecorded, match="nothing under 'a/call 2'"):
            journal.must_be_live("a/call 2")
        journal.compare("a/call 1", "newer", {"text": "3"})
        assert [divergence.what for divergence in journal.divergences] == ["asked", "result"]


@pytest.mark.parametrize("was_killed", [False, True])
def test_a_replay_leaves_the_folder_untouched(tmp_path: Path, was_killed: bool) -> None:
    folder, copy = tmp_path / "run", tmp_path / "copy"
    folder.mkdir()
    with Journal.open(folder) as journal:
        put(journal, "a/call 1", "q", {"text": "1"})
        if was_killed:
            shutil.copytree(folder, copy)
            with (copy / "journal.log").open("ab") as file:
                file.write(b"half a li")
    if not was_killed:
        shutil.copytree(folder, copy)
    before = state_of(copy)
    with Journal.open(copy, replaying=True) as journal:
        assert journal.get("a/call 1", "q") == {"text": "1"}
        assert state_of(copy) == before
    assert state_of(copy) == before


def test_merged_journals_hold_what_each_held_and_the_first_counts(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("first", "second", "whole")]
    for folder in folders:
        folder.mkdir()
    for folder in folders[:2]:
        with Journal.open(folder) as journal:
            put(journal, "shared/call 1", "q", {"text": folder.name})
            put(journal, f"{folder.name}/call 1", "q", {"text": folder.name})
    with Journal.open(folders[1]), pytest.raises(InputError, match="another process is working"):
        merge(folders[:2], folders[2])
    merge(folders[:2], folders[2])
    with Journal.open(folders[2]) as journal:
        assert journal.get("shared/call 1", "q") == {"text": "first"}
        assert journal.get("first/call 1", "q") == {"text": "first"}
        assert journal.get("second/call 1", "q") == {"text": "second"}


async def test_once_does_the_work_once(tmp_path: Path) -> None:
    done: list[int] = []

    async def work() -> dict[str, int]:
        done.append(1)
        return {"n": len(done)}

    with Journal.open(tmp_path) as journal:
        for _ in range(2):
            assert await journal.once("a/tool 1", "tool", "q", work) == {"n": 1}
    assert done == [1]


def test_failed_work_is_not_recorded(tmp_path: Path) -> None:
    async def work() -> dict[str, int]:
        raise ValueError("no")

    with Journal.open(tmp_path) as journal:
        with pytest.raises(ValueError, match="no"):
            asyncio.run(journal.once("p", "tool", "q", work))
        assert journal.get("p", "q") is None


def test_its_hash_does_not_depend_on_order_or_time(tmp_path: Path) -> None:
    hashes = []
    for number, order in enumerate([("a", "b"), ("b", "a")]):
        folder = tmp_path / str(number)
        folder.mkdir()
        with Journal.open(folder) as journal:
            for path in order:
                put(journal, path, "q", {"text": path, "seconds": number})
            hashes.append(journal.content_hash)
    assert hashes[0] == hashes[1]


async def test_many_puts_at_once_share_a_flush_and_all_are_kept(tmp_path: Path) -> None:
    with Journal.open(tmp_path) as journal:
        puts = (journal.put(f"a/{number}", "note", "q", {"n": number}) for number in range(200))
        await asyncio.gather(*puts)
    with Journal.open(tmp_path) as journal:
        assert sorted(value["n"] for value in journal.values("note")) == list(range(200))


def test_two_processes_do_not_hold_it_together(tmp_path: Path) -> None:
    with Journal.open(tmp_path) as journal:
        put(journal, "a", "q", {})
        with pytest.raises(InputError, match="another process is working on this run"):
            Journal.open(tmp_path)
    Journal.open(tmp_path).close()


def test_several_read_it_at_the_same_time_while_nobody_is_at_work(tmp_path: Path) -> None:
    with Journal.open(tmp_path) as journal:
        put(journal, "a", "q", {"n": 1})
        assert is_held(tmp_path)
        with pytest.raises(InputError, match="another process is working on this run"):
            Journal.open(tmp_path, replaying=True)
    with Journal.open(tmp_path, replaying=True), Journal.open(tmp_path, replaying=True) as journal:
        assert journal.get("a", "q") == {"n": 1}
        assert not is_held(tmp_path)
        with pytest.raises(InputError, match="another process is working on this run"):
            Journal.open(tmp_path)


def test_what_is_no_journal_is_said(tmp_path: Path) -> None:
    (tmp_path / "journal.log").write_text("no database at all, but long enough to be one" * 9)
    with pytest.raises(InputError, match=r"journal\.log: not a journal"):
        Journal.open(tmp_path)
    with pytest.raises(InputError, match="there is no such file"):
        Journal.open(tmp_path.parent, replaying=True)


def test_a_full_disk_is_said_and_what_was_there_stays(tmp_path: Path) -> None:
    with Journal.open(tmp_path) as journal:
        put(journal, "a", "q", {"n": 1})
        with (
            armed("journal.append.before:1:raise-enospc"),
            pytest.raises(StorageError, match=r"journal\.log: cannot be written"),
        ):
            put(journal, "b", "q", {"n": 2})
        put(journal, "c", "q", {"n": 3})
    with Journal.open(tmp_path) as journal:
        assert [value["n"] for value in journal.values("note")] == [1, 3]


def test_what_is_alike_as_json_has_the_same_digest() -> None:
    assert digest({"a": 1, "b": (1, 2)}) == digest({"b": [1, 2], "a": 1})
    assert digest("1") != digest(1)
    assert digest("\ud800")


async def test_what_is_put_is_written_at_once_and_flushed_when_asked_for_or_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[str] = []

    def noted(path: Path, handle: int | None = None) -> None:
        flushed.append(path.name)
        sync(path, handle)

    monkeypatch.setattr(_entries, "LAG", FOR_EVER)
    monkeypatch.setattr(log_file, "sync", noted)
    with Journal.open(tmp_path) as journal:
        await journal.put("a", "note", "q", {"n": 1})
        assert [path for path, _ in recorded(tmp_path, "note")] == ["a"]
        assert flushed == []
        await journal.flush()
        assert "journal.log" in flushed
        flushed.clear()
        await journal.flush()
        assert flushed == []
    monkeypatch.setattr(_entries, "LAG", 0.01)
    with Journal.open(tmp_path) as journal:
        flushed.clear()
        await journal.put("b", "note", "q", {"n": 2})
        await asyncio.to_thread(wait_for, lambda: "journal.log" in flushed, "no flush")


async def test_a_long_entry_and_those_behind_it_are_written_in_order(tmp_path: Path) -> None:
    with Journal.open(tmp_path) as journal:
        sizes = [10, 200_000, 10, 300_000, 10]
        puts = (
            journal.put(f"a/{n}", "note", "q", {"n": n, "text": "x" * size})
            for n, size in enumerate(sizes)
        )
        await asyncio.gather(*puts)
    assert [path for path, _ in recorded(tmp_path, "note")] == [f"a/{n}" for n in range(5)]


async def test_nothing_is_written_after_a_flush_that_failed(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    await journal.put("a", "note", "q", {})
    with armed("files.sync.before:1:raise-eio"), pytest.raises(StorageError):
        await journal.flush()
    with pytest.raises(StorageError, match="cannot be written"):
        await journal.put("b", "note", "q", {})
    with pytest.raises(StorageError):
        journal.close()


def test_what_nobody_waits_for_is_found_at_once_and_written_with_what_comes_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(journal: Journal) -> None:
        await journal.put("a", "note", "q", {"n": 1}, at_once=False)
        assert [*recorded(tmp_path, "note")] == []
        await journal.put("b", "note", "q", {"n": 2})
        assert [path for path, _ in recorded(tmp_path, "note")] == ["a", "b"]
        await journal.put("c", "note", "q", {"n": 3}, at_once=False)
        assert journal.get("c", "q") == {"n": 3}
        await journal.put("d", "note", "q", {"n": 4}, at_once=False)
        await journal.flush()
        assert [path for path, _ in recorded(tmp_path, "note")][3:] == ["d"]
        await journal.put("e", "note", "q", {"n": 5}, at_once=False)

    async def soon(journal: Journal) -> None:
        await journal.put("f", "note", "q", {"n": 6}, at_once=False)
        await asyncio.sleep(0.02)  # its timer comes first
        assert [path for path, _ in recorded(tmp_path, "note")][5:] == ["f"]
        await journal.put("g", "note", "q", {"n": 7}, at_once=False)
        await asyncio.sleep(0.02)
        assert [path for path, _ in recorded(tmp_path, "note")][6:] == ["g"]

    monkeypatch.setattr(_entries, "LAG", FOR_EVER)
    monkeypatch.setattr(_entries, "AHEAD", FOR_EVER)
    with Journal.open(tmp_path) as journal:
        asyncio.run(work(journal))
    monkeypatch.setattr(_entries, "LAG", 0.01)
    monkeypatch.setattr(_entries, "AHEAD", 0.01)
    with Journal.open(tmp_path) as journal:
        asyncio.run(soon(journal))
    assert [path for path, _ in recorded(tmp_path, "note")] == list("abcdefg")


async def test_whoever_flushes_is_told_that_something_could_not_be_written(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    await journal.put("a", "note", "q", {}, at_once=False)
    with (
        armed("journal.append.before:1:raise-enospc"),
        pytest.raises(StorageError, match=r"journal\.log: cannot be written"),
    ):
        await journal.flush()
    with pytest.raises(StorageError, match="cannot be written"):
        await journal.put("b", "note", "q", {})
    with pytest.raises(StorageError):
        journal.close()


@pytest.mark.parametrize("left", [0, 1, 17, -1])
def test_a_new_journal_of_which_a_part_was_lost_is_made_anew(tmp_path: Path, left: int) -> None:
    file = tmp_path / "journal.log"
    Journal.open(tmp_path).close()
    whole = file.read_bytes()
    file.write_bytes(
        bytes(len(whole) // 2) + whole[len(whole) // 2 :] if left < 0 else whole[:left]
    )
    with Journal.open(tmp_path) as journal:
        put(journal, "a", "q", {"n": 1})
    with Journal.open(tmp_path) as journal:
        assert journal.get("a", "q") == {"n": 1}


async def test_files_beside_it_are_flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[str] = []
    (tmp_path / "team.yaml").write_text("name: t")
    with Journal.open(tmp_path) as journal:
        (tmp_path / "events.jsonl").write_text("{}")  # is no part of what a resumption reads
        loop, over = asyncio.get_running_loop(), asyncio.Event()

        def noted(path: Path, handle: int | None = None) -> None:
            flushed.append(path.name)
            sync(path, handle)
            if path == tmp_path.parent:  # the last
                loop.call_soon_threadsafe(over.set)

        monkeypatch.setattr(log_file, "sync", noted)
        journal.flush_ahead()
        await asyncio.wait_for(over.wait(), 300)
        assert {"team.yaml", "journal.log", tmp_path.name} <= {*flushed}
        assert "events.jsonl" not in flushed
        flushed.clear()
        await journal.put("a", "note", "q", {"n": 1})
        await journal.flush()
        assert flushed == ["journal.log"]


async def test_it_may_be_closed_by_a_thread_while_it_begins_to_flush(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures: list[object] = []
    closed = asyncio.Event()
    asyncio.get_running_loop().set_exception_handler(lambda _, what: failures.append(what))
    journal = Journal.open(tmp_path)

    def closes(_: LogFile) -> bool:
        monkeypatch.undo()
        journal.close()
        closed.set()
        return False

    monkeypatch.setattr(_entries, "LAG", 0.0)
    await journal.put("a", "note", "q", {"n": 1})
    monkeypatch.setattr(LogFile, "is_flushed", property(closes))
    await asyncio.wait_for(closed.wait(), 300)
    assert not failures
    assert [path for path, _ in recorded(tmp_path, "note")] == ["a"]


def test_threads_that_hang_hold_up_no_flush(tmp_path: Path) -> None:
    async def work(journal: Journal) -> None:
        hanging = [asyncio.to_thread(over.wait) for _ in range(64)]
        waiting = asyncio.gather(*hanging)
        await asyncio.sleep(0.05)
        await journal.put("a", "note", "q", {"text": "x" * 200_000})
        await journal.flush()
        over.set()
        await waiting

    over = threading.Event()
    with Journal.open(tmp_path) as journal:
        asyncio.run(asyncio.wait_for(work(journal), 300))


def test_a_process_that_another_one_forked_flushes_its_own_journal(tmp_path: Path) -> None:
    program = """
import asyncio, os, sys
from pathlib import Path
from coterie.runtime.record import _entries
from coterie.runtime.record.journal import Journal

_entries.LAG = 3600.0  # nothing else flushes meanwhile

async def kept(name):
    (folder := Path(sys.argv[1], name)).mkdir()
    with Journal.open(folder) as journal:
        await journal.put("a", "note", "q", {})
        await journal.flush()
        print(name, flush=True)

asyncio.run(kept("parent"))
if os.fork() == 0:
    asyncio.run(kept("child"))
    os._exit(0)
os.wait()
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "parent\nchild\n"


async def test_the_time_of_a_call_is_kept_whatever_ends_it(tmp_path: Path) -> None:
    for attempt in (1, 2):
        with Journal.open(tmp_path) as journal:
            settle = await journal.open_account("a/call 1", Usage(calls=1))
            journal._started -= 1000
            settle(Usage(calls=1), lost=True)
        with Journal.open(tmp_path) as journal:
            assert journal.seconds >= 1000 * attempt
            assert journal.spent().calls == attempt
            assert journal.spent(lost=False).calls == 0


def test_what_a_part_cost_is_summed_without_the_others(tmp_path: Path) -> None:
    def costing(count: int) -> Callable[[], object]:
        folder = tmp_path / str(count)
        folder.mkdir()
        journal = stack.enter_context(Journal.open(folder))

        async def fill() -> None:
            for number in range(count):
                settle = await journal.open_account(f"{number}/call 1", Usage(calls=1))
                settle(Usage(calls=1), lost=False)

        asyncio.run(fill())
        assert journal.spent().calls == count
        return lambda: [journal.spent("7/") for _ in range(count)]

    with ExitStack() as stack:
        assert grows_linearly(costing, 1_000)


async def test_what_is_never_settled_has_cost_the_most_that_it_can_have(tmp_path: Path) -> None:
    most, did = Usage(calls=1, usd=0.5, uncertain_calls=1), Usage(calls=1, usd=0.1)
    with Journal.open(tmp_path) as journal:
        settle = await journal.open_account("a/call 1", most)
        assert journal.spent() == most
        settle(did, lost=False)
        await journal.open_account("a/call 1", most)
    with Journal.open(tmp_path) as journal:
        assert journal.spent("a/") == did + most
        assert journal.spent("a/", lost=False) == did
        assert journal.spent("b/") == Usage()


async def test_an_answer_without_attempts_says_itself_what_it_cost(tmp_path: Path) -> None:
    cost = Usage(calls=1, usd=0.25)
    with Journal.open(tmp_path) as journal:
        fields = {"usage": cost.value()}
        await journal.put("a/call 1", "model", "q", {**ANSWER, **fields})
        assert journal.spent() == cost


def test_a_calls_time_is_written_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coterie.runtime.record.journal.TICK", 0.001)

    async def hanging() -> None:
        await journal.open_account("a/call 1", Usage(calls=1))
        journal._started -= 1000
        for _ in range(10_000):
            if journal._entries.last_moment >= 1000:
                return
            await asyncio.sleep(0.01)
        raise AssertionError("its time is forgotten")

    with Journal.open(tmp_path) as journal:
        asyncio.run(hanging())

"""The ledger: each operation once, whole, and in the order in which it came."""

import errno
import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coterie.pool.ledger.ledger import Ledger, line_of
from coterie.schema.values.errors import StorageError
from coterie.schema.values.files import make_folder

from ...support.failpoints import armed
from ...support.processes import at_once


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.jsonl")


def ops(ledger: Ledger) -> list[str]:
    return [entry.op for entry in ledger.read()]


def test_what_is_appended_is_read_in_order(ledger: Ledger) -> None:
    assert ops(ledger) == []
    assert ledger.append({"score": 0.5, "notes": ["zwölf", "a\nb"]}, op="task-1/evaluate")
    assert ledger.append({}, op="task-2/evaluate")
    first, second = ledger.read()
    assert first.op == "task-1/evaluate"
    assert first.value == {"score": 0.5, "notes": ["zwölf", "a\nb"]}
    assert first.files == ()
    assert (second.op, second.value) == ("task-2/evaluate", {})


def test_a_line_is_json_that_a_person_can_read(ledger: Ledger) -> None:
    ledger.append({"score": 0.5, "name": "zwölf"}, op="a")
    (line,) = ledger.path.read_text("utf-8").splitlines()
    assert line.startswith(
        '{"op": "a", "clock": 1, "value": {"score": 0.5, "name": "zwölf"}, "crc": "'
    )
    assert json.loads(line)["value"] == {"score": 0.5, "name": "zwölf"}


def test_whole_numbers_of_any_length_are_read_exactly(ledger: Ledger) -> None:
    about = {"kind": "told", "about": {"seeds": [2**64, -(2**63) - 1, 2**63]}}
    ledger.append(about, op="a")
    assert [entry.value for entry in ledger.read()] == [about]


def test_an_operation_is_appended_once(ledger: Ledger) -> None:
    assert ledger.append({"score": 1}, op="a")
    assert not ledger.append({"score": 2}, op="a")
    assert not Ledger(ledger.path).append({"score": 3}, op="a")
    assert [entry.value for entry in ledger.read()] == [{"score": 1}]


def test_what_is_written_anew_is_known_by_its_new_place(ledger: Ledger) -> None:
    for op in "abc":
        ledger.append({}, op=op)
    ledger.rewrite(lambda lines: [line_of(line.value, line.op, clock=9) for line in lines[1:]])
    assert [(entry.op, entry.clock) for entry in ledger.read()] == [("b", 9), ("c", 9)]
    assert ledger.find("a") is None
    last = ledger.find("c")
    assert last is not None
    assert (last.op, last.clock) == ("c", 9)


def test_threads_and_processes_share_a_ledger(ledger: Ledger) -> None:
    def work(ledger: Ledger) -> None:
        for number in range(50):
            ledger.append({"number": number}, op=f"{number}")

    at_once(work, [ledger, ledger, Ledger(ledger.path)])
    assert ops(ledger) == [f"{number}" for number in range(50)]


def test_any_text_reads_back(ledger: Ledger) -> None:
    value = {"text": "\ud800 \x00 \u2028 😀", "crc ": '", "crc": "00000000"}\n'}
    ledger.append(value, op="ö\n")
    (entry,) = ledger.read()
    assert (entry.op, entry.value) == ("ö\n", value)
    assert ledger.append({}, op="next")


@pytest.mark.parametrize("value", [float("nan"), {1, 2}])
def test_what_json_cannot_hold_is_refused(ledger: Ledger, value: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        ledger.append({"value": value}, op="a")
    assert ops(ledger) == []


# Following


def test_a_reader_follows_what_is_appended(ledger: Ledger) -> None:
    ledger.append({}, op="a")
    (entry,) = Ledger(ledger.path).read()
    ledger.append({}, op="b")
    ledger.append({}, op="c")
    assert [item.op for item in Ledger(ledger.path).read(entry.end)] == ["b", "c"]
    assert [item.end.line for item in ledger.read(entry.end)] == [2, 3]


def test_an_appender_reads_only_others(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Ledger(ledger.path)
    for number in range(100):
        other.append({}, op=f"{number}")
    ledger.append({}, op="mine")
    other.append({}, op="theirs")
    read = list[bytes]()
    blocks = Ledger._blocks
    monkeypatch.setattr(
        Ledger, "_blocks", lambda *place: (read.extend(some) or some for some in blocks(*place))
    )
    assert ledger.append({}, op="mine too")
    assert not ledger.append({}, op="theirs")
    assert [json.loads(line)["op"] for line in read] == ["theirs"]


def test_a_line_that_is_being_appended_is_not_given_yet(ledger: Ledger) -> None:
    ledger.append({}, op="a")
    whole = ledger.path.read_bytes()
    ledger.append({}, op="b")
    both = ledger.path.read_bytes()
    for end in range(len(whole), len(both)):
        ledger.path.write_bytes(both[:end])
        assert ops(ledger) == ["a"]


def test_an_end_replaced_is_read_again(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader may have seen the beginning of the line that was, and the end of the one that is."""
    for op in "abc":
        ledger.append({}, op=op)
    blocks = Ledger._blocks
    seen = iter([True])

    def mixed(self: Ledger, *place: Any) -> Iterator[list[bytes]]:
        torn = next(seen, False)
        for lines in blocks(self, *place):
            yield [line.replace(b'"b"', b'"x"') if torn else line for line in lines]

    monkeypatch.setattr(Ledger, "_blocks", mixed)
    assert ops(ledger) == ["a", "b", "c"]


def test_another_file_in_its_place_is_noticed(ledger: Ledger) -> None:
    for op in ("old 1", "old 2"):
        ledger.append({}, op=op)
    *_, last = ledger.read()
    other = Ledger(ledger.path.with_name("other"))
    for op in ("new 1", "new 2", "new 3"):
        other.append({}, op=op)
    other.path.replace(ledger.path)
    with pytest.raises(StorageError, match="not the file that was read"):
        list(ledger.read(last.end))
    assert not ledger.append({}, op="new 2")
    assert ledger.append({}, op="old 1")
    assert ops(ledger) == ["new 1", "new 2", "new 3", "old 1"]


def test_a_file_that_is_removed_is_begun_anew(ledger: Ledger) -> None:
    ledger.append({}, op="a")
    (entry,) = ledger.read()
    ledger.path.unlink()
    with pytest.raises(StorageError, match="not the file that was read"):
        list(ledger.read(entry.end))
    assert ledger.append({}, op="a")
    assert ops(ledger) == ["a"]


# Crashes and damage


def test_an_unfinished_line_is_removed_and_reported(ledger: Ledger) -> None:
    ledger.append({}, op="a")
    whole = ledger.path.read_bytes()
    ledger.append({}, op="b")
    both = ledger.path.read_bytes()
    for end in range(len(whole) + 1, len(both)):
        reports = list[str]()
        ledger.path.write_bytes(both[:end])
        assert Ledger(ledger.path, report=reports.append).append({}, op="b")
        assert ledger.path.read_bytes() == both
        (report,) = reports
        assert f"{ledger.path}: line 2 was left unfinished" in report
        assert f"bytes {len(whole)} to {end} were removed" in report


def test_a_line_whose_pages_were_lost_is_unfinished(ledger: Ledger) -> None:
    ledger.append({}, op="a")
    with ledger.path.open("ab") as stream:
        stream.write(bytes(40) + b'"}\n')
    reports = list[str]()
    assert Ledger(ledger.path, report=reports.append).append({}, op="b")
    assert ops(ledger) == ["a", "b"]
    assert len(reports) == 1


def test_what_is_removed_is_logged(ledger: Ledger, caplog: pytest.LogCaptureFixture) -> None:
    ledger.path.write_text('{"op": "a')
    with caplog.at_level(logging.WARNING):
        ledger.append({}, op="a")
    assert "line 1 was left unfinished" in caplog.text


@pytest.mark.parametrize("change", [(b'"b"', b'"x"'), (b'"b"', b'"b"\n'), (b"{", b"\0", 2)])
def test_damage_before_the_end_says_where(ledger: Ledger, change: tuple[bytes, bytes]) -> None:
    for op in "abc":
        ledger.append({}, op=op)
    content = ledger.path.read_bytes()
    start = content.index(b"\n") + 1
    damaged = content[:start] + content[start:].replace(change[0], change[1], 1)
    ledger.path.write_bytes(damaged)
    where = rf"ledger.jsonl: line 2 \(from byte {start} on\) does not match its checksum"
    reader = Ledger(ledger.path).read()
    assert next(reader).op == "a"
    with pytest.raises(StorageError, match=where):
        next(reader)
    with pytest.raises(StorageError, match=where):
        Ledger(ledger.path).append({}, op="d")
    with pytest.raises(StorageError, match=where):
        Ledger(ledger.path).orphans("*")
    assert ledger.path.read_bytes() == damaged


def test_damage_is_said_also_where_nobody_can_append(ledger: Ledger) -> None:
    for op in "abc":
        ledger.append({}, op=op)
    ledger.path.write_bytes(ledger.path.read_bytes().replace(b'"b"', b'"x"'))
    ledger.lock.unlink()
    with pytest.raises(StorageError, match="line 2"):
        list(ledger.read())
    assert not ledger.lock.exists()


def test_an_operation_that_says_two_things_is_damage(ledger: Ledger) -> None:
    ledger.append({}, op="a")
    ledger.append({}, op="b")
    with ledger.path.open("ab") as stream:
        stream.write(line_of({"other": 1}, "a"))
    for use in (lambda: ledger.append({}, op="c"), lambda: list(Ledger(ledger.path).read())):
        with pytest.raises(StorageError, match=r"line 3 .* repeats the operation 'a' with"):
            use()


def test_a_line_that_a_merge_doubled_counts_once(ledger: Ledger) -> None:
    for op in "abc":
        ledger.append({"n": op}, op=op)
    lines = ledger.path.read_bytes().splitlines(keepends=True)
    with ledger.path.open("ab") as stream:
        stream.writelines([lines[1], lines[2]])
    size = ledger.path.stat().st_size
    reader = Ledger(ledger.path)
    for _ in range(2):
        assert [item.op for item in reader.read()] == ["a", "b", "c"]
    end = list(reader.read())[-1].end
    assert not ledger.append({"n": "b"}, op="b")
    assert ledger.path.stat().st_size == size  # and nothing was taken for a crash's leavings
    ledger.append({"n": "d"}, op="d")
    assert [item.op for item in reader.read(end)] == ["d"]
    assert [item.op for item in Ledger(ledger.path).read()] == ["a", "b", "c", "d"]


def test_what_cannot_be_read_is_said(ledger: Ledger) -> None:
    ledger.path.mkdir()
    with pytest.raises(StorageError, match=r"ledger.jsonl: cannot be read: Is a directory"):
        list(ledger.read())


@pytest.mark.parametrize("point", ["before", "written", "after"])
def test_a_line_that_fails_leaves_nothing(ledger: Ledger, point: str) -> None:
    ledger.append({}, op="a")
    with armed(f"files.append.{point}:1:raise-enospc"):
        with pytest.raises(StorageError, match=r"ledger.jsonl: cannot be written: No space left"):
            ledger.append({}, op="b")
        assert ops(ledger) == ["a"]
        assert ledger.append({}, op="b")
    assert ops(ledger) == ["a", "b"]


def test_a_line_of_another_counts_only_once_it_is_flushed(ledger: Ledger) -> None:
    """Who wrote it may have died before the disk had it, and before anybody was told."""
    Ledger(ledger.path).append({}, op="a")
    for _ in range(2):
        with armed("files.sync.before:1:raise-eio"), pytest.raises(StorageError):
            ledger.append({}, op="a")
    assert not ledger.append({}, op="a")


# Files


def test_files_and_their_line_come_together(ledger: Ledger, tmp_path: Path) -> None:
    make_folder(tmp_path / "teams")
    files = {"teams/a.yaml": "name: a\n", "b.txt": "b"}
    assert ledger.commit({"kind": "new"}, op="a", files=files)
    (entry,) = ledger.read()
    assert entry.files == ("b.txt", "teams/a.yaml")
    assert {name: (tmp_path / name).read_text() for name in entry.files} == files
    assert not ledger.commit({"kind": "new"}, op="a", files={"teams/a.yaml": "other"})
    assert (tmp_path / "teams/a.yaml").read_text() == "name: a\n"


def test_a_file_is_written_by_one_operation(ledger: Ledger, tmp_path: Path) -> None:
    ledger.commit({}, op="a", files={"team.yaml": "a"})
    for other in (ledger, Ledger(ledger.path)):
        with pytest.raises(ValueError, match=r"team\.yaml"):
            other.commit({}, op="b", files={"team.yaml": "b"})
    assert (tmp_path / "team.yaml").read_text() == "a"


@pytest.mark.parametrize("name", ["../team.yaml", "/team.yaml", "teams/../../team.yaml"])
def test_files_stay_in_the_ledgers_folder(ledger: Ledger, name: str) -> None:
    with pytest.raises(ValueError, match="not in the ledger's folder"):
        ledger.commit({}, op="a", files={name: "x"})


def test_what_did_not_get_to_its_line_is_an_orphan(ledger: Ledger, tmp_path: Path) -> None:
    make_folder(tmp_path / "teams")
    ledger.commit({}, op="a", files={"teams/a.yaml": "a"})
    assert ledger.orphans("**/*") == []
    with armed("files.append.before:1:raise-enospc"), pytest.raises(StorageError):
        ledger.commit({}, op="b", files={"teams/b.yaml": "b", "teams/c.yaml": "c"})
    assert ops(ledger) == ["a"]
    assert ledger.orphans("teams/*") == ["teams/b.yaml", "teams/c.yaml"]
    assert ledger.commit({}, op="b", files={"teams/b.yaml": "b 2"})
    assert ledger.orphans("teams/*") == ["teams/c.yaml"]
    assert (tmp_path / "teams/b.yaml").read_text() == "b 2"


def test_a_missing_folder_is_said(ledger: Ledger, tmp_path: Path) -> None:
    with pytest.raises(StorageError) as raised:
        ledger.commit({}, op="a", files={"teams/a.yaml": "a"})
    assert raised.value.errno == errno.ENOENT
    assert str(raised.value).startswith(os.fspath(tmp_path / "teams" / "a.yaml"))

"""The file of entries: appended by many, edited by people, cut off by crashes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from coterie.pool.experience import Experience, to_line
from coterie.pool.experience_file import ExperienceFile
from coterie.schema.errors import StorageError


def entry(name: str, task: str = "How many?") -> Experience:
    return Experience(id=name, kind="evolution", task=task, summary="Count.")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory" / "experience.jsonl"


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def opened(path: Path, said: list[str]) -> Callable[[], ExperienceFile]:
    return lambda: ExperienceFile(path, report=said.append)


Opened = Callable[[], ExperienceFile]


def read(file: ExperienceFile) -> list[str]:
    """The ids that the file has now."""
    file.read()
    return list(file.entries)


def test_is_empty_where_there_is_none(opened: Opened, path: Path) -> None:
    assert read(opened()) == []
    assert not path.parent.exists()


def test_gives_back_what_was_added_in_order(opened: Opened) -> None:
    first, second = opened(), opened()
    assert [first.add(entry(name)) for name in "bac"] == [True, True, True]
    assert read(second) == ["b", "a", "c"]
    assert second.entries["a"] == first.entries["a"]


def test_adds_an_entry_once(opened: Opened, path: Path, said: list[str]) -> None:
    first, second = opened(), opened()
    assert first.add(entry("a", "one"))
    assert not second.add(entry("a", "two"))
    assert not first.add(entry("a", "three"))
    assert path.read_bytes().count(b"\n") == 1
    assert first.entries["a"].task == "one"
    assert said == []


def test_reads_what_others_append_meanwhile(opened: Opened) -> None:
    reader, writer = opened(), opened()
    for name in "abc":
        writer.add(entry(name))
        assert name in read(reader)
    assert reader.generation == opened().generation


def test_says_where_a_line_cannot_be_read_and_reads_the_others(
    opened: Opened, path: Path, said: list[str]
) -> None:
    opened().add(entry("a"))
    with path.open("ab") as stream:
        stream.write(b"<<<<<<< HEAD\n\n\xff\xfe\r\x00\n" + to_line(entry("b")) + b'{"v": 1}\n')
    assert read(opened()) == ["a", "b"]
    numbers = [text.removeprefix(f"{path}:").partition(":")[0] for text in said]
    assert numbers == ["2", "4", "6"]
    assert "passed over: Expecting value" in said[0]
    assert "'id' is a required property" in said[2]


def test_says_where_an_id_stands_twice_and_keeps_the_first(
    opened: Opened, path: Path, said: list[str]
) -> None:
    opened().add(entry("a", "first"))
    with path.open("ab") as stream:
        stream.write(to_line(entry("a", "second")))
    file = opened()
    assert read(file) == ["a"]
    assert file.entries["a"].task == "first"
    assert said == [f"{path}:2: this line is passed over: 'a' stands further up."]


@pytest.mark.parametrize("left", [1, 20, -1])
def test_removes_and_says_what_a_crash_left_of_a_line(
    opened: Opened, path: Path, said: list[str], left: int
) -> None:
    reader = opened()
    opened().add(entry("a"))
    rest = to_line(entry("b"))[: left if left > 0 else -2]
    with path.open("ab") as stream:
        stream.write(rest)
    assert read(reader) == ["a"]
    assert said == []  # another process may be at work on it
    opened().add(entry("c"))
    assert read(reader) == ["a", "c"] == read(opened())
    assert said == [
        f"{path}:2: {len(rest)} bytes of a line that a crash left unfinished were removed."
    ]


def test_ends_a_line_that_an_editor_did_not_end(
    opened: Opened, path: Path, said: list[str]
) -> None:
    opened().add(entry("a"))
    path.write_bytes(path.read_bytes() + to_line(entry("b")).rstrip(b"\n"))
    file = opened()
    assert not file.add(entry("b"))
    assert file.add(entry("c"))
    assert read(opened()) == ["a", "b", "c"]
    assert said == []


def test_follows_a_file_that_was_put_in_its_place(opened: Opened, path: Path) -> None:
    file = opened()
    for name in "abcdef":
        file.add(entry(name))
    lines = path.read_bytes().splitlines(keepends=True)
    before = file.generation

    path.write_bytes(b"".join(lines[:2]))  # an earlier state, shorter
    assert read(file) == ["a", "b"]
    path.write_bytes(b"".join(reversed(lines)) * 2)  # another one, longer
    assert read(file) == ["f", "e", "d", "c", "b", "a"]
    path.unlink()
    assert read(file) == []
    assert file.generation == before + 3
    file.add(entry("x"))
    assert read(file) == ["x"]


def test_can_be_read_where_it_cannot_be_written(
    opened: Opened, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened().add(entry("a"))
    monkeypatch.setattr(os, "access", lambda *_: False)  # the tests may run as root
    assert read(opened()) == ["a"]


def test_that_cannot_be_read_is_an_error(opened: Opened, path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(StorageError, match=r"experience\.jsonl: cannot be read: Is a directory"):
        read(opened())


PROGRAM = """
import sys
from pathlib import Path
from coterie.pool.experience import Experience
from coterie.pool.experience_file import ExperienceFile

file = ExperienceFile(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    for name in (f"{sys.argv[2]}-{number}", f"shared-{number}"):
        entry = Experience(id=name, kind="evolution", task="How many?", summary=sys.argv[2])
        print(int(file.add(entry)))
"""


def test_several_processes_append_each_entry_once(opened: Opened, path: Path) -> None:
    def work(name: str) -> list[str]:
        command = [sys.executable, "-c", PROGRAM, str(path), name, "25"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()

    with ThreadPoolExecutor(3) as pool:
        answers = [answer for answers in pool.map(work, "xyz") for answer in answers]
    assert len(answers) == 150
    assert answers.count("1") == 100
    ids = read(opened())
    assert len(ids) == 100 == path.read_bytes().count(b"\n")
    assert [one for one in ids if one.startswith("x")] == [f"x-{number}" for number in range(25)]


@pytest.mark.parametrize("place", ["before", "written", "after"])
def test_a_killed_process_leaves_a_file_that_goes_on(
    opened: Opened, path: Path, place: str
) -> None:
    command = [sys.executable, "-c", PROGRAM, str(path), "x", "9"]
    environment = {**os.environ, "MAS_FAILPOINT": f"files.append.{place}:5:kill"}
    killed = subprocess.run(command, check=False, capture_output=True, env=environment)
    assert killed.returncode == -9
    assert len(read(opened())) == (4 if place == "before" else 5)
    subprocess.run(command, check=True, capture_output=True)
    assert len(read(opened())) == 18

"""Files are written whole or not at all."""

import ast
import errno
import fcntl
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coterie.schema.values.errors import CoterieError, StorageError
from coterie.schema.values.files import (
    append,
    locked,
    make_folder,
    sync,
    truncate,
    write_atomically,
)

from ...support.failpoints import armed
from ...support.processes import at_once

ROOT = Path(__file__).parents[3]
FLOORS = ("schema", "runtime", "pool", "operators")


def test_a_file_is_written_as_it_is_given(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    write_atomically(path, "zwölf\n")
    assert path.read_bytes() == "zwölf\n".encode()
    assert path.stat().st_mode & 0o777 == 0o644
    assert [*tmp_path.iterdir()] == [path]


def test_a_file_that_was_there_keeps_who_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("old")
    path.chmod(0o600)
    write_atomically(path, "new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_has_its_name_after_what_it_follows_from_and_not_without(tmp_path: Path) -> None:
    def lost() -> None:
        raise StorageError("lost")

    path = tmp_path / "a.yaml"
    seen: list[bool] = []
    write_atomically(path, "old", after=lambda: seen.append(path.exists()))
    assert seen == [False]
    with pytest.raises(StorageError, match="lost"):
        write_atomically(path, "new", after=lost)
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("point", ["before", "flushed"])
def test_a_failure_leaves_what_was_there_and_nothing_else(tmp_path: Path, point: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("old")
    with (
        armed(f"files.write.{point}:1:raise-enospc"),
        pytest.raises(StorageError, match="No space left"),
    ):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]


def test_a_failure_to_flush_the_folder_leaves_the_new_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("old")
    with armed("files.sync.before:1:raise-eio"), pytest.raises(StorageError, match="Input/output"):
        write_atomically(path, "new")
    assert path.read_text() == "new"
    assert [*tmp_path.iterdir()] == [path]


def test_a_failure_says_which_file_and_why(tmp_path: Path) -> None:
    path = tmp_path / "no" / "a.yaml"
    with pytest.raises(StorageError) as raised:
        write_atomically(path, "new")
    assert str(raised.value) == f"{path}: cannot be written: No such file or directory."
    assert raised.value.errno == errno.ENOENT
    assert isinstance(raised.value, CoterieError)
    assert raised.value.exit_code == 1


def test_an_error_may_also_be_said_in_other_words() -> None:
    assert str(StorageError("a.jsonl: line 3 is damaged.")) == "a.jsonl: line 3 is damaged."


def test_appending_makes_a_file_and_adds_to_it(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    append(path, b"a\n")
    append(path, b"b\n")
    assert path.read_bytes() == b"a\nb\n"


def test_appending_a_part_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, content: write(handle, content[:3]))
    append(tmp_path / "lines", b"a long line\n")
    assert (tmp_path / "lines").read_bytes() == b"a long line\n"


@pytest.mark.parametrize("point", ["before", "written", "after"])
def test_what_cannot_be_appended_leaves_nothing(tmp_path: Path, point: str) -> None:
    path = tmp_path / "lines"
    append(path, b"a\n")
    with armed(f"files.append.{point}:1:raise-eio"), pytest.raises(StorageError, match="lines: "):
        append(path, b"b\n")
    assert path.read_bytes() == b"a\n"


def test_a_part_that_was_written_before_the_disk_was_full_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    parts = iter([3])

    def filling(handle: int, content: bytes) -> int:
        for part in parts:
            return write(handle, content[:part])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "lines"
    append(path, b"a\n")
    monkeypatch.setattr(os, "write", filling)
    with pytest.raises(StorageError, match="No space left"):
        append(path, b"a long line\n")
    assert path.read_bytes() == b"a\n"


def test_a_file_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"a\nb")
    truncate(path, 2)
    assert path.read_bytes() == b"a\n"


def test_a_folder_is_made_or_was_there(tmp_path: Path) -> None:
    for _ in range(2):
        make_folder(tmp_path / "teams")
    assert (tmp_path / "teams").is_dir()


@pytest.mark.parametrize(
    "work",
    [
        lambda path: append(path / "a", b""),
        lambda path: truncate(path / "a", 0),
        lambda path: sync(path / "a"),
        lambda path: make_folder(path / "a"),
        lambda path: locked(path / "a").__enter__(),
    ],
    ids=["append", "truncate", "sync", "make_folder", "locked"],
)
def test_whatever_fails_says_which_file(tmp_path: Path, work: Callable[[Path], None]) -> None:
    with pytest.raises(StorageError) as raised:
        work(tmp_path / "no")
    assert str(raised.value).startswith(f"{tmp_path / 'no' / 'a'}: ")


def test_a_lock_is_had_by_one_at_a_time(tmp_path: Path) -> None:
    inside = list[int]()
    most = list[int]()

    def work(number: int) -> None:
        for _ in range(20):
            with locked(tmp_path / "lock"):
                inside.append(number)
                most.append(len(inside))
                inside.remove(number)

    at_once(work, range(4))
    assert most == [1] * 80


def test_file_systems_without_locks_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", none)
    with (
        pytest.raises(StorageError, match=r"lock: .* No locks available"),
        locked(tmp_path / "lock"),
    ):
        pass


def test_an_error_of_what_is_done_under_the_lock_stays_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), locked(tmp_path / "lock"):
        (tmp_path / "no").read_text()


# What the tree has to keep to

WRITES_ITSELF = {
    "schema/values/files.py": "what all others use",
    "schema/values/beneath.py": "copies for agents to work on, and refs as git has them",
    "schema/command/__init__.py": "the null device, in place of a closed standard stream",
    "runtime/record/log_file.py": "the journal, of which nothing counts but whole lines",
    "runtime/calls/cache.py": "the cache, which SQLite writes",
    "runtime/record/trace.py": "events of a run, for reading only: nothing resumes from them",
    "runtime/repository/git.py": "what git says, in a file without a name",
    "runtime/repository/repository.py": "what git is shown in place of a repository's own settings",
    "runtime/repository/trees.py": "where work is merged, gone with the run",
    "runtime/repository/workspace.py": "what agents work on, gone with the run",
    "runtime/cluster/": "what agents work on, on another machine",
    "runtime/jail/": "what agents work on, and the walls around it",
    "runtime/otel/file.py": "traces for other programs: nothing resumes from them",
    "runtime/runners/": "copies of that for programs which others wrote",
    "runtime/local/": "the embedded model: checked by its digest, and fetched again",
    "pool/folder/agent_folders.py": "lines for people to read, made again from the ledger",
    "pool/embedding/": "vectors, which are made again from the text",
    "pool/folder/replacing.py": "copies of pools and evolutions, on disk before they are named",
    "pool/git/upkeep.py": "a copy of a damaged file for a person to look at",
}
"""Modules and folders that write without `schema.values.files`: what, and why that is right."""

OPENING = {"open", "fdopen", "FileIO"}
OF_PATHS = {"write_text", "write_bytes", "touch", "symlink_to", "hardlink_to"}
OF_MODULES = {
    "os": {"truncate", "link", "symlink", "mkfifo"},
    "shutil": {"copy", "copy2", "copyfile", "copytree", "move"},
    "sqlite3": {"connect"},
    "tempfile": {"mkstemp", "NamedTemporaryFile", "TemporaryFile", "SpooledTemporaryFile"},
}
CALLS = re.compile(rf"\b({'|'.join(OF_PATHS.union(*OF_MODULES.values(), OPENING))})\(")
"""What the text of a module has that makes a file."""
WRITING_FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_APPEND", "O_TRUNC"}


def writes(call: ast.Call) -> bool:
    """Whether a call makes a file, or opens one for writing."""
    match call.func:
        case ast.Attribute(value=ast.Name(id=module), attr=name) if name in OF_MODULES.get(
            module, ()
        ):
            return True
        case ast.Attribute(attr=name) if name in OF_PATHS:
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in OPENING:
            values = [*call.args, *(keyword.value for keyword in call.keywords)]
            return any(for_writing(value) for value in values)
        case _:
            return False


def for_writing(value: ast.expr) -> bool:
    """Whether an argument is a mode or flags that let a file be written."""
    if isinstance(value, ast.Constant):
        mode = str(value.value)
        return set(mode) <= set("rwxabt+") and bool(set(mode) & set("wxa+"))
    flags = {node.attr for node in ast.walk(value) if isinstance(node, ast.Attribute)}
    return bool(flags & WRITING_FLAGS)


def writers() -> Iterator[str]:
    for floor in FLOORS:
        for path in sorted((ROOT / floor).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            tree = ast.parse(text if CALLS.search(text) else "")
            if any(writes(node) for node in ast.walk(tree) if isinstance(node, ast.Call)):
                yield path.relative_to(ROOT).as_posix()


def test_state_is_written_here_and_nowhere_else() -> None:
    texts = list(writers())
    assert [name for name in texts if not name.startswith(tuple(WRITES_ITSELF))] == []
    assert [
        name for name in WRITES_ITSELF if not any(word.startswith(name) for word in texts)
    ] == []

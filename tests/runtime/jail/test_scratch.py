"""Scratch folders: gone with their owner, also when it is killed."""

import errno
import fcntl
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from coterie.runtime.jail.scratch import ScratchFolder, sweep
from coterie.schema import JailError

OWNER = """
from coterie.runtime.jail.scratch import ScratchFolder
folder = ScratchFolder("test")
(folder.path / "closed").mkdir(mode=0o000)
print(folder.path, flush=True)
input()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where these tests make temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_is_its_owners_alone_and_gone_after_use(temporary: Path) -> None:
    with ScratchFolder("test") as folder:
        assert folder.path.parent == temporary.resolve()
        assert folder.path.stat().st_mode & 0o077 == 0
        (folder.path / "inner").mkdir()
        sweep()
        assert (folder.path / "inner").is_dir()
    assert list(temporary.iterdir()) == []
    folder.close()


def test_what_a_killed_owner_left_is_swept_and_not_before(temporary: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(temporary)},
    ) as owner:
        assert owner.stdout is not None
        path = Path(owner.stdout.readline().strip())
        sweep()
        assert path.is_dir()
        owner.kill()
    assert path.is_dir()
    sweep()
    assert list(temporary.iterdir()) == []


def test_nothing_else_is_swept(temporary: Path) -> None:
    outside = temporary / "outside"
    outside.mkdir()
    (outside / "file").touch()
    (temporary / "coterie-test.aaaaaaaa").symlink_to(outside)
    (temporary / "coterie-test.bbbbbbbb").touch()
    (temporary / "coterie-test").mkdir()
    (temporary / "coterie-other-abcdefgh").mkdir()
    names = {path.name for path in temporary.iterdir()}
    sweep()
    assert {path.name for path in temporary.iterdir()} == names
    assert (outside / "file").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder somebody else's")
def test_what_another_user_left_stays(temporary: Path) -> None:
    path = temporary / "coterie-test.aaaaaaaa"
    path.mkdir()
    os.chown(path, 12345, 12345)
    sweep()
    assert path.is_dir()


@pytest.mark.parametrize("moment", ["while", "before"])
def test_a_folder_that_a_sweep_takes_at_birth_is_not_used(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    lock = fcntl.flock
    taken: list[Path] = []

    def swept_first(handle: int, how: int) -> None:
        if not taken:
            taken.extend(temporary.iterdir())
            taken[0].rmdir()
            if moment == "while":
                raise BlockingIOError
        lock(handle, how)

    monkeypatch.setattr(fcntl, "flock", swept_first)
    with ScratchFolder("test") as folder:
        assert taken != [folder.path]
        assert folder.path.is_dir()


def test_without_locks_nothing_is_swept(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(fcntl, "flock", refuse)
    (temporary / "coterie-test.aaaaaaaa").mkdir()
    with ScratchFolder("test") as folder:
        sweep()
        assert len(list(temporary.iterdir())) == 2
        assert folder.path.is_dir()


def test_without_a_folder_it_says_so(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(temporary / "missing"))
    with pytest.raises(JailError, match="No temporary folder can be made"):
        ScratchFolder("test")

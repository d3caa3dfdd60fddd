"""Files are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coterie.schema.files import write_atomically


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


def test_a_failure_leaves_what_was_there_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "a.yaml"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]

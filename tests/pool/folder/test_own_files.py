"""What a pool is made of lies in its folder."""

import os
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from coterie.pool import Pool


def test_a_file_renamed_meanwhile_is_fine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Pool.init(tmp_path, ["seed:direct"])
    temporary = tmp_path / "teams" / ".next.yaml.x1"
    temporary.touch()
    scan = os.scandir

    def scan_then_rename(
        folder: str | os.PathLike[str] | int,
    ) -> AbstractContextManager[list[os.DirEntry[str]]]:
        with scan(folder) as entries:
            listed = list(entries)
        if folder == temporary.parent:
            temporary.unlink(missing_ok=True)
        return nullcontext(listed)

    monkeypatch.setattr(os, "scandir", scan_then_rename)
    assert [*Pool.open(tmp_path).members] == ["direct"]

"""Cold starts are measured on the real programs."""

import os
import sys
from pathlib import Path

import pytest

from coterie.schema import RunError
from studies.cold_starts import AIMS, main, until_its_end
from studies.engine.__main__ import Subject


def test_a_command_that_fails_is_no_figure() -> None:
    with pytest.raises(RunError, match="exit code 3"):
        until_its_end([sys.executable, "-c", "raise SystemExit(3)"], os.environ)


def test_every_aim_has_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--runs", "1"], standalone_mode=False)
    table = capsys.readouterr().out
    assert all(f"| {name} | " in table for name in AIMS)


class Peer(Subject):
    def python(self, name: str) -> Path:
        del name
        return Path(sys.executable)


def test_a_peer_finds_what_its_program_imports(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    peers = {"ours": Peer(module="coterie_engine", packages=("coterie",))}
    monkeypatch.setattr("studies.cold_starts.SUBJECTS", peers)
    main(["--runs", "1"], standalone_mode=False)
    assert "| ours, imported | " in capsys.readouterr().out

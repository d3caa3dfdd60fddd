"""Which packages of the host agents' commands find."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from coterie.runtime.runners.programs import host_programs

if TYPE_CHECKING:
    import pytest


def test_the_active_virtual_environment_is_readable_and_its_programs_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "python" / "bin").mkdir(parents=True)
    (tmp_path / "python" / "lib").mkdir()
    environment = tmp_path / "environment"
    (environment / "bin").mkdir(parents=True)
    (environment / "pyvenv.cfg").write_text(f"home = {tmp_path}/python/bin\n", "utf-8")
    monkeypatch.setenv("VIRTUAL_ENV", str(environment))
    granted = host_programs()
    assert granted["readable"] == (
        environment, tmp_path / "python" / "bin", tmp_path / "python" / "lib"
    )  # fmt: skip
    assert granted["environment"]["PATH"].startswith(
        f"{environment}/bin:{tmp_path}/python/bin:/usr/local/bin:"
    )


def test_without_an_active_one_it_is_the_one_that_we_run_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    expected = () if sys.prefix == sys.base_prefix else (Path(sys.prefix),)
    assert host_programs().get("readable", ()) == expected


def test_without_any_nothing_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", sys.base_prefix)
    assert host_programs() == {}
    monkeypatch.setenv("VIRTUAL_ENV", "/nowhere")
    assert host_programs() == {}

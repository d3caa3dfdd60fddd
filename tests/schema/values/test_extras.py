"""How a missing extra is told."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from coterie.runtime.command.run import main
from coterie.schema.command import main as mas
from coterie.schema.values.extras import how_to_get

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("has_pip", [True, False])
def test_the_command_is_one_that_this_environment_has(
    has_pip: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coterie.schema.values.extras.find_spec", lambda _: has_pip or None)
    command = "pip install 'coterie[mcp]'"
    assert how_to_get("mcp") == (command if has_pip else f"uv {command} --python {sys.prefix}")


def test_a_team_without_its_backend_loads_and_is_refused_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "minisweagent", None)
    said = f"mini-swe-agent, which is not installed. Run: {how_to_get('mini-swe-agent')}"
    assert CliRunner().invoke(mas, ["validate", "seed:code_repair"]).exit_code == 0
    words = ["seed:code_repair", "-q", "hi", "--model", "m@http://127.0.0.1:9/v1"]
    assert said in CliRunner().invoke(main, [*words, "--dry-run"]).stdout
    done = CliRunner().invoke(main, [*words, "--unsafe-local"])
    assert done.exit_code == 2
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []

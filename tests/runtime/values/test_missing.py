"""Programs of others that a machine may lack: one sentence each, and bad input."""

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import coterie.runtime
from coterie.runtime.repository import git as running
from coterie.runtime.repository.git import git
from coterie.schema.command import Command

SOURCES = Path(coterie.runtime.__file__).parents[1]
FOLDERS = ("benchmarks", "operators", "pool", "runtime", "schema")


@pytest.fixture
def without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(running.ENVIRONMENT, "PATH", str(tmp_path))


@pytest.mark.usefixtures("without_git")
def test_a_command_that_needs_git_says_so_and_ends_as_for_bad_input(tmp_path: Path) -> None:
    @click.command(cls=Command)
    def command() -> None:
        git(tmp_path, "init", "--quiet")

    done = CliRunner().invoke(command)
    assert done.exit_code == 2
    assert done.output == (
        "error: git is needed (init), and is not installed. Install it with this system's"
        " packages.\n"
    )


def test_without_uv_environments_of_peers_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    from studies.engine import __main__ as engine

    monkeypatch.setattr(engine, "find_uv", lambda: None)
    done = CliRunner().invoke(engine.main, ["--subjects", "langgraph", "--install"])
    assert done.exit_code == 2, done.output
    assert "uv makes the environments of the peers, and is not installed" in done.output


def test_git_is_started_in_one_place() -> None:
    """Whoever starts it elsewhere would have to say anew that it is not there."""
    starting = {
        path.relative_to(SOURCES).as_posix()
        for folder in FOLDERS
        for path in (SOURCES / folder).rglob("*.py")
        if re.search(r'\[\s*"(git|uv|pip)"', path.read_text(encoding="utf-8"))
    }
    assert starting == {"runtime/repository/git.py"}

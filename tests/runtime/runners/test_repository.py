"""What agents that can edit hand in."""

from collections.abc import Callable
from pathlib import Path

import pytest

from coterie.runtime.repository.changes import RepositoryChange
from coterie.runtime.repository.workspace import Workspaces
from coterie.runtime.runners._repository import handed_patch
from coterie.schema import Agent, AgentError, Task

from ..merging import start_repository
from .conftest import assignment


def on_the_line(file: Path, agent: str) -> None:
    file.write_bytes(file.read_bytes().replace(b"line 7", f"line 7 {agent}".encode()))


def elsewhere(file: Path, agent: str) -> None:
    on_the_line(file, agent)
    file.rename(file.with_name(f"of {agent}"))


@pytest.mark.parametrize(
    ("edit", "end", "marker"),
    [
        (on_the_line, "\n", "<<<<<<< by/ann"),
        (on_the_line, "\r\n", "<<<<<<< by/ann"),
        (elsewhere, "\n", "<<<<<<<< by/ann:of ann"),
    ],
)
def test_no_form_of_a_marker_is_handed_in(
    tmp_path: Path, edit: Callable[[Path, str], None], end: str, marker: str
) -> None:
    lines = "".join(f"line {number}{end}" for number in range(20)).encode()
    repository = start_repository(tmp_path / "repository", {"code": lines})
    with Workspaces(Task(id="t", query="?", repo=repository)) as home:
        changes: list[RepositoryChange] = []
        for agent in ("ann", "bob"):
            workspace = home.of(agent, 1)
            edit(workspace.path / "code", agent)
            changes.append(RepositoryChange(agent=agent, patch=workspace.diff()))
        given = assignment(Agent(id="end"), None, home, start=changes)
        with pytest.raises(AgentError) as failed:
            handed_patch(given)
    assert f"{marker!r} is still there" in str(failed.value)

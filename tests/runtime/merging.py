"""Repositories that many work on: with our workspaces, and with nothing but git, as the judge."""

import asyncio
import os
import re
import stat
import subprocess
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, cast

from coterie.runtime import (
    AgentOutcome,
    Journal,
    Run,
    Trace,
    compile,
    execute,
    perform,
)
from coterie.runtime.record.trace import Event
from coterie.runtime.repository.changes import RepositoryChange, newest, passed_on
from coterie.runtime.repository.workspace import Workspaces
from coterie.runtime.runners import AgentResult, Assignment
from coterie.schema import Catalogue, Model, Task, Team

from ..support.performing import performed
from .conftest import Scripted

__all__ = [
    "MARKED",
    "Edit",
    "Said",
    "Studio",
    "Topology",
    "contents",
    "judged",
    "start_repository",
    "walked",
    "worked",
]

Topology = Mapping[str, tuple[str, ...]]
"""Whose reports each agent sees, in Kahn order."""
Edit = Callable[[Path, str], None]
"""What an agent does in a folder."""
Contents = frozenset[tuple[str, str, bytes]]
Seen = Mapping[str, tuple[Contents, Contents]]
"""What each coder found, and what it left."""
Said = Callable[[Assignment], str]
"""What an agent says of its assignment."""
BRANCH = "base"
MARKED = re.compile(rb"^(<{7,}|>{7,}) .*$", re.MULTILINE)
QUIET = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TEMPLATE_DIR": "",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "maintenance.auto",
    "GIT_CONFIG_VALUE_0": "false",
    **{f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


def plain(folder: Path, *words: str) -> str:
    """Run git as a person would."""
    done = asked(folder, *words)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def asked(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Run git, which may say no."""
    return subprocess.run(["git", *words], cwd=folder, env=QUIET, capture_output=True, check=False)


def start_repository(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Make a repository with one commit."""
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    plain(folder, "init", "--quiet", f"--initial-branch={BRANCH}")
    commit_all(folder, "1")
    plain(folder, "repack", "-d", "--quiet")  # copies of it have fewer files
    return folder


def contents(folder: Path) -> Contents:
    """Return name, kind and content of all files, but how git calls the sides of a conflict."""
    return frozenset(_contents(folder))


def _contents(folder: Path) -> Iterator[tuple[str, str, bytes]]:
    for path in walked(folder):
        name = re.sub(r"~.*", "~", str(path.relative_to(folder)))
        if path.is_symlink():
            yield name, "link", os.fsencode(path.readlink())
        elif not path.is_dir():
            kind = "program" if path.stat().st_mode & stat.S_IXUSR else "file"
            yield name, kind, MARKED.sub(rb"\1", path.read_bytes())


def walked(folder: Path) -> Iterator[Path]:
    """Yield all that is in a working copy, what is deeper first."""
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            if entry.name == ".git":
                continue
            yield from walked(entry)
        yield entry


def worked(
    home: Workspaces, topology: Topology, coders: Mapping[str, Edit], attempt: int = 1
) -> Seen:
    """Have coders work in our workspaces, and others pass on what they got."""
    passed: dict[str, tuple[RepositoryChange, ...]] = {}
    seen: dict[str, tuple[Contents, Contents]] = {}
    for agent, sees in topology.items():
        start, patch = newest(change for see in sees for change in passed[see]), None
        if agent in coders:
            workspace = home.of(agent, attempt, start)
            result = contents(workspace.path)
            coders[agent](workspace.path, agent)
            patch, seen[agent] = workspace.diff(), (result, contents(workspace.path))
        passed[agent] = passed_on(agent, patch, start)
    return seen


def judged(repository: Path, topology: Topology, coders: Mapping[str, Edit]) -> Seen:
    """Have them do the same on branches, which `git merge` merges."""
    passed: dict[str, list[str]] = {}
    seen: dict[str, tuple[Contents, Contents]] = {}
    base = (repository / ".git" / "refs" / "heads" / BRANCH).read_text("ascii").strip()
    for agent, sees in topology.items():
        reached = list(dict.fromkeys(commit for see in sees for commit in passed[see]))
        if len(reached) > 1:
            kept = {*plain(repository, "merge-base", "--independent", *reached).split()}
            reached = [name for name in reached if name in kept]
        passed[agent] = reached
        if agent not in coders:
            continue
        first, *others = reached or [base]
        check_out(repository, first)
        for other in others:
            if asked(repository, "merge", "--quiet", "--no-edit", "--no-ff", other).returncode:
                commit_all(repository, "m")
        result = contents(repository)
        coders[agent](repository, agent)
        commit_all(repository, agent)
        seen[agent] = (result, contents(repository))
        passed[agent] = [head_of(repository)]
    return seen


def check_out(repository: Path, commit: str) -> None:
    """Have a working copy, all of which is committed, as it is in a commit."""
    if head_of(repository) != commit:
        plain(repository, "checkout", "--quiet", "--detach", commit)
    for folder in filter(Path.is_dir, walked(repository)):
        with suppress(OSError):
            folder.rmdir()  # an empty one, of which git knows nothing


def commit_all(repository: Path, message: str) -> None:
    """Commit all that is in a working copy."""
    plain(repository, "add", "--all")
    plain(repository, "commit", "--quiet", "--allow-empty", "--message", message)


def head_of(repository: Path) -> str:
    """Return the commit that a working copy is at, or the branch, where it is at one."""
    return (repository / ".git" / "HEAD").read_text("ascii").strip()


class Studio:
    """Runs teams whose coders do as they are told in their copies of a repository.

    Args:
        repository: What they work on; None for nothing.
        parts: What each agent does: an edit, or what it says of its assignment. Agents without a
            part are run as they are.
    """

    def __init__(self, repository: Path | None, parts: Mapping[str, Edit | Said]) -> None:
        self.task = Task(id="task", query="?", repo=repository)
        self.parts = parts
        self.begun: list[str] = []
        self.events: list[Event] = []
        self.results: dict[str, dict[str, bytes]] = {}

    def run(self, team: Team, *, folder: Path | None = None) -> Run:
        """Run a team to its end, with the journal of a folder where there is one."""
        return asyncio.run(self._run(team, perform, folder))

    def one_pass(self, team: Team, given: Mapping[str, AgentOutcome]) -> Run:
        """Have those work once whose outcomes are not given."""
        return asyncio.run(self._run(team, partial(execute, preset=given), None))

    async def _run(
        self, team: Team, how: Callable[..., Awaitable[Run]], folder: Path | None
    ) -> Run:
        models = {"default": Model(alias="default", model="m", api_base="http://127.0.0.1:9/v1")}
        plan = compile(team, Catalogue.of_host(models=models))
        agents = {
            item: replace(planned, runner=cast("Any", Scripted(self.done)))
            if item in self.parts
            else planned
            for item, planned in plan.agents.items()
        }
        with Journal.open(folder) if folder else nullcontext() as journal:
            plan, trace = replace(plan, agents=agents), Trace(self.events.append)
            calling = {"journal": journal}
            return await performed(plan, self.task, models, how=how, calling=calling, trace=trace)

    async def done(self, assignment: Assignment) -> AgentResult:
        """Do an agent's part."""
        part = self.parts[assignment.agent.id]
        self.begun.append(assignment.agent.id)
        if len(signature(part).parameters) == 2:  # of an edit: where, and who
            return self._edited(assignment, cast("Edit", part))
        return AgentResult(content=cast("Said", part)(assignment))

    def _edited(self, assignment: Assignment, edit: Edit) -> AgentResult:
        path = assignment.workspace.path
        self.results[assignment.agent.id] = {
            str(item.relative_to(path)): item.read_bytes()
            for item in path.glob("*")
            if item.is_file()
        }
        edit(path, assignment.agent.id)
        patch = assignment.workspace.diff()
        return AgentResult(content=patch, patch=patch)

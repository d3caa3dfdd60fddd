"""What agents leave in the folder of a run: nothing of it runs where somebody looks at it."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from coterie.runtime.engine.artifacts import Keeping
from coterie.runtime.record.trace import RunFolder, kept_in

from ..support.shares import every

SPELLINGS = {
    ".git": (
        ".git", ".GIT", ".Git", ".git.", ".git ", ".git . ", ".gi\u200ct", ".\uff47it",
        ".git::$DATA", "git~1",
    ),
    "HEAD": ("HEAD", "head", "Head", "HEAD.", "HEAD "),
}  # fmt: skip
PLACES = ("", "out/", "out/deep/down/")
RAN = "ran"
OTHERS = (
    ".envrc", ".env", ".direnv/a", ".mise.toml", "mise.toml", "mise.local.toml",
    ".mise/config.toml", ".config/mise/config.toml", ".tool-versions", ".rvmrc", ".autoenv",
    ".vscode/tasks.json", ".VSCode/settings.json", ".idea/workspace.xml",
    ".devcontainer/devcontainer.json", ".devcontainer.json", ".husky/pre-commit",
    ".hg/hgrc", ".svn/entries", ".jj/repo/config.toml",
    ".exrc", ".dir-locals.el", ".cursor/mcp.json", ".claude/settings.json", ".mcp.json",
    "desktop.ini",
)  # fmt: skip
TRAPS = {
    *SPELLINGS[".git"],
    *SPELLINGS["HEAD"],
    *(name.removeprefix(".config/").split("/")[0] for name in OTHERS),
}
HARMLESS: tuple[str, ...] = (
    "Makefile", "package.json", "conftest.py", ".python-version", ".gitignore", "HEADER",
    "head.txt", "objects/a", "refs/b", "config", "env", "git/a.py", "environment/.envoy", "mise.md",
    "a.kept",
)  # fmt: skip


def config(program: Path) -> bytes:
    """Name a program that git runs to learn what has changed."""
    text = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n"
    return f"{text}\tfsmonitor = {program}\n".encode()


def bare(head: str, place: str, program: Path, more: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of a repository without a `.git`."""
    files = {
        head: b"ref: refs/heads/main\n",
        "config": config(program),
        "objects/a": b"",
        "refs/b": b"",
        **more,
    }
    return {f"{place}{name}": content for name, content in files.items()}


def planted(program: Path) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Yield the files that an agent may leave, by what they are."""
    commondirs = {"": {}, "commondir": {"commondir": b"common\n"}, "itself": {"commondir": b".\n"}}
    for head in SPELLINGS["HEAD"]:
        for place in PLACES:
            for name, more in commondirs.items():
                yield f"bare {place}{head} {name}", bare(head, place, program, more)
    for control in SPELLINGS[".git"]:
        for place in PLACES:
            inner = bare("HEAD", f"{place}{control}/", program, {})
            yield f"folder {place}{control}", inner
            pointer = {f"{place}{control}": b"gitdir: store\n"}
            yield f"file {place}{control}", bare("HEAD", f"{place}store/", program, pointer)
    yield "tools", {f"out/{number}/{name}": b"touch ran\n" for number, name in enumerate(OTHERS)}


PLANTED = [name for name, _ in planted(Path("program"))]
"""The tools stand last; so each spelling is among a fifth of all, and each place."""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program"
    path.write_text(f"#!/bin/sh\necho {RAN} >> {tmp_path}/{RAN}\n")
    path.chmod(0o755)
    return path


def look(folder: Path) -> None:
    """Ask git for the state of a folder and of all that are in it, as prompts of shells do."""
    own = {"HOME": str(folder), "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", **own}
    for place, _, _ in os.walk(folder):
        subprocess.run(
            ["git", "status"], cwd=place, env=environment, capture_output=True, check=False
        )


@pytest.mark.parametrize("name", [*every(5, PLANTED[:-1]), PLANTED[-1]])
def test_no_program_runs_where_agents_left_it(name: str, tmp_path: Path, program: Path) -> None:
    files = dict(planted(program))[name]
    run = tmp_path / "run"
    run.mkdir()
    names = Keeping(folder=RunFolder(run, str))("coder", files)
    look(run)
    assert not (tmp_path / RAN).exists()
    assert [f"artifacts/coder/{item}" for item in sorted(names)] == kept_in(run)
    assert len(names) == len(files)
    parts = {part for item in names for part in item.split("/")}
    assert not parts & TRAPS


@pytest.mark.parametrize("place", PLACES)
def test_the_program_runs_where_names_are_as_the_agent_gave_them(
    place: str, tmp_path: Path, program: Path
) -> None:
    for name, content in bare("HEAD", f"run/{place}", program, {}).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    look(tmp_path / "run")
    assert (tmp_path / RAN).exists()


def test_what_runs_only_when_somebody_asks_for_it_keeps_its_name(tmp_path: Path) -> None:
    files = dict.fromkeys(HARMLESS, b"")
    assert Keeping(folder=RunFolder(tmp_path, str))("coder", files) == [*HARMLESS]

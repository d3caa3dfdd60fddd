"""The files and folders of a pool."""

from __future__ import annotations

from pathlib import Path

from ...schema.loading.agent_document import AGENT, LESSONS
from ...schema.values.errors import InputError
from ...schema.values.files import make_folder, write_atomically

TEAMS = "teams"
AGENTS = "agents"
LEDGER = "ledger.jsonl"
SCAFFOLD = "scaffold"
"""The folder of the team that is the pool's head, if it has one."""
EVOLUTIONS = "evolutions"
"""The folder with one folder per evolution of the pool, whose `MANIFEST` has its initial
settings."""
MANIFEST = "evolution.json"
TURNS = "turns.jsonl"
"""The journal of an evolution, with a line for each of its tasks."""
MEMORY = "memory"
"""The folder of vectors, which can be rebuilt."""
SNAPSHOTS = ".cache"
"""The folder with cached states of the ledger, which can be rebuilt at any time; git ignores it."""
LOCK = ".pool.lock"
"""The lock for adding teams and agents; appending to the ledger takes the ledger's own lock."""
PENDING = ".seeds.pending"
"""A marker that exists while a new pool adds its initial teams. If a crash leaves it behind, some
of them may be missing."""
GITATTRIBUTES = """\
# Lines are only added, so git merges branches by keeping those of both.
*.jsonl merge=union
# What happened, line by line: too long for a diff. git diff --text shows it.
ledger.jsonl -diff linguist-generated
turns.jsonl -diff linguist-generated
teams/*.yaml diff=team
"""
PASSING = (".*.lock", ".*.pending", ".*.yaml.*", ".*.json.*", ".*.jsonl.*", ".*.md.*")
"""Patterns of lock files, and of files that a crash left."""
GITIGNORE = "\n".join(
    (
        "# What can be made anew, what says who is at work, and what a crash left.",
        f"{SNAPSHOTS}/",
        *PASSING,
        "",
    )
)


def file_of(name: str) -> str:
    """Return the path of a team's file in the pool's folder."""
    return f"{TEAMS}/{name}.yaml"


def agent_file_of(name: str) -> str:
    """Return the path of an agent's file in the pool's folder."""
    return f"{AGENTS}/{name}/{AGENT}"


def archive_of(name: str) -> str:
    """Return the path of an agent's memory in the pool's folder."""
    return f"{AGENTS}/{name}/{LESSONS}"


def has_begun(folder: Path) -> bool:
    """Return whether a pool exists, with all its initial teams."""
    return (folder / LEDGER).exists() and not (folder / PENDING).exists()


def make_folders(folder: Path) -> None:
    """Create a pool's missing folders and git files.

    Raises:
        InputError: A folder cannot be created, or there are teams without a ledger.
        StorageError: The folder cannot be written.
    """
    if not (folder / LEDGER).exists() and any(folder.glob(file_of("[!.]*"))):
        raise InputError(
            f"{folder / TEAMS} has teams, but {folder / LEDGER} is missing. If this was a pool,"
            " restore its ledger; otherwise, choose another folder."
        )
    try:
        (folder / TEAMS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be created: {error.strerror}.") from None
    make_folder(folder)
    make_folder(folder / TEAMS)
    for name, text in ((".gitignore", GITIGNORE), (".gitattributes", GITATTRIBUTES)):
        if not (folder / name).exists():
            write_atomically(folder / name, text)

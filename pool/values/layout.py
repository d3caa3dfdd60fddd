"""What a pool's folder holds, and where."""

from __future__ import annotations

from pathlib import Path

from ...schema.loading.agent_document import AGENT, LESSONS
from ...schema.values.errors import InputError
from ...schema.values.files import make_folder, write_atomically

TEAMS = "teams"
AGENTS = "agents"
LEDGER = "ledger.jsonl"
SCAFFOLD = "scaffold"
"""The folder of the team that is the pool's head, where it has one."""
EVOLUTIONS = "evolutions"
"""Where each evolution of the pool has a folder, with what it was begun with in `MANIFEST`."""
MANIFEST = "evolution.json"
TURNS = "turns.jsonl"
"""What an evolution says of each of its tasks, a line each."""
MEMORY = "memory"
"""The folder of vectors, which can be made anew."""
SNAPSHOTS = ".cache"
"""Where the state of the ledger is kept, to be made anew at any time; git ignores it."""
LOCK = ".pool.lock"
"""Held by who adds teams and agents; whoever appends to the ledger holds the ledger's own."""
PENDING = ".seeds.pending"
"""There while a new pool takes in the teams that it begins with. A crash may leave it behind: then
some of them may be missing."""
GITATTRIBUTES = """\
# Lines are only added, so git merges branches by keeping those of both.
*.jsonl merge=union
# What happened, line by line: too long for a diff. git diff --text shows it.
ledger.jsonl -diff linguist-generated
turns.jsonl -diff linguist-generated
teams/*.yaml diff=team
"""
PASSING = (".*.lock", ".*.pending", ".*.yaml.*", ".*.json.*", ".*.jsonl.*", ".*.md.*")
"""Patterns of what says who is at work, and of what a crash left."""
GITIGNORE = "\n".join(
    (
        "# What can be made anew, what says who is at work, and what a crash left.",
        f"{SNAPSHOTS}/",
        *PASSING,
        "",
    )
)


def file_of(name: str) -> str:
    """Name a team's file, relative to the pool's folder."""
    return f"{TEAMS}/{name}.yaml"


def agent_file_of(name: str) -> str:
    """Name an agent's file, relative to the pool's folder."""
    return f"{AGENTS}/{name}/{AGENT}"


def archive_of(name: str) -> str:
    """Name the file with what an agent has learnt, relative to the pool's folder."""
    return f"{AGENTS}/{name}/{LESSONS}"


def has_begun(folder: Path) -> bool:
    """Return whether a pool is there, with all the teams that it was to begin with."""
    return (folder / LEDGER).exists() and not (folder / PENDING).exists()


def make_folders(folder: Path) -> None:
    """Make what a pool stands in, where it is missing.

    Raises:
        InputError: A folder cannot be made, or there are teams without a ledger.
        StorageError: The folder cannot be written.
    """
    if not (folder / LEDGER).exists() and any(folder.glob(file_of("[!.]*"))):
        raise InputError(
            f"{folder / TEAMS} has teams, but {folder / LEDGER} is missing. If this was a pool,"
            " restore its ledger; else choose another folder."
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

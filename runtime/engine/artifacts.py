"""What agents write into their workspaces beside their answers: files, kept with the run."""

from __future__ import annotations

import asyncio
import re
import shutil
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Protocol

from ...schema.values import beneath
from ..repository.workspace import files_of
from ..scrubbing.scrubber import holds_secret
from ..tools.confined import Walk, open_folder, read_bytes
from ..tools.tool import ToolError

if TYPE_CHECKING:
    from pathlib import Path

    from ..record.trace import RunFolder
    from ..repository.workspace import Workspace

ARTIFACTS = "artifacts"
"""The folder, in that of a run, with what agents wrote."""
MOST_FILES = 100
MOST_BYTES = 20 << 20
"""Bytes of all files of one agent that are kept."""
BY_PRODUCTS = frozenset({"__pycache__"})
ENDING = ".kept"
"""What is appended to names by which everyday tools act upon an agent's files.

Some programs run what a folder says as soon as somebody enters it, opens it or asks for its state:
version control (a prompt of a shell asks, too), direnv and its like, editors. Files that run only
when somebody asks for it, such as a Makefile, package.json or conftest.py, keep their names.
"""
VERSION_CONTROL = frozenset(
    {
        # Of `HEAD`, `refs` and `objects`, git takes any folder for a repository of its own, whose
        # config may name programs. Without a HEAD none is, be there a `commondir` or not.
        "head", ".git", ".hg", ".svn", ".bzr", ".jj", ".sl", ".pijul", "_darcs", "cvs",
        ".husky",
    }
)  # fmt: skip
SHELLS = frozenset(
    {
        ".envrc", ".direnv", ".env", ".autoenv", ".autoenv.zsh", ".autoenv_leave.zsh",
        ".smartcd_enter", ".smartcd_leave", ".shadowenv.d", ".rvmrc", ".tool-versions",
        ".mise", "mise", ".hermit",
    }
)  # fmt: skip
EDITORS = frozenset(
    {
        ".vscode", ".idea", ".devcontainer", ".devcontainer.json", ".fleet", ".zed", ".vs",
        ".cursor", ".windsurf", ".claude", ".gemini", ".codex", ".mcp.json", ".exrc", ".vimrc",
        ".nvimrc", ".nvim.lua", ".dir-locals.el", ".dir-locals-2.el", ".lvimrc",
    }
)  # fmt: skip
FILE_MANAGERS = frozenset({"autorun.inf", "desktop.ini", ".directory"})
TRAPS = VERSION_CONTROL | SHELLS | EDITORS | FILE_MANAGERS
PATTERNS = re.compile(r"git~\d+|\.?(mise|rtx)(\.[^.]+)*\.toml")


class Keep(Protocol):
    """Keeps the files of an agent, in place of what it wrote before."""

    def __call__(self, agent: str, files: Mapping[str, bytes], /) -> list[str]:
        """Keep them, and name those that were, as they are kept; see `inert_names`.

        Raises:
            StorageError: They cannot be written.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Keeping:
    """Keeps files in a folder: a folder for each agent; see `Keep`.

    Attributes:
        folder: Where; it says what a secret is. A file that holds one is not kept.
        place: The folder in it for these agents.
    """

    folder: RunFolder
    place: str = ARTIFACTS

    def __call__(self, agent: str, files: Mapping[str, bytes], /) -> list[str]:
        """Keep them; see `Keep`."""
        place = f"{self.place}/{agent}"
        shutil.rmtree(self.folder.path / place, ignore_errors=True)
        names = inert_names(files)
        saved: list[str] = []
        for path, content in files.items():
            if not holds_secret(content, self.folder.scrub):
                self.folder.keep(f"{place}/{names[path]}", content)
                saved.append(names[path])
        return saved


def kept_in(folder: Path, place: str = ARTIFACTS) -> list[str]:
    """Name the files that are kept there, by their paths in the folder.

    Args:
        folder: The folder of a run, or of an evaluation.
    """
    try:
        with beneath.open_folder(folder, place.split("/")) as opened:
            texts = [entry.path for entry in beneath.walk(opened) if entry.kind == "file"]
    except FileNotFoundError:
        return []
    return sorted(f"{place}/{path}" for path in texts)


async def keep_written(
    agent: str, workspace: Workspace, keep: Keep | None
) -> Mapping[str, Any] | None:
    """Keep what an agent wrote beside a task without a repository; say what it is.

    Args:
        keep: Who keeps files. None: nobody.

    Returns:
        The names of the files that are kept, which of them have another name than the agent gave
        them, and how many were left out; None where it wrote none.
    """
    if keep is None or workspace.has_repository or not workspace.is_made:
        return None
    try:
        files, left_out = await asyncio.to_thread(_written, workspace)
    except ToolError:  # whoever worked there took the folder away
        files, left_out = {}, 1
    if not files and not left_out:
        return None
    saved = await asyncio.to_thread(keep, agent, files)
    renamed = [name for name in saved if name not in files]
    return {
        "files": saved,
        "left_out": left_out + len(files) - len(saved),
        **({"renamed": renamed} if renamed else {}),
    }


def _written(workspace: Workspace) -> tuple[dict[str, bytes], int]:
    """Read the regular files that the task did not bring, as many as are kept."""
    files: dict[str, bytes] = {}
    walk, left_out, room = Walk(), 0, MOST_BYTES
    originals = files_of(workspace.home.task)
    with open_folder(workspace.path, ()) as folder:
        for path, inner, name in walk.files(folder):
            if not BY_PRODUCTS.isdisjoint(PurePosixPath(path).parts):
                continue
            try:
                content = read_bytes(inner, name, path)
            except ToolError:
                left_out += 1
                continue
            if originals.get(path) == content:
                continue
            if len(files) == MOST_FILES or len(content) > room or not path.isprintable():
                left_out += 1
                continue
            files[path] = content
            room -= len(content)
    return files, left_out + walk.left_out


def inert_names(paths: Iterable[str]) -> Mapping[str, str]:
    """Name files of one folder so that no tool acts upon them.

    Args:
        paths: Their paths in the folder, with `/` between the parts.

    Returns:
        The name that each is kept under, which is the path itself for almost all. No two are alike,
        and what was in one folder still is.
    """
    parts = {path: path.split("/") for path in paths}
    parts_in_use = {part.casefold() for names in parts.values() for part in names}
    ending = ENDING
    while any(part.endswith(ending) for part in parts_in_use):
        ending += "_"
    return {
        path: "/".join(part + ending if _is_trap(part) else part for part in names)
        for path, names in parts.items()
    }


def _is_trap(part: str) -> bool:
    return any(_is_named(name) for name in part.split("\\"))


def _is_named(name: str) -> bool:
    """Return whether some file system takes a name for one of the traps.

    NTFS passes over blanks and dots at the end and what follows a colon, HFS+ over characters that
    do not show, and both, as APFS, over upper and lower case.
    """
    shown = "".join(char for char in name if unicodedata.category(char) != "Cf")
    plain = unicodedata.normalize("NFKC", shown).casefold().partition(":")[0].rstrip(" .")
    return plain in TRAPS or PATTERNS.fullmatch(plain) is not None

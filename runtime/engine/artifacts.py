"""Artifacts: files that agents write into their workspaces, kept with the run."""

from __future__ import annotations

import asyncio
import re
import shutil
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from ..record.trace import ARTIFACTS
from ..repository.workspace import files_of
from ..scrubbing.scrubber import holds_secret

if TYPE_CHECKING:
    from ..record.trace import RunFolder
    from ..repository.workspace import Workspace

MOST_FILES = 100
MOST_BYTES = 20 << 20
"""The most bytes to keep of one agent's files."""
BY_PRODUCTS = frozenset({"__pycache__"})
ENDING = ".kept"
"""Appended to file names that make everyday tools run code.

Some programs execute a folder's settings as soon as someone enters it, opens it or asks for its
state: version control (which a shell's prompt also calls), direnv and similar tools, editors. Files
that run only on request, such as a Makefile, package.json or conftest.py, keep their names."""
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


Keep = Callable[[str, Mapping[str, bytes]], list[str]]
"""Keeps an agent's files, replacing its earlier ones; returns their names, see `inert_names`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Keeping:
    """Keeps files in a folder, with a subfolder for each agent; see `Keep`.

    Attributes:
        folder: The folder; its scrubber recognizes secrets. A file with a secret is not kept.
    """

    folder: RunFolder
    place: str = ARTIFACTS

    def __call__(self, agent: str, files: Mapping[str, bytes], /) -> list[str]:
        """Keep the files; see `Keep`."""
        place = f"{self.place}/{agent}"
        shutil.rmtree(self.folder.path / place, ignore_errors=True)
        names = inert_names(files)
        saved: list[str] = []
        for path, content in files.items():
            if not holds_secret(content, self.folder.scrub):
                self.folder.keep(f"{place}/{names[path]}", content)
                saved.append(names[path])
        return saved


async def keep_written(agent: str, workspace: Workspace, keep: Keep) -> Mapping[str, Any] | None:
    """Keep an agent's files for a task without a repository, and describe them.

    Returns:
        The names of the kept files, those kept under another name, and the number left out; None if
        the agent wrote none.
    """
    from ..tools.tool import ToolError

    try:
        files, left_out = await asyncio.to_thread(_written, workspace)
    except ToolError:  # the agent's code removed the folder
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
    """Read the regular files that the task did not supply, up to the limits."""
    from ..tools.confined import Walk, open_folder, read_bytes
    from ..tools.tool import ToolError

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
    """Return names for the files of one folder that make no tool run them.

    Args:
        paths: Their paths in the folder, with `/` between the parts.

    Returns:
        The name to keep each file under, almost always its path. All names differ, and files of one
        folder stay in one folder.
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
    """Return whether any file system treats a name as one of the dangerous names.

    NTFS ignores blanks and dots at the end and everything after a colon, HFS+ ignores invisible
    characters, and both, like APFS, ignore case.
    """
    shown = "".join(char for char in name if unicodedata.category(char) != "Cf")
    plain = unicodedata.normalize("NFKC", shown).casefold().partition(":")[0].rstrip(" .")
    return plain in TRAPS or PATTERNS.fullmatch(plain) is not None

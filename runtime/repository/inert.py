"""Names under which no everyday tool acts upon a file that an agent wrote.

Some programs run what a folder says as soon as somebody enters it, opens it or asks for its state:
git and other version control (a prompt of a shell asks, too), direnv and its like, editors. A file
or folder by which they go is kept as `NAME.kept`. Files that run only when somebody asks for it,
such as a Makefile, package.json or conftest.py, keep their names.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

KEPT = ".kept"
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


def inert_names(paths: Iterable[str]) -> Mapping[str, str]:
    """Name files of one folder so that no tool acts upon them.

    Args:
        paths: Their paths in the folder, with `/` between the parts.

    Returns:
        The name that each is kept under, which is the path itself for almost all. No two are alike,
        and what was in one folder still is.
    """
    parts = {path: path.split("/") for path in paths}
    taken = {part.casefold() for names in parts.values() for part in names}
    ending = KEPT
    while any(part.endswith(ending) for part in taken):
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

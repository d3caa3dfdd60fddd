"""A git merge driver for the files of a pool.

git calls it for each file that both sides changed. Ledgers are united by operation; an evolution's
manifest comes from the side that went further. The files of agents' folders follow from the ledger,
which git merges separately: one side's version stays, or the common part. The next process that
opens the pool writes them from the ledger.

A clone without this driver uses the pool's `.gitattributes`, by which git itself keeps the lines of
both sides. So the driver must do nothing that is necessary to read the pool.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from ...runtime.repository.git import git
from ...schema.loading.agent_document import LESSONS
from ...schema.values.errors import AgentError, InputError
from ...schema.values.files import append, make_folders, write_atomically
from ...schema.values.problems import quoted
from ...schema.values.terminal import counted
from ..folder.own_files import content_of
from ..values.layout import AGENTS, EVOLUTIONS, LEDGER, MANIFEST, TURNS
from .manifests import united_manifests
from .union import Contradiction, UnionSide, union_of, united

NAME = "coterie"
"""The driver's name in git's settings."""
DRIVER = "mas-pool merge --driver %O %A %B %P"
PATTERNS = (
    LEDGER,
    f"{EVOLUTIONS}/*/{TURNS}",
    f"{EVOLUTIONS}/*/{MANIFEST}",
    f"{AGENTS}/**",
)
"""The files of a pool that the driver merges."""


def merge_file(base: Path, ours: Path, theirs: Path, path: str) -> Sequence[str]:
    """Merge one file for git and write the result to the file `ours`.

    Args:
        base: The common ancestor.

    Returns:
        Notes for the user.

    Raises:
        Contradiction: The sides contradict each other, or one removed lines of the base. The file
            `ours` stays unchanged.
        InputError: It is no file of a pool.
        StorageError: A version is damaged, or cannot be read or written.
    """
    try:
        return _merged(base, ours, theirs, path)
    except Contradiction as error:
        raise Contradiction(
            f"{error} To return to where you were: git merge --abort, or git revert --abort."
        ) from None


def _merged(base: Path, ours: Path, theirs: Path, path: str) -> Sequence[str]:
    name = PurePosixPath(path)
    texts = [content_of(file) for file in (ours, theirs)]
    names = [f"{path} (ours)", f"{path} (theirs)"]
    if name.name in {LEDGER, TURNS}:
        first, second = map(UnionSide.of, names, texts)
        _expect_all(UnionSide.of(f"{path} (base)", content_of(base)), (first, second))
        if name.name == LEDGER:
            lines, notes = union_of(first, second, Path(name.parent))
        else:
            lines, notes = united(first, second), ()
        write_atomically(ours, b"".join(line.text for line in lines))
        return notes
    if name.name == MANIFEST:
        mine, others = (text.decode("utf-8", "backslashreplace") for text in texts)
        write_atomically(ours, united_manifests(names[0], mine, names[1], others))
        return ()
    if AGENTS not in name.parts:
        raise InputError(f"{path}: the merge driver does not support this file.")
    if name.name == LESSONS:
        # As after a crash, the next process to open the pool adds the others in order.
        write_atomically(ours, _beginning(*texts))
    return ()


def set_up(folder: Path) -> tuple[Path, Path]:
    """Configure git to merge a pool with the driver, in this clone of its repository.

    Returns:
        The repository's folder, and the written attributes file.

    Raises:
        InputError: The pool is in no git repository, or its folder has a name that attributes
            cannot express.
        StorageError: The attributes cannot be written.
    """
    try:
        top = Path(git(folder, "rev-parse", "--show-toplevel").strip())
        path = folder / git(folder, "rev-parse", "--git-path", "info/attributes").strip()
        git(folder, "config", f"merge.{NAME}.name", "Pools of coterie")
        git(folder, "config", f"merge.{NAME}.driver", DRIVER)
        git(folder, "config", f"merge.{NAME}.recursive", "union")
    except AgentError as error:
        raise InputError(
            f"{folder} is not in a git repository that can be set up: {error}"
        ) from None
    inside = folder.resolve().relative_to(top.resolve()).as_posix()
    lines = [f"{_pattern(inside, pattern)} merge={NAME}" for pattern in PATTERNS]
    there = content_of(path) if path.exists() else b""
    if missing := [line for line in map(os.fsencode, lines) if line not in there.splitlines()]:
        make_folders(path.parent)
        gap = b"" if not there or there.endswith(b"\n") else b"\n"
        append(path, gap + b"".join(line + b"\n" for line in missing))
    return top, path


def _pattern(inside: str, name: str) -> str:
    """Return the pattern of a pool's file for git's attributes."""
    begun = "" if inside == "." else inside + "/"
    if any(letter in begun for letter in '\\"*?[]\n'):
        raise InputError(
            f"{inside!r} contains characters that are special in git patterns. Rename the folder."
        )
    whole = f"/{begun}{name}"
    return f'"{whole}"' if any(letter.isspace() for letter in whole) else whole


def _expect_all(base: UnionSide, sides: Sequence[UnionSide]) -> None:
    """Check that no side removed a line, as a revert does."""
    for side in sides:
        ops = {line.op for line in side.lines}
        if lost := [line for line in base.lines if line.op not in ops]:
            raise Contradiction(
                f"{side.name} lacks {counted(len(lost), 'line')}, the first of them"
                f" {quoted(lost[0].op)}. A pool's lines are never removed. To undo a task or a"
                " commit, use mas-pool undo instead of git revert."
            )


def _beginning(first: bytes, second: bytes) -> bytes:
    """Return the lines at the beginning of both."""
    lines = zip(first.splitlines(keepends=True), second.splitlines(keepends=True), strict=False)
    blocks = list[bytes]()
    for mine, theirs in lines:
        if mine != theirs:
            break
        blocks.append(mine)
    return b"".join(blocks)

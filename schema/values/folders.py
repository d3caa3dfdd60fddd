"""Folders of related text files: only changed files are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from .files import make_folder, remove, write_atomically


def write_folder(folder: Path, texts: Mapping[str, str], old: Iterable[str] = ()) -> list[str]:
    """Write the files of a folder; files that already have their text stay untouched.

    Each is written completely or not at all, one after the other; removals come last.

    Args:
        texts: The texts, by their paths in the folder.
        old: Files to remove unless they are in `texts`, with folders left empty.

    Returns:
        The files that were written or removed.
    """
    new = [name for name, text in texts.items() if not _says(folder / name, text)]
    removed = [name for name in old if name not in texts and (folder / name).is_file()]
    for name in new:
        for parent in reversed(PurePosixPath(name).parents):
            make_folder(folder / parent)
        write_atomically(folder / name, texts[name])
    for name in removed:
        remove(folder / name)
        for parent in [*PurePosixPath(name).parents][:-1]:
            with suppress(OSError):
                (folder / parent).rmdir()
    return [*new, *removed]


def files_in(folder: Path, patterns: Iterable[str]) -> list[str]:
    """List the files of a folder that match patterns, sorted, without hidden ones."""
    paths = {path.relative_to(folder) for pattern in patterns for path in folder.glob(pattern)}
    visible = (path for path in paths if not any(part.startswith(".") for part in path.parts))
    return sorted(path.as_posix() for path in visible if (folder / path).is_file())


def _says(path: Path, text: str) -> bool:
    try:
        return path.read_bytes() == text.encode("utf-8", "backslashreplace")
    except OSError:
        return False

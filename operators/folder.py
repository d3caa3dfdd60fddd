"""The folder of an evolution in its pool: what makes it this evolution, and what came of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..schema.errors import InputError
from ..schema.files import make_folder, write_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["EVOLUTIONS", "MANIFEST", "TURNS", "open_folder"]

EVOLUTIONS = "evolutions"
TURNS = "turns.jsonl"
MANIFEST = "evolution.json"


def open_folder(pool: Path, name: str, manifest: Mapping[str, Any]) -> Path:
    """Make the folder of an evolution in its pool, or find the one that is there.

    Args:
        pool: The pool's folder.
        name: The evolution's name.
        manifest: What makes it this evolution and no other: its recipe and its tasks.

    Raises:
        InputError: There is another evolution of that name.
        StorageError: The folder cannot be written.
    """
    folder = pool / EVOLUTIONS / name
    path = folder / MANIFEST
    if path.exists():
        found = json.loads(path.read_text(encoding="utf-8"))
        if differing := sorted(key for key in manifest if found.get(key) != manifest[key]):
            raise InputError(
                f"{folder} holds an evolution with another {' and another '.join(differing)}."
                " Choose another --name, or give what it was begun with."
            )
        return folder
    make_folder(folder.parent)
    make_folder(folder)
    write_atomically(folder / ".gitignore", "journal.sqlite*\n")
    write_atomically(path, json.dumps(manifest, indent=2) + "\n")
    return folder

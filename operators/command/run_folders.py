"""Subfolders of a run for results of later analyses."""

from __future__ import annotations

from pathlib import Path

from ...schema.values.errors import InputError


def folder_in(run: Path, name: str) -> Path:
    """Return a subfolder of a run's folder, created if missing.

    Raises:
        InputError: It cannot be created.
    """
    folder = run / name
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be created: {error.strerror}.") from None
    return folder

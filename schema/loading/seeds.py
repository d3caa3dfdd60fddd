"""The teams that come with coterie; `seed:NAME` names one in place of a file."""

from __future__ import annotations

from pathlib import Path

from ..host.catalogue import BUILT_IN_PROMPTS, SEED
from ..values.errors import InputError
from ..values.hints import did_you_mean, near
from ..values.problems import quoted

SEEDS = BUILT_IN_PROMPTS.parent
"""The folder of the teams that come with coterie."""


def seed_files() -> dict[str, Path]:
    """Return the files of all seeds by name, sorted."""
    return {file.stem: file for file in sorted(SEEDS.glob("*.yaml"))}


def is_seed(name: str | Path) -> bool:
    """Return whether a path has the form `seed:NAME`; the seed may not exist."""
    return str(name).startswith(SEED)


def located(name: str | Path) -> Path:
    """Return the file of a seed, or any other path unchanged.

    Args:
        name: A path, or `seed:NAME`.

    Raises:
        InputError: There is no such seed; or the file does not exist, but a seed has its name.
    """
    seeds = seed_files()
    if is_seed(name):
        seed = str(name).removeprefix(SEED)
        if seed not in seeds:
            hint = did_you_mean(str(name), (SEED + word for word in seeds))
            raise InputError(f"no seed team {str(name)!r}. Seeds: {', '.join(seeds)}.{hint}")
        return seeds[seed]
    path = Path(name)
    if not (path.suffix or path.exists() or path.with_suffix(".yaml").exists()):
        _refuse_bare(path, near(path.name, seeds))
    return path


def _refuse_bare(path: Path, seed: str | None) -> None:
    """Refuse a missing file whose name is that of a seed, or close to it."""
    if seed is not None:
        raise InputError(f"no file {quoted(str(path))}. Did you mean {quoted(SEED + seed)}?")

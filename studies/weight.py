"""What an install weighs: `python -m studies.weight`.

It adds up the files of the packages that are installed here, as their records list them; what
Python compiles beside them is not counted. An extra weighs what it brings that the base does not.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

import click
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from coterie.schema.command import Command
from coterie.schema.values.json_text import dumps

if TYPE_CHECKING:
    from collections.abc import Iterable

OURS = "coterie"
MOST_NAMED = 5


@click.command(cls=Command)
@click.option("--json", "as_json", is_flag=True, help="Print the bytes of each package as JSON.")
def main(*, as_json: bool) -> None:
    """Tell what coterie brings along when it is installed, and what each extra adds."""
    base = needed(())
    extras = distribution(OURS).metadata.get_all("Provides-Extra") or []
    parts = {"base": base, **{extra: needed([extra]) - base for extra in sorted(extras)}}
    if as_json:
        table = {
            part: {name: size(name) for name in sorted(names)} for part, names in parts.items()
        }
        click.echo(dumps(table, indent=2))
        return
    click.echo("\n".join(_line(part, names) for part, names in parts.items() if names))


def needed(extras: Iterable[str]) -> frozenset[str]:
    """Name the packages that are installed here because coterie, with extras, needs them."""
    waiting, seen = [(OURS, frozenset(extras))], set[tuple[str, frozenset[str]]]()
    while waiting:
        pair = waiting.pop()
        if pair not in seen:
            seen.add(pair)
            waiting += _requirements(*pair)
    return frozenset(name for name, _ in seen if name != OURS and _installed(name))


@cache
def size(name: str) -> int:
    """Return the bytes of the files of a package that is installed."""
    paths = (Path(str(file.locate())) for file in distribution(name).files or ())
    return sum(path.stat().st_size for path in paths if path.is_file())


@cache
def _requirements(name: str, extras: frozenset[str]) -> tuple[tuple[str, frozenset[str]], ...]:
    """Return what a package with extras needs on this system, and with which extras."""
    result = _installed(name)
    needs = map(Requirement, (result and result.requires) or ())
    return tuple(
        (canonicalize_name(need.name), frozenset(need.extras))
        for need in needs
        if need.marker is None
        or any(need.marker.evaluate({"extra": extra}) for extra in extras or ("",))
    )


@cache
def _installed(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _line(part: str, names: frozenset[str]) -> str:
    largest = sorted(names, key=size, reverse=True)[:MOST_NAMED]
    named = ", ".join(f"{name} {_megabytes([name])}" for name in largest)
    return f"{part:<15} {_megabytes(names):>4} MB {len(names):>3} packages: {named}"


def _megabytes(names: Iterable[str]) -> str:
    return f"{sum(map(size, names)) / 1e6:.0f}"


if __name__ == "__main__":
    main()

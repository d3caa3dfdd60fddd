"""Declarations of installed packages for coterie: their entry points in groups `coterie.…`.

`importlib.metadata` reports the same for all groups. But importing it, and reading the declarations
of every package, takes a third of the time of `mas --help`. So it is used only if packages are
found outside of folders.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import reduce
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

PREFIX = "coterie."
_VERSION = re.compile(r"^Version: *(\S+)", re.MULTILINE)
_VALUE = re.compile(r"(?P<module>[\w.]+)\s*(?::\s*(?P<attribute>[\w.]+)\s*)?(?:\[.*\]\s*)?")


class EntryPoint:
    """A name that an installed package declares, and the object it refers to.

    Attributes:
        group: Its group, without `coterie.`.
        value: A module, and after a colon the name in it.
    """

    __slots__ = ("_by", "group", "name", "value")

    def __init__(self, *, group: str, name: str, value: str, by: str | Path = "") -> None:
        """Set the fields; `by` is the package's name, or the folder with its metadata."""
        self.group = group
        self.name = name
        self.value = value
        self._by = by

    @property
    def package(self) -> str:
        """The name of the package that declares it; empty if unknown."""
        if isinstance(self._by, str):
            return self._by
        from importlib.metadata import Distribution

        return Distribution.at(self._by).metadata["Name"] or ""

    def load(self) -> Any:
        """Import the object that the name refers to.

        Raises:
            ImportError: It cannot be imported, or its value names no module.
            AttributeError: The module has no such name.
        """
        result = _VALUE.fullmatch(self.value)
        if result is None:
            raise ImportError("it names no module")
        names = filter(None, (result["attribute"] or "").split("."))
        return reduce(getattr, names, import_module(result["module"]))


def find_entries(paths: Sequence[str]) -> list[EntryPoint]:
    """Return the declarations of packages for coterie; of packages with one name, the first counts.

    Args:
        paths: The folders where Python finds modules: `sys.path`.
    """
    if not _are_in_folders(paths):
        return [*_told_by_python()]
    return [entry for folder in _described(paths).values() for entry in _declared(folder)]


def own_version(paths: Sequence[str]) -> str:
    """Return the installed version of coterie; `paths` as above."""
    described = _described(paths) if _are_in_folders(paths) else {}
    for name in ("METADATA", "PKG-INFO") if "coterie" in described else ():
        with suppress(OSError):
            text = (described["coterie"] / name).read_text(encoding="utf-8")
            if result := _VERSION.search(text):
                return result[1]
    from importlib.metadata import version

    return version("coterie")


def _are_in_folders(paths: Sequence[str]) -> bool:
    return not any(map(_is_else, sys.meta_path)) and not any(map(_is_archive, paths))


def _is_else(finder: object) -> bool:
    """Return whether a finder finds packages outside of the path."""
    return finder is not PathFinder and hasattr(finder, "find_distributions")


def _is_archive(path: str) -> bool:
    return path.lower().endswith(".egg") or Path(path).is_file()


def _told_by_python() -> Iterator[EntryPoint]:
    from importlib.metadata import entry_points

    points = entry_points()
    for group in sorted(points.groups):
        for point in points.select(group=group) if group.startswith(PREFIX) else ():
            by = point.dist.name if point.dist else ""
            yield EntryPoint(
                group=group.removeprefix(PREFIX), name=point.name, value=point.value, by=by
            )


def _described(paths: Sequence[str]) -> dict[str, Path]:
    """Return the metadata folders of packages, by normalised package names."""
    fields: dict[str, Path] = {}
    for path in paths:
        for name in _names_in(path or os.curdir):
            if name.lower().endswith((".dist-info", ".egg-info")):
                package = name.rpartition(".")[0].partition("-")[0]
                fields.setdefault(re.sub("[-_.]+", "-", package).lower(), Path(path, name))
    return fields


def _names_in(path: str) -> list[str]:
    try:
        with os.scandir(path) as result:
            return [entry.name for entry in result]
    except OSError:
        return []


def _declared(folder: Path) -> Iterator[EntryPoint]:
    try:
        content = (folder / "entry_points.txt").read_bytes()
    except OSError:
        return
    if PREFIX.encode() not in content:
        return
    group = ""
    for line in map(str.strip, content.decode("utf-8", "replace").splitlines()):
        name, is_pair, value = line.partition("=")
        if line.startswith("[") and line.endswith("]"):
            group = line.strip("[]")
        elif is_pair and group.startswith(PREFIX) and not line.startswith("#"):
            yield EntryPoint(
                group=group.removeprefix(PREFIX),
                name=name.strip(),
                value=value.strip(),
                by=folder,
            )

"""Packages whose public names, and groups whose commands, are imported when they are first used."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_first_use(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package: a command imports what it needs and no more.

    Args:
        package: Its `__name__`.
        homes: The public names, with blanks between them, by the module that has them.
    """
    module_of = {name: module for module, names in homes.items() for name in names.split()}

    def find(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f".{module_of[name]}", package), name)

    return find


class ImportedOnUse(UserDict[str, Any]):
    """Values by name, each of which is imported when somebody asks for it.

    Args:
        package: The `__name__` of the package that has them.
        homes: `module:name` of each value.
    """

    def __init__(self, package: str, homes: Mapping[str, str]) -> None:
        super().__init__(homes)
        self._package = package

    def __getitem__(self, name: str) -> Any:
        module, _, attribute = self.data[name].partition(":")
        return getattr(import_module(f".{module}", self._package), attribute)

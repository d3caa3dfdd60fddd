"""Lazy imports for the public names of packages and the commands of groups."""

from __future__ import annotations

import ast
import sys
from collections import UserDict
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any


def on_first_use(package: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package, so that a command imports only what it needs.

    Its public names are those imported under `if TYPE_CHECKING`.

    Args:
        package: Its `__name__`.
    """

    def find(name: str) -> Any:
        if name not in (module_of := _homes(package)):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(module_of[name], package), name)

    return find


@cache
def _homes(package: str) -> Mapping[str, str]:
    """Return the modules that a package imports for type checkers, by imported name."""
    text = Path(str(sys.modules[package].__file__)).read_text(encoding="utf-8")
    blocks = [item.body for item in ast.parse(text).body if isinstance(item, ast.If)]
    return {
        name.name: f"{'.' * item.level}{item.module}"
        for item in chain.from_iterable(blocks)
        if isinstance(item, ast.ImportFrom)
        for name in item.names
    }


class ImportedOnUse(UserDict[str, Any]):
    """Values by name, each imported on first access.

    Args:
        package: The `__name__` of their package.
        homes: `module:name` of each value.
    """

    def __init__(self, package: str, homes: Mapping[str, str]) -> None:
        super().__init__(homes)
        self._package = package

    def __getitem__(self, name: str) -> Any:
        if isinstance(home := self.data[name], str):
            module, _, attribute = home.partition(":")
            self.data[name] = getattr(import_module(f".{module}", self._package), attribute)
        return self.data[name]

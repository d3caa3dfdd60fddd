"""Files that steer Python and pytest: a repair cannot change them."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Set

    from .instance import Instance

_NAMES = frozenset(
    {
        *("conftest.py", "sitecustomize.py", "usercustomize.py"),
        *("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"),
    }
)
"""Names read in any folder, by pytest itself or by programs that tests start."""

RUNNER = frozenset({"_pytest", "iniconfig", "pluggy", "py", "pytest"})
"""The modules of pytest. A module of such a name in the tree shadows the installed one."""


class Steering:
    """Decides which files of a tree steer its tests, as opposed to being tested.

    Args:
        base: All files of the base commit. A module of the base is code to repair, whatever its
            name.
        folders: The folders of Python's module path for the tests; `` is the top.
        repair: Files of the correct repair: they are never restored.
    """

    def __init__(self, base: Iterable[str], folders: Iterable[str], repair: Iterable[str]) -> None:
        self.base = frozenset(base)
        self._folders = frozenset(folders)
        self._repair = frozenset(repair)
        self._own = {_module(name, self._folders) for name in self.base}

    @property
    def runner(self) -> Set[str | None]:
        """The modules of pytest that the base itself has."""
        return self._own & RUNNER

    def changes_to_undo(self, tree: Path) -> tuple[list[str], list[str]]:
        """Return the changes to undo in a tree: base files to restore, and files to remove."""
        files = {*self.base, *_files(tree)} - self._repair
        steering = sorted(name for name in files if self._steers(name))
        return (
            [name for name in steering if name in self.base],
            [name for name in steering if name not in self.base],
        )

    def _steers(self, name: str) -> bool:
        if PurePosixPath(name).name in _NAMES:
            return True
        module = _module(name, self._folders)
        return module in RUNNER and module not in self._own


def steering_of(instance: Instance, base: Iterable[str]) -> Steering:
    """Return the steering files of an instance, whose base commit has these files."""
    tests = {str(PurePosixPath(name).parent) for name in instance.test_files}
    folders = {"" if test == "." else test for test in tests} | {"", "src"}
    return Steering(base, folders, instance.patched_files)


def steers(name: str) -> bool:
    """Return whether a file of this name, in any folder, may steer tests."""
    path = PurePosixPath(name)
    return path.name in _NAMES or path.stem in RUNNER or bool(RUNNER & set(path.parts))


def _module(name: str, folders: Set[str]) -> str | None:
    """Return the top-level module of a file on Python's module path."""
    parts = PurePosixPath(name).parts
    for length in range(len(parts)):
        if "/".join(parts[:length]) in folders and _stem(parts[length]) in RUNNER:
            return _stem(parts[length])
    return None


def _stem(part: str) -> str:
    return part.split(".", 1)[0]


def _files(tree: Path) -> Iterator[str]:
    """List the files and links of a tree, without following links."""
    for folder, folders, files in os.walk(tree):
        if ".git" in folders:
            folders.remove(".git")
        links = [word for word in folders if Path(folder, word).is_symlink()]
        for name in (*files, *links):
            yield Path(folder, name).relative_to(tree).as_posix()

"""Ways for a file or a folder to lead out of where it lies."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

CANARY = "canary-4711: what no model may read\n"


@dataclass(frozen=True, kw_only=True)
class Outside:
    """A folder outside of every root, with a canary at each name that a part may have.

    Attributes:
        before: Its files by name, and what stands in them.
    """

    folder: Path
    before: Mapping[str, bytes]

    @classmethod
    def of(cls, folder: Path, names: Mapping[str, str]) -> Outside:
        """Make it, with files of these names."""
        for name, text in names.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        return cls(folder=folder, before=_files(folder))

    @property
    def is_as_it_was(self) -> bool:
        """Whether nothing in it is new, changed or gone, to the byte."""
        return _files(self.folder) == self.before


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def _absolute(path: Path, target: Path) -> None:
    path.symlink_to(target.absolute())


def _relative(path: Path, target: Path) -> None:
    path.symlink_to(os.path.relpath(target, path.parent))


def _up(path: Path, target: Path) -> None:
    """Through a folder beside it, and up again."""
    (path.parent / "beside").mkdir(exist_ok=True)
    path.symlink_to(Path("beside", "..", os.path.relpath(target, path.parent)))


def _twice(path: Path, target: Path) -> None:
    inner = path.with_name(f"inner_{path.name}")
    inner.symlink_to(target.absolute())
    path.symlink_to(inner.name)


def _through_a_folder(path: Path, target: Path) -> None:
    path.with_name("through").symlink_to(target.parent.absolute())
    path.symlink_to(Path("through", target.name))


def _to_a_folder(path: Path, target: Path) -> None:
    path.symlink_to(target.parent.absolute())


def _hard(path: Path, target: Path) -> None:
    """Of a folder, of each file in it."""
    if target.is_file():
        path.hardlink_to(target)
        return
    for inner in target.rglob("*"):
        if inner.is_file():
            name = path / inner.relative_to(target)
            name.parent.mkdir(parents=True, exist_ok=True)
            name.hardlink_to(inner)


def _pipe(path: Path, target: Path) -> None:
    del target
    os.mkfifo(path)


def _device(path: Path, target: Path) -> None:
    del target
    path.symlink_to("/dev/zero")


def _loop(path: Path, target: Path) -> None:
    del target
    path.with_name("loop").symlink_to(path.name)
    path.symlink_to("loop")


def _dangling(path: Path, target: Path) -> None:
    path.symlink_to(target.with_name("nothing"))


KINDS: Mapping[str, Callable[[Path, Path], None]] = {
    "absolute": _absolute,
    "relative": _relative,
    "up": _up,
    "link to a link": _twice,
    "through a folder": _through_a_folder,
    "to a folder": _to_a_folder,
    "hard": _hard,
    "pipe": _pipe,
    "device": _device,
    "loop": _loop,
    "dangling": _dangling,
}
"""How a path is made to lead to a target, by what it is called."""

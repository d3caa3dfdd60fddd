"""Folders that can be viewed: how they are found, and the interface that they provide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from ...schema.host.catalogue import installed, load_named
from ...schema.host.conforming import guarded
from ...schema.values.errors import InputError
from .links import Links
from .pages import Page

PAGES = "pages"
"""The group of entry points. Each takes a folder and returns a `Site`, or None for another kind of
folder. It **must** decide that quickly, by file names alone."""


ANSWER = "answer"
"""The address to which a form sends an answer: the fields `question` and `answer`."""
MOST_NEAR = 100
"""Subfolders of an unknown folder that are searched for suggestions."""


class NoPage(LookupError):
    """A site has no page of that address."""


class Site(Protocol):
    """A folder that can be viewed. It **must** change nothing and call no model."""

    @property
    def title(self) -> str:
        """The site's name."""
        ...

    @property
    def contents(self) -> Mapping[str, str]:
        """The titles of the main pages by address; the first one's address is empty.

        An address is words with slashes between, such as `teams/t1`. Those of one word are linked
        at the head of each page. A file has these pages only.
        """
        ...

    def page(self, address: str, links: Links) -> Page:
        """Make a page from the folder's current content.

        Args:
            address: An address of the contents, or one that a page links to.

        Raises:
            NoPage: There is no such page.
            InputError: A file is damaged, or of another version.
        """
        ...

    @property
    def state(self) -> str:
        """A text that changes whenever a page does; empty once nothing will change.

        It is read every second, so it **must** be quick.

        Raises:
            InputError: The folder cannot be read.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class FolderSite:
    """The folder of a site, after which it is named."""

    folder: Path

    @property
    def title(self) -> str:
        """The name of the folder."""
        return self.folder.resolve().name


@runtime_checkable
class Answerable(Protocol):
    """A site with questions to people."""

    def answer(self, question: str, text: str) -> None:
        """Answer a question.

        Raises:
            InputError: The question is not open, or the answer is empty.
            StorageError: The answer cannot be written.
        """
        ...


def expect_folder(folder: Path) -> None:
    """Refuse a path that is not a folder.

    Raises:
        InputError: It is no folder.
    """
    if not folder.is_dir():
        what = "not a folder" if folder.exists() else "no such folder"
        raise InputError(f"{folder}: {what}. Name the folder of a run, a pool or an evaluation.")


def opened(folder: Path) -> Site:
    """Open a folder as the kind of site that it is.

    Raises:
        InputError: It is no folder, or of no known kind.
    """
    expect_folder(folder)
    kinds = sorted(installed(PAGES))
    site = _find_site(folder, kinds)
    if site is None:
        near = next((path for path in _near(folder) if _find_site(path, kinds) is not None), None)
        hint = f" Try: mas-view {near}" if near else ""
        raise InputError(
            f"{folder}: mas-view cannot show this folder, only these: {', '.join(kinds)}.{hint}"
        )
    return site


def _find_site(folder: Path, kinds: Iterable[str]) -> Site | None:
    for name in kinds:
        page = guarded(load_named(PAGES, name), Site | None, f"the page {name}")
        if (result := page(folder)) is not None:
            return result
    return None


def _near(folder: Path) -> Iterator[Path]:
    """Yield folders that may have been meant: subfolders, the last one first, and parents."""
    with suppress(OSError):
        inside = sorted((path for path in folder.iterdir() if path.is_dir()), reverse=True)
        yield from inside[:MOST_NEAR]
    yield from folder.parents[:2]

"""What can be looked at: how it is found, and what it has to give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol, runtime_checkable

from ...schema.host.catalogue import installed, load_named
from ...schema.host.conforming import guarded
from ...schema.values.errors import InputError
from .links import Links
from .pages import Page

PAGES = "pages"
"""The group of entry points. Each takes a folder and gives a `Site`; None, where the folder is of
another kind. It **must** decide that by names of files alone, quickly."""


ANSWER = "answer"
"""The address to which a form sends an answer: the fields `question` and `answer`."""
MOST_NEAR = 100
"""Folders within one that is none, which are looked at for what may be meant."""


class NoPage(LookupError):
    """A site has no page of that address."""


class Site(Protocol):
    """A folder that can be looked at. It **must** change nothing and ask nobody."""

    @property
    def title(self) -> str:
        """What it is called."""
        ...

    @property
    def contents(self) -> Mapping[str, str]:
        """Titles of the pages to begin with, by address; the first one's address is empty.

        An address is words with slashes between, such as `teams/t1`. Those of one word stand at the
        head of each page. A file has these pages and no others.
        """
        ...

    def page(self, address: str, links: Links) -> Page:
        """Make a page, of what the folder holds now.

        Args:
            address: Which: one of the contents, or another to which one of those leads.
            links: Names its parts, and gives the addresses of others.

        Raises:
            NoPage: There is no such page.
            InputError: A file is damaged, or of another version.
        """
        ...

    @property
    def state(self) -> str:
        """What changes whenever pages have something new; empty, once nothing will.

        Asked every second, so it **must** be quick.

        Raises:
            InputError: The folder cannot be read.
        """
        ...


@runtime_checkable
class Answerable(Protocol):
    """A site with questions to people."""

    def answer(self, question: str, text: str) -> None:
        """Answer a question.

        Raises:
            InputError: There is no such open question, or no answer.
            StorageError: The answer cannot be written.
        """
        ...


def expect_folder(folder: Path) -> None:
    """Make sure that something can be looked at.

    Raises:
        InputError: It is no folder.
    """
    if not folder.is_dir():
        what = "a file, and no folder" if folder.exists() else "there is no such folder"
        raise InputError(f"{folder}: {what}. Give that of a run, a pool or an evaluation.")


def opened(folder: Path) -> Site:
    """Find what a folder is.

    Raises:
        InputError: It is no folder, or of no kind that is known.
    """
    expect_folder(folder)
    kinds = sorted(installed(PAGES))
    site = _find_site(folder, kinds)
    if site is None:
        near = next((path for path in _near(folder) if _find_site(path, kinds) is not None), None)
        hint = f" Try: mas-view {near}" if near else ""
        raise InputError(
            f"{folder}: not a folder that can be looked at. Known kinds: {', '.join(kinds)}.{hint}"
        )
    return site


def _find_site(folder: Path, kinds: Iterable[str]) -> Site | None:
    for name in kinds:
        page = guarded(load_named(PAGES, name), Site | None, f"the page {name}")
        if (result := page(folder)) is not None:
            return result
    return None


def _near(folder: Path) -> Iterator[Path]:
    """Yield folders that may be meant: what is in this one, the last one first, and those above."""
    with suppress(OSError):
        inside = sorted((path for path in folder.iterdir() if path.is_dir()), reverse=True)
        yield from inside[:MOST_NEAR]
    yield from folder.parents[:2]

"""Addresses of pages and their parts, on a server or within one file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import quote

LONGEST = 80
"""Characters of a name that an address keeps."""
LONGEST_NUMBER = 9
"""Digits of a number in an address. Python refuses to read a number of more than 4,300."""
_OTHER = re.compile("[^A-Za-z0-9_.-]")


def slug(name: str) -> str:
    """Make a name fit for an address; different names stay different."""
    plain = _OTHER.sub("_", name)[:LONGEST]
    if plain == name:
        return name
    return f"{plain}-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"


def word(text: str) -> str:
    """Write a text as one word of an address, which has slashes between its words."""
    return quote(text, safe=" +", errors="replace")


def is_number(text: str) -> bool:
    """Return whether a word of an address is a number."""
    return text.isdecimal() and len(text) <= LONGEST_NUMBER


@dataclass(frozen=True, kw_only=True, slots=True)
class Links:
    """Writes the links of one page.

    Attributes:
        base: The prefix of every address of a server; None in a file, which has the pages of the
            table of contents only.
    """

    here: str
    contents: Collection[str]
    base: str | None = None

    def id(self, anchor: str) -> str:
        """Return an id for a part of this page, such as `agent-judge`, that no other page uses."""
        return self._id(self.here, anchor)

    def to(self, anchor: str, page: str | None = None) -> str:
        """Return the address of a part of this page or of another one.

        Args:
            anchor: The part; empty for the whole page.
            page: The page's address; None for this one.

        Returns:
            The address; empty if the page is not part of the file.
        """
        page = self.here if page is None else page
        if self.base is not None:
            path = self.base + quote(page, errors="replace")
            there = "" if page == self.here and anchor else path
            return f"{there}#{self._id(page, anchor)}" if anchor else there
        if page not in self.contents:
            return ""
        return f"#{self._id(page, anchor or 'page')}"

    def _id(self, page: str, anchor: str) -> str:
        """Return a part's id; in a file, ids of all pages but the first start with the page's."""
        is_alone = self.base is not None or page == next(iter(self.contents), page)
        return slug(anchor if is_alone else f"{page}--{anchor}")

"""Tables for pages, and parts of those that are too long for one page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from .links import Links

AT_ONCE = 100
"""Rows of a long table on one page of a server."""
IN_A_FILE = 1_000
"""Rows of it in a file, which has the first page only."""

Row = TypeVar("Row")


def verdict(score: float) -> str:
    """Say in words what a score is, for a badge."""
    return "right" if score >= 1 else "wrong" if score <= 0 else "in part right"


@dataclass(frozen=True, slots=True)
class TableCell:
    """What stands in a table.

    Attributes:
        address: Where they lead; empty: nowhere.
        badge: Whether they are a status, which has a sign and a colour.
    """

    text: str
    address: str = ""
    badge: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class PageTable:
    """A table; the macro `tabled` writes it.

    Attributes:
        heads: The heads of its columns, each with the side on which the column is even: < or >.
        rows: What stands in them. The first column names its row.
        empty: What is said in place of a table without rows.
    """

    caption: str
    heads: Mapping[str, str]
    rows: Sequence[Sequence[str | TableCell]]
    empty: str = "Nothing yet."

    @property
    def cells(self) -> Sequence[Sequence[tuple[str, TableCell]]]:
        """The rows, each cell with its side."""
        sides = [*self.heads.values()]
        return [
            [
                (side, item if isinstance(item, TableCell) else TableCell(item))
                for side, item in zip(sides, row, strict=True)
            ]
            for row in self.rows
        ]


@dataclass(frozen=True, kw_only=True, slots=True)
class Paged(Generic[Row]):
    """Some of many; the macro `paging` says which, and leads to the others.

    Attributes:
        first: The number of the first of them, from 1.
        before: The address of those before; empty where there are none.
    """

    shown: Sequence[Row]
    first: int
    total: int
    before: str = ""
    after: str = ""

    @property
    def last(self) -> int:
        """The number of the last one that is shown."""
        return self.first + len(self.shown) - 1


def paged(
    items: Sequence[Row], number: int, links: Links, address: Callable[[int], str]
) -> Paged[Row]:
    """Take the part of a long list that one page has.

    Args:
        number: Which part, from 1; one that there is not has nothing.
        address: Gives the address of the page with the part of a number.
    """
    size = IN_A_FILE if links.base is None else AT_ONCE
    first = (number - 1) * size
    shown = items[first : first + size] if number > 0 else items[:0]
    return Paged(
        shown=shown,
        first=first + 1,
        total=len(items),
        before=links.to("", address(number - 1)) if number > 1 else "",
        after=links.to("", address(number + 1)) if first + size < len(items) else "",
    )

"""Tables for pages, and the parts of lists that are too long for one page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from .links import Links

AT_ONCE = 100
"""Rows of a long table on one page of a server."""
IN_A_FILE = 1_000
"""Rows of a long table in a file, which has the first page only."""

Row = TypeVar("Row")


def verdict(score: float) -> str:
    """Describe a score in words, for a badge."""
    return "right" if score >= 1 else "wrong" if score <= 0 else "in part right"


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of a table.

    Attributes:
        address: The target of its link; may be empty.
        badge: Whether it is a status, which has a sign and a colour.
    """

    text: str
    address: str = ""
    badge: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class PageTable:
    """A table; the macro `tabled` writes it.

    Attributes:
        heads: The heads of its columns, each after its alignment: < or >.
        rows: The cells of each row. The first one names the row.
        empty: The text in place of a table without rows.
    """

    caption: str
    heads: Mapping[str, str]
    rows: Sequence[Sequence[str | TableCell]]
    empty: str = "Nothing yet."

    @property
    def cells(self) -> Sequence[Sequence[tuple[str, TableCell]]]:
        """The rows, each cell with its alignment."""
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
    """One part of a long list; the macro `paging` names it and links to the others.

    Attributes:
        first: The number of its first item, from 1.
        before: The address of the part before; empty if there is none.
    """

    shown: Sequence[Row]
    first: int
    total: int
    before: str = ""
    after: str = ""

    @property
    def last(self) -> int:
        """The number of the last item shown."""
        return self.first + len(self.shown) - 1


def paged(
    items: Sequence[Row], number: int, links: Links, address: Callable[[int], str]
) -> Paged[Row]:
    """Return the part of a long list that one page shows.

    Args:
        number: The number of the part, from 1; a part beyond the end is empty.
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

"""The table of providers: which cell works, which is told, which is wrong."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from coterie.schema.values.errors import CoterieError

from .cells import CELLS
from .verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..doubles import Provider
    from .verdict import Table

AT_ONCE = 16
"""Cells that are tried at one time: each has a server."""


async def judged(
    providers: Iterable[Provider], columns: Iterable[str] = tuple(CELLS), *, stream: bool = True
) -> Table:
    """Try every cell, some at a time.

    Args:
        providers: The rows.
        columns: Names of `CELLS`.
        stream: Whether answers come in pieces, as `stream` of models.yaml has it.
    """
    slots = asyncio.Semaphore(AT_ONCE)
    rows, names = tuple(providers), tuple(columns)

    async def tried(provider: Provider, name: str) -> Verdict:
        async with slots:
            try:
                return await CELLS[name](provider, stream=stream)
            except CoterieError as error:
                return Verdict("wrong", f"{error}")

    verdicts = iter(await asyncio.gather(*(tried(row, name) for row in rows for name in names)))
    return {row.name: {name: next(verdicts) for name in names} for row in rows}


def wrong(table: Table) -> Iterator[str]:
    """Yield what is wrong, one line for each such cell."""
    for provider, cells in table.items():
        for name, verdict in cells.items():
            if verdict.mark == "wrong":
                yield f"{provider}, {name}: {verdict.why}"


def markdown(table: Table) -> str:
    """Write it as a table of Markdown."""
    rows = _rows(table)
    ruled = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join(f"| {' | '.join(row)} |" for row in ruled)


def sources(providers: Iterable[Provider]) -> str:
    """Write where the form of each double is from, as a table of Markdown."""
    lines = ["| provider | model | as of | forms from |", "| --- | --- | --- | --- |"]
    for provider in providers:
        links = ", ".join(f"[{number}]({link})" for number, link in enumerate(provider.sources, 1))
        lines.append(f"| {provider.name} | `{provider.choice}` | {provider.as_of} | {links} |")
    return "\n".join(lines)


def plain(table: Table) -> str:
    """Write it for a terminal."""
    rows = _rows(table)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _rows(table: Mapping[str, Mapping[str, Verdict]]) -> Sequence[Sequence[str]]:
    columns = list(next(iter(table.values()), {}))
    return [
        ["", *columns],
        *([name, *(cells[column].mark for column in columns)] for name, cells in table.items()),
    ]

"""Listings of papers: the rows that run here, with commands and the published figures."""

from __future__ import annotations

from collections.abc import Iterator

from ...schema.values.terminal import counted
from .addresses import Address, paper_at
from .tables import Paper, load_paper, paper_names

COMMAND = "mas dev papers"


def listing(address: Address | None) -> str:
    """List the papers, or the tables and rows of an address."""
    if address is None:
        return "\n".join(_papers())
    paper = paper_at(address)
    tables = [address.table] if address.table else [*paper.tables]
    return "\n".join(line for table in tables for line in _table(paper, table))


def _papers() -> Iterator[str]:
    for name in paper_names():
        paper = load_paper(name)
        yield f"{name:<12} {paper.title}: {counts(paper)}"
    yield f"Its tables and rows: {COMMAND} PAPER"


def counts(paper: Paper) -> str:
    """Return the number of a paper's tables, and of its rows that run here."""
    rows = [(name, row) for name, table in paper.tables.items() for row in table.rows]
    runnable = sum(any(paper.runs(*row)) for row in rows)
    return (
        f"{counted(len(paper.tables), 'table')}, {runnable} of {counted(len(rows), 'row')} run here"
    )


def _table(paper: Paper, name: str) -> Iterator[str]:
    table = paper.tables[name]
    yield f"\n{paper.key}:{name}  {table.title}" + (f" ({table.measure})" if table.measure else "")
    if not table.rows:
        yield f"  cannot be run here: {table.cannot}"
    for key, row in table.rows.items():
        reason = paper.reason(table, row)
        figures = zip(table.columns, row.figures, strict=False)
        shown = ", ".join(f"{column} {figure}" for column, figure in figures if figure is not None)
        yield f"  {key:<28} {shown or row.unpublished or 'no figure'}"
        if reason:
            yield f"  {'':<28} cannot be run here: {reason}"

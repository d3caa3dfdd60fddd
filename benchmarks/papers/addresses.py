"""Addresses of papers' parts: `PAPER:TABLE/ROW/COLUMN`, whose end may be left out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ...schema.values.errors import InputError
from ...schema.values.hints import did_you_mean
from ...schema.values.problems import quoted
from .tables import Paper, PaperRun, load_paper, paper_names


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """The parts of an address; parts at the end may be empty."""

    paper: str
    table: str = ""
    row: str = ""
    column: str = ""

    @classmethod
    def read(cls, text: str) -> Address:
        """Parse an address.

        Raises:
            InputError: It has too many parts.
        """
        paper, _, rest = text.partition(":")
        table, _, rest = rest.partition("/")
        row, _, column = rest.partition("/")
        if "/" in column:
            raise InputError(f"{text}: an address is PAPER:TABLE/ROW/COLUMN at most.")
        return cls(paper=paper, table=table, row=row, column=column)


def paper_at(address: Address) -> Paper:
    """Load the paper of an address, and check that it has the table.

    Raises:
        InputError: There is no such paper or table.
    """
    names = paper_names()
    if address.paper not in names:
        raise _unknown("paper", address.paper, names)
    paper = load_paper(address.paper)
    if address.table and address.table not in paper.tables:
        raise _unknown(f"table of {paper.key}", address.table, paper.tables)
    return paper


def runs_at(address: Address) -> list[PaperRun]:
    """Return the runs of an address; for a paper or a table, all.

    A column's name in place of the row selects the paper's own method on that column. A table
    without results stands for the table that it refers to.

    Raises:
        InputError: There is no such paper, table, row or column, or nothing of it can run here.
    """
    paper = paper_at(address)
    if not address.row:
        tables = [address.table] if address.table else [*paper.tables]
        rows = [(table, row) for table in tables for row in paper.tables[table].rows]
        return [run for table, row in rows for run in paper.runs(table, row)]
    table = paper.tables[address.table]
    if not table.rows and table.see:
        return runs_at(replace(address, table=table.see))
    if address.row not in table.rows and not table.rows:
        raise InputError(f"{paper.key}:{address.table} cannot be run here: {table.cannot}")
    if address.row not in table.rows:
        if address.row not in table.columns or address.column or not table.own:
            names = {**table.rows, **table.columns}
            raise _unknown(f"row of {paper.key}:{address.table}", address.row, names)
        address = replace(address, row=table.own, column=address.row)
    return _of_row(paper, address)


def _of_row(paper: Paper, address: Address) -> list[PaperRun]:
    """Return the runs of a row; with a column, its run, on the column's niche only."""
    table = paper.tables[address.table]
    place = f"{paper.key}:{address.table}/{address.row}"
    if reason := paper.reason(table, table.rows[address.row]):
        raise InputError(f"{place} cannot be run here: {reason}")
    runs = [*paper.runs(address.table, address.row)]
    if not address.column:
        return runs
    if address.column not in table.columns:
        raise _unknown(f"column of {paper.key}:{address.table}", address.column, table.columns)
    column = table.columns[address.column]
    if column.cannot:
        raise InputError(f"{place}/{address.column} cannot be run here: {column.cannot}")
    for run in runs:
        if address.column in run.columns:
            how = {**run.how, **column.run}
            return [replace(run, columns=(address.column,), how=how)]
    raise InputError(f"{place} has no figure of {address.column}.")


def _unknown(kind: str, name: str, names: Iterable[str]) -> InputError:
    names = [*names]
    hint = did_you_mean(name, names) or f" Known: {', '.join(names)}."
    return InputError(f"no {kind} {quoted(name)}.{hint}")

"""Listings of papers: which rows run here, by which command, beside the published figures."""

from __future__ import annotations

import re
from itertools import repeat
from typing import TYPE_CHECKING

from ...runtime.values.terminal import counted
from .addresses import paper_at
from .tables import load_paper, paper_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .addresses import Address
    from .tables import Figure, Paper

__all__ = ["index", "listing", "section"]

COMMAND = "mas dev papers"


def listing(address: Address | None) -> str:
    """List the papers; of an address, its tables and rows."""
    if address is None:
        return "\n".join(_papers())
    paper = paper_at(address)
    tables = [address.table] if address.table else [*paper.tables]
    return "\n".join(line for table in tables for line in _table(paper, table))


def _papers() -> Iterator[str]:
    for name in paper_names():
        paper = load_paper(name)
        yield f"{name:<12} {paper.title}: {_counts(paper)}"
    yield f"Its tables and rows: {COMMAND} PAPER"


def _counts(paper: Paper) -> str:
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


def section(paper: Paper) -> str:
    """Return the section of a paper's page about its tables, as Markdown."""
    lines = ["## Tables of the paper", "", *_introduction(paper), *_tables(paper)]
    return "\n".join(lines).strip() + "\n"


def _introduction(paper: Paper) -> Iterator[str]:
    example = next(
        f"{paper.key}:{name}/{table.own}" for name, table in paper.tables.items() if table.own
    )
    yield f"`{COMMAND} {example} --dry-run` checks a row. `--write FOLDER` writes its recipe, teams"
    yield "and models, to read, edit and run. Without either the row runs; `--data DIR` names the"
    yield "folder of its data. [All papers](papers.md) says more. Methods, as they run here:"
    yield from ("", "| method | here | what differs |", "|---|---|---|")
    for name, method in paper.methods.items():
        cannot = method.get("cannot") and f"cannot be run here: {method['cannot']}"
        yield f"| {name} | {method['about']} | {cannot or method.get('differs', '')} |"
    yield from ("", "| data | what | what differs |", "|---|---|---|")
    for name, data in paper.data.items():
        yield f"| {name} | {data['about']} | {data.get('differs', '')} |"


def _tables(paper: Paper) -> Iterator[str]:
    for name, table in paper.tables.items():
        heading = re.sub(r"(?<=[a-z])(?=\d)", " ", name, count=1).capitalize()
        yield from ("", f"### {heading}: {table.title}", "")
        if not table.rows:
            see = f" The results stand in {table.see}." if table.see else ""
            yield f"Nothing to run. {table.cannot}{see}"
            continue
        measure = f" Published: {table.measure}." if table.measure else ""
        yield f"`{COMMAND} {paper.key}:{name}/ROW`.{measure}"
        yield ""
        yield from _grid(paper, name)
        for key, column in table.columns.items():
            if column.cannot:
                yield f"\n{column.label or key} cannot be run here: {column.cannot}"


def _grid(paper: Paper, name: str) -> Iterator[str]:
    table = paper.tables[name]
    labels = [column.label or key for key, column in table.columns.items()]
    yield f"| ROW | in the paper | {' | '.join(labels)} | here |"
    yield "|---" * (len(labels) + 3) + "|"
    digits = max(_digits(figure) for row in table.rows.values() for figure in (*row.figures, None))
    for key, row in table.rows.items():
        figures = [*row.figures, *[None] * (len(labels) - len(row.figures))]
        cells = " | ".join(map(_cell, figures, repeat(digits)))
        yield f"| {key} | {row.label} | {cells} | {_here(paper, name, key)} |"


def _digits(figure: Figure | None) -> int:
    return len(str(figure).partition(".")[2]) if isinstance(figure, float) else 0


def _cell(figure: Figure | None, digits: int) -> str:
    if figure is None:
        return ""
    return f"{figure:.{digits}f}" if isinstance(figure, float) else str(figure)


def _here(paper: Paper, name: str, key: str) -> str:
    row = paper.tables[name].rows[key]
    if reason := paper.reason(paper.tables[name], row):
        return "cannot be run here" if row.method else f"cannot be run here: {reason}"
    runs = sum(1 for _ in paper.runs(name, key))
    note = f". {row.unpublished}" if row.unpublished else ""
    return row.method + (f", {runs} runs" if runs > 1 else "") + note


def index() -> str:
    """Return the list of all papers, as Markdown."""
    lines = ["| PAPER | the paper | here |", "|---|---|---|"]
    for name in paper_names():
        paper = load_paper(name)
        link = f"[{paper.name}]({paper.page}#tables-of-the-paper)"
        lines.append(f"| `{name}` | {link}: {paper.title} | {_counts(paper)} |")
    return "\n".join(lines) + "\n"

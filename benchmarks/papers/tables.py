"""Papers and their tables, as in their files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from ...schema.loading.loading import read_file
from ...schema.values.errors import ConfigError
from ...schema.values.yaml_text import read_yaml

HERE = Path(__file__).parent
PAPER = "paper.yaml"
Figure = float | str
How = dict[str, Any]
"""How a row runs: the fields of `run` in the files."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        cannot: Why it cannot run here; empty: it can.
    """

    label: str = ""
    cannot: str = ""
    run: How = field(default_factory=dict[str, Any])


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperRow:
    """A row of a table.

    Attributes:
        method: The method, by its name in paper.yaml; empty without one.
        figures: The published figures, in the order of the columns; None for missing ones.
        cannot: Why it cannot run here; empty: it can.
    """

    label: str
    method: str = ""
    figures: Sequence[Figure | None] = ()
    unpublished: str = ""
    cannot: str = ""
    run: How = field(default_factory=dict[str, Any])


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperTable:
    """A table of a paper.

    Attributes:
        own: The row of the paper's own method.
        see: The table with the results, if this one has none.
        cannot: Why nothing of it can run; empty: it can.
    """

    title: str
    measure: str = ""
    own: str = ""
    see: str = ""
    cannot: str = ""
    columns: Mapping[str, Column] = field(default_factory=dict[str, Column])
    rows: Mapping[str, PaperRow] = field(default_factory=dict[str, PaperRow])
    run: How = field(default_factory=dict[str, Any])


@dataclass(frozen=True, kw_only=True, slots=True)
class Paper:
    """A paper.

    Attributes:
        key: The name of its folder, which commands use.
        page: Our page about it, in docs/research.
        arxiv: Its number in arXiv, if known.
    """

    key: str
    name: str
    title: str
    page: str
    arxiv: str = ""
    models: Mapping[str, Any] = field(default_factory=dict[str, Any])
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    methods: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tables: Mapping[str, PaperTable] = field(default_factory=dict[str, PaperTable])

    def reason(self, table: PaperTable, row: PaperRow) -> str:
        """Return why a row cannot run here; empty: it can."""
        method = self.methods.get(row.method, {})
        return row.cannot or table.cannot or method.get("cannot", "")

    def runs(self, table: str, row: str) -> Iterator[PaperRun]:
        """Yield the runs that a row needs: one for all columns with the same settings."""
        whole, method = self.tables[table], self.tables[table].rows[row].method
        values = whole.rows[row]
        if self.reason(whole, values):
            return
        figures = values.figures or [None] * len(whole.columns)
        alike: dict[str, list[str]] = {}
        hows: dict[str, How] = {}
        for (name, column), figure in zip(whole.columns.items(), figures, strict=False):
            if column.cannot or (values.figures and figure is None):
                continue
            how = merged(whole.run, self.methods[method].get("run", {}), column.run, values.run)
            how = merged(self.data[how["data"]].get("run", {}), how)
            apart = json.dumps({key: part for key, part in how.items() if key != "niche"})
            alike.setdefault(apart, []).append(name)
            hows[apart] = how
        for apart, columns in alike.items():
            how = hows[apart] if len(columns) == 1 else json.loads(apart)
            yield PaperRun(paper=self, table=table, row=row, columns=tuple(columns), how=how)


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperRun:
    """A run of a paper, done by one recipe."""

    paper: Paper
    table: str
    row: str
    columns: tuple[str, ...]
    how: How

    @property
    def method(self) -> Mapping[str, Any]:
        """The method to run."""
        return self.paper.methods[self.paper.tables[self.table].rows[self.row].method]

    @property
    def learns(self) -> bool:
        """Whether it learns from task to task."""
        return self.method.get("learns", True)

    @property
    def address(self) -> str:
        """Its address in commands."""
        parts, column = [self.table, self.row], self.columns[0]
        of_a_niche = "niche" in self.paper.tables[self.table].columns[column].run
        if (of_a_niche and len(self.columns) == 1) or len([*self.paper.runs(*parts)]) > 1:
            parts.append(column)
        return f"{self.paper.key}:{'/'.join(parts)}"

    @property
    def place(self) -> Path:
        """Its path below a common folder."""
        return Path(*self.address.replace(":", "/").split("/"))

    @property
    def figures(self) -> Mapping[str, Figure | None]:
        """The published figures, by column."""
        table = self.paper.tables[self.table]
        row = table.rows[self.row]
        figures = dict(zip(table.columns, row.figures, strict=False))
        return {column: figures.get(column) for column in self.columns}


def merged(*hows: How) -> How:
    """Merge settings; later ones win, field by field in recipes, settings and agents."""
    joined: How = {}
    for how in hows:
        for key, value in how.items():
            both = isinstance(value, dict) and isinstance(joined.get(key), dict)
            joined[key] = merged(joined[key], value) if both else value
    return joined


def paper_names() -> Sequence[str]:
    """Return the names of the papers."""
    return sorted(path.parent.name for path in HERE.glob(f"*/{PAPER}"))


@cache
def load_paper(name: str) -> Paper:
    """Load one of our papers with its tables.

    Raises:
        ConfigError: A file cannot be read as YAML.
    """
    folder = HERE / name
    files = sorted(folder.glob("*.yaml"), key=_order)
    tables = {path.stem: _table(_read(path)) for path in files if path.name != PAPER}
    return Paper(key=name, tables=tables, **_read(folder / PAPER))


def _order(path: Path) -> tuple[bool, int, str]:
    """Return a sort key that puts table10 after table9, and figures after tables."""
    parts = ["".join(part) for _, part in groupby(path.stem, str.isdigit)]
    number = next((int(part) for part in parts if part.isdigit()), 0)
    return parts[0] != "table", number, path.stem


def _read(path: Path) -> dict[str, Any]:
    document, problems = read_yaml(read_file(path), str(path))
    if problems:
        raise ConfigError(problems)
    return document.value


def _table(value: dict[str, Any]) -> PaperTable:
    columns = {name: Column(**(column or {})) for name, column in value.get("columns", {}).items()}
    rows = {name: PaperRow(**row) for name, row in value.get("rows", {}).items()}
    fields: dict[str, Any] = {**value, "columns": columns, "rows": rows}
    return PaperTable(**fields)

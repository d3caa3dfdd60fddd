"""An arena as a site: its table, and pages of its cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...operators.pages import open_pool
from ...runtime.runs.record import read_value
from ...runtime.view import FolderSite, Links, NoPage, Page
from ..arena.tables import ARENA, cells_table, table
from .figures import table_of
from .templates import TEMPLATES

DEPTH = 4
"""The depth of a cell's folder: cells, method, stream, seed."""


def open_arena(folder: Path) -> ArenaSite | None:
    """Return the site of an arena; None if the folder is something else."""
    return ArenaSite(folder=folder) if (folder / ARENA).is_file() else None


class ArenaSite(FolderSite):
    """The results of an arena."""

    @property
    def contents(self) -> Mapping[str, str]:
        """Only the table: cells have pages of their own."""
        return {"": "Arena"}

    @property
    def state(self) -> str:
        """A key that changes with the table; empty once all cells are done."""
        stat = (self.folder / ARENA).stat()
        return f"{stat.st_size}/{stat.st_mtime_ns}" if self._value["open"] else ""

    @property
    def _value(self) -> dict[str, Any]:
        return read_value(self.folder / ARENA)

    def page(self, address: str, links: Links) -> Page:
        """Return the table, or a page of a cell's pool, whose address begins with its folder."""
        if not address:
            return self._table(links)
        place, rest = "/".join(address.split("/")[:DEPTH]), "/".join(address.split("/")[DEPTH:])
        is_cell = place in {cell["folder"] for cell in self._value["cells"]}
        site = open_pool(self.folder / place) if is_cell and ".." not in place.split("/") else None
        if site is None or links.base is None:
            raise NoPage(address)
        return site.page(rest, replace(links, here=rest, base=f"{links.base}{place}/"))

    def _table(self, links: Links) -> Page:
        value = self._value
        rows = cells_table(value)
        places = [links.to("", f"{cell['folder']}/") for cell in value["cells"]]
        addresses = {row["cell"]: place for row, place in zip(rows, places, strict=True)}
        body = TEMPLATES.render(
            "arena.html",
            links,
            title=self.title,
            open=value["open"],
            baseline=value["baseline"],
            table=table_of("Methods", table(value)),
            cells=table_of("Cells", rows, addresses),
        )
        return Page(title=self.title, body=body)

"""An arena as a site: its table, and the pages of its cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...operators.pages import open_pool
from ...runtime.runs.record import read_value
from ...runtime.view import NoPage, Page
from ...schema.values.errors import InputError
from ...schema.values.problems import quoted
from ..arena.tables import ARENA, cells_table, table
from .figures import table_of
from .templates import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ...runtime.view import Links


def open_arena(folder: Path) -> ArenaSite | None:
    """Find an arena; None where the folder is of another kind."""
    return ArenaSite(folder=folder) if (folder / ARENA).is_file() else None


@dataclass(frozen=True, kw_only=True)
class ArenaSite:
    """The results of an arena.

    Attributes:
        folder: The folder.
    """

    folder: Path

    @property
    def title(self) -> str:
        """What the folder is called."""
        return self.folder.resolve().name

    @property
    def contents(self) -> Mapping[str, str]:
        """The table alone: cells have pages of their own."""
        return {"": "Arena"}

    @property
    def state(self) -> str:
        """What changes with the table; empty, once all cells are done."""
        stat = (self.folder / ARENA).stat()
        return f"{stat.st_size}/{stat.st_mtime_ns}" if self._value["open"] else ""

    @property
    def _value(self) -> dict[str, Any]:
        return read_value(self.folder / ARENA)

    def page(self, address: str, links: Links) -> Page:
        """Make the table, or a page of a cell's pool, whose address begins with its folder.

        Raises:
            NoPage: There is none of that address.
            InputError: A file is damaged.
        """
        value = self._value
        if not address:
            return self._table(value, links)
        for cell in value["cells"]:
            place = cell["folder"]
            if ".." in place.split("/"):
                raise InputError(f"{self.folder / ARENA}: {quoted(place)} is no folder in it.")
            if address == place or address.startswith(f"{place}/"):
                site = open_pool(self.folder / place)
                if site is None or links.base is None:
                    raise NoPage(address)
                rest = address.removeprefix(place).removeprefix("/")
                own = replace(links, here=rest, base=f"{links.base}{place}/")
                return site.page(rest, own)
        raise NoPage(address)

    def _table(self, value: Mapping[str, Any], links: Links) -> Page:
        rows = cells_table(value)
        addresses = {
            row["cell"]: links.to("", f"{cell['folder']}/")
            for row, cell in zip(rows, value["cells"], strict=True)
        }
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

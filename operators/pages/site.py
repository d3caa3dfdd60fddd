"""A pool, or one of its evolutions, as a website."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...pool.folder.own_files import refuse_links
from ...pool.values.layout import AGENTS, EVOLUTIONS, LEDGER, MANIFEST
from ...runtime.view import FolderSite, Links, NoPage, Page, is_number
from .compare import choose_page, compare_page
from .evolution import evolution_page, tasks_page
from .lineage import lineage_page
from .memory import memory_page
from .overview import overview_page
from .pool_source import PoolSource
from .population import agent_page, population_page
from .task import run_of_task, task_page
from .teams import team_page, teams_page

Maker = Callable[[PoolSource, Sequence[str], Links], Page]
"""Makes a page of the words of an address after the first."""
IN_CONTENTS = 6
"""The most evolutions in the table of contents, the last ones; the pool's page lists all."""


def open_pool(folder: Path) -> PoolSite | None:
    """Return the site of a pool or of one of its evolutions; None for a folder of another kind.

    Raises:
        InputError: The pool holds a link.
    """
    if (folder / LEDGER).is_file():
        refuse_links(folder, whole=True)
        return PoolSite(folder=folder, source=PoolSource(folder=folder))
    place = folder.resolve()
    pool = place.parents[1] if len(place.parents) > 1 else place
    if (folder / MANIFEST).is_file() and place.parent.name == EVOLUTIONS:
        refuse_links(pool, whole=True)
        return PoolSite(folder=folder, source=PoolSource(folder=pool), first=place.name)
    return None


@dataclass(frozen=True, kw_only=True)
class PoolSite(FolderSite):
    """The site of a pool with its evolutions.

    Attributes:
        first: The evolution on the first page; "" if that is the pool itself.
    """

    source: PoolSource
    first: str = ""

    @property
    def contents(self) -> Mapping[str, str]:
        """The pages of the pool and of its last evolutions, by address."""
        others = [evolution for evolution in self.source.evolutions if evolution != self.first][
            -IN_CONTENTS:
        ]
        population = {"population": "Population"} if (self.source.folder / AGENTS).is_dir() else {}
        return {
            **({"": f"Evolution {self.first}", "pool": "Pool"} if self.first else {"": "Pool"}),
            "teams": "Teams",
            "lineage": "Lineage",
            **population,
            "memory": "Memory",
            **{f"{EVOLUTIONS}/{name}": f"Evolution {name}" for name in others},
        }

    @property
    def state(self) -> str:
        """A string that changes with the pool; "" once no process works on an evolution of it."""
        return self.source.stamp if self.source.at_work else ""

    def page(self, address: str, links: Links) -> Page:
        """Return a page; see `Site`."""
        kind, *words = address.split("/")
        if not kind and self.first:
            return evolution_page(self.source, self.first, links)
        make = MAKERS.get(kind or "pool")
        if make is None:
            raise NoPage(address)
        return make(self.source, words, links)


def _whole(page: Callable[[PoolSource, Links], Page]) -> Maker:
    """Return a maker of a page without parts."""

    def make(source: PoolSource, words: Sequence[str], links: Links) -> Page:
        _expect(not words)
        return page(source, links)

    return make


def _filtered(page: Callable[[PoolSource, tuple[str, int], Links], Page]) -> Maker:
    """Return a maker of a page by `FILTER/NUMBER`, or without words by all, from the first on."""

    def make(source: PoolSource, words: Sequence[str], links: Links) -> Page:
        choice, number = words if len(words) == 2 else ("all", "1" if not words else "")
        _expect(is_number(number))
        return page(source, (choice, int(number)), links)

    return make


def _team(source: PoolSource, words: Sequence[str], links: Links) -> Page:
    _expect(len(words) == 1 and words[0] in source.pool.teams)
    return team_page(source, words[0], links)


def _compare(source: PoolSource, words: Sequence[str], links: Links) -> Page:
    _expect(len(words) in {1, 2} and source.pool.teams.keys() >= {*words})
    if len(words) == 1:
        return choose_page(source, words[0], links)
    return compare_page(source, words[0], words[1], links)


def _agent(source: PoolSource, words: Sequence[str], links: Links) -> Page:
    _expect(len(words) == 1 and words[0] in source.pool.all_agents)
    return agent_page(source, words[0], links)


def _evolution(source: PoolSource, words: Sequence[str], links: Links) -> Page:
    name, kind, number, *what = [*words, "", "", ""][: max(3, len(words))]
    _expect(name in source.evolutions and (is_number(number) or not kind))
    match kind:
        case "":
            return evolution_page(source, name, links)
        case "tasks":
            return tasks_page(source, name, int(number), links)
        case "task":
            return task_page(source, name, int(number), links)
        case "run":
            return run_of_task(source, name, int(number), "/".join(what), links)
        case _:
            raise NoPage(kind)


def _expect(is_page: bool) -> None:
    if not is_page:
        raise NoPage


MAKERS: Mapping[str, Maker] = {
    "pool": _whole(overview_page),
    "teams": _filtered(teams_page),
    "team": _team,
    "compare": _compare,
    "lineage": _filtered(lineage_page),
    "memory": _filtered(memory_page),
    "population": _whole(population_page),
    "agent": _agent,
    EVOLUTIONS: _evolution,
}
"""The page functions, by the first word of an address."""

"""A pool as the source of pages: opened once, then refreshed as it grows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...pool.expectation.expectation import Expectation, ranked
from ...pool.ledger.ledger import LedgerEntry
from ...pool.ledger.members import Member
from ...pool.population.seats import structures_of
from ...pool.teams.pool import Pool
from ...pool.values.layout import EVOLUTIONS, LEDGER, MANIFEST, TURNS
from ...runtime.record.journal import FILE, is_held
from ..evolution.folder import Manifest
from ..evolution.strategy import WholeStatus, strategy_of


@dataclass(frozen=True, kw_only=True)
class PoolSource:
    """A pool with the values that its pages need."""

    folder: Path
    _cache: dict[str, tuple[str, Any]] = field(default_factory=dict[str, "tuple[str, Any]"])

    @property
    def evolutions(self) -> Sequence[str]:
        """The names of its evolutions."""
        paths = (self.folder / EVOLUTIONS).glob(f"*/{MANIFEST}")
        return sorted(path.parent.name for path in paths)

    @property
    def at_work(self) -> Sequence[str]:
        """The evolutions that a process is running now."""
        folders = ((name, self.evolution(name)) for name in self.evolutions)
        return [name for name, folder in folders if (folder / FILE).exists() and is_held(folder)]

    def evolution(self, name: str) -> Path:
        """Return the folder of an evolution."""
        return self.folder / EVOLUTIONS / name

    def whole(self, name: str) -> WholeStatus | None:
        """Return the state of a strategy that works on all tasks together; None for others."""
        folder = self.evolution(name)
        if (folder / TURNS).exists():
            return None
        return strategy_of(Manifest.read(folder).recipe["strategy"]).status(folder)

    @property
    def stamp(self) -> str:
        """A string that changes with the pool and with the results of its evolutions."""
        folders = [self.evolution(name) for name in self.evolutions]
        paths = [self.folder / LEDGER, *(folder / TURNS for folder in folders)]
        sizes = [str(path.stat().st_size) if path.exists() else "-" for path in paths]
        # Replacing a file changes the time of its folder.
        return " ".join([*sizes, *(str(folder.stat().st_mtime_ns) for folder in folders)])

    @property
    def pool(self) -> Pool:
        """The current pool.

        Raises:
            StorageError: It is damaged.
        """
        if "pool" not in self._cache:
            self._cache["pool"] = ("", Pool.open(self.folder, report=lambda _: None))
        pool: Pool = self._cache["pool"][1]
        pool.refresh()
        return pool

    @property
    def ranked(self) -> Mapping[Member, Expectation]:
        """All teams with their expectations, the most promising first.

        Raises:
            StorageError: The pool is damaged.
        """
        return self.once("ranked", lambda: ranked(self.pool.teams.values()))

    @property
    def structures(self) -> frozenset[str]:
        """The teams whose seats agents of a population fill."""
        return self.once("structures", lambda: structures_of(self.pool))

    @property
    def entries(self) -> Sequence[LedgerEntry]:
        """All lines of the ledger."""
        return self.once("entries", lambda: [*self.pool.entries()])

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return a value derived from the pool, computed again only after the pool has changed."""
        stamp = self.stamp
        if self._cache.get(name, ("", None))[0] != stamp:
            self._cache[name] = (stamp, make())
        return self._cache[name][1]

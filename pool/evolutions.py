"""What the evolutions of a pool say of a population: its rates, and what their tasks consumed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from ..runtime.record import read_value
from ..runtime.usage import Usage
from ..schema.errors import InputError
from ..schema.values import is_mapping
from .layout import EVOLUTIONS, MANIFEST, TURNS
from .ledger import Ledger
from .population import Population, Rates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from .pool import Pool

__all__ = ["Consumed", "consumed", "population_of", "rates_of"]

NAMES = frozenset(one.name for one in fields(Rates))


@dataclass(frozen=True, kw_only=True, slots=True)
class Consumed:
    """What tasks of evolutions consumed.

    Attributes:
        tasks: How many there were.
        runs: What the runs of teams consumed.
        operators: What operators did: those that reflect, lead, dream, make personas.
        judging: What judging did.
    """

    tasks: int
    runs: Usage
    operators: Usage
    judging: Usage

    @property
    def each(self) -> float:
        """Tokens of everything together, by task."""
        return (self.runs + self.operators + self.judging).tokens / self.tasks


def rates_of(pool: Path, evolution: str | None = None) -> Rates:
    """Give the rates at which a pool's population was evolved; by default EvoChamber's, Table 9.

    Args:
        pool: The pool's folder.
        evolution: The evolution whose recipe says them. None: the only one that does.

    Raises:
        InputError: There is no such evolution, or several say different things.
    """
    said = {name: rates for name, rates in _rates(pool) if evolution in (None, name)}
    if evolution is not None and evolution not in said:
        raise InputError(f"no evolution of a population is called {evolution!r} in {pool}.")
    if len(set(said.values())) > 1:
        raise InputError(
            f"the evolutions of {pool} have different rates: {', '.join(said)}. Say which one's"
            " count, with --evolution."
        )
    return next(iter(said.values()), Rates())


def population_of(pool: Pool) -> Population:
    """Give a pool's population as of its last line, at the rates at which it was evolved.

    Raises:
        InputError: Its evolutions say different rates.
        StorageError: The ledger is damaged.
    """
    population = Population(rates=rates_of(pool.folder))
    for entry in pool.entries():
        population = population.after(entry)
    return population


def consumed(pool: Path) -> Consumed | None:
    """Say what the tasks of a population's evolutions consumed; None: there was none.

    Raises:
        StorageError: The lines of one are damaged.
    """
    ledgers = [Ledger(pool / EVOLUTIONS / name / TURNS) for name, _ in _rates(pool)]
    lines = [entry.value for ledger in ledgers for entry in ledger.read()]
    if not lines:
        return None
    runs, operators, judging = (
        sum((Usage(**line[name]) for line in lines), Usage())
        for name in ("usage", "operators", "judging")
    )
    return Consumed(tasks=len(lines), runs=runs, operators=operators, judging=judging)


def _rates(pool: Path) -> Iterator[tuple[str, Rates]]:
    """Give the rates of each evolution of a population, by its name."""
    for path in sorted((pool / EVOLUTIONS).glob(f"*/{MANIFEST}")):
        settings = _settings(read_value(path))
        if settings.keys() >= NAMES:
            yield path.parent.name, Rates(**{name: settings[name] for name in NAMES})


def _settings(manifest: Any) -> Mapping[str, Any]:
    recipe = manifest.get("recipe") if is_mapping(manifest) else None
    settings = recipe.get("settings") if is_mapping(recipe) else None
    return settings if is_mapping(settings) else {}

"""A population's data from its evolutions: the rates, and the consumption of their tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_args

from ...runtime.values.operator_answers import OperatorAnswers
from ...runtime.values.usage import Usage
from ...schema.values.codec import misfit, stored
from ...schema.values.errors import InputError, StorageError
from ...schema.values.problems import quoted
from ...schema.values.values import is_mapping
from ..ledger.ledger import Ledger, LedgerEntry
from ..teams.pool import Pool
from ..values.layout import EVOLUTIONS, MANIFEST, TURNS
from .population import Population, PruneBy, Rates

NUMBERS = frozenset(rate.name for rate in fields(Rates)) - {"prune_by"}
PRUNE_BY: tuple[PruneBy, ...] = get_args(PruneBy)


@stored()
class CandidateLine:
    """A candidate, as recorded in an episode's line."""

    number: int
    operator: str
    component: str | None
    parents: tuple[str, ...]
    sources: tuple[int, ...]
    edits: tuple[str, ...]
    reason: str
    executed: bool
    score: float
    verdict: float | None
    reward: float
    usage: Usage
    saved: Usage | None = None
    team: str | None


@stored()
class DroppedLine:
    """An invalid answer of a model, as recorded in an episode's line."""

    operator: str
    reason: str
    problems: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _EpisodeLine:
    task: str
    niche: str | None
    pool: int
    score: float
    scored_by: str
    verdict: float | None
    dropped: tuple[DroppedLine, ...]
    operators: Usage
    judging: Usage
    asked: Mapping[str, OperatorAnswers] = field(default_factory=dict[str, OperatorAnswers])


@stored()
class SearchedLine(_EpisodeLine):
    """The line of an episode that searched among candidates."""

    team: str
    kept: bool
    new: bool | int = False
    first: float | None
    reward: float
    best: int
    candidates: tuple[CandidateLine, ...]


@stored()
class AnsweredLine(_EpisodeLine):
    """The line of an episode that only gave an answer."""

    reward: float = 0
    executed: bool | int
    runs: tuple[str, ...] = ()
    usage: Usage
    spent: Mapping[str, Usage]
    told: Mapping[str, float | bool]


@dataclass(frozen=True, kw_only=True, slots=True)
class EvolutionUsage:
    """The consumption of evolutions' tasks.

    Attributes:
        operators: The consumption of operators, such as reflecting, leading, dreaming and writing
            personas.
    """

    tasks: int
    runs: Usage
    operators: Usage
    judging: Usage

    @property
    def each(self) -> float:
        """The mean total tokens per task."""
        return (self.runs + self.operators + self.judging).tokens / self.tasks


def rates_of(pool: Path, evolution: str | None = None) -> Rates:
    """Return the rates of a pool's evolved population; by default EvoChamber's, Table 9.

    Args:
        evolution: The evolution whose recipe sets them. None: the only one that does.

    Raises:
        InputError: There is no such evolution, or several have different rates.
    """
    record = {name: rates for name, rates in _rates(pool) if evolution in (None, name)}
    if evolution is not None and evolution not in record:
        raise InputError(f"no evolution of a population is called {evolution!r} in {pool}.")
    if len(set(record.values())) > 1:
        raise InputError(
            f"the evolutions of {pool} have different rates: {', '.join(record)}. Choose one with"
            " --evolution."
        )
    return next(iter(record.values()), Rates())


def population_of(pool: Pool) -> Population:
    """Return a pool's population as of its last line, with the rates of its evolution."""
    population = Population(rates=rates_of(pool.folder))
    for entry in pool.entries():
        population = population.after(entry)
    return population


def consumed(pool: Path) -> EvolutionUsage | None:
    """Return the consumption of a population's evolutions; None without any."""
    paths = [pool / EVOLUTIONS / name / TURNS for name, _ in _rates(pool)]
    lines = [usage_of(entry.value) for path in paths for entry in turns_in(path)]
    if not lines:
        return None
    runs, operators, judging = (sum(each, Usage()) for each in zip(*lines, strict=True))
    return EvolutionUsage(tasks=len(lines), runs=runs, operators=operators, judging=judging)


def turns_in(path: Path) -> Iterator[LedgerEntry]:
    """Yield the journal entries of an evolution, one per task.

    Raises:
        StorageError: It is damaged, or a line is no valid episode.
    """
    for number, entry in enumerate(Ledger(path).read(), start=1):
        line = entry.value
        wrong = misfit(SearchedLine if "candidates" in line else AnsweredLine, line)
        if not wrong and not 0 <= line.get("best", 0) < max(1, len(line.get("candidates", ()))):
            wrong = f"best: there is no candidate {line['best']}"
        if wrong:
            raise StorageError(
                f"{path}: line {number} does not match the episode: {wrong}. It was edited: restore"
                " the file from version control or a backup."
            )
        yield entry


def usage_of(line: Mapping[str, Any]) -> tuple[Usage, Usage, Usage]:
    """Return the consumption of an evolution's task: team runs, operators, judging.

    Calls that children reused from their parents' runs are not counted twice.
    """
    ran = line.get("candidates", ())
    runs = [line] if "usage" in line else ran
    paid = (Usage(**run["usage"]) - Usage(**run.get("saved", {})) for run in runs)
    teams = sum(paid, Usage())
    return teams, Usage(**line["operators"]), Usage(**line["judging"])


def _rates(pool: Path) -> Iterator[tuple[str, Rates]]:
    """Yield the rates of each evolution of a population, by name."""
    from ...runtime.runs.record import read_value

    for path in sorted((pool / EVOLUTIONS).glob(f"*/{MANIFEST}")):
        settings = _settings(read_value(path))
        if settings.keys() >= {*NUMBERS, "prune_by"}:
            rates = {name: settings[name] for name in NUMBERS}
            for name, rate in rates.items():
                if not isinstance(rate, int | float) or isinstance(rate, bool):
                    raise InputError(
                        f"{path}: recipe.settings.{name}: {quoted(rate)} is not a number. It was"
                        " edited: restore the file from version control or a backup."
                    )
            if (by := settings["prune_by"]) not in PRUNE_BY:
                raise InputError(
                    f"{path}: recipe.settings.prune_by: {quoted(by)} is not one of"
                    f" {', '.join(PRUNE_BY)}. It was edited: restore the file from version control"
                    " or a backup."
                )
            yield path.parent.name, Rates(**rates, prune_by=by)


def _settings(manifest: Any) -> Mapping[str, Any]:
    recipe = manifest.get("recipe") if is_mapping(manifest) else None
    settings = recipe.get("settings") if is_mapping(recipe) else None
    return settings if is_mapping(settings) else {}

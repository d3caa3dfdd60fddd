"""The status of an evolution: held-out scores first, then the report of its episodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...pool.expectation.expectation import most_promising
from ...pool.folder.own_files import refuse_links
from ...pool.population.seats import structures_of
from ...pool.teams.pool import Pool
from ...pool.view import events
from ...runtime.record.journal import FILE as JOURNAL
from ...runtime.record.journal import Journal
from ...runtime.values.terminal import counted, speakable, with_interval
from ...runtime.values.usage import Usage
from ...schema.values.codec import to_value
from ...schema.values.errors import InputError
from ...schema.values.json_text import dumps
from ..evolution.folder import EVOLUTIONS, MANIFEST, Manifest
from ..evolution.lines import lines_in
from ..evolution.strategy import strategy_of
from ..methods.race.pool_race import PoolRace
from ..report.frozen import HeldOutFigures, read_figures
from ..report.report import EvolutionReport

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ..evolution.strategy import WholeStatus
    from ..routing import By
    from ..routing import RouterFigures as RoutingFigures


@dataclass(frozen=True, kw_only=True, slots=True)
class EvolutionStatus:
    """The current status of an evolution.

    Attributes:
        held_out: Held-out figures, if any.
        unfinished: The usage of unfinished tasks; None if another process works on them.
        best: The team that the pool would deploy: its name, file and expectation. None if the pool
            has no team, or makes new teams for each task.
        routing: The figures of a router fitted to the pool's cases; None without cases.
        population: The pool's folder, if its teams are made of its agents.
        raced: The result of the pool's last race; None without one.
        whole: The state of a strategy that works on all tasks together, which replaces everything
            else; None for other strategies.
    """

    report: EvolutionReport
    held_out: HeldOutFigures | None = None
    unfinished: Usage | None = None
    best: Mapping[str, Any] | None = None
    routing: RoutingFigures | None = None
    population: Path | None = None
    whole: WholeStatus | None = None
    raced: PoolRace | None = None

    @classmethod
    def of(cls, pool_folder: Path, name: str) -> EvolutionStatus:
        """Read the status of an evolution."""
        folder = pool_folder / EVOLUTIONS / name
        recipe = Manifest.read(folder).recipe
        strategy = strategy_of(recipe["strategy"])
        if (whole := strategy.status(folder)) is not None:
            return cls(report=EvolutionReport(), whole=whole)
        lines = [*lines_in(folder)]
        report = EvolutionReport.of(lines)
        unfinished = _unfinished(folder, len(lines))
        if unfinished is not None and unfinished.calls:
            report.spending["unfinished"] = unfinished
        makes_teams = strategy.teams is not None
        return cls(
            report=report,
            held_out=read_figures(folder),
            unfinished=unfinished,
            best=None if makes_teams else _best(Pool.open(pool_folder)),
            routing=_routing(pool_folder, recipe),
            population=pool_folder if makes_teams else None,
            raced=PoolRace.read(pool_folder),
        )

    @property
    def chosen_by(self) -> str:
        """What chose each task's best candidate."""
        answers = self.report.by_answers
        if 0 < answers < self.report.tasks:
            return "the answers, where a task has one, and a judge"
        return "the answers" if answers else "a judge"

    def value(self) -> dict[str, Any]:
        """Return it as a JSON object, the held-out figures first."""
        if self.whole is not None:
            return dict(self.whole.value())
        return {
            "held_out": self.held_out and self.held_out.value(),
            "chosen_by": self.chosen_by,
            **self.report.value(),
            **({"routing": self.routing.value()} if self.routing else {}),
            "best": self.best and dict(self.best),
            **({"raced": to_value(self.raced)} if self.raced else {}),
        }

    def __str__(self) -> str:
        """Return it as text for people."""
        if self.whole is not None:
            return str(self.whole)
        routing = ["", str(self.routing), ""] if self.routing else []
        return "\n".join([*self._held_out(), str(self.report), *routing, *self._notes()])

    def _held_out(self) -> list[str]:
        figures, tasks = self.held_out, self.report.tasks
        if not tasks:
            return []
        if figures is None:
            return ["no held-out score; add one with --test FILE", ""]
        if figures.after == tasks:
            return [str(figures), ""]
        return [str(figures), f"  (the pool after {counted(figures.after, 'task')} of {tasks})", ""]

    def _notes(self) -> list[str]:
        best, notes = self.best, list[str]()
        if self.unfinished is None:
            notes.append("unfinished tasks: another process is working on them")
        elif self.unfinished.calls:
            calls = counted(self.unfinished.calls, "call")
            notes.append(f"unfinished: {calls} for tasks without a result yet; nothing is lost")
        if self.population is not None:
            notes.append(f"its agents: mas-pool population {self.population}")
        if self.raced is not None:
            notes.append(str(self.raced))
        if best is None:
            return notes
        expected = with_interval(best["expected"], best["expected_interval"])
        notes.append(f"best team: {best['path']}, expected to score {expected}")
        return notes

    def shown(self, *, as_json: bool) -> str:
        """Return it in its printed form."""
        return dumps(self.value(), indent=2) if as_json else speakable(str(self))


def _best(pool: Pool) -> Mapping[str, Any] | None:
    if pool.members.keys() <= structures_of(pool):
        return None
    best, expected = most_promising(pool)
    return {
        "team": best.name,
        "path": str(best.path),
        "expected": expected.score,
        "expected_interval": [expected.low, expected.high],
    }


def _routing(pool_folder: Path, recipe: Mapping[str, Any]) -> RoutingFigures | None:
    """Cross-validate a router on the cases of the single agent that was compared last.

    If its learner is not installed on this host, the router is a rule.
    """
    from ..routing import ROUTED, cases_of, figures, missing

    noteds = events(pool_folder, ROUTED)
    if not noteds:
        return None
    *_, last = cases_of(noteds)
    by: By = recipe["settings"].get("router", "rule")
    cases = cases_of(noteds, single=last.single.name)
    return figures(cases, by="rule" if missing(by) else by, beta=recipe["beta"])


def evolution_of(pool: Path, name: str | None) -> str:
    """Return the name of an evolution of a pool; the only evolution of a pool needs no name.

    Raises:
        InputError: There is none, or none of that name; there are several, and none is named; or
            the pool holds a link.
    """
    refuse_links(pool, whole=True)
    names = sorted(path.parent.name for path in (pool / EVOLUTIONS).glob(f"*/{MANIFEST}"))
    hint = f"Known: {', '.join(names)}." if names else "Create one with mas-evolve."
    if name is not None and name not in names:
        raise InputError(f"no evolution {name!r} in {pool}. {hint}")
    if name is None and len(names) != 1:
        raise InputError(f"{pool} has {counted(len(names), 'evolution')}. Name one. {hint}")
    return name or names[0]


def _unfinished(folder: Path, first: int) -> Usage | None:
    """Return the usage of uncommitted episodes, starting with number `first`."""
    if not (folder / JOURNAL).exists():
        return Usage()
    episodes = range(first, first + Manifest.read(folder).recipe["workers"])
    try:
        with Journal.open(folder, replaying=True) as journal:
            return sum(
                (journal.spent(under=f"task {episode:06d}/") for episode in episodes), Usage()
            )
    except InputError:
        return None

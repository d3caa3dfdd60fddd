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
from ...runtime.values.usage import NOTHING, Usage, total
from ...schema.values.codec import to_value
from ...schema.values.errors import InputError
from ...schema.values.json_text import dumps
from ...schema.values.terminal import counted, speakable, with_interval
from ..evolution.folder import EVOLUTIONS, MANIFEST, Manifest
from ..evolution.lines import lines_in
from ..evolution.strategy import strategy_of
from ..methods.race.pool_race import PoolRace
from ..report.frozen import HeldOutFigures, read_figures
from ..report.report import EvolutionReport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
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
        lost: The usage of calls that were broken off: their answers count nowhere.
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
    lost: Usage = NOTHING
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
            more, lost = _spent(folder, [""])
            if more is not None:
                more -= total(whole.spending.values())
                more, lost = (NOTHING, more) if whole.is_over else (more, lost)
            return cls(report=EvolutionReport(), whole=whole, unfinished=more, lost=lost)
        lines = [*lines_in(folder)]
        report = EvolutionReport.of(lines)
        episodes = range(len(lines), len(lines) + recipe["workers"])
        unfinished, lost = _spent(folder, [f"task {episode:06d}/" for episode in episodes])
        if unfinished is not None and unfinished.calls:
            report.spending["unfinished"] = unfinished
        makes_teams = strategy.teams is not None
        return cls(
            report=report,
            held_out=read_figures(folder),
            unfinished=unfinished,
            lost=lost,
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
        lost = {"lost": self.lost.value()} if self.lost.calls else {}
        if self.whole is not None:
            more = {"unfinished": more.value()} if (more := self.unfinished) and more.calls else {}
            return {**self.whole.value(), **more, **lost}
        return {
            "held_out": self.held_out and self.held_out.value(),
            "chosen_by": self.chosen_by,
            **self.report.value(),
            **({"routing": self.routing.value()} if self.routing else {}),
            "best": self.best and dict(self.best),
            **({"raced": to_value(self.raced)} if self.raced else {}),
            **lost,
        }

    def __str__(self) -> str:
        """Return it as text for people."""
        if self.whole is not None:
            return "\n".join([str(self.whole), *self._beside()])
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

    def _beside(self) -> list[str]:
        """Return what was paid for beside the results."""
        if self.unfinished is None:
            return ["unfinished tasks: another process is working on them"]
        texts: list[str] = []
        if self.unfinished.calls:
            calls = counted(self.unfinished.calls, "call")
            texts.append(f"unfinished: {calls}, {self.unfinished.cost}, without a result yet")
        if self.lost.calls:
            most = f", at most ${self.lost.usd:.4f}" if self.lost.usd else ""
            calls = counted(self.lost.calls, "call")
            texts.append(f"beside these: {calls} broken off when it was stopped{most}")
        return texts

    def _notes(self) -> list[str]:
        best, notes = self.best, self._beside()
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


def _spent(folder: Path, unfinished: Sequence[str]) -> tuple[Usage | None, Usage]:
    """Return the usage below the paths of unfinished work, and that of lost calls elsewhere.

    The first is None if another process is at work.
    """
    if not (folder / JOURNAL).exists():
        return NOTHING, NOTHING
    try:
        with Journal.open(folder, replaying=True) as journal:
            all_lost = journal.spent() - journal.spent(lost=False)
            paid = [journal.spent(path) for path in unfinished]
            lost = [journal.spent(path) - journal.spent(path, lost=False) for path in unfinished]
            return total(paid), all_lost - total(lost)
    except InputError:
        return None, NOTHING

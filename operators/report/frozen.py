"""The figures of held-out trials: each subject's score, its differences to the others, its cost."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...pool.values.intervals import mean_interval, paired_interval
from ...runtime.runs.record import read_as
from ...runtime.values.usage import Usage
from ...schema.values.codec import stored, to_value
from ...schema.values.files import write_atomically
from ...schema.values.json_text import dumps
from ...schema.values.terminal import counted, with_interval
from ..evolution.readers import read_by, read_counts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .heldout import Subject

HELD_OUT = "heldout.json"
Scores = dict[str, list[float]]
"""The scores of each task, by its id."""


def difference(first: Scores, second: Scores) -> tuple[float, tuple[float, float]]:
    """Return the mean difference over the tasks that both have, and its 95 % interval."""
    tasks = sorted(first.keys() & second.keys())
    values = [statistics.fmean(first[task]) - statistics.fmean(second[task]) for task in tasks]
    return statistics.fmean(values) if values else 0.0, paired_interval(values)


@stored()
class HeldOutFigures:
    """Held-out figures of an evolution. The first team is the one that the pool would deploy.

    Attributes:
        repeats: The number of runs of each team on each task.
        after: The number of tasks that the pool had evolved on.
        teams: The name, role, score, interval and cost of each team, and the first team's
            difference to it.
        control: The subject tested without what was learnt: the strategy in the pool before the
            first task, or the most promising team of that pool. It may be the first team itself.
            None in figures of earlier versions.
    """

    tasks: int
    repeats: int
    after: int
    teams: tuple[Mapping[str, Any], ...]
    control: str | None = None

    @classmethod
    def of(
        cls, teams: Sequence[Subject], trials: Sequence[Mapping[str, Any]], *, after: int
    ) -> HeldOutFigures:
        """Return the figures of trials."""
        scores = {team.name: scores_of(team.name, trials) for team in teams}
        first = scores[teams[0].name]
        return cls(
            tasks=len({trial["task"] for trial in trials}),
            repeats=max((trial["repeat"] for trial in trials), default=0),
            after=after,
            teams=tuple(_subject_fields(team, scores[team.name], first, trials) for team in teams),
            control=next((team.name for team in teams if team.is_control), None),
        )

    @property
    def deployed(self) -> Mapping[str, Any]:
        """The figures of the team that the pool would deploy."""
        return self.teams[0]

    @property
    def gain(self) -> float | None:
        """Its mean gain over the control, paired by task; None without a control."""
        return self._against["difference"] if self._against else None

    @property
    def gain_interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the gain."""
        return tuple(self._against["difference_interval"]) if self._against else None

    @property
    def _against(self) -> Mapping[str, Any] | None:
        return next((team for team in self.teams if team["team"] == self.control), None)

    def value(self) -> dict[str, Any]:
        """Return the figures as a JSON object."""
        return {"gain": self.gain, "gain_interval": self.gain_interval, **to_value(self)}

    def __str__(self) -> str:
        """Return the figures as text for people, starting with the gain over the control."""
        how = f"{counted(self.tasks, 'task')} x {counted(self.repeats, 'repeat')}"
        first, *others = self.teams
        lines = [f"held out, {how}: {self._gained()}", f"  {_named(first)}"]
        if first["team"] == self.control:
            lines.append("  it is the control: no team is expected to score more")
        for team in others:
            gain = with_interval(team["difference"], team["difference_interval"], "+")
            lines.append(f"  {_named(team)}; {first['team']} scores {gain}")
        if lost := sum(team["unscored"] for team in self.teams):
            lines.append(f"  {counted(lost, 'trial')} without a score")
        return "\n".join(lines)

    def _gained(self) -> str:
        if self.gain is None or self.gain_interval is None:
            return "no control was tested"
        gain = with_interval(self.gain, self.gain_interval, "+")
        return f"gain {gain} over the control, the same without the lessons"


def write_figures(
    folder: Path, figures: HeldOutFigures, trials: Sequence[Mapping[str, Any]]
) -> None:
    """Write held-out figures, and the trials behind them, into an evolution's folder."""
    fields = {**figures.value(), "trials": list(trials)}
    write_atomically(folder / HELD_OUT, dumps(fields, indent=2, ensure_ascii=False) + "\n")


def read_figures(folder: Path) -> HeldOutFigures | None:
    """Read the held-out figures of an evolution; None without any."""
    path = folder / HELD_OUT
    if not path.exists():
        return None
    return read_as(HeldOutFigures, path, "a record of held-out tasks")


def scores_of(team: str, trials: Sequence[Mapping[str, Any]]) -> Scores:
    """Return a team's scores of each task, in [0, 1]; trials without a score are left out."""
    scores: Scores = {}
    for trial in trials:
        if trial["team"] == team and trial["score"] is not None:
            scores.setdefault(trial["task"], []).append(trial["score"])
    return scores


def _subject_fields(
    subject: Subject, scores: Scores, first: Scores, trials: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    mine = [trial for trial in trials if trial["team"] == subject.name]
    usage = sum((Usage(**trial["usage"]) for trial in mine), Usage())
    runs = len(mine) or 1
    gain, reach = difference(first, scores)
    return {
        "team": subject.name,
        "role": subject.role,
        "is_seed": subject.is_seed,
        "expected": subject.expected,
        "score": statistics.fmean(map(statistics.fmean, scores.values())) if scores else None,
        "interval": list(mean_interval([*scores.values()])),
        "difference": gain,
        "difference_interval": list(reach),
        "executed": sum(trial["executed"] for trial in mine),
        "trials": len(mine),
        "read": _read(subject, mine),
        "unscored": sum(trial["score"] is None for trial in mine),
        "each": {
            "calls": usage.calls / runs,
            "tokens": usage.tokens / runs,
            "usd": None if usage.unpriced_calls else usage.usd / runs,
        },
    }


def _read(subject: Subject, trials: Sequence[Mapping[str, Any]]) -> Mapping[str, int] | None:
    """Count the readers of what was learnt, and their tasks; None if none are expected."""
    by_task: dict[str, set[str]] = {}
    for trial in trials:
        by_task.setdefault(trial["task"], set()).update(trial["read"])
    read = read_counts([sorted(names) for names in by_task.values()])
    return read if read["tasks"] or subject.keeps else None


def _named(team: Mapping[str, Any]) -> str:
    """Return a subject in words: name, role, score, cost, and readers of what was learnt."""
    role = "" if team["role"] in {"learnt", "deployed"} else f" ({team['role']})"
    read = f"; {read_by(team['read'])}" if team.get("read") else ""
    return f"{team['team']}{role} {_score(team)}, {_cost(team)}{read}"


def _score(trial: Mapping[str, Any]) -> str:
    score = trial["score"]
    return "no score" if score is None else with_interval(score, trial["interval"])


def _cost(trial: Mapping[str, Any]) -> str:
    each = trial["each"]
    price = "unpriced" if each["usd"] is None else f"${each['usd']:.4f}"
    return f"{each['calls']:.1f} calls, {each['tokens']:.0f} tokens and {price} a run"

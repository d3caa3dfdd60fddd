"""The model behind expected scores of teams: relatives have similar scores, tasks differ.

It is the model by which breeders estimate the breeding value of animals. Selection by its records
does not bias it, as long as all candidates of each selection are in it (Henderson 1975, Biometrics
31:423).

* A child's value is the mean of its parents', plus the average gain of newcomers, plus a deviation
  of its own. Founders deviate by as much.
* A team's adaptation to a task is like a child of it; the average gain of adapting is known
  separately, where teams ran both ways.
* The trial for which a team was admitted to the pool is better than others, by the luck of a
  winner: by an equal, unknown amount for all. So wins never raise the level, but if scores are
  graded, they distinguish newcomers. If all wins are equal, they carry no information.
* Half of the variance of a deviation is common to all niches.
* A trial's score is the team's value, the ease of the niche and of the task, and chance.

The size of deviations is unknown: each of `SPREADS` is assumed in turn and weighted by the
likelihood of the scores. If differences come only from chance, all teams get the same estimate; if
teams differ, their own trials soon carry more weight than their parents'.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from ..ledger.members import Member, Task
from ..values.statistics import Kind, Past, Sums

PRIOR = 0.5
"""The estimate without any information."""
LEVEL, EASE = 0.05, 0.03
"""Variances of the common level of all teams and of a niche's ease: together those of any score."""
GAIN = 0.03**2
"""Variance of the average gain of newcomers over their parents."""
ADAPTING = 0.1**2
"""Variance of the average gain of adapting a team to a task."""
LUCK = 0.3**2
"""Variance of the advantage of chosen trials over others."""
SPREADS = (0.0, 0.05, 0.1, 0.2, 0.4)
"""Possible standard deviations of children from their parents."""
NOISE, BELIEF = 0.25, 4.0
"""The variance of a trial before any repetition, and its weight in repetitions."""
PAIRS = 10.0
"""The weight, in pairs of trials of a task, of the prior that tasks are equally easy."""
NOTHING = Sums()
LEAST = 1e-4
"""The minimum variance of a trial, and the minimum share of it for which wins count at all."""
KINDS: tuple[Kind, ...] = ("plain", "adapted", "chosen")
MOST = 400
"""The maximum number of pairs of team and niche with separate niches; time grows with their
cube."""


@dataclass(frozen=True, slots=True)
class _Tasks:
    """The totals of a group of trials.

    Attributes:
        sums: The totals on each of the last tasks, by niche and task.
    """

    sums: dict[Task, Sums] = field(default_factory=dict["Task", "Sums"])
    past: dict[str, Past] = field(default_factory=dict[str, "Past"])

    @property
    def whole(self) -> Sums:
        """The totals of all trials."""
        everything = (*self.sums.values(), *self.past.values())
        return Sums(
            sum(sums.n for sums in everything),
            sum(sums.scores for sums in everything),
            sum(sums.squares for sums in everything),
        )

    @property
    def places(self) -> Mapping[str, Sums]:
        """The totals by niche."""
        fields: dict[str, Sums] = {}
        items = chain(((place, item) for (place, _), item in self.sums.items()), self.past.items())
        for place, entry in items:
            n, scores, squares = fields.get(place, NOTHING)
            fields[place] = Sums(n + entry.n, scores + entry.scores, squares + entry.squares)
        return fields


_Group = tuple[int, str | bool, "Kind"]
"""A team's number, its niche (or whether it is the wanted one), and the kind of its trials."""


def estimated(teams: Sequence[Member], niche: str | None, split: str) -> Any:
    """Estimate the long-run scores of teams.

    Args:
        teams: The teams, parents before their children.
        niche: The niche of the tasks; None for all niches, weighted by frequency.

    Returns:
        For each team, the mean and the standard deviation of the estimate, as an array of two
        columns.
    """
    import numpy as np

    trials = _Trials.of(teams, niche, split)
    kinship, births = _pedigree(teams)
    who, trial_births = trials.teams, births[trials.teams]
    fixed = LEVEL + EASE * trials.alike + GAIN * np.outer(trial_births, trial_births)
    fixed += ADAPTING * np.outer(trials.adapted, trials.adapted)
    fixed += LUCK * np.outer(trials.chosen, trials.chosen)
    fixed_with = LEVEL + EASE * trials.alike_wanted + GAIN * np.outer(births, trial_births)
    fixed_alone = LEVEL + EASE * trials.wanted + GAIN * births**2
    # All adaptations of a team count as one child, which has no team of its own.
    adapted_alike = np.equal.outer(who, who) * np.outer(trials.adapted, trials.adapted)
    related = (kinship[np.ix_(who, who)] + adapted_alike) * (1 + trials.alike) / 2
    related_with = kinship[:, who] * (1 + trials.alike_wanted) / 2
    related_alone = kinship.diagonal() * (1 + trials.wanted) / 2
    off = trials.means - PRIOR
    result: list[Any] = []
    for spread in SPREADS:
        together = fixed + spread**2 * related + trials.noise
        toward = fixed_with + spread**2 * related_with
        root = np.linalg.cholesky(together)
        solved = np.linalg.solve(together, np.column_stack([off, toward.T]))
        likely = -np.log(root.diagonal()).sum() - off @ solved[:, 0] / 2
        explained = (toward * solved[:, 1:].T).sum(axis=1)
        result.append(
            (likely, toward @ solved[:, 0], fixed_alone + spread**2 * related_alone - explained)
        )
    likely, off, variance = (np.array(item) for item in zip(*result, strict=True))
    weights = np.exp(likely - likely.max())
    weights /= weights.sum()
    mean = weights @ off
    spread = np.sqrt(np.maximum(0, weights @ (variance + off**2) - mean**2))
    return np.stack([PRIOR + mean, spread], axis=1)


def _pedigree(teams: Sequence[Member]) -> tuple[Any, Any]:
    """Return the kinship of teams, in variances of a child, and their number of births.

    A child's kinship with others is the mean of its parents' (Henderson 1976, Biometrics 32:69).
    The parents of a founder are not among the teams.
    """
    import numpy as np

    kinship, births = np.zeros((len(teams), len(teams))), np.zeros(len(teams))
    numbers: dict[str, int] = {}
    for number, team in enumerate(teams):
        parents = [numbers[parent] for parent in team.lineage.parents if parent in numbers]
        if parents:
            births[number] = sum(births[parent] for parent in parents) / len(parents) + 1
            kinship[number] = sum(kinship[parent] for parent in parents) / len(parents)
            kinship[:, number] = kinship[number]
            kinship[number, number] = (
                sum(kinship[number, parent] for parent in parents) / len(parents) + 1
            )
        else:
            kinship[number, number] = 1
        numbers[team.name] = number
    return kinship, births


@dataclass(frozen=True, kw_only=True, slots=True)
class _Trials:
    """The observations, in groups: the trials of a team in a niche, of one kind.

    Attributes:
        teams: The team of each group, by its number.
        adapted: 1 if the team was adapted, else 0.
        chosen: 1 if these trials admitted the team to the pool, else 0.
        means: The mean score of each group.
        noise: The covariance of the groups' means that does not come from the teams.
        alike: For two groups, the probability that their trials are of the same niche.
        alike_wanted: The same for a group and the estimated niche.
        wanted: The same for the estimated niche, with itself.
    """

    teams: Any
    adapted: Any
    chosen: Any
    means: Any
    noise: Any
    alike: Any
    alike_wanted: Any
    wanted: float

    @classmethod
    def of(cls, teams: Sequence[Member], niche: str | None, split: str) -> _Trials:
        import numpy as np

        groups = _groups(teams, niche, split)
        chance, ease = _variances([item for key, item in groups.items() if key[2] != "chosen"])
        telling = _telling([item for key, item in groups.items() if key[2] == "chosen"])
        telling /= chance + ease
        if telling < LEAST:
            groups = {key: item for key, item in groups.items() if key[2] != "chosen"}
        report = list(groups.values())
        adapted = np.array([float(kind == "adapted") for *_, kind in groups])
        chosen = np.array([float(kind == "chosen") for *_, kind in groups])
        wholes = [group.whole for group in report]
        sizes = np.array([sums.n for sums in wholes])
        noise = chance / sizes / np.where(chosen, min(1.0, telling), 1.0)
        on_past = np.array([sum(past.repeats for past in item.past.values()) for item in report])
        tasks = dict.fromkeys(task for item in report for task in item.sums)
        names = (name for item in report for name in item.past)
        niches = {
            name: n for n, name in enumerate(dict.fromkeys(chain((of for of, _ in tasks), names)))
        }
        in_niche = np.zeros((len(report), len(niches)))
        for number, (group, whole) in enumerate(zip(report, wholes, strict=True)):
            for place, own in group.places.items():
                in_niche[number, niches[place]] = own.n / whole.n
        if niche is None:
            met = _task_counts(report, tasks)
            shares = np.array([met[name] for name in niches]) / max(1, sum(met.values()))
        else:
            shares = np.array([float(name == niche) for name in niches])
        return cls(
            teams=np.array([number for number, *_ in groups], dtype=int),
            adapted=adapted,
            chosen=chosen,
            means=np.array([sums.scores for sums in wholes]) / sizes,
            noise=np.diag(noise + ease * on_past / sizes**2) + ease * _shared(report, sizes),
            alike=in_niche @ in_niche.T,
            alike_wanted=in_niche @ shares,
            wanted=1.0 if niche is not None or not report else float(shares @ shares),
        )


def _groups(teams: Sequence[Member], niche: str | None, split: str) -> dict[_Group, _Tasks]:
    """Return the trials of each team by niche; with many pairs, only wanted and other niches.

    The key of a group has its team's number.
    """
    sums: list[tuple[int, Task, Kind, Sums]] = [
        (number, task, kind, own)
        for number, team in enumerate(teams)
        for kind in KINDS
        for task, own in team.sums(split, kind).items()
    ]
    past: list[tuple[int, str, Kind, Past]] = [
        (number, place, kind, own)
        for number, team in enumerate(teams)
        for kind in KINDS
        for place, own in team.past(split, kind).items()
    ]
    pairs = {(number, place, kind) for number, (place, _), kind, _ in sums}
    pairs.update((number, place, kind) for number, place, kind, _ in past)
    are_few = len(pairs) <= MOST
    groups: defaultdict[_Group, _Tasks] = defaultdict(_Tasks)
    for number, task, kind, own in sums:
        inside = task[0] if are_few else task[0] == niche
        groups[number, inside, kind].sums[task] = own
    for number, place, kind, own in past:
        groups[number, place if are_few else place == niche, kind].past[place] = own
    return dict(groups)


def _task_counts(groups: Sequence[_Tasks], tasks: Iterable[Task]) -> Mapping[str, float]:
    """Count the tasks of each niche; earlier tasks count as if as many teams shared each."""
    met = Counter[str](place for place, _ in tasks)
    each = sum(len(group.sums) for group in groups) / max(1, sum(met.values()))
    fields: dict[str, float] = {**met}
    for group in groups:
        for place, own in group.past.items():
            fields[place] = fields.get(place, 0) + own.tasks / max(1, each)
    return fields


def _shared(groups: Sequence[_Tasks], sizes: Any) -> Any:
    """Return, for each pair of groups, the probability that their trials are of the same task."""
    import numpy as np

    by_task: defaultdict[Task, list[tuple[int, float]]] = defaultdict(list)
    for number, group in enumerate(groups):
        for task, own in group.sums.items():
            by_task[task].append((number, own.n / sizes[number]))
    shared = np.zeros((len(groups), len(groups)))
    for pairs in by_task.values():
        numbers, shares = map(np.array, zip(*pairs, strict=True))
        shared[numbers[:, None], numbers] += np.outer(shares, shares)
    return shared


def _telling(wins: Sequence[_Tasks]) -> float:
    """Return the variance of wins within niches.

    Winners had good luck, so wins vary less than other trials, and carry less information in
    proportion.
    """
    sums: defaultdict[str, Sums] = defaultdict(Sums)
    for group in wins:
        for (place, _), item in group.sums.items():
            mean = item.scores / item.n
            n, scores, squares = sums[place]
            sums[place] = Sums(n + 1, scores + mean, squares + mean**2)
        for place, item in group.past.items():
            n, scores, squares = sums[place]
            sums[place] = Sums(n + item.n, scores + item.scores, squares + item.squares)
    squares = sum(max(0.0, entry.squares - entry.scores**2 / entry.n) for entry in sums.values())
    return squares / max(1, sum(entry.n - 1 for entry in sums.values()))


def _variances(groups: Sequence[_Tasks]) -> tuple[float, float]:
    """Estimate the variance that chance and tasks add to a trial, within teams and niches.

    If two teams deviate on the same task from their other trials, the task causes the common part.
    """
    squares, freedom = NOISE * BELIEF, BELIEF
    missed: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for group in groups:
        places = group.places
        for n, total, square in places.values():
            squares += square - total**2 / n
            freedom += n - 1
        for task, (times, scores, _) in group.sums.items():
            n, total, _ = places[task[0]]
            if n > times:
                missed[task].append(scores / times - (total - scores) / (n - times))
    product = sum(
        (sum(values) ** 2 - sum(miss**2 for miss in values)) / 2 for values in missed.values()
    )
    pairs = sum(len(values) * (len(values) - 1) / 2 for values in missed.values())
    together = max(LEAST, squares / freedom)
    of_task = min(0.9 * together, max(0.0, product / (pairs + PAIRS)))
    return together - of_task, of_task

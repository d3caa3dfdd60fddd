"""Compares evaluations on their common tasks: is a difference more than chance?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any

from ...pool.values.intervals import mean_of, paired_interval
from ...pool.values.layout import MANIFEST
from ...runtime.runs.record import read_value
from ...runtime.values.usage import Usage, tokens_of
from ...schema.values.errors import InputError
from ...schema.values.extras import how_to_get
from ...schema.values.terminal import counted, with_interval
from ..evaluation.benchmark import find_benchmark, mean_score
from ..evaluation.figures import EvaluationFigures
from ..evaluation.measures import Measured, paired
from ..evaluation.results import read_results, scored_samples
from ..evaluation.statistics import (
    cohens_h,
    holm,
    mcnemar,
    odds_ratio,
    outcomes,
    paired_t,
    rank_biserial,
    rounded,
    wilcoxon,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """One side of a comparison.

    Attributes:
        scores: The scores of each task's trials, in [0, 1], by the task's id.
        benchmark: The name of the benchmark; None: an evolution's tasks, of any kind.
        substituted: The number of trials in which another model answered than the named one.
        measured: The measures beside the score.
    """

    team: str
    scores: Mapping[str, Sequence[float]]
    cost: str
    benchmark: str | None = None
    substituted: int = 0
    measured: Measured = field(default_factory=lambda: Measured(declared={}))


def read_side(folder: Path) -> Side:
    """Read the folder of an evaluation, or of an evolution that was tested on held-out tasks."""
    if (folder / MANIFEST).is_file():
        return _held_out(folder)
    head = read_results(folder)
    figures = EvaluationFigures.on(find_benchmark(head["benchmark"]))
    for sample in scored_samples(folder):
        figures.take(sample)
    usage = head["usage"]
    return Side(
        team=head["team"],
        scores=figures.scores,
        cost=_cost(usage["cost"], tokens_of(usage), usage["calls"]),
        benchmark=head["benchmark"],
        substituted=head.get("substituted", 0),
        measured=figures.measured,
    )


def _held_out(folder: Path) -> Side:
    """Read the scores of an evolution's team on held-out tasks.

    For a race this is its leader, whether deployed or not: the same tasks decide that.
    """
    from ...operators.methods.race.result import RaceResult
    from ...operators.report.frozen import HELD_OUT, read_figures, scores_of

    if figures := read_figures(folder):
        team = figures.deployed["team"]
        trials: Sequence[Mapping[str, Any]] = read_value(folder / HELD_OUT).get("trials", [])
        own = (Usage(**trial["usage"]) for trial in trials if trial["team"] == team)
        usage, scores = sum(own, Usage()), scores_of(team, trials)
        return Side(team=team, scores=scores, cost=_cost(usage.cost, usage.tokens, usage.calls))
    race = RaceResult.read(folder)
    if race is None or race.last_word is None:
        raise InputError(
            f"{folder}: this evolution has no held-out figures. Add them with: mas-evolve … --test"
            " TASKS."
        )
    word, usage = race.last_word, race.last_word.usage
    return Side(
        team="race",
        scores={task: [score] for task, score in zip(word.tasks, word.winner, strict=True)},
        cost=_cost(usage.cost, usage.tokens, usage.calls),
    )


def _cost(price: str, tokens: int, calls: int) -> str:
    return f"{price}, {counted(tokens, 'token')}, {counted(calls, 'call')}"


TESTS = {"mcnemar": "exact McNemar", "paired_t": "paired t", "wilcoxon": "Wilcoxon"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Two evaluations of the same benchmark, task by task.

    Attributes:
        names: Their names: team and folder.
        before: The first one's score of each common task: the mean over its trials.
        after: The second one's, of the same tasks in the same order.
        single: Whether each has one trial per task.
        left_out: The number of tasks that only one of them has.
        substituted: The number of trials of each in which another model answered than the named
            one.
        measures: The measures beside the score, compared on the tasks where both have them.
    """

    names: tuple[str, str]
    before: Sequence[float]
    after: Sequence[float]
    single: bool
    left_out: int
    costs: tuple[str, str]
    substituted: tuple[int, int] = (0, 0)
    tasks: Sequence[str] = ()
    measures: Mapping[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])

    @property
    def difference(self) -> float:
        """The second mean minus the first."""
        return mean_score({"": self.after}) - mean_score({"": self.before})

    @property
    def _is_binary(self) -> bool:
        return self.single and {*self.before, *self.after} <= {0.0, 1.0}

    def tests(self) -> dict[str, float | None]:
        """Return p-values by test; None if a test does not apply, or needs scipy.

        McNemar's is for single trials that are right or wrong. The paired t-test and Wilcoxon's
        take the task as the unit and the mean over its trials as its score (Meta-Team App. E).
        """
        pair = (self.before, self.after)
        has_scipy = find_spec("scipy") is not None
        return {
            "mcnemar": mcnemar(*pair) if self._is_binary else None,
            "paired_t": paired_t(*pair) if has_scipy else None,
            "wilcoxon": wilcoxon(*pair) if has_scipy else None,
        }

    @property
    def deciding(self) -> str:
        """The only test that decides; with more tests, more would differ by chance."""
        return "mcnemar" if self._is_binary else "paired_t"

    def effects(self) -> dict[str, float | None]:
        """Return standard effect sizes: Cohen's h of the means, and one of the paired scores.

        For right and wrong that is the matched odds ratio, else the matched rank-biserial
        correlation.
        """
        pair, binary = (self.before, self.after), self._is_binary
        means = (mean_score({"": self.before}), mean_score({"": self.after}))
        return {
            "cohens_h": cohens_h(*means),
            "odds_ratio": odds_ratio(*pair) if binary else None,
            "rank_biserial": None if binary else rank_biserial(*pair),
        }

    def value(self) -> dict[str, Any]:
        """Return the comparison as a JSON object."""
        better, worse, same = outcomes(self.before, self.after)
        fields = {
            "names": list(self.names),
            "tasks": len(self.before),
            "left_out": self.left_out,
            "scores": [mean_score({"": values}) for values in (self.before, self.after)],
            "difference": self.difference,
            "interval": list(self._interval()),
            "better": better,
            "worse": worse,
            "same": same,
            "p": self.tests(),
            "decides": self.deciding,
            "effects": self.effects(),
            "measures": dict(self.measures),
            "costs": list(self.costs),
        }
        return {**rounded({**fields, "p": None}), "p": fields["p"]}  # a small p is no noise

    def _interval(self) -> tuple[float, float]:
        return paired_interval(
            [two - figure for figure, two in zip(self.before, self.after, strict=True)]
        )

    def is_worse(self, margin: float) -> bool:
        """Return whether the data show that the second one scores less by more than a margin.

        Args:
            margin: From 0 to 1; the whole interval of the difference must be below minus it.
        """
        return self._interval()[1] < -margin

    @property
    def headline(self) -> str:
        """The difference with its interval and the names, in one line."""
        gain = with_interval(self.difference, self._interval(), "+")
        tasks = counted(len(self.before), "task")
        return f"{self.names[1]} scores {gain} beside {self.names[0]}, over {tasks}"

    def __str__(self) -> str:
        """Format the comparison for readers."""
        fields = self.value()
        width = max(map(len, self.names))
        lines = [
            f"{name:<{width}}  {score:.3f}  {cost}"
            for name, score, cost in zip(self.names, fields["scores"], self.costs, strict=True)
        ]
        lines += [
            "",
            f"difference {with_interval(fields['difference'], fields['interval'], '+')} over"
            f" {counted(fields['tasks'], 'task')}: {fields['better']} better,"
            f" {fields['worse']} worse, {fields['same']} the same",
            f"effect: {_effects(fields['effects'])}",
        ]
        lines += [
            f"p = {p:.3g}  ({TESTS[test]}{self._mark(test)})"
            for test, p in fields["p"].items()
            if p is not None
        ]
        if any(p is not None for p in fields["p"].values()):
            lines.append(f"p-values are two-sided, and one task is one pair{self._ties(fields)}.")
        lines += [_measure(name, measure) for name, measure in self.measures.items()]
        if find_spec("scipy") is None:
            lines.append(f"paired t and Wilcoxon need scipy. Run: {how_to_get('benchmarks')}")
        if self.left_out:
            lines.append(f"left out: {counted(self.left_out, 'task')} that only one of them has.")
        return "\n".join([*lines, *self.warnings()])

    def _mark(self, test: str) -> str:
        return "; this one decides" if test == self.deciding else ""

    def _ties(self, figures: Mapping[str, Any]) -> str:
        """Describe how rank and sign tests treat tasks with equal scores."""
        if not figures["same"]:
            return ""
        tests = "and McNemar's tests leave" if self._is_binary else "test leaves"
        return f"; Wilcoxon's {tests} out the {figures['same']} that tie"

    def warnings(self) -> list[str]:
        """Return the caveats of a comparison."""
        return [
            f"warning: {name}: in {counted(trials, 'trial')}, a model answered that the team does"
            " not name."
            for name, trials in zip(self.names, self.substituted, strict=True)
            if trials
        ]


def compare(first_path: Path, second_path: Path) -> Comparison:
    """Compare two evaluations.

    Raises:
        InputError: They are of different benchmarks, or have no task in common; or one of them was
            edited.
    """
    sides = [read_side(folder) for folder in (first_path, second_path)]
    named = [side.benchmark for side in sides]
    if None not in named and named[0] != named[1]:
        raise InputError(
            f"{first_path} is of {named[0]}, {second_path} of {named[1]}. Compare results of one"
            " benchmark."
        )
    before, after = (side.scores for side in sides)
    common = [task for task in before if task in after]
    if not common:
        raise InputError(f"{first_path} and {second_path} have no task in common.")
    names = (f"{sides[0].team} ({first_path.name})", f"{sides[1].team} ({second_path.name})")
    return Comparison(
        names=names,
        before=[mean_of(before[task]) for task in common],
        after=[mean_of(after[task]) for task in common],
        single=all(len(scores[task]) == 1 for scores in (before, after) for task in common),
        left_out=len(before.keys() ^ after.keys()),
        costs=(sides[0].cost, sides[1].cost),
        substituted=(sides[0].substituted, sides[1].substituted),
        tasks=common,
        measures=_measures(*(side.measured for side in sides)),
    )


def compare_all(folders: Sequence[Path], *, all_pairs: bool = False) -> list[Comparison]:
    """Compare several evaluations with the first one, or all pairs."""
    first, *others = folders
    pairs = combinations(folders, 2) if all_pairs else ((first, folder) for folder in others)
    return [compare(before, after) for before, after in pairs]


def p_adjusted(comparisons: Sequence[Comparison]) -> list[float | None]:
    """Return the deciding test's p-value of each, adjusted for their number (Holm 1979)."""
    ps = [comparison.tests()[comparison.deciding] for comparison in comparisons]
    adjusted = iter(holm([p for p in ps if p is not None]))
    return [None if p is None else next(adjusted) for p in ps]


def compared(comparisons: Sequence[Comparison]) -> list[dict[str, str]]:
    """Return a table of comparisons, with a row for each."""
    return [
        {
            "first": comparison.names[0],
            "second": comparison.names[1],
            "tasks": str(len(comparison.before)),
            "difference": "{:+.3f} [{:+.3f}, {:+.3f}]".format(
                fields["difference"], *fields["interval"]
            ),
            "better": str(fields["better"]),
            "worse": str(fields["worse"]),
            "effect": _effects(fields["effects"]),
            "test": TESTS[comparison.deciding],
            "p (Holm)": "" if p is None else f"{p:.3g}",
        }
        for comparison, p in zip(comparisons, p_adjusted(comparisons), strict=True)
        for fields in [comparison.value()]
    ]


def _effects(effects: dict[str, float | None]) -> str:
    names = {"cohens_h": "h", "odds_ratio": "odds ratio", "rank_biserial": "rank-biserial"}
    return ", ".join(
        f"{names[name]} {size:+.2f}" if name != "odds_ratio" else f"{names[name]} {size:.2f}"
        for name, size in effects.items()
        if size is not None
    )


def _measures(before: Measured, after: Measured) -> dict[str, dict[str, Any]]:
    """Compare common measures whose differences have an interval."""
    fields = {name: paired(name, before, after) for name in before.declared}
    return {name: record for name, record in fields.items() if record is not None}


def _measure(name: str, measure: Mapping[str, Any]) -> str:
    first, second = measure["means"]
    difference = with_interval(measure["difference"], measure["interval"], "+")
    return (
        f"{name}: {first:.3f} and {second:.3f}, difference {difference} over"
        f" {counted(measure['tasks'], 'task')}"
    )

"""Compares two evaluations on the tasks that both have: is the difference more than chance?"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ..runtime.terminal import counted
from ..schema.errors import InputError
from .benchmark import mean_score
from .results import read_results, read_samples
from .statistics import bootstrap, mcnemar, paired_t, wilcoxon

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Two evaluations of the same benchmark, task by task.

    Attributes:
        names: What they are called: team and folder.
        before: The first one's score of each task that both have: the mean over its trials.
        after: The second one's, of the same tasks in the same order.
        single: Whether every task was tried once in each.
        left_out: How many tasks only one of them has.
        costs: What each consumed, in words.
    """

    names: tuple[str, str]
    before: Sequence[float]
    after: Sequence[float]
    single: bool
    left_out: int
    costs: tuple[str, str]

    @property
    def difference(self) -> float:
        """How much more the second one scores, on the mean."""
        return mean_score({"": self.after}) - mean_score({"": self.before})

    def tests(self) -> dict[str, float | None]:
        """Give p-values by test; None where a test does not apply, or needs scipy.

        McNemar's is for single trials that are right or wrong. The paired t-test and Wilcoxon's
        take the task as the unit and the mean over its trials as its score (Meta-Team App. E).
        """
        pair = (self.before, self.after)
        is_binary = self.single and {*self.before, *self.after} <= {0.0, 1.0}
        has_scipy = find_spec("scipy") is not None
        return {
            "mcnemar": mcnemar(*pair) if is_binary else None,
            "paired_t": paired_t(*pair) if has_scipy else None,
            "wilcoxon": wilcoxon(*pair) if has_scipy else None,
        }

    def value(self) -> dict[str, Any]:
        """Give the comparison as a JSON object."""
        return {
            "names": list(self.names),
            "tasks": len(self.before),
            "left_out": self.left_out,
            "scores": [mean_score({"": one}) for one in (self.before, self.after)],
            "difference": self.difference,
            "interval": list(self._interval()),
            "better": sum(two > one for one, two in zip(self.before, self.after, strict=True)),
            "worse": sum(two < one for one, two in zip(self.before, self.after, strict=True)),
            "p": self.tests(),
            "costs": list(self.costs),
        }

    def _interval(self) -> tuple[float, float]:
        differences = [two - one for one, two in zip(self.before, self.after, strict=True)]
        return bootstrap({"": differences}, mean_score)

    def __str__(self) -> str:
        """Write the comparison for people."""
        told = self.value()
        low, high = told["interval"]
        width = max(map(len, self.names))
        lines = [
            f"{name:<{width}}  {score:.3f}  {cost}"
            for name, score, cost in zip(self.names, told["scores"], self.costs, strict=True)
        ]
        lines += [
            "",
            f"difference {told['difference']:+.3f} [{low:+.3f}, {high:+.3f}] over"
            f" {counted(told['tasks'], 'task')}: {told['better']} better, {told['worse']} worse",
        ]
        named = {"mcnemar": "exact McNemar", "paired_t": "paired t", "wilcoxon": "Wilcoxon"}
        lines += [f"p = {p:.3g}  ({named[test]})" for test, p in told["p"].items() if p is not None]
        if told["p"]["paired_t"] is None:
            lines.append("paired t and Wilcoxon need scipy: the extra coterie[benchmarks].")
        if self.left_out:
            lines.append(f"left out: {counted(self.left_out, 'task')} that only one of them has.")
        return "\n".join(lines)


def compare(one: Path, other: Path) -> Comparison:
    """Compare two evaluations.

    Raises:
        InputError: They are of different benchmarks, or have no task in common.
    """
    heads = [read_results(folder) for folder in (one, other)]
    named = [head["benchmark"] for head in heads]
    if named[0] != named[1]:
        raise InputError(f"{one} is of {named[0]}, {other} of {named[1]}. Compare like with like.")
    before, after = (_scores(folder) for folder in (one, other))
    common = [task for task in before if task in after]
    if not common:
        raise InputError(f"{one} and {other} have no task in common.")
    return Comparison(
        names=(f"{heads[0]['team']} ({one.name})", f"{heads[1]['team']} ({other.name})"),
        before=[_mean(before[task]) for task in common],
        after=[_mean(after[task]) for task in common],
        single=all(len(scores[task]) == 1 for scores in (before, after) for task in common),
        left_out=len(before.keys() ^ after.keys()),
        costs=(_cost(heads[0]), _cost(heads[1])),
    )


def _scores(folder: Path) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for sample in read_samples(folder):
        if sample.score is not None:
            found.setdefault(sample.task, []).append(sample.score)
    return found


def _mean(scores: Sequence[float]) -> float:
    return sum(scores) / len(scores)


def _cost(head: dict[str, Any]) -> str:
    usage = head["usage"]
    tokens = usage["prompt_tokens"] + usage["completion_tokens"]
    return f"{usage['cost']}, {counted(tokens, 'token')}, {counted(usage['calls'], 'call')}"

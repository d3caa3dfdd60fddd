"""What came of an evolution, from the lines of its turns: nothing is remembered elsewhere."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ..pool.statistics import wilson
from ..runtime.terminal import counted
from ..runtime.usage import Usage
from .judge import agreement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Report"]


MAKERS = frozenset({"instantiate", "mutate", "crossover"})
"""The operators that generate configs."""


@dataclass(kw_only=True)
class _Operator:
    """What an operator contributed: teams that were run, answers of no use, and best candidates."""

    made: int = 0
    dropped: int = 0
    best: int = 0


@dataclass(kw_only=True)
class Report:
    """Numbers of an evolution.

    Attributes:
        tasks: Turns taken.
        score_sum: Sum of the scores of each turn's best candidate.
        answered: Turns of which the task's own scorer has a verdict.
        right: Sum of its verdicts on each turn's best candidate.
        first: Sum of its verdicts on each turn's first team, before anything was chosen.
        judged: The score that a judge gave an answer, and the one by the reference answer, of each
            answer that has both.
        by_answers: Turns whose best candidate was chosen by the reference answer.
        candidates: Teams that were run.
        ran: Those that ran to an answer.
        generated: Configs that operators wrote, valid or not; teams left as they were do not count.
        executed: Those of them that ran to an answer: the execution rate's numerator (EvoMAS §4).
        spending: What was consumed, by purpose: task, operator, judge.
        operators: What each operator contributed.
        components: How often a mutation touched a component, by niche.
        teams: How often each team of the pool was a turn's best.
        growth: How many teams had come into the pool after each turn.
        sizes: How many teams the pool had after each turn that were not retired.
    """

    tasks: int = 0
    score_sum: float = 0.0
    answered: int = 0
    right: float = 0.0
    first: float = 0.0
    judged: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    by_answers: int = 0
    candidates: int = 0
    ran: int = 0
    generated: int = 0
    executed: int = 0
    spending: dict[str, Usage] = field(
        default_factory=lambda: {"task": Usage(), "operator": Usage(), "judge": Usage()}
    )
    operators: dict[str, _Operator] = field(default_factory=dict[str, _Operator])
    components: dict[str, Counter[str]] = field(default_factory=dict[str, "Counter[str]"])
    teams: Counter[str] = field(default_factory=Counter[str])
    growth: list[int] = field(default_factory=list[int])
    sizes: list[int] = field(default_factory=list[int])

    @classmethod
    def of(cls, turns: Iterable[Mapping[str, Any]]) -> Report:
        """Sum up turns, as their lines have them."""
        report = cls()
        for turn in turns:
            report.take(turn)
        return report

    def take(self, turn: Mapping[str, Any]) -> None:
        """Take in a turn."""
        self.tasks += 1
        self.score_sum += turn["score"]
        self.teams[turn["team"]] += turn["kept"]
        self.by_answers += turn["scored_by"] == "answer"
        self.growth.append((self.growth[-1] if self.growth else 0) + turn["new"])
        self.sizes.append(turn["pool"])
        if turn["verdict"] is not None:
            self.answered += 1
            self.right += turn["verdict"]
            self.first += turn["first"]
        self.spending["operator"] += Usage(**turn["operators"])
        self.spending["judge"] += Usage(**turn["judging"])
        for number, one in enumerate(turn["candidates"]):
            self._take_candidate(one, turn, is_best=number == turn["best"])
        for lost in turn["dropped"]:
            self._operator(lost["operator"]).dropped += 1
            self.generated += lost["operator"] in MAKERS and bool(lost["problems"])

    def _take_candidate(
        self, one: Mapping[str, Any], turn: Mapping[str, Any], *, is_best: bool
    ) -> None:
        self.candidates += 1
        self.ran += one["executed"]
        if one["edits"]:
            self.generated += 1
            self.executed += one["executed"]
        if turn["scored_by"] == "judge" and one["verdict"] is not None:
            self.judged.append((one["score"], one["verdict"]))
        self.spending["task"] += Usage(**one["usage"])
        operator = self._operator(one["operator"])
        operator.made += 1
        operator.best += is_best
        if one["component"]:
            niche = self.components.setdefault(turn["niche"] or "all", Counter())
            niche[one["component"]] += 1

    def _operator(self, name: str) -> _Operator:
        return self.operators.setdefault(name, _Operator())

    @property
    def score(self) -> float | None:
        """The mean score of each turn's best candidate."""
        return self.score_sum / self.tasks if self.tasks else None

    @property
    def warnings(self) -> list[str]:
        """Mechanisms that were to act and never did."""
        silent = [
            f"{name} never made a team: {counted(one.dropped, 'answer')} of no use."
            for name, one in sorted(self.operators.items())
            if name in MAKERS and one.made == 0
        ]
        if self.tasks and not any(
            one.best for name, one in self.operators.items() if name != "select"
        ):
            silent.append("no child was ever the best of its task: evolution added nothing.")
        return silent

    def value(self) -> dict[str, Any]:
        """Give the report as a JSON object."""
        low, high = wilson(self.score_sum, self.tasks)
        return {
            "tasks": self.tasks,
            "score": self.score,
            "interval": [low, high],
            "verdicts": {"n": self.answered, "best": self.right, "first": self.first},
            "agreement": asdict(agreement(self.judged)) if self.judged else None,
            "chosen_by_answers": self.by_answers,
            "candidates": self.candidates,
            "ran": self.ran,
            "generated": self.generated,
            "execution_rate": self.executed / self.generated if self.generated else None,
            "spending": {
                name: {**usage.value(), "cost": usage.cost} for name, usage in self.spending.items()
            },
            "operators": {name: vars(one) for name, one in sorted(self.operators.items())},
            "components": {niche: dict(count) for niche, count in sorted(self.components.items())},
            "teams": dict(self.teams.most_common()),
            "growth": self.growth,
            "sizes": self.sizes,
            "warnings": self.warnings,
        }

    @property
    def _chosen(self) -> str:
        """Say what chose the candidates that the online score is of."""
        if self.by_answers == self.tasks:
            return "chosen by the reference answers: no score on unseen tasks"
        if self.by_answers:
            judged = self.tasks - self.by_answers
            return f"chosen by the reference answers; on {counted(judged, 'task')} by the judge"
        return "chosen by the judge, who is the one that scores"

    def _verdicts(self) -> list[str]:
        """Tell what the reference answers say, of what was chosen and of what was not."""
        if not self.answered:
            return []
        low, high = wilson(self.first, self.answered)
        told = [
            "chosen by nothing, the first team tried on each task:"
            f" {self.first / self.answered:.3f} [{low:.3f}, {high:.3f}] by the reference answers"
        ]
        if self.by_answers < self.tasks:
            low, high = wilson(self.right, self.answered)
            told.append(
                f"the best candidates by the reference answers: {self.right / self.answered:.3f}"
                f" [{low:.3f}, {high:.3f}]"
            )
        return told

    def _agreement(self) -> list[str]:
        if not self.judged:
            return []
        found = agreement(self.judged)
        low, high = found.interval
        return [
            f"the judge agrees with the reference answers on {found.agreed} of"
            f" {counted(found.n, 'answer')} [{low:.3f}, {high:.3f}]: it passed"
            f" {found.passed_wrong} wrong and failed {found.failed_right} right"
        ]

    @property
    def _grown(self) -> str:
        """Tell how the pool grew, and for how long it has not."""
        half, still = self.growth[(self.tasks - 1) // 2], self.growth.count(self.growth[-1])
        quiet = counted(still - 1 if self.growth[-1] else still, "task")
        return (
            f"new in the pool: {self.growth[-1]}, {half} of them in the first half, none in the"
            f" last {quiet}; it has {counted(self.sizes[-1], 'team')} now"
        )

    def __str__(self) -> str:
        """Write the report for people."""
        if not self.tasks:
            return "no task was taken."
        low, high = wilson(self.score_sum, self.tasks)
        lines = [
            f"online {self.score:.3f} [{low:.3f}, {high:.3f}] over {counted(self.tasks, 'task')}:"
            f" each task's best candidate, {self._chosen}",
            *self._verdicts(),
            *self._agreement(),
            f"ran to an answer: {self.ran} of {counted(self.candidates, 'team')}; of"
            f" {counted(self.generated, 'config')} that operators wrote, {self.executed}",
            "",
            "operator      made  dropped  best of its task",
            *(
                f"{name:<12} {one.made:>5} {one.dropped:>8} {one.best:>17}"
                for name, one in sorted(self.operators.items())
            ),
            "",
            "spent on        calls     tokens  cost",
            *(
                f"{name:<12} {usage.calls:>8} {usage.tokens:>10}  {usage.cost}"
                for name, usage in self.spending.items()
            ),
            "",
        ]
        for niche, count in sorted(self.components.items()):
            shares = ", ".join(f"{name} {number}" for name, number in count.most_common())
            lines.append(f"mutations on {niche}: {shares}")
        wins = ", ".join(f"{name} {number}" for name, number in self.teams.most_common(5))
        lines.append(f"most often best: {wins}")
        lines.append(self._grown)
        lines += [f"warning: {one}" for one in self.warnings]
        return "\n".join(lines)

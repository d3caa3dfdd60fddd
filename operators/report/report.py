"""The report of an evolution, computed only from the lines of its episodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any

from ...pool.values.statistics import wilson
from ...runtime.values.operator_answers import (
    OperatorAnswers,
    answer_warnings,
    summed_answers,
    useless_answers,
    values_of,
)
from ...runtime.values.usage import Usage
from ...schema.values.terminal import counted, with_interval
from ..core.judge import agreement
from ..evolution.lines import answers_of, candidates_of, saved_of, usage_of
from ..evolution.readers import read_by, read_counts

MAKERS = frozenset({"instantiate", "mutate", "crossover"})
"""The operators that write configurations."""


@dataclass(kw_only=True)
class _Operator:
    """An operator's counts: teams that were run, rejected answers, and best candidates."""

    made: int = 0
    dropped: int = 0
    best: int = 0


@dataclass(kw_only=True)
class EvolutionReport:
    """The figures of an evolution.

    Attributes:
        searched: Episodes that tried candidates, of which the best gives the answer.
        score_sum: The sum of the scores of the episodes' answers.
        answered: Episodes with a verdict of the task's own scorer.
        right: The sum of these verdicts on the episodes' answers.
        first: The sum of these verdicts on the episodes' first teams, before any choice.
        judged: The judge's score and the true score, of each answer that has both.
        by_answers: Episodes whose best candidate was chosen by the reference answer.
        ran: Candidates that ran to an answer.
        generated: Configurations that operators wrote, valid or not; unchanged teams do not count.
        executed: Those of them that ran to an answer: the execution rate's numerator (EvoMAS §4).
        spending: The usage by purpose: task, operator, judge.
        saved: The usage that children saved by their parents' answers; see `Recipe.reuse`.
        spent: The usage of each operator, if the strategy has no candidates.
        read: The readers of what was learnt, for each episode.
        figures: The strategy's own figures of its episodes, by name. Integers are counts.
        answers: The outcomes of the questions to operators and judges.
        components: The number of mutations of each component, by niche.
        teams: How often each of the pool's teams was an episode's best.
        growth: The total number of new teams in the pool after each episode.
        sizes: The number of active teams in the pool after each episode.
    """

    tasks: int = 0
    searched: int = 0
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
    saved: Usage = field(default_factory=Usage)
    learnt: int = 0
    read: list[Sequence[str]] = field(default_factory=list["Sequence[str]"])
    spent: dict[str, Usage] = field(default_factory=dict[str, Usage])
    figures: dict[str, list[float]] = field(default_factory=dict[str, "list[float]"])
    operators: dict[str, _Operator] = field(default_factory=dict[str, _Operator])
    answers: dict[str, OperatorAnswers] = field(default_factory=dict[str, OperatorAnswers])
    components: dict[str, Counter[str]] = field(default_factory=dict[str, "Counter[str]"])
    teams: Counter[str] = field(default_factory=Counter[str])
    growth: list[int] = field(default_factory=list[int])
    sizes: list[int] = field(default_factory=list[int])

    @classmethod
    def of(cls, lines: Iterable[Mapping[str, Any]]) -> EvolutionReport:
        """Return the report of episodes, from their lines."""
        report = cls()
        for line in lines:
            report.take(line)
        return report

    def take(self, line: Mapping[str, Any]) -> None:
        """Add an episode."""
        self.tasks += 1
        self.score_sum += line["score"]
        self.by_answers += line["scored_by"] == "answer"
        self.growth.append((self.growth[-1] if self.growth else 0) + line.get("new", 0))
        self.sizes.append(line["pool"])
        if line["verdict"] is not None:
            self.answered += 1
            self.right += line["verdict"]
        self.spending["task"] += usage_of(line)
        self.saved += saved_of(line)
        self.learnt += line.get("learnt", 0)
        self.read.append(line.get("read", ()))
        self.answers = summed_answers([self.answers, answers_of(line)])
        self.spending["operator"] += Usage(**line["operators"])
        self.spending["judge"] += Usage(**line["judging"])
        for lost in line["dropped"]:
            self._operator(lost["operator"]).dropped += 1
            self.generated += lost["operator"] in MAKERS and bool(lost["problems"])
        if candidates_of(line):
            self._take_candidates(line)
        else:
            self._take_answer(line)

    def _take_answer(self, line: Mapping[str, Any]) -> None:
        self.candidates += 1
        self.ran += line["executed"]
        self._compare(line, line["score"], line["verdict"])
        for name, usage in line["spent"].items():
            self.spent[name] = self.spent.get(name, Usage()) + Usage(**usage)
        for name, number in line["told"].items():
            self.figures.setdefault(name, []).append(number)

    def _take_candidates(self, line: Mapping[str, Any]) -> None:
        self.searched += 1
        self.teams[line["team"]] += line["kept"]
        self.first += line["first"] or 0.0
        for number, candidate in enumerate(line["candidates"]):
            self._take_candidate(candidate, line, is_best=number == line["best"])

    def _take_candidate(
        self, candidate: Mapping[str, Any], line: Mapping[str, Any], *, is_best: bool
    ) -> None:
        self.candidates += 1
        self.ran += candidate["executed"]
        if candidate["edits"]:
            self.generated += 1
            self.executed += candidate["executed"]
        self._compare(line, candidate["score"], candidate["verdict"])
        operator = self._operator(candidate["operator"])
        operator.made += 1
        operator.best += is_best
        if candidate["component"]:
            niche = self.components.setdefault(line["niche"] or "all", Counter())
            niche[candidate["component"]] += 1

    def _compare(self, line: Mapping[str, Any], score: float, verdict: float | None) -> None:
        """Record an answer that has both a judge's score and a true one."""
        if line["scored_by"] == "judge" and verdict is not None:
            self.judged.append((score, verdict))

    def spent_by(self, operator: str) -> Usage:
        """Return the usage of an operator."""
        return self.spent.get(operator, Usage())

    def _operator(self, name: str) -> _Operator:
        return self.operators.setdefault(name, _Operator())

    @property
    def score(self) -> float | None:
        """The mean score of the episodes' answers."""
        return self.score_sum / self.tasks if self.tasks else None

    @property
    def interval(self) -> tuple[float, float]:
        """Its 95 % interval."""
        return wilson(self.score_sum, self.tasks)

    @property
    def reading(self) -> str:
        """The number of kept entries, and the readers of what was learnt; "" if nothing was."""
        if not self.learnt and not any(self.read):
            return ""
        entries = "entry" if self.learnt == 1 else "entries"
        learnt = f"{self.learnt} {entries} kept; " if self.learnt else ""
        return f"{learnt}while learning, {read_by(read_counts(self.read))}"

    @property
    def warnings(self) -> list[str]:
        """Mechanisms that were configured and never had an effect."""
        silent = [
            f"{name} never made a team: {counted(operator.dropped, 'unusable answer')}."
            for name, operator in sorted(self.operators.items())
            if name in MAKERS and operator.made == 0
        ]
        if self.searched and not any(
            operator.best for name, operator in self.operators.items() if name != "select"
        ):
            silent.append("no child was the best of its task: the evolution added nothing.")
        return [*silent, *answer_warnings(self.answers)]

    def value(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        low, high = self.interval
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
            "saved": self.saved.value(),
            "spent": {name: usage.value() for name, usage in sorted(self.spent.items())},
            "learnt": self.learnt,
            "read": read_counts(self.read),
            "told": {name: fmean(numbers) for name, numbers in sorted(self.figures.items())},
            "counts": {
                name: sum(numbers)
                for name, numbers in sorted(self.figures.items())
                if all(isinstance(number, int) for number in numbers)
            },
            "operators": {
                name: vars(operator) for name, operator in sorted(self.operators.items())
            },
            "asked": values_of(self.answers),
            "components": {niche: dict(count) for niche, count in sorted(self.components.items())},
            "teams": dict(self.teams.most_common()),
            "growth": self.growth,
            "sizes": self.sizes,
            "warnings": self.warnings,
        }

    def __str__(self) -> str:
        """Return the report as text for people."""
        return report_text(self)


def report_text(report: EvolutionReport) -> str:
    """Return a report as text for people, without parts that its strategy does not have."""
    if not report.tasks:
        return "no task was taken."
    lines = [*_online(report), *_agreement(report), *_executed(report), ""]
    lines += [*_learnt(report), *_operators(report), *useless_answers(report.answers)]
    lines += [*_spent(report), ""]
    for niche, count in sorted(report.components.items()):
        shares = ", ".join(f"{name} {number}" for name, number in count.most_common())
        lines.append(f"mutations on {niche}: {shares}")
    for name, numbers in sorted(report.figures.items()):
        is_count = all(isinstance(number, int) for number in numbers)
        total = f", {sum(numbers)} in all" if is_count else ""
        lines.append(
            f"{name}: {fmean(numbers):.4g} a task, {min(numbers):.4g} to {max(numbers):.4g}{total}"
        )
    if report.searched:
        wins = ", ".join(f"{name} {number}" for name, number in report.teams.most_common(5))
        lines += [f"most often best: {wins}", _grown(report)]
    lines += [f"warning: {warning}" for warning in report.warnings]
    return "\n".join(lines)


def share_text(total: float, n: int) -> str:
    """Write a mean of verdicts with its interval."""
    return with_interval(total / n, wilson(total, n))


def _online(report: EvolutionReport) -> Iterator[str]:
    """Yield the score, its basis, and the scores by the reference answers."""
    online = share_text(report.score_sum, report.tasks)
    score = f"online {online} over {counted(report.tasks, 'task')}"
    if not report.searched:
        yield f"{score}: each task's answer, {_scored(report)}"
        return
    yield f"{score}: each task's best candidate, {_chosen(report)}"
    if not report.answered:
        return
    first, right = (share_text(total, report.answered) for total in (report.first, report.right))
    yield f"baseline, the first team tried on each task: {first} by the reference answers"
    if report.by_answers < report.tasks:
        yield f"the best candidates by the reference answers: {right}"


def _scored(report: EvolutionReport) -> str:
    """Return who scored answers of a strategy without candidates."""
    if report.by_answers == report.tasks:
        return "scored by the reference answers"
    judged = counted(report.tasks - report.by_answers, "task")
    return (
        f"scored by the reference answers; on {judged} by the judge"
        if report.by_answers
        else ("scored by the judge")
    )


def _chosen(report: EvolutionReport) -> str:
    """Return who chose the candidates behind the online score."""
    if report.by_answers == report.tasks:
        return "chosen by the reference answers: no score on unseen tasks"
    if report.by_answers:
        judged = report.tasks - report.by_answers
        return f"chosen by the reference answers; on {counted(judged, 'task')} by the judge"
    return "chosen by the same judge that scores"


def _agreement(report: EvolutionReport) -> Iterator[str]:
    if not report.judged:
        return
    result = agreement(report.judged)
    low, high = result.interval
    yield (
        f"the judge agrees with the reference answers on {result.agreed} of"
        f" {counted(result.n, 'answer')} [{low:.3f}, {high:.3f}]: it passed"
        f" {result.passed_wrong} wrong and failed {result.failed_right} right"
    )


def _executed(report: EvolutionReport) -> Iterator[str]:
    if not report.searched:
        yield f"ran to an answer: {report.ran} of {counted(report.candidates, 'task')}"
        return
    yield (
        f"ran to an answer: {report.ran} of {counted(report.candidates, 'team')}; of"
        f" {counted(report.generated, 'config')} that operators wrote, {report.executed}"
    )


def _learnt(report: EvolutionReport) -> Iterator[str]:
    if report.reading:
        yield from (f"learnt: {report.reading}", "")


def _operators(report: EvolutionReport) -> Iterator[str]:
    """Yield the counts of operators, or their usage in a strategy without candidates."""
    if report.searched:
        yield "operator      made  dropped  best of its task"
        for name, operator in sorted(report.operators.items()):
            yield f"{name:<12} {operator.made:>5} {operator.dropped:>8} {operator.best:>17}"
        yield ""
    elif names := sorted({*report.spent, *report.operators}):
        yield "operator         dropped    calls     tokens  cost"
        for name in names:
            usage, dropped = report.spent_by(name), report.operators.get(name)
            many = dropped.dropped if dropped else 0
            yield f"{name:<16} {many:>7} {usage.calls:>8} {usage.tokens:>10}  {usage.cost}"
        yield ""


def _spent(report: EvolutionReport) -> Iterator[str]:
    yield "spent on        calls     tokens  cost"
    for name, usage in report.spending.items():
        yield f"{name:<12} {usage.calls:>8} {usage.tokens:>10}  {usage.cost}"
    if report.saved.calls:
        saved, whole = report.saved, report.saved.calls + report.spending["task"].calls
        yield f"{'saved':<12} {saved.calls:>8} {saved.tokens:>10}  {saved.cost}"
        yield (
            f"saved: {saved.calls / whole:.0%} of teams' requests reused answers of parents'"
            " runs; rewards and teams' costs count them"
        )


def _grown(report: EvolutionReport) -> str:
    """Return how much the pool grew, and for how long it has not grown."""
    growth = report.growth
    half, still = growth[(report.tasks - 1) // 2], growth.count(growth[-1])
    quiet = counted(still - 1 if growth[-1] else still, "task")
    return (
        f"new in the pool: {growth[-1]}, {half} of them in the first half, none in the"
        f" last {quiet}; it has {counted(report.sizes[-1], 'team')} now"
    )

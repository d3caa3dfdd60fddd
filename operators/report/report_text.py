"""The report of an evolution in words, for people."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from ...pool.values.statistics import wilson
from ...runtime.values.operator_answers import useless_answers
from ...runtime.values.terminal import counted
from ..core.judge import agreement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .report import EvolutionReport


def report_text(report: EvolutionReport) -> str:
    """Write a report for people; what its strategy has nothing of is not spoken of."""
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


def _online(report: EvolutionReport) -> Iterator[str]:
    """Tell the score, what it is a score of, and what the reference answers say."""
    low, high = report.interval
    score = (
        f"online {report.score:.3f} [{low:.3f}, {high:.3f}] over {counted(report.tasks, 'task')}"
    )
    if not report.searched:
        yield f"{score}: each task's answer, {_scored(report)}"
        return
    yield f"{score}: each task's best candidate, {_chosen(report)}"
    if not report.answered:
        return
    low, high = wilson(report.first, report.answered)
    yield (
        "baseline, the first team tried on each task:"
        f" {report.first / report.answered:.3f} [{low:.3f}, {high:.3f}] by the reference answers"
    )
    if report.by_answers < report.tasks:
        low, high = wilson(report.right, report.answered)
        yield (
            f"the best candidates by the reference answers: {report.right / report.answered:.3f}"
            f" [{low:.3f}, {high:.3f}]"
        )


def _scored(report: EvolutionReport) -> str:
    """Return who scored answers among which nothing was chosen."""
    if report.by_answers == report.tasks:
        return "scored by the reference answers"
    judged = counted(report.tasks - report.by_answers, "task")
    return (
        f"scored by the reference answers; on {judged} by the judge"
        if report.by_answers
        else ("scored by the judge")
    )


def _chosen(report: EvolutionReport) -> str:
    """Return what chose the candidates that the online score is of."""
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
    """Yield what operators made, or where there are no candidates what they consumed."""
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
    """Return how the pool grew, and for how long it has not."""
    growth = report.growth
    half, still = growth[(report.tasks - 1) // 2], growth.count(growth[-1])
    quiet = counted(still - 1 if growth[-1] else still, "task")
    return (
        f"new in the pool: {growth[-1]}, {half} of them in the first half, none in the"
        f" last {quiet}; it has {counted(report.sizes[-1], 'team')} now"
    )

"""What is compared: an evaluation, or what an evolution scored on held-out tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...pool.values.layout import MANIFEST
from ...runtime.runs.record import read_value
from ...runtime.values.terminal import counted
from ...runtime.values.usage import Usage
from ...schema.values.errors import InputError
from ..evaluation.benchmark import find_benchmark
from ..evaluation.figures import EvaluationFigures
from ..evaluation.measures import Measured
from ..evaluation.results import read_results, scored_samples


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """One of two that are compared.

    Attributes:
        scores: The scores of each task's trials, in [0, 1], by the task's id.
        cost: What they consumed, in words.
        benchmark: The name of the benchmark; None: an evolution's tasks, of whatever kind.
        substituted: In how many trials another model answered than the one that the team names.
        measured: What was measured beside the score.
    """

    team: str
    scores: Mapping[str, Sequence[float]]
    cost: str
    benchmark: str | None = None
    substituted: int = 0
    measured: Measured = field(default_factory=lambda: Measured(known={}))


def read_side(folder: Path) -> Side:
    """Read the folder of an evaluation, or of an evolution that was tested on held-out tasks."""
    if (folder / MANIFEST).is_file():
        return _held_out(folder)
    head = read_results(folder)
    figures = EvaluationFigures.on(find_benchmark(head["benchmark"]))
    for sample in scored_samples(folder):
        figures.take(sample)
    usage = head["usage"]
    tokens = usage["prompt_tokens"] + usage["completion_tokens"]
    return Side(
        team=head["team"],
        scores=figures.scores,
        cost=_cost(usage["cost"], tokens, usage["calls"]),
        benchmark=head["benchmark"],
        substituted=head.get("substituted", 0),
        measured=figures.measured,
    )


def _held_out(folder: Path) -> Side:
    """Read what an evolution's team scored on held-out tasks.

    Of a race that is its leader, handed over or not: the same tasks decide that.
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
            f"{folder}: an evolution without figures of held-out tasks. A test makes them:"
            " mas-evolve … --test TASKS."
        )
    word, usage = race.last_word, race.last_word.usage
    return Side(
        team="race",
        scores={task: [score] for task, score in zip(word.tasks, word.winner, strict=True)},
        cost=_cost(usage.cost, usage.tokens, usage.calls),
    )


def _cost(price: str, tokens: int, calls: int) -> str:
    return f"{price}, {counted(tokens, 'token')}, {counted(calls, 'call')}"

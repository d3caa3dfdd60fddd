"""How the lines of episodes are read, whether their strategy searches among candidates or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...pool.population.evolutions import turns_in
from ...pool.population.evolutions import usage_of as consumed_by
from ...pool.values.layout import TURNS
from ...runtime.values.operator_answers import OperatorAnswers
from ...runtime.values.usage import Usage
from ...schema.values.codec import from_value


def lines_in(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Read the lines of the episodes that an evolution has committed."""
    return (entry.value for entry in turns_in(folder / TURNS))


def candidates_of(line: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the candidates of an episode, in order; none, where nothing was chosen among any."""
    return line.get("candidates", ())


def best_of(line: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the best candidate of an episode, where it had any."""
    return candidates_of(line)[line["best"]] if "best" in line else None


def answers_of(line: Mapping[str, Any]) -> Mapping[str, OperatorAnswers]:
    """Return the outcome of the questions of an episode's operators and judges, by their names."""
    return from_value(Mapping[str, OperatorAnswers], line.get("asked", {}))


def runs_of(line: Mapping[str, Any]) -> int:
    """Count the teams that an episode ran; of a strategy without candidates, its runs."""
    return len(candidates_of(line)) or len(line.get("runs", ()))


def score_text(line: Mapping[str, Any]) -> str:
    """Write the score of an episode, and which team it is of."""
    whom = f" by {line['team']}" if "team" in line else ""
    return f"{line['score']:g}{whom}"


def usage_of(line: Mapping[str, Any]) -> Usage:
    """Sum up what the runs of an episode consumed."""
    runs, _, _ = consumed_by(line)
    return runs


def saved_of(line: Mapping[str, Any]) -> Usage:
    """Sum up what its children did not consume, as runs of their parents had the answers."""
    saved = (candidate.get("saved", {}) for candidate in candidates_of(line))
    return sum((Usage(**item) for item in saved), Usage())

"""How the lines of episodes are read, whether their strategy searches among candidates or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..runtime.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["best_of", "candidates_of", "executed", "runs_of", "usage_of"]


def candidates_of(line: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Give the candidates of an episode, in order; none, where nothing was chosen among any."""
    return line.get("candidates", ())


def best_of(line: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Give the best candidate of an episode, where it had any."""
    return candidates_of(line)[line["best"]] if "best" in line else None


def runs_of(line: Mapping[str, Any]) -> int:
    """Count the teams that an episode ran; of a strategy without candidates, its runs."""
    return len(candidates_of(line)) or len(line.get("runs", ()))


def usage_of(line: Mapping[str, Any]) -> Usage:
    """Sum up what the runs of an episode consumed."""
    if "usage" in line:
        return Usage(**line["usage"])
    return sum((Usage(**one["usage"]) for one in candidates_of(line)), Usage())


def executed(line: Mapping[str, Any]) -> bool:
    """Tell whether the run that gave an episode's answer came to its end without a failure."""
    best = best_of(line)
    return line["executed"] if best is None else best["executed"]

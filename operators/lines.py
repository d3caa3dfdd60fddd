"""How the lines of episodes are read, whether their strategy searches among candidates or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..pool.layout import TURNS
from ..pool.ledger import Ledger
from ..runtime.usage import Usage
from ..schema.errors import StorageError
from ..schema.kept import misfit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = ["best_of", "candidates_of", "executed", "lines_in", "runs_of", "usage_of"]


def lines_in(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Read the lines of the episodes that an evolution has committed.

    Args:
        folder: The evolution's folder.

    Raises:
        StorageError: The file is damaged, or a line says what no episode says.
    """
    path = folder / TURNS
    for number, entry in enumerate(Ledger(path).read(), start=1):
        line = entry.value
        wrong = misfit("line", line)
        if not wrong and line.get("best", 0) >= max(1, len(candidates_of(line))):
            wrong = f"best: there is no candidate {line['best']}"
        if wrong:
            raise StorageError(
                f"{path}: line {number} is not what an episode says: {wrong}. Somebody edited it:"
                " restore the file from version control or a backup."
            )
        yield line


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

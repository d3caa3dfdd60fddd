"""Reads what `mas-run` wrote of a run, for whoever wants a digest of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..runtime.outcomes import run_of
from ..runtime.record import read_result
from ..schema.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from ..runtime.outcomes import Run

__all__ = ["read_run"]


def read_run(folder: Path) -> Run:
    """Read what came of a recorded run.

    The reason of its score is left out: it quotes the reference answer.

    Raises:
        InputError: It is not the folder of a run, the run did not come to its end, or a file is
            damaged.
    """
    result = read_result(folder)
    if result is None or "agents" not in result:
        raise InputError(
            f"{folder}: this is no run that came to its end. Finish it with: mas-run --resume"
            f" {folder}"
        )
    try:
        score = result["score"] and {"value": result["score"]["value"], "reason": ""}
        return run_of({**result, "score": score})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{folder}: this is no record of a run: {error!r}.") from None

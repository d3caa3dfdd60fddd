"""Reads what `mas-run` wrote of a run, for whoever wants a digest of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..runtime.engine import AgentOutcome, Run
from ..runtime.record import read_result
from ..runtime.runners.protocol import AgentResult
from ..runtime.scorers import Score
from ..runtime.usage import Usage
from ..schema.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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
        return _run(result)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{folder}: this is no record of a run: {error!r}.") from None


def _run(value: Mapping[str, Any]) -> Run:
    return Run(
        status=value["status"],
        answer=value["answer"],
        score=Score(value=value["score"]["value"], reason="") if value["score"] else None,
        error=value["error"],
        usage=_usage(value["usage"]),
        seconds=value["seconds"],
        agents={agent: _outcome(one) for agent, one in value["agents"].items()},
    )


def _outcome(value: Mapping[str, Any]) -> AgentOutcome:
    content = value["content"]
    return AgentOutcome(
        status=value["status"],
        result=None if content is None else AgentResult(content=content),
        error=value["error"],
        usage=_usage(value["usage"]),
        seconds=value["seconds"],
        attempts=value["attempts"],
        mishaps=tuple(value.get("mishaps", ())),
    )


def _usage(value: Mapping[str, Any]) -> Usage:
    """Take the counts; a result also has the price in words."""
    return Usage(**{name: value[name] for name in Usage.__slots__ if name in value})

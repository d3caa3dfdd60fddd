"""Readable numbers, and tables of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ...schema.team.team import Lineage
from ...schema.values.terminal import aligned, on_one_line, with_interval
from ..ledger.agents import PoolAgent
from ..ledger.records import TrialRecord
from ..values.statistics import Statistics


def table(heads: Mapping[str, str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Return the lines of a table.

    Args:
        heads: The heads of the columns, each with its alignment: < or >.
    """
    lines = [tuple(heads), *(tuple(map(on_one_line, row)) for row in rows)]
    return aligned(lines, heads.values())


def few(texts: Sequence[str], most: int) -> str:
    """List a few texts, and count the rest."""
    more = [f"{len(texts) - most} more"] if len(texts) > most else []
    return ", ".join([*texts[:most], *more]) or "-"


def score(statistics: Statistics) -> str:
    """Format a mean score with its 95 % interval and the number of evaluations."""
    if statistics.score is None:
        return "not evaluated"
    return f"{with_interval(statistics.score, statistics.interval)} n={statistics.n}"


def cost(statistics: Statistics) -> str:
    """Format the cost of an evaluation in USD."""
    usd, tokens = statistics.cost
    if math.isinf(tokens) or not usd:
        return "-"
    return "unpriced" if math.isinf(usd) else f"${usd:.4f}"


def statistics_value(statistics: Statistics) -> dict[str, Any]:
    """Return statistics as plain values."""
    usd, tokens = statistics.cost
    return {
        "n": statistics.n,
        "failures": statistics.failures,
        "chosen": statistics.chosen,
        "adapted": statistics.adapted,
        "adapted_score": statistics.adapted_sum / statistics.adapted
        if statistics.adapted
        else None,
        "score": statistics.score,
        "interval": statistics.interval if statistics.n else None,
        "reward": statistics.reward,
        "usd_per_evaluation": usd if math.isfinite(usd) else None,
        "tokens_per_evaluation": tokens if math.isfinite(tokens) else None,
        "usage": statistics.usage.value(),
    }


def made_by(lineage: Lineage) -> str:
    """Return the operators that made a team, in order."""
    return " + ".join(dict.fromkeys(step.operator for step in lineage.steps)) or lineage.operator


def origin_of(lineage: Lineage) -> str:
    """Name the operators that made a team or an agent, and its parents."""
    return " of ".join(filter(None, [made_by(lineage), " and ".join(lineage.parents)]))


def named(member: TrialRecord) -> str:
    """Name a team or an agent, and say where it is retired."""
    return member.name if member.retired is None else f"{member.name} (retired)"


def lineage_value(member: TrialRecord, of: str = "team") -> dict[str, Any]:
    """Return the lineage of a team or an agent as plain values."""
    lineage = member.lineage
    inherits = {"inherits": member.inherits} if isinstance(member, PoolAgent) else {}
    return {
        of: member.name,
        "parents": lineage.parents,
        "operator": lineage.operator,
        "edits": lineage.edits,
        "reason": lineage.reason,
        "task": lineage.task,
        "run": lineage.run,
        "steps": [asdict(step) for step in lineage.steps],
        "retired": member.retired,
        **inherits,
    }

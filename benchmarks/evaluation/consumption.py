"""The model calls of an evaluation: consumption by agent, duration, and answering models."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...runtime.record.journal import recorded
from ...runtime.values.usage import Usage
from .statistics import percentiles, rounded

_TRIAL = re.compile(r".*?/trial \d+/")
_AGENT = re.compile(r"/trial \d+/([^/]+)/")


def earlier_seconds(folder: Path, until: float) -> dict[str, float]:
    """Return how long trials had calls in progress, in processes that have ended.

    Args:
        folder: The evaluation's folder, with the journal.
        until: The end of the last of them, in seconds since the evaluation began.

    Returns:
        The seconds by the path of the trial, see `path_of`.
    """
    spans: dict[str, list[tuple[float, float]]] = {}
    for path, value in recorded(folder, "attempt"):
        trial = _TRIAL.match(path)
        if trial and value.get("since") is not None:
            ends = value.get("until")
            spans.setdefault(trial[0], []).append((value["since"], until if ends is None else ends))
    return {path: _covered(sorted(span)) for path, span in spans.items()}


def _covered(spans: Sequence[tuple[float, float]]) -> float:
    """Return the length of the union of time spans."""
    seconds, covered = 0.0, 0.0
    for begin, end in spans:
        seconds += max(0.0, end - max(begin, covered))
        covered = max(covered, end)
    return seconds


def consumption(folder: Path) -> dict[str, Any]:
    """Summarise the recorded model calls of an evaluation for results.json.

    Returns:
        `agents`: the consumption of each. `calls`: percentiles of the seconds per answer of a
        model, without cached answers. `answered`: the number of answers by alias and by the
        endpoint's own name of the model, with its fingerprint if reported.
    """
    agents: dict[str, Usage] = {}
    answered: dict[str, Counter[str]] = {}
    seconds: array[float] = array("d")
    for path, value in recorded(folder, "model"):
        usage = Usage(**value["usage"])
        result = _AGENT.search(path)
        agent = result[1] if result else ""
        agents[agent] = agents.get(agent, Usage()) + usage
        who = " ".join(item for item in (value["model"], value.get("fingerprint")) if item)
        answered.setdefault(value["alias"], Counter())[who or "unnamed"] += 1
        if not usage.cached_calls:
            seconds.append(value["seconds"])
    fields = {
        "agents": {
            agent: {**usage.value(), "cost": usage.cost} for agent, usage in sorted(agents.items())
        },
        "calls": percentiles(seconds),
        "answered": {alias: dict(sorted(by.items())) for alias, by in sorted(answered.items())},
    }
    return rounded(fields)

"""Figures of attributions, as tables: by method, by source and by length, chance beside them."""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from coterie.pool.values.intervals import wilson
from coterie.runtime.values.usage import Usage

from .published import SOURCES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Line = Mapping[str, Any]

LENGTHS = (6_000, 12_000, 48_000)
"""Where a length ends and the next begins, in characters of all steps' texts together."""
NAMES = ("below 6,000", "6,000 to 11,999", "12,000 to 47,999", "48,000 or more")
"""What the lengths are called."""
ALL = "all"
VERDICTS: Mapping[str, str] = MappingProxyType(
    {
        "agent": "agent, exact",
        "agent_original": "agent, original",
        "step": "step, exact",
        "step_original": "step, original",
    }
)


def by_source(lines: Sequence[Line]) -> list[dict[str, str]]:
    """Return a row for each method and source, and for all sources together."""
    return [
        row
        for source in (*SOURCES, ALL)
        for row in _rows(
            "source", source, [line for line in lines if source in {ALL, line["source"]}]
        )
    ]


def by_length(lines: Sequence[Line]) -> list[dict[str, str]]:
    """Return a row for each method and length."""
    return [
        row
        for name in NAMES
        for row in _rows(
            "characters", name, [line for line in lines if length_of(line["characters"]) == name]
        )
    ]


def costs(lines: Sequence[Line]) -> list[dict[str, str]]:
    """Return a row for each method: what it consumed, and the result of its questions."""
    return [_cost(method, of) for method, of in _methods(lines).items()]


def length_of(characters: int) -> str:
    """Name the length of a trace."""
    return NAMES[sum(characters >= end for end in LENGTHS)]


def _methods(lines: Sequence[Line]) -> dict[str, list[Line]]:
    methods: dict[str, list[Line]] = {}
    for line in lines:
        methods.setdefault(line["method"], []).append(line)
    return methods


def _rows(column: str, name: str, lines: Sequence[Line]) -> Iterator[dict[str, str]]:
    """Yield the rows of one group; chance comes first, over all its traces."""
    if not lines:
        return
    traces = {line["trace"]: line["chance"] for line in lines}
    drawn = {
        title: f"{sum(chance[key] for chance in traces.values()) / len(traces):.3f}"
        for key, title in VERDICTS.items()
    }
    yield {column: name, "method": "chance", "n": str(len(traces)), **drawn}
    for method, of in _methods(lines).items():
        judged = [line["right"] for line in of if "right" in line]
        fields = {title: _share([item[key] for item in judged]) for key, title in VERDICTS.items()}
        yield {column: name, "method": method, "n": str(len(judged)), **fields}


def _share(rights: Sequence[bool]) -> str:
    if not rights:
        return ""
    low, high = wilson(sum(rights), len(rights))
    return f"{sum(rights) / len(rights):.3f} [{low:.3f}, {high:.3f}]"


def _cost(method: str, lines: Sequence[Line]) -> dict[str, str]:
    counts = Counter[str]()
    for line in lines:
        counts["failed"] += "error" in line
        counts["nobody"] += "right" in line and line["told"] is None
        for name in ("repaired", "dropped", "shortened"):
            counts[name] += line.get(name, 0)
    usage = sum((Usage(**item["usage"]) for item in lines), Usage())
    return {
        "method": method,
        "traces": str(len(lines)),
        "could not be made": str(counts["failed"]),
        "blame nobody": str(counts["nobody"]),
        "answers repaired": str(counts["repaired"]),
        "questions lost": str(counts["dropped"]),
        "cut to fit": str(counts["shortened"]),
        "calls": str(usage.calls),
        "tokens read": str(usage.prompt_tokens),
        "tokens written": str(usage.completion_tokens),
        "cost": usage.cost,
    }

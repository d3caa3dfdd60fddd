"""The rounds of a run: each agent's result, and how it differs from the round before."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .talk import whole

MOST_COMPARED = 20_000
"""Characters of two texts, together, that are compared line by line."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownOutcome:
    """An agent's result in a round.

    Attributes:
        news: `first`, `changed` or `as before`.
        lines: The changed lines, each with ` `, `+` or `-` before it.
    """

    agent: str
    status: str
    text: str
    news: str
    lines: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownRound:
    """A round.

    Attributes:
        name: Its number, or `opening` or `closing`.
    """

    name: str
    outcomes: Sequence[ShownOutcome]

    @property
    def changed(self) -> int:
        """The number of answers that differ from those of the round before."""
        return sum(outcome.news == "changed" for outcome in self.outcomes)


def rounds(events: Iterable[Mapping[str, Any]]) -> list[ShownRound]:
    """Return the rounds of a run; empty if it has none."""
    fields: dict[str, dict[str, tuple[str, str]]] = {}
    for event in events:
        if event["type"] == "agent_finished" and "round" in event:
            ended = (str(event["status"]), whole(event.get("content")))
            fields.setdefault(str(event["round"]), {})[event["agent"]] = ended
    before: dict[str, str] = {}
    result: list[ShownRound] = []
    for name, ended in fields.items():
        outcomes = [
            _outcome(agent, status, text, before.get(agent))
            for agent, (status, text) in ended.items()
        ]
        result.append(ShownRound(name=name, outcomes=outcomes))
        before |= {outcome.agent: outcome.text for outcome in outcomes}
    return result


def _outcome(agent: str, status: str, text: str, before: str | None) -> ShownOutcome:
    if before is None:
        return ShownOutcome(agent=agent, status=status, text=text, news="first")
    if before == text:
        return ShownOutcome(agent=agent, status=status, text=text, news="as before")
    lines = _lines(before, text)
    return ShownOutcome(agent=agent, status=status, text=text, news="changed", lines=lines)


def _lines(before: str, text: str) -> list[tuple[str, str]]:
    if len(before) + len(text) > MOST_COMPARED:
        return []
    compared = difflib.unified_diff(before.splitlines(), text.splitlines(), n=2, lineterm="")
    return [(name[0], name[1:]) for name in list(compared)[2:] if name[:1] in {" ", "+", "-"}]

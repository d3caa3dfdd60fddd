"""What went wrong on an agent's way without ending it: tools, attempts, forms, lengths.

It is kept with what the agent came to, so that operators learn of it also where nobody listened to
the trace, and after a restart. Waits and retries of a provider are not the agent's.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ..schema.terminal import on_one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Mishaps"]

MOST = 10
"""Different mishaps that are told of one agent, the most frequent first."""
MOST_COUNTED = 100
LONGEST = 200
"""Characters of one."""


class Mishaps:
    """Counts what goes wrong for one agent, over all of its attempts.

    Args:
        scrub: Takes secrets out of what is kept.
    """

    def __init__(self, scrub: Callable[[str], str]) -> None:
        self._scrub = scrub
        self._times: Counter[str] = Counter()

    def note(self, event: str, fields: Mapping[str, Any]) -> None:
        """Take in an event of the agent, where it is a mishap."""
        if said := _said(event, fields):
            # A key that was cut in two would not be found any more, so it is cut afterwards.
            told = on_one_line(self._scrub(said))[:LONGEST]
            if told in self._times or len(self._times) < MOST_COUNTED:
                self._times[told] += 1

    def told(self) -> tuple[str, ...]:
        """Say what went wrong, each thing once, with how often where that was more than once."""
        return tuple(
            told if times == 1 else f"{told} ({times} times)"
            for told, times in self._times.most_common(MOST)
        )


def _said(event: str, fields: Mapping[str, Any]) -> str | None:
    match event, fields:
        case "tool_call", {"tool": tool, "error": error}:
            return f"tool {tool} failed: {error}"
        case "agent_retried", {"error": error}:
            return f"tried again after: {error}"
        case "repair", {"problems": problems}:
            return f"its answer had to be repaired: {'; '.join(map(str, problems))}"
        case "trimmed", _:
            return "its conversation was too long for its model"
        case "cut_off", {"finish_reason": reason}:
            return f"its answer was cut off ({reason})"
        case _:
            return None

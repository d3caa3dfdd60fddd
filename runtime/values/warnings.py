"""Problems of an agent that did not end it: tools, attempts, formats, lengths.

They are kept with the agent's result, so that operators learn of them even without the trace, and
after a restart. Waits and retries of a provider are not the agent's problems.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...schema.values.terminal import on_one_line

CUT_OFF = "its answer was cut off"
SUBSTITUTED = "another model answered in place of"
"""The beginning of the warning that a fallback answered."""
MOST = 10
"""The most different warnings of one agent, the most frequent first."""
MOST_COUNTED = 100
LONGEST = 200
"""The most characters of a warning."""


class Warnings:
    """Counts the problems of one agent, over all of its attempts."""

    def __init__(self, scrub: Callable[[str], str]) -> None:
        self._scrub = scrub
        self._times: dict[str, int] = {}
        self._cause = ""

    def note(self, event: str, fields: Mapping[str, Any]) -> None:
        """Count an event of the agent if it is a problem."""
        if event == "model_call" and "answered_by" not in fields:
            return  # most events
        if event == "step_failed" and self._cause and self._cause in fields["error"]:
            return  # the tool or the form that made the step fail was noted already
        if text := _warning_of(event, fields):
            self._cause = text.partition(": ")[2]
            # Scrubbed before it is cut: a key cut in two would not be recognized.
            words = on_one_line(self._scrub(text))[:LONGEST]
            if words in self._times or len(self._times) < MOST_COUNTED:
                self._times[words] = self._times.get(words, 0) + 1

    def times(self) -> Mapping[str, int]:
        """Return the count of each warning, for `go_back`."""
        return {**self._times}

    def go_back(self, times: Mapping[str, int]) -> None:
        """Forget later warnings, because the same events happen again."""
        self._times, self._cause = {**times}, ""

    def as_texts(self) -> tuple[str, ...]:
        """Return each warning once, with its count if above one."""
        return tuple(
            name if times == 1 else f"{name} ({times} times)"
            for name, times in sorted(self._times.items(), key=lambda pair: -pair[1])[:MOST]
        )


def _warning_of(event: str, fields: Mapping[str, Any]) -> str | None:
    text = None
    match event, fields:
        case "tool_call", {"tool": tool, "error": error}:
            text = f"tool {tool} failed: {error}"
        case "model_call", {"alias": alias, "answered_by": substitute}:
            text = f"{SUBSTITUTED} {alias}: {substitute}"
        case "step_failed", {"error": error}:
            text = f"a step failed: {error}"
        case "agent_retried", {"error": error}:
            text = f"tried again after: {error}"
        case "repair", {"problems": problems}:
            text = f"its answer had to be repaired: {'; '.join(map(str, problems))}"
        case "trimmed", _:
            text = "its conversation was too long for its model"
        case "only_thought", {"why": why}:
            text = f"an answer was none: {why}"
        case "cut_off", {"finish_reason": reason}:
            text = f"{CUT_OFF} ({reason})"
        case "work_unused", {"files": [first, *_], "count": count}:
            text = f"it answers with text, so its changes are ignored: {first}"
            text += f" and {count - 1} more" if count > 1 else ""
        case _:
            pass
    return text

"""The progress of a run that clients see: which agents work, and how they end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..record.trace import Event

PIECE = 8_000
"""Characters of an answer in one event; some readers limit the length of a line."""
LINES: Mapping[str, str] = {
    "agent_finished": "{agent} {ended}\n",
    "agent_retried": "{agent} tries again\n",
    "agent_started": "{agent} works\n",
    "approval_asked": "{agent} asks whether it may call {tool}\n",
    "question_asked": "{agent} waits for a person\n",
    "round_started": "round {round}\n",
    "tool_call": "{agent} calls {tool}\n",
}
"""The text of each type of event that clients see."""
ENDED: Mapping[str, str] = {
    "done": "is done",
    "failed": "failed",
    "skipped": "is skipped",
    "cancelled": "is cancelled",
}


def line_of(event: Event) -> str | None:
    """Return an event's text for the client; None if there is nothing to show."""
    template = LINES.get(event.type)
    if template is None:
        return None
    ended = ENDED.get(event.fields.get("status", ""), "ended")
    return template.format_map({**event.fields, "agent": event.agent, "ended": ended})


def pieces(text: str) -> list[str]:
    """Cut a text into pieces that fit into one event each."""
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]

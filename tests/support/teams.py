"""Values that agents of a team read, and a form of what they answer."""

from typing import Any

from coterie.runtime.runners import AgentReport

NUMBER: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "integer"}},
    "required": ["answer"],
    "additionalProperties": False,
}
"""The form of an answer that is a whole number."""


def reports(*contents: str) -> tuple[AgentReport, ...]:
    """Return what workers report, each with these words."""
    return tuple(
        AgentReport(agent_id=f"w{number}", role="worker", content=content)
        for number, content in enumerate(contents)
    )

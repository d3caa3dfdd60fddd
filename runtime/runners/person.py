"""The backend that asks a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .llm import LlmRunner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...schema.team.team import Agent


class PersonRunner(LlmRunner):
    """Runs `agent_type: Person`: a plain agent whose model is a person's inbox."""

    @classmethod
    def objections(cls, agent: Agent) -> Iterator[str]:
        """Object to settings that do not apply to a person."""
        if agent.agent_type not in {None, "Person"}:
            yield f"the backend person runs agents of type Person, not {agent.agent_type!r}."
        if agent.tools:
            yield "an agent of type Person answers once and cannot use tools. Leave them out."

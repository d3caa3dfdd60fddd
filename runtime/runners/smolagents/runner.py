"""The backend of agents that act in steps: smolagents' CodeAgent and ToolCallingAgent."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ...values.importing import quiet_environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....schema.team.team import Agent
    from ...agents.runner import AgentResult, Assignment
    from ..bridge import Bridge

MAX_STEPS = 10


class SmolagentsRunner:
    """Runs `agent_type: CodeAgent` (the default here) and `ToolCallingAgent`.

    A CodeAgent writes Python, which runs in a jail; its tools are functions there. A
    ToolCallingAgent calls tools, and needs a model that can. Both end with `final_answer`. With an
    output schema, an answer that does not fit is shown to the agent, which has its remaining steps
    to repair it.
    """

    @classmethod
    def objections(cls, agent: Agent) -> Iterator[str]:
        """Object to other types of agents."""
        if agent.agent_type not in {None, "CodeAgent", "ToolCallingAgent"}:
            yield (
                "the backend smolagents runs agents of type CodeAgent and ToolCallingAgent,"
                f" not {agent.agent_type!r}."
            )

    @classmethod
    def calls_at_most(cls, agent: Agent) -> int:
        """Return one call for each step, and one for each plan."""
        steps = agent.max_steps or MAX_STEPS
        return steps + agent.plans(steps)

    @classmethod
    def needs_jail(cls, agent: Agent) -> bool:
        """Return True for a CodeAgent."""
        return agent.agent_type != "ToolCallingAgent"

    @classmethod
    def load(cls) -> None:
        """Import smolagents."""
        _import_smolagents()

    async def run(self, assignment: Assignment) -> AgentResult:
        """Let the agent take its steps.

        Raises:
            AgentError: It took all its steps without a final answer, or its library failed.
            CallError: Its model gave no usable answer.
            JailError: No jail is available for its code.
        """
        from ..bridge import in_thread

        steps = assignment.agent.max_steps or MAX_STEPS
        writes_code = self.needs_jail(assignment.agent)

        def work(bridge: Bridge) -> AgentResult:
            _import_smolagents()
            from ._adapters import run_code_agent, run_tool_calling_agent

            run = run_code_agent if writes_code else run_tool_calling_agent
            return run(assignment, bridge, max_steps=steps)

        return await in_thread(work, name=f"smolagents-{assignment.agent.id}")


@functools.cache
def _import_smolagents() -> None:
    """Import smolagents without the `.env` file that it looks for above its own folder."""
    with quiet_environment():
        from . import _adapters as _smolagents  # noqa: F401  # pyright: ignore[reportUnusedImport]

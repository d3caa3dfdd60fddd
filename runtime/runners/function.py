"""The backend that costs nothing: a registered function over the colleagues' outputs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ...schema.host.catalogue import load_named
from ...schema.host.conforming import expected
from ...schema.host.foreign_code import foreign_code
from ...schema.values.errors import AgentError
from ..agents.runner import AgentResult
from ..values.bounds import apart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ...schema.team.team import Agent
    from ..agents.runner import Assignment


class FunctionRunner:
    """Runs `agent_type: Function`: exact, deterministic, without a model."""

    @classmethod
    def objections(cls, agent: Agent) -> Iterator[str]:
        """Object to agents without a function, and to settings that a function cannot use."""
        if agent.agent_type not in {None, "Function"}:
            yield f"the backend function runs agents of type Function, not {agent.agent_type!r}."
        if agent.function is None:
            yield "an agent of type Function needs a function, for instance majority."
        if agent.tools:
            yield "an agent of type Function cannot use tools. Leave them out."

    @classmethod
    def calls_at_most(cls, agent: Agent) -> int:
        """Return 0: no model is called."""
        return 0

    @classmethod
    def needs_jail(cls, agent: Agent) -> bool:
        """Return False: it writes no code."""
        del agent
        return False

    async def run(self, assignment: Assignment) -> AgentResult:
        """Apply the function to the reports.

        Raises:
            AgentError: The function cannot use these reports; the message gives its reason.
        """
        function = load_named("functions", str(assignment.agent.function))
        size = sum(len(report.content) for report in assignment.reports)
        content = await apart(size, partial(_called, function, assignment))
        return AgentResult(content=content)


def _called(function: Callable[..., Any], assignment: Assignment) -> str:
    """Call a user-supplied function."""
    name = f"the function {assignment.agent.function}"
    with foreign_code(name):
        content = function(assignment.reports, assignment.task)
    return expected(content, str, name, AgentError)

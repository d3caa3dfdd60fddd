"""The backend of SWE-agent, which is installed apart from us and runs as a program of its own."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ...schema.errors import AgentError
from .bridge import in_thread

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping

    from ...schema.team import Agent
    from .bridge import Bridge
    from .protocol import AgentResult, Assignment

__all__ = ["SweAgentRunner"]

VARIABLE = "MAS_SWE_AGENT_PYTHON"
HOW = (
    "Install SWE-agent 1.1 or later from its repository (pip install --editable) into a virtual"
    f" environment of its own, and set {VARIABLE} to that environment's python."
)
MAX_STEPS = 60

# SWE-agent keeps state under fixed paths of the machine, so two of them would mix up their work.
_TURNS: MutableMapping[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


class SweAgentRunner:
    """Runs `agent_type: SWEAgent`: an installed SWE-agent >= 1.1, on a copy of the repository.

    The person who runs the team names its interpreter in the variable `MAS_SWE_AGENT_PYTHON`. Its
    model calls come back to us over a loopback endpoint. SWE-agent without containers copies the
    repository to the root of the file system and works under /root, which no jail of ours allows;
    so it runs only where the same person chose to run agents without a jail (`--unsafe-local`), in
    a throw-away machine. Agents of this type take turns.
    """

    @classmethod
    def objections(cls, agent: Agent) -> Iterator[str]:
        """Object where SWE-agent is not installed, and to what it cannot keep to."""
        if agent.agent_type not in {None, "SWEAgent"}:
            yield (f"the backend swe-agent runs agents of type SWEAgent, not {agent.agent_type!r}.")
        if agent.tools:
            yield "an agent of type SWEAgent has its own tools and no others. Leave them out."
        if agent.output_schema:
            yield "an agent of type SWEAgent answers with a patch. Leave out its output_schema."
        path = os.environ.get(VARIABLE, "")
        if not Path(path).is_file():
            yield f"{VARIABLE} is {path!r}, and not the path of a program. {HOW}"

    @classmethod
    def calls_at_most(cls, agent: Agent) -> int:
        """One call for each step."""
        return agent.max_steps or MAX_STEPS

    @classmethod
    def needs_jail(cls, agent: Agent) -> bool:
        """Say yes: it writes commands."""
        del agent
        return True

    async def run(self, assignment: Assignment) -> AgentResult:
        """Let SWE-agent work until it submits.

        Raises:
            AgentError: There is no repository, SWE-agent cannot be run, or it did not submit a
                change.
            CallError: Its model gave no usable answer.
            JailError: Nobody chose to run agents without a jail.
        """
        from ._loopback import LoopbackEndpoint
        from ._sweagent import run_swe_agent

        python = Path(os.environ.get(VARIABLE, ""))
        turn = _TURNS.setdefault(asyncio.get_running_loop(), asyncio.Lock())
        steps = self.calls_at_most(assignment.agent)
        with assignment.waiting():
            await turn.acquire()
        try:
            async with LoopbackEndpoint(assignment.line, calls=steps) as endpoint:

                def work(bridge: Bridge) -> AgentResult:
                    return run_swe_agent(assignment, bridge, endpoint, python=python)

                try:
                    return await in_thread(work, name=f"swe-agent-{assignment.agent.id}")
                except AgentError:
                    if endpoint.failure is not None:
                        raise endpoint.failure from None
                    raise
        finally:
            turn.release()

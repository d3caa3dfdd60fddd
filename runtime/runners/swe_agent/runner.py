"""The backend of SWE-agent, which is installed separately and runs as its own program."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ....schema.values.errors import AgentError
from ._install import SHORTLY, VARIABLE, Installation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....schema.team.team import Agent
    from ...agents.runner import AgentResult, Assignment
    from ..bridge import Bridge

MAX_STEPS = 60


class SweAgentRunner:
    """Runs `agent_type: SWEAgent`: an installed SWE-agent >= 1.1, in a jail, on a copy.

    The user names its interpreter in the variable `MAS_SWE_AGENT_PYTHON`. All of it runs in one
    jail: everything that it installs and keeps, under /root, belongs to the jail, and its model
    calls reach us over its standard streams. The answer is the patch: our own `git diff` of the
    copy, whatever the agent says.
    """

    @classmethod
    def objections(cls, agent: Agent) -> Iterator[str]:
        """Object if SWE-agent is not installed, and to settings that it cannot satisfy."""
        if agent.agent_type not in {None, "SWEAgent"}:
            yield (f"the backend swe-agent runs agents of type SWEAgent, not {agent.agent_type!r}.")
        if agent.tools:
            yield "an agent of type SWEAgent has its own tools and no others. Leave them out."
        if agent.output_schema:
            yield "an agent of type SWEAgent answers with a patch. Leave out its output_schema."
        path = os.environ.get(VARIABLE, "")
        if not Path(path).is_file():
            yield f"{VARIABLE} is {path!r}, and not the path of a program. {SHORTLY}"

    @classmethod
    def calls_at_most(cls, agent: Agent) -> int:
        """Return one call for each step."""
        return agent.max_steps or MAX_STEPS

    @classmethod
    def needs_jail(cls, agent: Agent) -> bool:
        """Return True: it writes commands."""
        del agent
        return True

    @classmethod
    def lacks(cls) -> Iterator[str]:
        """Report what is missing of the program, or a jail that it can run in."""
        from ...jail.detect import detect

        try:
            Installation.detect()
        except AgentError as error:
            yield str(error)
        tier = detect().tier
        if tier is None or not tier.has_mounts:
            yield (
                "SWE-agent needs a jail that can mount folders, even with --unsafe-local, and this"
                " machine has none. Install bubblewrap, allow user namespaces, or use"
                f" agent_type: DefaultAgent.\n{detect()}"
            )

    async def probe(self) -> str:
        """Run SWE-agent once, with a scripted model, and return its description.

        Raises:
            AgentError: It could not be run, or did not finish.
            JailError: No jail is available for it.
        """
        from ._trial import try_swe_agent

        await try_swe_agent(self)
        return str(Installation.detect())

    async def run(self, assignment: Assignment) -> AgentResult:
        """Let SWE-agent work until it submits.

        Raises:
            AgentError: There is no repository, SWE-agent cannot be run, or it did not submit a
                change.
            CallError: Its model gave no usable answer.
            JailError: No jail is available for it.
        """
        from ..bridge import in_thread
        from ._running import run_swe_agent

        steps = self.calls_at_most(assignment.agent)

        def work(bridge: Bridge) -> AgentResult:
            return run_swe_agent(assignment, bridge, Installation.detect(), max_steps=steps)

        return await in_thread(work, name=f"swe-agent-{assignment.agent.id}")

"""The backend of agents that work in a shell: mini-swe-agent's DefaultAgent."""

from __future__ import annotations

import functools
import tempfile
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ....schema.values.extras import how_to_get
from ...values.importing import quiet_environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....schema.team.team import Agent
    from ...agents.runner import AgentResult, Assignment
    from ..bridge import Bridge

MAX_STEPS = 40


class MiniSweAgentRunner:
    """Runs `agent_type: DefaultAgent`: shell commands in a jail, on a copy of the repository.

    If the task has a repository, the answer is the patch: our own `git diff` of the copy, whatever
    the agent says. Otherwise, the answer is the text that the agent hands in. In an open roster it
    has tools besides its shell, to act on its team.
    """

    acts_by = "tools"

    @classmethod
    def objections(cls, agent: Agent) -> Iterator[str]:
        """Object to other types, and to settings that an agent with only a shell cannot satisfy."""
        if agent.agent_type not in {None, "DefaultAgent"}:
            yield (
                "the backend mini-swe-agent runs agents of type DefaultAgent,"
                f" not {agent.agent_type!r}."
            )
        if agent.tools:
            yield "an agent of type DefaultAgent has a shell and no other tools. Leave them out."
        if agent.output_schema:
            yield (
                "an agent of type DefaultAgent answers with a patch or with plain text. Leave out"
                " its output_schema, or let an agent of type LLM put its answer into that form."
            )

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
        """Report the package if it is missing; an extra installs it."""
        if find_spec("minisweagent") is None:
            yield (
                "agents of type DefaultAgent need the package mini-swe-agent, which is not"
                f" installed. Run: {how_to_get('mini-swe-agent')}"
            )

    @classmethod
    def load(cls) -> None:
        """Import minisweagent."""
        _import_minisweagent()

    async def run(self, assignment: Assignment) -> AgentResult:
        """Let the agent work until it hands in.

        Raises:
            AgentError: It did not hand in, or handed in without a change or an answer.
            CallError: Its model gave no usable answer.
            JailError: No jail is available for its commands.
        """
        from ..bridge import in_thread

        steps = self.calls_at_most(assignment.agent)

        def work(bridge: Bridge) -> AgentResult:
            _import_minisweagent()
            from ._adapters import run_default_agent

            return run_default_agent(assignment, bridge, max_steps=steps)

        return await in_thread(work, name=f"mini-swe-agent-{assignment.agent.id}")


@functools.cache
def _import_minisweagent() -> None:
    """Import minisweagent without its banner, its user's settings, and their folder."""
    with (
        tempfile.TemporaryDirectory(prefix="coterie-mini-") as folder,
        quiet_environment(MSWEA_SILENT_STARTUP="1", MSWEA_GLOBAL_CONFIG_DIR=folder),
    ):
        from . import _adapters as _minisweagent  # noqa: F401  # pyright: ignore[reportUnusedImport]

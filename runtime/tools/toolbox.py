"""The toolbox of a run: built-in tools, plugins' tools, and the host's tool servers."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from ...schema.host.catalogue import load_tool
from ...schema.values.errors import InputError
from ..scrubbing.scrubber import Scrubber
from .approval import Approvals

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...schema.host.catalogue import ToolServer
    from ...schema.host.python_tool import PythonTool
    from ..record.once import Once
    from ..record.trace import Emit
    from ..repository.workspace import Workspace
    from .session import Session
    from .tool import GrantedTool, Show, Tool, Waiting


class Toolbox:
    """Hands tools to agents. An async context manager; leaving it stops the tool servers.

    Args:
        approvals: People's decisions about calls. Default: no call needs an approval.
    """

    def __init__(
        self,
        servers: Mapping[str, ToolServer] | None = None,
        python: Mapping[str, PythonTool] | None = None,
        approvals: Approvals | None = None,
    ) -> None:
        self._servers = servers or {}
        self._python = python or {}
        self.approvals = approvals or Approvals()
        self._sessions: dict[str, Session] = {}
        self._tools: dict[str, tuple[Tool, ...]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        sessions, self._sessions = self._sessions, {}
        await asyncio.gather(*(session.stop() for session in sessions.values()))

    def check(self, name: str) -> None:
        """Check that a tool is available here, without starting its server.

        Raises:
            InputError: A package, a program or a variable is missing.
        """
        server = self._servers.get(name.partition(".")[0]) if "." in name else None
        if server is not None:
            from .servers import check_server

            check_server(server)
        elif name not in self._python:
            load_tool(name)

    async def prepare(self, names: Iterable[str]) -> None:
        """Load the tools of these names, and start the servers that they need.

        Raises:
            InputError: A server cannot be started, or lacks the tool; or a plugin's entry point is
                no tool.
        """
        scrub = Scrubber(self.secrets())
        for name in sorted(set(names) - set(self._tools)):
            server, dot, tool = name.partition(".")
            if name in self._python:
                from .python import tool_of

                self._tools[name] = (tool_of(self._python[name]),)
            elif not dot:
                self._tools[name] = tuple(map(_usable, _installed(name)))
            else:
                try:
                    result = (await self._session(server)).tool(tool)
                except InputError as error:
                    raise InputError(scrub(str(error))) from None
                scrubbed = replace(
                    result,
                    description=scrub.without_secrets(result.description),
                    parameters=json.loads(scrub.without_secrets(json.dumps(result.parameters))),
                )
                self._tools[name] = (scrubbed,)

    def secrets(self) -> frozenset[str]:
        """Return the secrets that servers read from the environment, to keep them out of files."""
        names = {name for server in self._servers.values() for name in server.variables}
        return frozenset(os.environ[name] for name in names if os.environ.get(name))

    def granted(
        self,
        names: Sequence[str],
        workspace: Workspace,
        emit: Emit,
        once: Once | None = None,
        waiting: Waiting = nullcontext,
        *,
        show: Show | None = None,
    ) -> Mapping[str, GrantedTool]:
        """Return the prepared tools that a team grants an agent, by name."""
        if not names:
            return {}
        from ..record.once import unkept
        from .tool import GrantedTool, unseen

        return {
            tool.name: GrantedTool(
                tool=tool,
                workspace=workspace,
                emit=emit,
                once=once or unkept,
                approvals=self.approvals if self.approvals.needed(name) else None,
                waiting=waiting,
                show=show or unseen,
            )
            for name in names
            for tool in self._tools[name]
        }

    async def _session(self, name: str) -> Session:
        if name not in self._sessions:
            from .servers import start_session

            self._sessions[name] = await start_session(self._servers[name])
        return self._sessions[name]


def _usable(tool: Tool) -> Tool:
    """Return a plugin's tool with parameters that providers accept."""
    from .tool_schema import usable_parameters

    return replace(tool, parameters=usable_parameters(dict(tool.parameters), tool.name))


def _installed(name: str) -> tuple[Tool, ...]:
    from .tool import Tool, Toolkit

    match load_tool(name):
        case Tool() as tool:
            return (tool,)
        case Toolkit(tools=tools):
            return tools
        case function:
            from ...schema.host.python_tool import python_tool
            from .python import tool_of

            return (replace(tool_of(python_tool(function)), name=name),)

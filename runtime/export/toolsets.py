"""The tools of exported agents: files, a shell, and servers of tools.yaml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from ...schema.foreign.docker_names import FILE_TOOLS
from ...schema.host.catalogue import ToolServer
from ...schema.team.team import Agent

FILES = frozenset(FILE_TOOLS.values())
SHELLS: Mapping[str, str] = MappingProxyType(
    {
        "CodeAgent": "in docker-agent, it writes shell commands instead of Python.",
        "DefaultAgent": "",
        "SWEAgent": "in docker-agent, it works with a shell.",
    }
)
"""The types of agents that have a shell in docker-agent, with what is lost of each."""


def toolsets(agent: Agent, servers: Mapping[str, ToolServer]) -> Iterator[dict[str, Any]]:
    """Yield an agent's toolsets in docker-agent's form."""
    if agent.agent_type in SHELLS:
        yield {"type": "shell"}
        yield {"type": "filesystem"}
    elif files := [
        theirs for tool in agent.tools for theirs, ours in FILE_TOOLS.items() if ours == tool
    ]:
        yield {"type": "filesystem", "tools": files}
    granted: dict[str, list[str]] = {}
    for server, dot, tool in (tool.partition(".") for tool in agent.tools):
        if dot:
            granted.setdefault(server, []).append(tool)
    for name, tools in granted.items():
        yield {"type": "mcp", "name": name, **_of_docker_agent(servers[name]), "tools": tools}


def of_client(server: ToolServer) -> dict[str, Any]:
    """Return how LangChain's client for the Model Context Protocol reaches a server.

    Variables are named, never read: a value `$NAME` is filled in when the program runs.
    """
    if server.url:
        return {
            "transport": "streamable_http",
            "url": server.url,
            "headers": _headers(server, "${}"),
        }
    command, *args = server.command
    env = {name: f"${name}" for name in server.env}
    return {"transport": "stdio", "command": command, "args": args, "env": env}


def _of_docker_agent(server: ToolServer) -> dict[str, Any]:
    if server.url:
        remote = {"url": server.url, "transport_type": "streamable"}
        headers = _headers(server, "${{env.{}}}")
        return {"remote": {**remote, **({"headers": headers} if headers else {})}}
    command, *args = server.command
    env = {name: f"${{{name}}}" for name in server.env}
    return {
        "command": command,
        **({"args": args} if args else {}),
        **({"env": env} if env else {}),
    }


def _headers(server: ToolServer, form: str) -> dict[str, str]:
    """Return the headers of a server, each with the variable that holds its value."""
    headers = {name: form.format(variable) for name, variable in server.headers_env.items()}
    if server.key_env:
        headers["Authorization"] = f"Bearer {form.format(server.key_env)}"
    return headers

"""The teams as an MCP server: one tool a team, over stdio or streamable HTTP."""

from __future__ import annotations

import re
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types import CallToolResult, TextContent, Tool
from starlette.routing import Route

from .app import KEY, question_of
from .messages import ClientMessage, task_of
from .progress import line_of
from .refusals import Refusal
from .server import ServedAnswer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.types import Receive, Scope, Send

    from ...schema.team.task import Task
    from .server import ServedQuestion, TeamServer
    from .teams import ServedTeam

PATH = "/mcp"
ARGUMENTS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What the team is to do."},
        "context": {"type": "string", "description": "Material that the query is about."},
        "files": {
            "type": "object",
            "description": "Files for the team: the text of each, by its name.",
            "additionalProperties": {"type": "string"},
        },
    },
    "required": ["query"],
    "additionalProperties": False,
}


def mcp_route(server: TeamServer, largest: int) -> tuple[Route, Callable[[], Any]]:
    """Return the route of the MCP server, and the context manager to hold while it serves.

    Requests are independent, so a restarted server needs no new session, and a client that hangs up
    cancels its call.
    """
    manager = StreamableHTTPSessionManager(
        _server_of(server), stateless=True, max_request_body_size=largest
    )
    return Route(PATH, _Mcp(manager)), manager.run


async def serve_stdio(server: TeamServer) -> None:
    """Serve over standard input and output until the input ends."""
    mcp = _server_of(server)
    async with stdio_server() as (receiving, sending):
        await mcp.run(receiving, sending, mcp.create_initialization_options())


class _Mcp:
    """The manager as an application; a class, because a route treats a function as a handler."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._manager.handle_request(scope, receive, send)


def _tool_name(team: ServedTeam) -> str:
    """Return the tool name of a team."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", team.name)


def _server_of(server: TeamServer) -> Server[Any, Any]:
    mcp: Server[Any, Any] = Server("coterie")

    async def tools() -> list[Tool]:
        return [
            Tool(name=_tool_name(team), description=team.description, inputSchema=dict(ARGUMENTS))
            for team in server.teams
        ]

    async def call(name: str, arguments: dict[str, Any]) -> CallToolResult:
        try:
            answer = await _answered(server, mcp, name, arguments)
        except Refusal as refusal:
            return CallToolResult(content=[_text(str(refusal))], isError=True)
        return CallToolResult(content=[_text(answer.text)], _meta={"coterie": answer.about})

    mcp.list_tools()(tools)
    mcp.call_tool()(call)
    return mcp


async def _answered(
    server: TeamServer, mcp: Server[Any, Any], name: str, arguments: Mapping[str, Any]
) -> ServedAnswer:
    """Answer a call, and report progress if the client asks for it."""
    teams = {_tool_name(team): team for team in server.teams}
    team = teams.get(name) or server.teams.named(name)
    context, files = arguments.get("context"), arguments.get("files") or {}
    messages = [ClientMessage(role="system", text=context)] if context else []
    messages.append(ClientMessage(role="user", text=arguments["query"], files=[*files.items()]))
    question = _question(mcp, team, task_of(messages, server.teams.catalogue))
    number = 0
    async with aclosing(server.stream(question)) as events:
        async for event in events:
            if isinstance(event, ServedAnswer):
                return event
            if line := line_of(event):
                number += 1
                await _report(mcp, number, line.strip())
    raise AssertionError("a question is answered or refused")


def _question(mcp: Server[Any, Any], team: ServedTeam, task: Task) -> ServedQuestion:
    """Return a call's question. Over stdio, only its `_meta` can hold an idempotency key."""
    context = mcp.request_context
    key = (context.meta.model_extra or {}).get(KEY, "") if context.meta else ""
    request = context.request
    headers, caller = (request.headers, request.user.display_name) if request else ({}, "")
    return question_of(headers, caller, team, task, key=str(key))


async def _report(mcp: Server[Any, Any], number: int, line: str) -> None:
    context = mcp.request_context
    if context.meta is not None and context.meta.progressToken is not None:
        await context.session.send_progress_notification(
            context.meta.progressToken,
            number,
            message=line,
            related_request_id=str(context.request_id),
        )


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)

"""A session with a tool server: what it offers, and calls of its tools."""

from __future__ import annotations

import asyncio
import json
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Self

from anyio import BrokenResourceError, ClosedResourceError, EndOfStream
from mcp import ClientSession, McpError, types
from pydantic import ValidationError

from ...schema.values.errors import InputError
from .server_address import reached
from .server_process import running
from .tool import Tool, ToolError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.host.catalogue import ToolServer
    from ..repository.workspace import Workspace
    from .server_address import ServerAddress
    from .server_process import ServerProcess

__all__ = ["Session"]

SECONDS_TO_START = 10.0
MOST_PAGES = 50
MOST_NAMES = 20
LONGEST_DESCRIPTION = 2_000  # characters
LARGEST_SCHEMA = 20_000  # characters of JSON
LONGEST_ERROR = 2_000  # characters

_GONE = (BrokenResourceError, ClosedResourceError, EndOfStream)


class Session:
    """A tool server under way. `Session.start` makes one; `stop` ends it.

    The client library must be left by the task that entered it, so a session has a task of its own
    for all its life, whichever tasks call its tools.
    """

    def __init__(self, server: ToolServer) -> None:
        self._server = server
        self._offered: dict[str, types.Tool] = {}
        self._stopping = asyncio.Event()
        self._connected: asyncio.Future[tuple[ClientSession, ServerProcess | ServerAddress]] = (
            asyncio.get_running_loop().create_future()
        )
        self._life = asyncio.create_task(self._live(), name=f"tool server {server.name}")

    @classmethod
    async def start(cls, server: ToolServer) -> Self:
        """Start a server and wait until it tells what it has.

        Raises:
            InputError: Its program does not exist, or is not ready in time to serve tools.
        """
        session = cls(server)
        try:
            await asyncio.wait(
                {session._life, session._connected}, return_when=asyncio.FIRST_COMPLETED
            )
        except asyncio.CancelledError:
            session._life.cancel()
            await asyncio.wait({session._life})
            raise
        if session._life.done():
            await session._life
        return session

    @property
    def offered(self) -> frozenset[str]:
        """The names of the tools that the server has."""
        return frozenset(self._offered)

    def tool(self, name: str) -> Tool:
        """Give one of the server's tools, as agents are granted it.

        Raises:
            InputError: tools.yaml does not offer it, or the server does not have it, or describes
                it in a way that cannot be used.
        """
        server = self._server
        if name not in server.tools:
            raise InputError(
                f"tools.yaml does not offer the tool {name!r} of the server {server.name!r}, only"
                f" {_listed(server.tools)}."
            )
        if name not in self._offered:
            raise InputError(
                f"the tool server {server.name!r} has no tool {name!r}. It has"
                f" {_listed(self._offered)}. Correct its tools in tools.yaml."
            )

        async def run(arguments: Mapping[str, Any], workspace: Workspace) -> Any:
            return await self._call(name, arguments)

        offered = self._offered[name]
        full_name = f"{server.name}.{name}"
        return Tool(
            name=full_name,
            description=(offered.description or offered.title or name)[:LONGEST_DESCRIPTION],
            parameters=_parameters(offered, full_name),
            run=run,
        )

    async def stop(self) -> None:
        """End the session and the server, and return when nothing of them is left."""
        self._stopping.set()
        await self._life

    async def _live(self) -> None:
        problem: str | None = None
        to_server = reached if self._server.url else running
        async with to_server(self._server) as process:
            client = ClientSession(
                process.incoming,
                process.outgoing,
                client_info=types.Implementation(name="coterie", version=version("coterie")),
            )
            # What is raised inside of the client would come out of it wrapped in a group.
            async with client:
                problem = await self._shake_hands(client)
                if problem is None:
                    self._connected.set_result((client, process))
                    await self._stopping.wait()
            if problem is not None:
                problem = f"{problem} {await process.story()}".rstrip()
        if problem is not None:
            where = f"{self._server.name!r} ({self._server.where!r})"
            raise InputError(f"the tool server {where} {problem}")

    async def _shake_hands(self, client: ClientSession) -> str | None:
        """Introduce us and note what the server has; tell what went wrong, or None."""
        try:
            async with asyncio.timeout(SECONDS_TO_START):
                await client.initialize()
                await self._note_tools(client)
        except TimeoutError:
            return (
                f"was not ready within {SECONDS_TO_START:g} seconds. It must speak the Model"
                f" Context Protocol {'over HTTP' if self._server.url else 'on standard streams'}."
            )
        except (*_GONE, McpError, RuntimeError, ValidationError) as error:
            words = _shortened(f"{error}")
            return f"could not start a session{f': {words}' if words else ''}."
        return None

    async def _note_tools(self, client: ClientSession) -> None:
        cursor = None
        for _ in range(MOST_PAGES):
            page = await client.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
            self._offered |= {tool.name: tool for tool in page.tools}
            cursor = page.nextCursor
            if cursor is None:
                return

    async def _call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        client, process = await self._connected
        limit = self._server.timeout
        try:
            async with asyncio.timeout(limit):
                result = await client.call_tool(name, dict(arguments))
        except TimeoutError:
            raise ToolError(f"the tool did not answer within {limit:g} seconds.") from None
        except (*_GONE, McpError, RuntimeError, ValidationError) as error:
            if process.ended:
                raise ToolError(
                    f"the tool server {self._server.name!r} {process.lost}",
                    detail=await process.story(),
                ) from None
            raise ToolError(f"the tool server refused: {_shortened(str(error))}") from None
        return _value(result)


def _parameters(tool: types.Tool, name: str) -> Mapping[str, Any]:
    """Check the JSON Schema of a tool's arguments, which the server wrote."""
    from jsonschema import Draft202012Validator, SchemaError

    if len(json.dumps(tool.inputSchema)) > LARGEST_SCHEMA:
        raise InputError(
            f"the tool {name!r}: the schema of its arguments has more than {LARGEST_SCHEMA}"
            " characters, which every call of a model would have to carry."
        )
    try:
        Draft202012Validator.check_schema(tool.inputSchema)
    except SchemaError as error:
        raise InputError(
            f"the tool {name!r}: its server describes the arguments with an invalid JSON Schema:"
            f" {_shortened(error.message)}"
        ) from None
    return tool.inputSchema


def _value(result: types.CallToolResult) -> Any:
    """Give what a tool answered as a JSON value, or as text.

    Raises:
        ToolError: The answer is that it failed.
    """
    words = "\n".join(_in_words(block) for block in result.content)
    if result.isError:
        raise ToolError(_shortened(words) or "the tool failed and does not say why.")
    structured = result.structuredContent
    if structured is None:
        return words
    # The protocol wants an object here; servers wrap other values in this way.
    return structured["result"] if structured.keys() == {"result"} else structured


def _in_words(block: types.ContentBlock) -> str:
    """Give a part of an answer as text; what is none is described."""
    match block:
        case types.TextContent():
            return block.text
        case types.ImageContent() | types.AudioContent():
            return f"[{block.type}, {block.mimeType}, {_size(block.data)}, not shown]"
        case types.ResourceLink():
            return f"[link to {block.uri}: {block.name}]"
        case types.EmbeddedResource(resource=resource):
            if isinstance(resource, types.TextResourceContents):
                return resource.text
            kind = resource.mimeType or "of unknown type"
            return f"[resource, {kind}, {_size(resource.blob)}, not shown]"


def _size(base64_text: str) -> str:
    return f"{len(base64_text) * 3 // 4} bytes"


def _listed(names: Any) -> str:
    shown = sorted(names)
    more = f" and {len(shown) - MOST_NAMES} more" if len(shown) > MOST_NAMES else ""
    return (", ".join(name[:128] for name in shown[:MOST_NAMES]) or "none") + more


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_ERROR else f"{text[:LONGEST_ERROR]}…"

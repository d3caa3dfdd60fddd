"""A session with a tool server: its tools, and calls of them."""

from __future__ import annotations

import asyncio
import logging
from base64 import b64decode
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Self

from anyio import BrokenResourceError, ClosedResourceError, EndOfStream
from mcp import ClientSession, McpError, types
from mcp.shared import session as library
from pydantic import Field, TypeAdapter, ValidationError

from ...schema.values.attachments import Attachment
from ...schema.values.errors import InputError
from ...schema.values.json_text import dumps
from ...schema.values.problems import dotted, quoted
from ...schema.values.values import is_mapping
from .server_address import reached
from .server_process import UNREADABLE, running
from .tool import Tool, ToolError, ToolOutput
from .tool_schema import usable_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.host.catalogue import ToolServer
    from ..repository.workspace import Workspace
    from .server_address import ServerAddress
    from .server_process import ServerProcess

MOST_PAGES = 50
MOST_NAMES = 20
LONGEST_DESCRIPTION = 2_000  # characters
LONGEST_ERROR = 2_000  # characters
MOST_PARTS = 1_000
"""The most parts of an answer to read; each is checked separately, while everything else waits."""

_CLOSED = (BrokenResourceError, ClosedResourceError, EndOfStream)


_UNSEEN = logging.NullHandler()
_LOGS = ("mcp", "client")
"""The loggers of the client library."""


def _hide_logs() -> None:
    """Keep the library's logs of a server's mistakes off the terminal.

    Without a handler, Python prints warnings on standard error, including the server's text. A host
    with handlers still gets them.
    """
    for name in _LOGS:
        logging.getLogger(name).addHandler(_UNSEEN)
    # It would log through the root logger's functions, which add a handler if there is none.
    library.logging = logging.getLogger(library.__name__)  # pyright: ignore[reportPrivateImportUsage]


class Session:
    """A running tool server. `Session.start` creates one; `stop` ends it.

    The client library requires the same task to enter and leave it. So a session has its own task
    for its whole life, whichever tasks call its tools.
    """

    def __init__(self, server: ToolServer) -> None:
        self._server = server
        self._offered: dict[str, dict[str, Any]] = {}
        self._stopping = asyncio.Event()
        self._connected: asyncio.Future[tuple[ClientSession, ServerProcess | ServerAddress]] = (
            asyncio.get_running_loop().create_future()
        )
        self._life = asyncio.create_task(self._live(), name=f"tool server {server.name}")

    @classmethod
    async def start(cls, server: ToolServer) -> Self:
        """Start a server and wait until it lists its tools.

        Raises:
            InputError: Its program does not exist, or is not ready in time.
        """
        _hide_logs()
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
        """The names of the server's tools."""
        return frozenset(self._offered)

    def tool(self, name: str) -> Tool:
        """Return one of the server's tools, as agents are granted it.

        Raises:
            InputError: tools.yaml does not offer it, or the server does not have it, or describes
                it in an unusable way.
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
        report = offered.get("description") or offered.get("title")
        full_name = f"{server.name}.{name}"
        return Tool(
            name=full_name,
            description=str(report or name)[:LONGEST_DESCRIPTION],
            parameters=usable_parameters(offered.get("inputSchema"), full_name),
            run=run,
        )

    async def stop(self) -> None:
        """End the session and the server, and return once nothing of them is left."""
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
            # An exception raised inside the client would leave it wrapped in a group.
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
        """Initialize the session and list the server's tools; return a failure, or None."""
        try:
            async with asyncio.timeout(self._server.start_timeout):
                await client.initialize()
                await self._note_tools(client)
        except TimeoutError:
            how = "over HTTP" if self._server.url else "on standard streams"
            return (
                f"was not ready within {self._server.start_timeout:g} seconds. It must speak the"
                f" Model Context Protocol {how}. Where it needs longer to start, write a larger"
                " start_timeout in tools.yaml."
            )
        except (*_CLOSED, McpError, RuntimeError, ValidationError) as error:
            words = _reason(error)
            return f"could not start a session{f': {words}' if words else ''}."
        return None

    async def _note_tools(self, client: ClientSession) -> None:
        cursor = None
        for _ in range(MOST_PAGES):
            request = types.ListToolsRequest(params=types.PaginatedRequestParams(cursor=cursor))
            page = await client.send_request(types.ClientRequest(request), _Page)
            names = (tool.get("name") for tool in page.tools)
            named = zip(names, page.tools, strict=True)
            self._offered |= {name: tool for name, tool in named if isinstance(name, str)}
            cursor = page.cursor
            if cursor is None:
                return

    async def _call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        client, process = await self._connected
        limit = self._server.timeout
        try:
            async with asyncio.timeout(limit):
                params = types.CallToolRequestParams(name=name, arguments=dict(arguments))
                request = types.ClientRequest(types.CallToolRequest(params=params))
                result = await client.send_request(request, _ToolAnswer)
        except TimeoutError:
            raise ToolError(f"the tool did not answer within {limit:g} seconds.") from None
        except (*_CLOSED, McpError, RuntimeError, ValidationError) as error:
            if process.ended:
                raise ToolError(
                    f"the tool server {self._server.name!r} {process.lost}",
                    detail=await process.story(),
                ) from None
            words = _reason(error)
            is_read = not words.startswith(UNREADABLE)
            raise ToolError(f"the tool server refused: {words}" if is_read else words) from None
        return _value(result)


class _Page(types.Result):
    """A page of a server's tools, whatever the server declares of each."""

    tools: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    cursor: str | None = Field(default=None, alias="nextCursor")


class _ToolAnswer(types.Result):
    """A tool's answer, whatever its parts are."""

    content: list[Any] = Field(default_factory=list[Any])
    structured: Any = Field(default=None, alias="structuredContent")
    failed: bool | None = Field(default=False, alias="isError")


_BLOCK: TypeAdapter[types.ContentBlock] = TypeAdapter(types.ContentBlock)


def _value(result: _ToolAnswer) -> Any:
    """Return a tool's answer as a JSON value, as text, or as text with images and PDFs."""
    blocks = [*map(_block, result.content[:MOST_PARTS])]
    if (more := len(result.content) - MOST_PARTS) > 0:
        blocks.append(types.TextContent(type="text", text=f"[{more} more parts are left out]"))
    words = "\n".join(map(_in_words, blocks))
    if result.failed:
        raise ToolError(_shortened(words) or "the tool failed and does not say why.")
    structured = result.structured
    # The protocol requires an object here; servers wrap other values like this.
    is_wrapped = is_mapping(structured) and structured.keys() == {"result"}
    value = structured["result"] if is_wrapped else structured
    attachments = tuple(filter(None, map(_attachment, blocks)))
    if not attachments:
        return words if value is None else value
    markers = "\n".join(attachment.marker for attachment in attachments)
    text = words if value is None else f"{dumps(value, ensure_ascii=False)}\n{markers}"
    return ToolOutput(text=text, attachments=attachments)


def _block(block: Any) -> types.ContentBlock:
    """Return a part of an answer; a part of an unknown kind is described by its name."""
    try:
        return _BLOCK.validate_python(block)
    except ValidationError:
        kind = block.get("type") if is_mapping(block) else block
        text = f"[a part of the kind {quoted(kind)}, which cannot be shown]"
        return types.TextContent(type="text", text=text)


def _attachment(block: types.ContentBlock) -> Attachment | None:
    """Return a part as an image or a PDF, by its content rather than its declared type."""
    match block:
        case types.ImageContent(data=data):
            pass
        case types.EmbeddedResource(resource=types.BlobResourceContents(blob=data)):
            pass
        case _:
            return None
    try:
        return Attachment.answered(b64decode(data, validate=True))
    except ValueError:
        return None


def _in_words(block: types.ContentBlock) -> str:
    """Return a part of an answer as text; a non-text part by description or marker."""
    if (attachment := _attachment(block)) is not None:
        return attachment.marker
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
    return (", ".join(_written(name) for name in shown[:MOST_NAMES]) or "none") + more


def _written(name: str) -> str:
    """Return a readable form of a tool's name, whatever the server calls it."""
    return name[:128] if name.isprintable() else ascii(name[:128])


def _reason(error: Exception) -> str:
    """Return why a server's answer is invalid; on one line if it violates the protocol."""
    if not isinstance(error, ValidationError):
        return _shortened(str(error))
    problem = error.errors()[0]
    return _shortened(f"{dotted(problem['loc'])}: {problem['msg']}, not {quoted(problem['input'])}")


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_ERROR else f"{text[:LONGEST_ERROR]}…"

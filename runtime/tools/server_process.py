"""A tool server's process: exchanges lines of JSON, and reliably ends."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from anyio import BrokenResourceError, ClosedResourceError, create_memory_object_stream
from mcp.shared.message import SessionMessage
from mcp.types import (
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
)
from pydantic import ValidationError

from ...schema.values.errors import InputError
from ..gateway.chat.messages import sound
from ..values.bounds import LARGEST_MESSAGE, MOST_VALUES_OF_TOOL, apart
from ..values.schema_check import excess

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncGenerator, Mapping

    from ...schema.host.catalogue import ToolServer

UNREADABLE = "its reply cannot be read"
_ID = re.compile(rb'"id"\s*:\s*"?(\d{1,9})')

MOST_STRAYS = 1_000
LAST_WORDS = 1_500  # bytes
SECONDS_TO_LEAVE = 2.0
SECONDS_TO_DIE = 5.0
ENVIRONMENT = ("PATH", "HOME", "LANG")

Stream = TypeVar("Stream", asyncio.StreamReader, asyncio.StreamWriter)

# It starts the command, and kills all that the command started when the command ends, when it is
# terminated, and when we die in whatever way.
_KEEPER = Path(__file__).parents[1] / "jail" / "_keeper.py"


class ServerProcess:
    """The process of a tool server, and the message streams that a client session requires.

    Attributes:
        incoming: The server's messages. The stream ends when the server does.
        ended: Whether the server closed its end, or broke the protocol.
        stray: The first output of the server that was not a message.
    """

    lost = "has ended. Go on without its tools."

    def __init__(self, process: Process) -> None:
        self._process = process
        self._received, self.incoming = create_memory_object_stream[SessionMessage | Exception](0)
        self.outgoing, self._to_say = create_memory_object_stream[SessionMessage](0)
        self._last_words = b""
        self._request_ids: set[int | str] = set()
        self.ended = False
        self.stray = ""
        self._pumps = [
            asyncio.create_task(pump) for pump in (self._listen(), self._speak(), self._overhear())
        ]

    async def story(self) -> str:
        """Return how the process ended, if it did, and its last output, as sentences."""
        texts: list[str] = []
        if self.ended:
            with suppress(TimeoutError):
                async with asyncio.timeout(SECONDS_TO_LEAVE):
                    texts.append(f"It ended with exit code {await self._process.wait()}.")
        if self.stray:
            texts.append(f"It wrote {self.stray!r} on its standard output, where messages belong.")
        if words := self._last_words.decode(errors="replace").strip():
            texts.append(f"It last wrote:\n{words}")
        return " ".join(texts)

    async def leave(self) -> None:
        """Ask the server to end, as the protocol specifies, and give it some time."""
        _stream(self._process.stdin).close()
        with suppress(TimeoutError):
            async with asyncio.timeout(SECONDS_TO_LEAVE):
                await self._process.wait()

    async def end(self) -> None:
        """End everything of it: processes, tasks, open streams."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.terminate()
        for stream in (self._received, self.incoming, self.outgoing, self._to_say):
            stream.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(SECONDS_TO_DIE):
                # Its pipes must be read to the end, else it counts as running.
                await self._process.wait()
        for pump in self._pumps:
            pump.cancel()
        await asyncio.gather(*self._pumps, return_exceptions=True)

    async def _listen(self) -> None:
        stdout = _stream(self._process.stdout)
        strays = 0
        with suppress(BrokenResourceError, ClosedResourceError):
            while strays < MOST_STRAYS and (line := await self._line(stdout)):
                message = await apart(len(line), partial(_message, line)) or self._refused(line)
                if message is None:
                    self.stray = self.stray or _shown(line)
                    strays += 1
                else:
                    await self._received.send(SessionMessage(self._answered(message)))
        self.ended = True
        self._received.close()
        while await stdout.read(LARGEST_MESSAGE):
            pass

    async def _line(self, stdout: asyncio.StreamReader) -> bytes:
        """Return the next line; report an error for a line that is too long."""
        is_rest = False
        while True:
            try:
                line = await stdout.readline()
                if not is_rest:
                    return line
            except ValueError as error:  # the part read so far is lost
                if is_rest := not str(error).startswith("Separator is found"):
                    continue
            is_rest = False
            self.stray = f"a line of more than {LARGEST_MESSAGE} bytes"
            if message := self._unread(b"", self.stray):
                await self._received.send(SessionMessage(self._answered(message)))

    def _answered(self, message: JSONRPCMessage) -> JSONRPCMessage:
        if isinstance(message.root, JSONRPCResponse | JSONRPCError):
            self._request_ids.discard(message.root.id)
        return message

    def _refused(self, line: bytes) -> JSONRPCMessage | None:
        """Return an error in place of an unreadable reply; None if the line is not a reply."""
        is_reply = b'"jsonrpc"' in line and (b'"result"' in line or b'"error"' in line)
        return self._unread(line, _shown(line)) if is_reply else None

    def _unread(self, line: bytes, shown: str) -> JSONRPCMessage | None:
        """Return an error for a reply's request: the one that it names, or the only open one."""
        named = _ID.search(line)
        number = int(named[1]) if named else None
        request = number if number in self._request_ids else None
        if request is None and len(self._request_ids) == 1:
            request = next(iter(self._request_ids))
        if request is None:
            return None
        error = ErrorData(code=INTERNAL_ERROR, message=f"{UNREADABLE}: {shown}")
        return JSONRPCMessage(JSONRPCError(jsonrpc="2.0", id=request, error=error))

    async def _speak(self) -> None:
        stdin = _stream(self._process.stdin)
        with suppress(ConnectionError, ClosedResourceError):
            async for message in self._to_say:
                if isinstance(request := message.message.root, JSONRPCRequest):
                    self._request_ids.add(request.id)
                text = message.message.model_dump_json(by_alias=True, exclude_none=True)
                stdin.write(f"{text}\n".encode())
                await stdin.drain()

    async def _overhear(self) -> None:
        stderr = _stream(self._process.stderr)
        while chunk := await stderr.read(LAST_WORDS):
            self._last_words = (self._last_words + chunk)[-LAST_WORDS:]


@asynccontextmanager
async def running(server: ToolServer) -> AsyncGenerator[ServerProcess]:
    """Run a tool server for a `with` block.

    Leaving the block asks it to end and then makes sure; an exception ends it at once.

    Raises:
        InputError: Its program does not exist.
    """
    environment = _environment(server)
    program = program_of(server)
    keeper = [sys.executable, "-I", "-S", str(_KEEPER), str(os.getpid()), "--"]
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *keeper,
            program,
            *server.command[1:],
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LARGEST_MESSAGE,
            env=environment,
            start_new_session=True,  # only we receive Ctrl-C, and then stop the server properly
        )
    )
    try:
        # If cancelled now, asyncio would kill the keeper but not the server that it keeps.
        process = ServerProcess(await asyncio.shield(starting))
    except asyncio.CancelledError:
        await ServerProcess(await starting).end()
        raise
    try:
        yield process
        await process.leave()
    finally:
        await process.end()


def _message(line: bytes) -> JSONRPCMessage | None:
    """Parse a line, with lone surrogates replaced. None if it is not a message."""
    try:
        return _bounded(JSONRPCMessage.model_validate_json(line))
    except ValidationError:
        pass
    try:
        text = json.dumps(json.loads(line), ensure_ascii=False)
        return _bounded(JSONRPCMessage.model_validate_json(sound(text)))
    except (ValueError, RecursionError):
        return None


def _shown(line: bytes) -> str:
    return line[:100].decode(errors="replace").strip()


def _bounded(message: JSONRPCMessage) -> JSONRPCMessage:
    """Return an error in place of an answer that is too large to process."""
    answer = message.root
    if not isinstance(answer, JSONRPCResponse):
        return message
    if not (too_much := excess(answer.result, MOST_VALUES_OF_TOOL, LARGEST_MESSAGE)):
        return message
    error = ErrorData(code=INTERNAL_ERROR, message=f"of its answer: {too_much}")
    return JSONRPCMessage(JSONRPCError(jsonrpc="2.0", id=answer.id, error=error))


def program_of(server: ToolServer) -> str:
    """Return the program of a server's command.

    Raises:
        InputError: It is not installed.
    """
    environment = _environment(server)
    text = shutil.which(server.command[0], path=environment.get("PATH"))
    if text is None:
        raise InputError(
            f"the tool server {server.name!r} needs the program {server.command[0]!r}, which is"
            " not on the PATH. Install it, or correct the command in tools.yaml."
        )
    return str(Path(text).absolute())


def _environment(server: ToolServer) -> Mapping[str, str]:
    names = (*ENVIRONMENT, *server.env)
    return {name: os.environ[name] for name in names if name in os.environ}


def _stream(stream: Stream | None) -> Stream:
    assert stream is not None, "all three are pipes"  # noqa: S101 - for the type checker
    return stream

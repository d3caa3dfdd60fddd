"""The embedded server: one llama.cpp process that answers for a model file."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import secrets
import sys
import tempfile
from asyncio.subprocess import Process
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

from ...schema.values.errors import InputError, ModelError
from ...schema.values.extras import how_to_get

SLOTS = 4
THREADS = 1
"""More threads pay only on idle cores: they wait for each other in busy loops,
and on a shared two-core machine two of them were 20 times slower than one."""
SECONDS_TO_LEAVE = 2.0
LOG_TAIL = 1500
GGUF_MAGIC = b"GGUF"
# What the child may know of our environment. Keys of providers are not among it.
ENVIRONMENT = ("HOME", "LD_LIBRARY_PATH", "PATH", "PYTHONPATH", "TMPDIR")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Child:
    process: Process
    url: str


class LocalServer:
    """A llama.cpp server for one model file, as a child process on this machine.

    It serves the OpenAI chat API at `api_base` to clients that send the random `key`. It ends with
    `stop`, and also when this process dies. It belongs to the event loop and the thread that start
    it.

    A prompt that is longer than the context is answered with HTTP status 400, never cut.

    Args:
        slots: How many requests run at once, and the most answers of one request (`n`).
            More requests wait in the server.
        context: Tokens of prompt and answer together, per request. llama.cpp lowers it to the
            model's own limit.
        start_timeout: Seconds in which the model must be loaded.

    Raises:
        InputError: The file is missing or is no model, or the `local` extra is not installed.
    """

    def __init__(
        self,
        path: Path,
        *,
        slots: int = SLOTS,
        context: int = 4096,
        start_timeout: float = 180.0,
    ) -> None:
        _check(path)
        self.path = path
        self.slots = slots
        self.key = secrets.token_urlsafe(24)
        self._start_timeout = start_timeout
        self._child: _Child | None = None
        self._settings: dict[str, Any] = {
            "path": str(path),
            "key": self.key,
            "slots": slots,
            "context": context,
            "threads": THREADS,
        }

    @property
    def api_base(self) -> str:
        """The address for OpenAI clients, up to and with `/v1`."""
        return f"{self._running().url}/v1"

    @property
    def pid(self) -> int:
        """The number of the server's process."""
        return self._running().process.pid

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Load the model and serve it, unless it is served.

        Raises:
            InputError: llama.cpp cannot load it.
            ModelError: The server crashed at its start, or took too long.
        """
        if self._child is not None:
            return
        with tempfile.TemporaryFile() as log:
            process = await _spawn(log)
            try:
                url = await self._loaded(process, log)
            except BaseException:
                await _end(process, patience=0)
                raise
        self._child = _Child(process=process, url=url)

    async def stop(self) -> None:
        """Stop the server. Running requests are cut off."""
        child, self._child = self._child, None
        if child is not None:
            await _end(child.process, patience=SECONDS_TO_LEAVE)

    def _running(self) -> _Child:
        if self._child is None:
            raise RuntimeError("the server is not running: await start() first")
        return self._child

    async def _loaded(self, process: Process, log: IO[bytes]) -> str:
        """Wait for the server's address."""
        try:
            async with asyncio.timeout(self._start_timeout):
                answer = await _first_answer(process, self._settings)
        except TimeoutError:
            problem = f"the server was not ready after {self._start_timeout:g} s"
        else:
            if "url" in answer:
                return answer["url"]
            if "error" in answer:
                raise InputError(self._story(f"llama.cpp cannot load it: {answer['error']}", log))
            problem = f"the server exited with code {await process.wait()}"
        raise ModelError(self._story(problem, log))

    def _story(self, problem: str, log: IO[bytes]) -> str:
        size = log.seek(0, os.SEEK_END)
        log.seek(max(0, size - LOG_TAIL))
        tail = log.read().decode(errors="replace").strip()
        return f"model {str(self.path)!r}: {problem.rstrip('.')}. Its log:\n{tail or '(empty)'}"


def _check(path: Path) -> None:
    """Refuse at once what llama.cpp would refuse late or in its own words."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise InputError(
            "a model on this machine needs the package 'xllamacpp', which is not installed."
            f" Run: {how_to_get('local')}"
        )
    try:
        with path.open("rb") as stream:
            magic = stream.read(len(GGUF_MAGIC))
    except OSError as error:
        raise InputError(
            f"model file {str(path)!r} cannot be read: {error.strerror}."
            " Write local:/PATH/TO/MODEL.gguf, or only local for the embedded model."
        ) from error
    if magic != GGUF_MAGIC:
        raise InputError(
            f"{str(path)!r} is not a GGUF model: it starts with {magic!r}, not {GGUF_MAGIC!r}."
            " llama.cpp runs no other format; most models are also published as GGUF."
        )


async def _spawn(log: IO[bytes]) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        f"{__package__}._serve",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=log,
        env={name: os.environ[name] for name in ENVIRONMENT if name in os.environ},
        start_new_session=True,  # Ctrl-C is for us; we then stop the server in good order
    )


async def _first_answer(process: Process, settings: dict[str, Any]) -> dict[str, str]:
    """Send the child its settings and return its answer; empty if it died."""
    assert process.stdin is not None  # noqa: S101 - we asked for pipes
    assert process.stdout is not None  # noqa: S101
    with suppress(ConnectionError):
        process.stdin.write(json.dumps(settings).encode() + b"\n")
        await process.stdin.drain()
    line = await process.stdout.readline()
    return json.loads(line) if line else {}


async def _end(process: Process, *, patience: float) -> None:
    """Let a child end at the end of its stdin, or kill it after `patience` seconds.

    Waits for its end even when cancelled meanwhile: a killed child ends at once.
    """
    assert process.stdin is not None  # noqa: S101 - we asked for a pipe
    process.stdin.close()
    ending = asyncio.ensure_future(process.wait())
    cancelled: asyncio.CancelledError | None = None
    try:
        await asyncio.wait({ending}, timeout=patience)
    except asyncio.CancelledError as error:
        cancelled = error
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
    while not ending.done():
        try:
            await asyncio.wait({ending})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled

"""The events of a run, and the folder that keeps them."""

from __future__ import annotations

import asyncio
import copy
import errno
import os
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from ...schema.values import beneath
from ...schema.values.errors import StorageError
from ...schema.values.files import write_atomically
from ..values.bounds import AT_ONCE
from ..values.encoded import encoded

EVENTS = "events.jsonl"
ARTIFACTS = "artifacts"
"""The folder for files of agents in a run's folder."""
VERSION = 1
"""Version of the format of events.jsonl and result.json."""
SOON = 0.1
"""The most seconds to collect events before writing them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Something that happened in a run.

    Attributes:
        type: `run_started`, `agent_started`, `model_call`, `tool_call`, `agent_finished`, …
        seconds: Seconds since the start of the run.
        agent: The agent concerned; None for the run as a whole.
        fields: Further JSON-able fields.
    """

    type: str
    seconds: float
    agent: str | None
    fields: Mapping[str, Any]

    def line(self, number: int) -> str:
        """Return the event as one line of JSON."""
        value = {
            "v": VERSION,
            "n": number,
            "t": round(self.seconds, 6),
            "type": self.type,
            **({"agent": self.agent} if self.agent else {}),
            **self.fields,
        }
        return encoded(value, repr).decode()


class Emit(Protocol):
    """Records an event of one agent in the trace."""

    def __call__(self, event: str, /, **fields: Any) -> None:
        """Record an event by its type, with JSON-able fields."""
        ...


@runtime_checkable
class Hears(Protocol):
    """A listener that also receives the text of answers as it arrives. That text is no event."""

    def hear(self, agent: str, words: str) -> None:
        """Receive text of an agent's model. The answer that it belongs to may still fail."""
        ...


class Trace:
    """Passes every event to its listeners, in the order in which they happen.

    Args:
        listeners: Called with each event: a run folder, a progress display, a test.
    """

    def __init__(self, *listeners: Callable[[Event], None]) -> None:
        self._listeners = listeners
        self._hearing = [listener.hear for listener in listeners if isinstance(listener, Hears)]
        self._started = time.monotonic()
        self._failure: StorageError | None = None
        self._common: Mapping[str, Any] = {}

    def within(self, **common: Any) -> Trace:
        """Return a trace for a part, which marks all its events; it shares listeners and clock."""
        part = copy.copy(self)
        part._common = {**self._common, **common}
        return part

    def words_of(self, agent: str) -> Callable[[str], None] | None:
        """Return the callback for the text of an agent's model; None if no listener wants it."""
        if not self._hearing:
            return None

        def hear(words: str) -> None:
            for listener in self._hearing:
                listener(agent, words)

        return hear

    def emit(self, event: str, agent: str | None = None, /, **fields: Any) -> None:
        """Record an event: its type, the agent concerned, and further fields."""
        if not self._listeners:
            return
        seconds = time.monotonic() - self._started
        record = {**self._common, **fields} if self._common else fields
        happened = Event(type=event, seconds=seconds, agent=agent, fields=record)
        for listener in self._listeners:
            try:
                listener(happened)
            except StorageError as failure:
                self._failure = self._failure or failure

    def check(self) -> None:
        """Check that all events so far could be written.

        Events come from places that cannot handle a full disk, so the failure is kept until this
        call.

        Raises:
            StorageError: An event could not be written.
        """
        if self._failure is not None:
            raise self._failure


class Parts(Protocol):
    """Listens to the many parts of a larger whole: the trials of an evaluation, or of a test."""

    def begin(self, key: Hashable, name: str, /, **attributes: Any) -> Trace | None:
        """Begin a part, and return its listener; None if no events are wanted."""
        ...

    def finished(self, key: Hashable, score: float | None, /) -> None:
        """Report the end of a part, and its score in [0, 1], if it has one."""
        ...


class RunFolder:
    """The folder of one run: team.yaml, task.json, events.jsonl, result.json."""

    def __init__(self, path: Path, scrub: Callable[[str], str]) -> None:
        self.path = path
        self.scrub = scrub
        self._events: FileIO | None = None
        self._number = 0
        self._gathered: list[str] = []
        self._size = 0
        self._gathering = threading.RLock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: int | None = None
        self._failure: StorageError | None = None

    @classmethod
    def create(cls, parent: Path, team: str, task: str, scrub: Callable[[str], str]) -> RunFolder:
        """Create a new, unique folder: `<time>-<team>-<task>`.

        Raises:
            OSError: It cannot be created.
        """
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        name = f"{stamp}-{team}-{task}"
        parent.mkdir(parents=True, exist_ok=True)
        for number in range(1, 10_000):
            path = parent / (name if number == 1 else f"{name}-{number}")
            try:
                path.mkdir(mode=0o700)
            except FileExistsError:
                continue
            return cls(path, scrub)
        raise FileExistsError(parent / name)

    def __call__(self, event: Event) -> None:
        """Write an event; it is in the file when this returns, or soon if events are gathered.

        Raises:
            StorageError: This event or an earlier one could not be written.
        """
        with self._gathering:
            if self._events is None:
                self._events = self._opened()
            self._number += 1
            line = event.line(self._number)
            self._gathered.append(line)
            self._size += len(line)
            if self._loop is None or threading.get_ident() != self._thread or self._size > AT_ONCE:
                self.settle()
            elif len(self._gathered) == 1:
                self._loop.call_later(SOON, self._write_soon)
            if self._failure is not None:
                raise self._failure

    def gather(self, loop: asyncio.AbstractEventLoop) -> None:
        """From now on, write events together, soon (`SOON`) after they happen.

        So they are written while agents wait for models, and agents do not wait for each write.
        """
        self._loop, self._thread = loop, threading.get_ident()

    def settle(self) -> None:
        """Write all gathered events.

        Raises:
            StorageError: They cannot be written, or earlier ones could not.
        """
        with self._gathering:
            lines, self._gathered, self._size = self._gathered, [], 0
            if lines and self._events is not None:
                text = self.scrub("\n".join(lines)) + "\n"
                try:
                    _write(self._events, text.encode("utf-8", "backslashreplace"))
                except OSError as error:
                    self._number -= len(lines)
                    raise StorageError(error.errno, error.strerror, str(self._path)) from None
            if self._failure is not None:
                raise self._failure

    def _write_soon(self) -> None:
        """Write the gathered events; a failure reaches the next caller of `emit` or `settle`."""
        try:
            self.settle()
        except StorageError as failure:
            self._failure = failure

    def _opened(self) -> FileIO:
        """Open the file of events, and cut off an incomplete last line, as after a crash."""
        try:
            events = FileIO(self._path, "ab+")
            with self._path.open("rb") as written:
                lines = whole = 0
                for line in written:
                    if line.endswith(b"\n"):
                        lines, whole = lines + 1, whole + len(line)
            events.truncate(whole)
        except OSError as error:
            raise StorageError(error.errno, error.strerror, str(self._path)) from None
        self._number = lines
        return events

    @property
    def _path(self) -> Path:
        return self.path / EVENTS

    def write(
        self,
        name: str,
        text: str,
        *,
        flushed: bool = True,
        after: Callable[[], object] | None = None,
    ) -> None:
        """Write a file of the run completely, or not at all; create its folder if necessary.

        Args:
            flushed: Whether it is on disk when this returns. Files beside a journal are on disk
                before the journal's first entry.
            after: Waits for what the file depends on; see `write_atomically`.
        """
        content = self.scrub(text).encode("utf-8", "backslashreplace")
        self.keep(name, content, flushed=flushed, after=after)

    def keep(
        self,
        name: str,
        content: bytes,
        *,
        flushed: bool = True,
        after: Callable[[], object] | None = None,
    ) -> None:
        """Write bytes unchanged, in the same way."""
        file = self.path / name
        if "/" in name:
            file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, content, flushed=flushed, after=after)

    def close(self) -> None:
        """Write the gathered events, and close the file of events.

        Raises:
            StorageError: Events cannot be written, or could not.
        """
        if self._events is None:
            return
        try:
            self.settle()
        finally:
            self._events.close()
            self._events = None


def kept_in(folder: Path, place: str = ARTIFACTS) -> list[str]:
    """Return the names of kept files, as paths in the folder.

    Args:
        folder: The folder of a run, or of an evaluation.
    """
    try:
        with beneath.open_folder(folder, place.split("/")) as opened:
            texts = [entry.path for entry in beneath.walk(opened) if entry.kind == "file"]
    except FileNotFoundError:
        return []
    return sorted(f"{place}/{path}" for path in texts)


def _write(file: FileIO, content: bytes) -> None:
    """Write all bytes; an almost full disk accepts only a part at a time."""
    if file.write(content) != len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

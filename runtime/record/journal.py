"""The journal: every answer that a run paid for, written before it is used.

A written entry survives any end of the process. A machine that loses power may lose the last tenth
of a second, but nothing that anything outside the run depends on. Before a tool acts, a pool
changes or a result is reported, all entries so far are on disk.

A run is a function of its team, its task, its seed and the answers that it received. So it resumes
after any interruption by running again: recorded answers come from the journal, and the rest is
asked. Replay, audit and recorded test fixtures use the same mechanism.

An entry has a path that does not depend on scheduling, such as `worker_1/attempt 1/call 2`, and a
digest of the question. It answers only the identical question. In a replay the path alone decides,
and every difference is recorded.

Failures of models are never answers: a new call may succeed. The highest cost of each attempt is
recorded before the attempt, and its actual cost afterwards; budgets and reports sum these up.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import os
import time
from collections.abc import Mapping, Set
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Self, cast

from ...schema.values.codec import from_value
from ...schema.values.errors import InputError, RunError, StorageError
from ...schema.values.files import lock
from ..values.encoded import encoded
from ..values.usage import BatchedAttempt, Usage, total
from ._entries import CLOCK, Entries, JournalEntry, read_only, unite

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence
    from concurrent.futures import Future
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from ..gateway.model_client import Settle
    from .costs import State

FILE = "journal.log"
TICK = 1.0
"""The most seconds of work that a run may forget if its process is killed."""

Value = Mapping[str, Any]
"""The value of an entry: a JSON object."""


class NotRecorded(RunError):
    """A replay needs an entry that the journal does not contain."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Divergence:
    """A difference between a replay, or a resumed run, and the record.

    Attributes:
        kind: The kind of entry: `model`, `tool`, `code` or `agent`.
        what: `asked` if the question differs; `result` if the result does.
    """

    path: str
    kind: str
    what: str

    def __str__(self) -> str:
        return f"{self.path} ({self.kind}): {self.what} differs from the recording."


@dataclass(kw_only=True, eq=False)
class Journal:
    """The journal of one run, in its folder. A context manager; one process holds it at a time.

    Attributes:
        divergences: Questions and results that differ from the record.
        recorded_answers: How many answers came from the journal.
    """

    replaying: bool = False
    divergences: list[Divergence] = field(default_factory=list[Divergence])
    recorded_answers: int = 0
    folder: Path
    _entries: Entries
    _folder: int
    _prior_seconds: float = 0.0
    _started: float = field(default_factory=time.monotonic)
    _open: int = 0
    _asking: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    _timed: asyncio.AbstractEventLoop | None = None

    @classmethod
    def open(cls, folder: Path, *, replaying: bool = False) -> Self:
        """Open the journal in a run's existing folder; create it the first time.

        Args:
            replaying: Answer from the journal only, and change nothing in it.

        Raises:
            InputError: Another process holds it, or the file is no journal, or damaged.
            StorageError: It cannot be created or written.
        """
        handle = _held(folder, shared=replaying)
        try:
            entries = Entries.open(folder / FILE, reading=replaying)
        except BaseException:
            os.close(handle)
            raise
        return cls(
            replaying=replaying,
            folder=folder,
            _entries=entries,
            _folder=handle,
            _prior_seconds=entries.last_moment,
        )

    def _shared(self) -> dict[str, Any]:
        """Return the fields that another run's journal in the same file shares."""
        return {
            "folder": self.folder,
            "_entries": self._entries,
            "_folder": self._folder,
            "_prior_seconds": self._prior_seconds,
            "_started": self._started,
            "_asking": self._asking,
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def prior_seconds(self) -> float:
        """Seconds that earlier processes worked on the run."""
        return self._prior_seconds

    @property
    def seconds(self) -> float:
        """Seconds that the run has worked, earlier processes included."""
        return self._prior_seconds + time.monotonic() - self._started

    def get(self, path: str, key: str) -> Value | None:
        """Return the value recorded under a path for this question; None without one."""
        if not self._entries.has(path):
            return None
        entry = self._entries.get(path, key)
        if entry is None and (entry := self._entries.latest(path)) is not None:
            self.note(path, entry.kind, "asked")
            # A resumed run asks a changed question again; a replay cannot ask.
            entry = entry if self.replaying else None
        if entry is None:
            return None
        self.recorded_answers += 1
        return entry.value

    def recorded_before(self, key: str) -> int:
        """Return how many calls had answered a question when the counts were first read."""
        return self._entries.answers.get(key, 0)

    def entry(self, path: str, key: str) -> JournalEntry | None:
        """Return the entry of a path for a question, without noting or counting anything."""
        return self._entries.get(path, key)

    async def put(
        self, path: str, kind: str, key: str, value: Value, *, at_once: bool = True
    ) -> None:
        """Record an entry: it is written when this returns, and on disk soon after (`LAG`).

        Args:
            at_once: Whether to wait until it is written. An entry that can be derived from earlier
                ones need not wait: it is written before any later entry, and soon (`LAG`).

        Raises:
            StorageError: It cannot be written, or an earlier entry could not be kept.
        """
        if not self.replaying:
            self._entries.put(path, kind, key, value, self.seconds, at_once=at_once)

    async def flush(self) -> None:
        """Wait until all entries are on disk; required before any irreversible action.

        Raises:
            StorageError: The journal cannot be flushed.
        """
        await self._entries.flush()

    def flush_now(self) -> None:
        """Flush all entries, in the caller's thread.

        Raises:
            StorageError: The journal cannot be flushed.
        """
        self._entries.flush_now()

    def flushing(self) -> Future[None]:
        """Flush all entries in the background.

        Returns:
            A future that completes once they are on disk, or raises `StorageError`.
        """
        return self._entries.flushing()

    def flush_ahead(self) -> None:
        """Flush the files of the run's folder while the event loop is idle."""
        if not self.replaying:
            self._entries.flush_ahead()

    async def once(
        self, path: str, kind: str, key: str, work: Callable[[], Awaitable[Value]]
    ) -> Value:
        """Return the value recorded under a path; if missing, do the work and record its value.

        Raises:
            NotRecorded: A replay has no such entry.
            StorageError: The value cannot be recorded.
        """
        if (recorded := self.get(path, key)) is not None:
            return recorded
        self.must_be_live(path)
        value = await work()
        await self.put(path, kind, key, value)
        return value

    def alone(self, path: str, key: str) -> AbstractAsyncContextManager[None]:
        """Keep others from looking up and asking this question at the same time.

        A run by itself never asks the same question under one path twice at once.
        """
        del path, key
        return nullcontext()

    def origin(self, path: str) -> str:
        """Return the path that a call's seed is drawn from: its own; see `ParentRunReuse`."""
        return path

    def must_be_live(self, path: str) -> None:
        """Check that an unrecorded action is allowed.

        Raises:
            NotRecorded: This is a replay.
        """
        if self.replaying:
            raise NotRecorded(f"the journal has nothing under {path!r}: the run did not get there.")

    def compare(self, path: str, key: str, value: Value) -> None:
        """Record a divergence if a replay's question or result differs from the record."""
        entry = self._entries.latest(path)
        if entry is None:
            return
        if entry.key != key:
            self.note(path, entry.kind, "asked")
        if any(entry.value.get(name) != item for name, item in value.items()):
            self.note(path, entry.kind, "result")

    def note(self, path: str, kind: str, text: str) -> None:
        """Record a divergence."""
        self.divergences.append(Divergence(path=path, kind=kind, what=text))

    @property
    def renewals(self) -> int:
        """How often agents may use up their attempts: once, and again after each `renew`."""
        word = 1
        while self._entries.has(_renewal(word + 1)):
            word += 1
        return word

    async def renew(self) -> None:
        """Let agents that used up their attempts try again, after a failed run."""
        await self.put(_renewal(self.renewals + 1), "renewal", "", {})

    def values(self, kind: str, *, under: str = "") -> list[Value]:
        """Return the values of a kind whose paths begin with `under`, sorted by path."""
        return self._entries.values(kind, under)

    def forget(self, is_old: Callable[[str, Value], bool]) -> None:
        """Delete entries.

        Raises:
            StorageError: The file cannot be written.
        """
        old = [path for path, _, value in self._entries.all() if is_old(path, value)]
        if old:
            self._entries.remove(old)

    def batched_attempt(self, path: str, key: str) -> BatchedAttempt:
        """Return the attempt by which a call is made in a batch.

        It is the attempt that an earlier process left with the same request, or else a new one.
        """
        place, deposited = f"{path}/attempts", None
        numbers = (f"{number:06d}" for number in itertools.count(1))
        for attempt in iter(lambda: self._entries.get(place, next(numbers)), None):
            value, number = attempt.value, attempt.key
            # Another call of this process may ask the same, and collects the answer itself.
            is_left = value["state"] != "settled" and (place, number) not in self._asking
            if is_left and value.get("asked") == key:
                deposited = from_value(Usage, value["usage"])
                break
        else:
            number = f"{self._entries.number(place):06d}"
        name = digest(path, number, key)
        return BatchedAttempt(id=name, number=number, key=key, deposited=deposited)

    @property
    def waiting_in_batches(self) -> int:
        """How many calls have an uncollected attempt in a batch."""
        attempts = self.values("attempt")
        return sum("asked" in value and value["state"] != "settled" for value in attempts)

    async def open_account(
        self, path: str, most: Usage, attempt: BatchedAttempt | None = None
    ) -> Settle:
        """Record the highest cost of a call's attempt, before the attempt.

        If it is never settled because its process was killed, it counts as having cost the most.

        Returns:
            A function that replaces it by the actual cost. That is written before anything that
            depends on it, and is on disk soon after (`LAG`).

        Raises:
            StorageError: It cannot be written.
        """
        place = f"{path}/attempts"
        number = attempt.number if attempt else f"{self._entries.number(place):06d}"
        since, batched = round(self.seconds, 3), {"asked": attempt.key} if attempt else {}

        def put(usage: Usage, state: State, **ends: float) -> None:
            value = {"usage": usage.value(), "state": state, "since": since, **ends, **batched}
            # An open attempt is written before its request goes out, so that no kill hides a cost.
            # Its settlement may be written late: until then its upper bound counts.
            is_open = state == "open"
            cost = usage, state
            self._entries.put(
                place, "attempt", number, value, self.seconds, cost=cost, at_once=is_open
            )

        def settle(usage: Usage, /, *, lost: bool) -> None:
            self._open -= 1
            self._asking.discard((place, number))
            put(usage, "lost" if lost else "settled", until=round(self.seconds, 3))

        self._asking.add((place, number))
        put(most, "open")
        self._open += 1
        self._keep_time()
        return settle

    def _keep_time(self) -> None:
        """Record every second how long the run has worked, while a call is in flight.

        So a process that is killed meanwhile does not lose its time.
        """
        loop = asyncio.get_running_loop()
        if self._timed is loop:
            return
        self._timed = loop

        def tick() -> None:
            self._timed = None
            if self._open:
                self._entries.put(CLOCK, CLOCK, "", {}, self.seconds, at_once=False)
                self._keep_time()

        loop.call_later(TICK, tick)

    def note_failed(self, path: str, usage: Usage) -> None:
        """Record a call that ended without an answer, and its possible cost."""

    def spent(self, under: str = "", *, lost: bool = True) -> Usage:
        """Return the cost of all attempts of calls whose paths begin with `under`.

        Args:
            lost: Whether to include attempts that we broke off, by a signal or a limit. Their
                possible cost is paid, but does not follow from the answers.
        """
        states = {"settled", "lost", "open"} if lost else {"settled"}
        paid = self._entries.paid(under)
        return total(usage for usage, state in paid if state in states)

    @property
    def content_hash(self) -> str:
        """SHA-256 over all answers, regardless of their order, time and cost."""
        lines = (
            # The time that an answer took is not part of the hash.
            f"{path}\0{key}\0{canonical({**value, 'seconds': None}).decode()}"
            for path, key, value in self._entries.all(without=("attempt", "batch", CLOCK))
        )
        return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()

    def close(self) -> None:
        """Close the file and release it to other processes."""
        self._entries.close()
        os.close(self._folder)


def digest(*parts: Any) -> str:
    """Return the digest of a question; questions with equal JSON have the same."""
    return _digest(canonical(parts))


def digest_of(head: bytes, *parts: Any) -> str:
    """Return the digest of a question whose first part is given as JSON; see `canonical`."""
    return _digest(b"[%b,%b" % (head, canonical(parts)[1:]))


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def recorded(folder: Path, kind: str) -> Iterator[tuple[str, Value]]:
    """Yield path and value of all entries of a kind, in the order in which they were written.

    Nothing is locked or changed, so a run may be at work in the folder meanwhile, and the folder
    may be read-only.
    """
    return read_only(folder / FILE, kind)


def merge(folders: Sequence[Path], into: Path) -> None:
    """Create a folder's journal from the journals of others, on which no process may be at work.

    Raises:
        InputError: A folder has no journal, or a process is at work on it.
        StorageError: The journal cannot be created.
    """
    with ExitStack() as held:
        for folder in folders:
            held.callback(os.close, _held(folder, shared=True))
        unite([folder / FILE for folder in folders], into / FILE)


def is_held(folder: Path) -> bool:
    """Return whether a process is at work on a run's folder."""
    try:
        os.close(_held(folder, shared=True))
    except InputError:
        return True
    return False


def _renewal(number: int) -> str:
    return f"renewal {number}"


def _plain(value: Any) -> Any:
    """Return a value in JSON's types, the same in every process."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    if isinstance(value, Set):
        return sorted(cast("Set[Any]", value), key=canonical)
    if is_dataclass(value):
        return [
            type(value).__name__,
            {item.name: getattr(value, item.name) for item in fields(value)},
        ]
    raise TypeError(f"{type(value).__name__} is not a JSON value, so it has no digest")


def canonical(value: Any) -> bytes:
    """Return the same JSON for equal values, whatever the order of their keys."""
    return encoded(value, _plain, is_sorted=True)


def _held(folder: Path, *, shared: bool) -> int:
    """Lock the folder for this process; the system releases it when the process ends."""
    try:
        # The lock is on the folder: `forget` replaces the file, and a lock on it would be lost.
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise StorageError(error.errno, error.strerror, str(folder)) from None
    try:
        lock(handle, wait=False, shared=shared)
    except BlockingIOError:
        os.close(handle)
        raise InputError(f"{folder}: another process is working on this run.") from None
    return handle

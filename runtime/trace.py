"""What happened in a run, as events; and the folder where they are kept."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from ..schema.files import write_atomically
from ..schema.secrets import SECRET

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from io import TextIOWrapper
    from pathlib import Path

__all__ = ["VERSION", "Emit", "Event", "RunFolder", "Scrubber", "Trace"]

VERSION = 1
"""Version of the format of events.jsonl and result.json."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Something that happened.

    Attributes:
        type: What: `run_started`, `agent_started`, `model_call`, `tool_call`, `agent_finished`, …
        seconds: When, counted from the start of the run.
        agent: Whom it is about; None for the run as a whole.
        fields: What else there is to say, JSON-able.
    """

    type: str
    seconds: float
    agent: str | None
    fields: Mapping[str, Any]

    def line(self, number: int) -> str:
        """Write the event as one line of JSON."""
        value = {
            "v": VERSION,
            "n": number,
            "t": round(self.seconds, 6),
            "type": self.type,
            **({"agent": self.agent} if self.agent else {}),
            **self.fields,
        }
        return json.dumps(value, ensure_ascii=False, default=repr)


class Emit(Protocol):
    """Notes an event of one agent in the trace."""

    def __call__(self, event: str, /, **fields: Any) -> None:
        """Note an event by its type, with JSON-able fields."""
        ...


class Trace:
    """Hands every event to whoever listens, in the order in which they happen.

    Args:
        listeners: Called with each event: a run folder, a progress display, a test.
    """

    def __init__(self, *listeners: Callable[[Event], None]) -> None:
        self._listeners = listeners
        self._started = time.monotonic()

    def emit(self, event: str, agent: str | None = None, /, **fields: Any) -> None:
        """Note that something happened: its type, whom it is about, and what else there is."""
        if not self._listeners:
            return
        seconds = time.monotonic() - self._started
        happened = Event(type=event, seconds=seconds, agent=agent, fields=fields)
        for listener in self._listeners:
            listener(happened)


class Scrubber:
    """Takes secrets out of everything that is written.

    Args:
        secrets: The keys that this run knows.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = sorted({form for secret in secrets for form in _forms(secret)}, key=len)
        alternatives = [re.escape(form) for form in reversed(known)]
        self._known = re.compile("|".join(alternatives)) if alternatives else None

    def __call__(self, text: str) -> str:
        """Give the text without secrets."""
        if self._known is not None:
            text = self._known.sub("[secret]", text)
        return SECRET.sub("[secret]", text)


def _forms(secret: str) -> set[str]:
    """Give the ways in which a secret shows in text: itself, in JSON, in a URL, in base64."""
    import base64
    from urllib.parse import quote

    encoded = base64.b64encode(secret.encode()).decode().rstrip("=")
    return {secret, json.dumps(secret)[1:-1], quote(secret, safe=""), encoded}


class RunFolder:
    """The folder of one run: team.yaml, task.json, events.jsonl, result.json.

    Args:
        path: The folder, which exists.
        scrub: Takes secrets out of what is written.
    """

    def __init__(self, path: Path, scrub: Callable[[str], str]) -> None:
        self.path = path
        self._scrub = scrub
        self._events: TextIOWrapper | None = None
        self._number = 0

    @classmethod
    def create(cls, parent: Path, team: str, task: str, scrub: Callable[[str], str]) -> RunFolder:
        """Make a folder that no other run has: `<time>-<team>-<task>`.

        Raises:
            OSError: It cannot be made.
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
        """Write an event; it is in the file when this returns."""
        if self._events is None:
            self._events = (self.path / "events.jsonl").open(
                "a", encoding="utf-8", errors="backslashreplace", newline="\n"
            )
        self._number += 1
        self._events.write(self._scrub(event.line(self._number)) + "\n")
        self._events.flush()

    def write(self, name: str, text: str) -> None:
        """Write a file of the run whole, or not at all."""
        write_atomically(self.path / name, self._scrub(text))

    def close(self) -> None:
        """Close the list of events."""
        if self._events is not None:
            self._events.close()
            self._events = None

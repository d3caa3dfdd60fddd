"""What was told of a run, as events.jsonl has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from ..schema.errors import InputError
from ..schema.json_text import loads
from ..schema.problems import quoted
from ..schema.values import is_mapping
from .trace import EVENTS, VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

__all__ = ["EVENTS", "checked", "events_of", "unscrubbed"]

Read = TypeVar("Read")


def unscrubbed(text: str) -> str:
    """Give a text as it is."""
    return text


def events_of(
    folder: Path, scrub: Callable[[str], str] = unscrubbed
) -> tuple[Mapping[str, Any], ...]:
    """Read the events of a run; half a line at the end, which a crash leaves, is passed over.

    Raises:
        InputError: There are none, they cannot be read, or another version wrote them.
    """
    path = folder / EVENTS
    try:
        text = path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        raise InputError(
            f"{path}: there is no such file, so nothing tells what this run did. Is {str(folder)!r}"
            " the folder of a run?"
        ) from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from None
    return tuple(_events(path, scrub(text)))


def _events(path: Path, text: str) -> Iterator[Mapping[str, Any]]:
    last = 0
    for number, line in enumerate(text.split("\n")[:-1], 1):
        event = _event(line)
        if event is None or event["n"] <= last:
            raise InputError(f"{path}:{number}: this line is damaged: it is no event of a run.")
        if event["v"] != VERSION:
            raise InputError(
                f"{path}:{number}: version {quoted(event['v'])} of the format; this coterie reads"
                f" {VERSION}. Use the one that made the run."
            )
        last = event["n"]
        yield event


def _event(line: str) -> Mapping[str, Any] | None:
    try:
        event = loads(line)
    except ValueError:
        return None
    if not is_mapping(event) or "v" not in event or type(event.get("n")) is not int:
        return None
    is_whole = isinstance(event.get("type"), str) and isinstance(event.get("agent", ""), str)
    return event if is_whole else None


def checked(source: str, read: Callable[[], Read]) -> Read:
    """Make something of what a run told, which somebody may have changed.

    Args:
        source: Where it is from, for messages.
        read: Makes it.

    Raises:
        InputError: What was told has not the form that runs write.
    """
    try:
        return read()
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"{source}: an event has not the form that runs write: {error!r}. The file was changed,"
            " or another version of coterie wrote it."
        ) from None

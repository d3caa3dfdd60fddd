"""Spans of many runs under one: the tasks of an evolution, the trials of an evaluation."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from ..record.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping
    from contextlib import AbstractContextManager

    from ...schema.host.models import Model
    from ..record.trace import Event
    from .spans import Spans
    from .telemetry import Telemetry


def around(
    telemetry: Telemetry | None, name: str, **attributes: Any
) -> AbstractContextManager[None]:
    """Wrap the block in a span, if traces are requested.

    Args:
        telemetry: Makes spans; None if no traces are requested.
        attributes: The span's attributes; those that are None are left out.
    """
    return nullcontext() if telemetry is None else telemetry.around(name, **attributes)


class TurnSpans:
    """Makes a span for each of many `Parts`, if traces are requested. A context manager."""

    def __init__(
        self,
        telemetry: Telemetry | None,
        models: Mapping[str, Model],
        scrub: Callable[[str], str],
    ) -> None:
        self._telemetry = telemetry
        self._settings = (models, scrub)
        self._parts: dict[Hashable, Spans] = {}

    def __enter__(self) -> TurnSpans:
        return self

    def __exit__(self, *_: object) -> None:
        """End the spans of unfinished parts."""
        for part in [*self._parts]:
            self._parts.pop(part).end(**{"error.type": "interrupted"})

    def hear(self, number: int, event: Event) -> None:
        """Add an event on a task of a stream.

        Args:
            number: The task's place in the stream.
        """
        if self._telemetry is not None:
            self._part(number, **{"coterie.turn": number})(event)

    def beside(self, observer: Callable[[int, Event], None]) -> Callable[[int, Event], None]:
        """Return a listener that also makes spans; the given one if no traces are requested."""
        if self._telemetry is None:
            return observer

        def both(number: int, event: Event) -> None:
            self.hear(number, event)
            observer(number, event)

        return both

    def begin(self, key: Hashable, name: str, /, **attributes: Any) -> Trace | None:
        """Begin a part; see `Parts`."""
        if self._telemetry is None:
            return None
        part = self._part(key, **{f"coterie.{word}": item for word, item in attributes.items()})
        part.begin(name)
        return Trace(part)

    def finished(self, key: Hashable, score: float | None, /) -> None:
        """Record the result of a part; an unknown part is ignored."""
        if (part := self._parts.pop(key, None)) is not None:
            part.end(**{"coterie.score": score})

    def _part(self, key: Hashable, **attributes: Any) -> Spans:
        if self._telemetry is None:
            raise RuntimeError("there is nothing that makes spans.")
        if key not in self._parts:
            self._parts[key] = self._telemetry.listener(*self._settings, attributes)
        return self._parts[key]

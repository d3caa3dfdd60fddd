"""Bodies of requests that differ in their words alone: all else is written once.

What a request says besides its words follows from its model and its parameters, and most calls of
a model have the same. So the forms of the parameters are chosen, and written as JSON, for the first
of them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from .body import Body
from .forms import each_alone, is_refused

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from collections.abc import Set as AbstractSet

    from .chat import ChatRequest
    from .endpoint import Endpoint
    from .wire import Wire

__all__ = ["Outlines"]

MOST_OUTLINES = 64
"""Kept of one model: its agents seldom have more parameters than a few."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Outline:
    """A body, but for its words.

    Attributes:
        body: The first body that it was of, with None for its words.
        texts: Its fields as JSON, in their order; None for those that are words.
    """

    body: Body
    texts: tuple[tuple[str, str | None], ...]

    @classmethod
    def of(cls, body: Body, words: Mapping[str, Any]) -> Self:
        """Take the words out of a body."""
        texts = (
            (name, None if name in words else f"{json.dumps(name)}: {json.dumps(item)}")
            for name, item in body.fields.items()
        )
        kept = {name: None if name in words else item for name, item in body.fields.items()}
        return cls(body=replace(body, fields=kept, content=b""), texts=tuple(texts))

    def filled(self, words: Mapping[str, Any]) -> Body:
        """Give the body with other words."""
        first = self.body
        content = ", ".join(
            text if text is not None else f'"{name}": {json.dumps(words[name])}'
            for name, text in self.texts
        )
        forms, ladders = first.forms, first.ladders
        if "seed" in words:
            ladder = each_alone(seed=words["seed"])
            forms = {**forms, "seed": ladder["seed"][0]}
            ladders = {**ladders, **ladder}
        return Body(
            fields={**first.fields, **words},
            content=f"{{{content}}}".encode(),
            forms=forms,
            ladders=ladders,
        )


@dataclass(frozen=True, slots=True)
class Outlines:
    """Writes the bodies of one model's requests."""

    _kept: dict[Hashable, _Outline] = field(default_factory=dict["Hashable", _Outline])

    def body(
        self, wire: Wire, endpoint: Endpoint, request: ChatRequest, refused: AbstractSet[str]
    ) -> Body:
        """Write a request, as `Wire.body` does.

        Args:
            wire: The API that is spoken.
            endpoint: Who reads it: the same each time, but for its API and its address.
            request: What to ask.
            refused: The forms of parameters that the model turned out not to take: more and more.
        """
        words = wire.words(endpoint, request)
        if words is None or (refused and _is_seedless(request, refused)):
            return wire.body(endpoint, request, refused)
        said = {name: item for name, item in words.items() if item is not None}
        alike = (
            (endpoint.wire, len(refused), *said),
            (request.max_tokens, request.temperature, request.top_p, request.effort),
            (*request.stop, request.tool_choice),
        )
        outline = self._kept.get(alike)
        if outline is not None:
            return outline.filled(said)
        body = wire.body(endpoint, request, refused)
        if len(self._kept) == MOST_OUTLINES:
            self._kept.clear()
        self._kept[alike] = _Outline.of(body, said)
        return body


def _is_seedless(request: ChatRequest, refused: AbstractSet[str]) -> bool:
    """Tell whether the model does not take the seed of a request."""
    ladder = each_alone(seed=request.seed).get("seed", ())
    return any(is_refused("seed", form, refused) for form in ladder)

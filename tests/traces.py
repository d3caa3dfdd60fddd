"""Traces as a file of OTLP JSON has them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Span:
    name: str
    id: str
    trace: str
    parent: str
    began: int
    ended: int
    told: Mapping[str, Any]
    events: Mapping[str, Mapping[str, Any]]
    links: tuple[str, ...]
    is_error: bool
    words: str

    @property
    def input_tokens(self) -> int:
        return self.told.get("gen_ai.usage.input_tokens", 0)

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.told.get("gen_ai.usage.output_tokens", 0)


def spans_in(path: Path) -> list[Span]:
    lines = map(json.loads, path.read_text().splitlines())
    return [span for line in lines for span in spans_of(line)]


def spans_of(request: Mapping[str, Any]) -> Iterable[Span]:
    for resource in request["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            yield from map(_span, scope["spans"])


def tree(spans: Iterable[Span]) -> dict[str, Any]:
    """Give names within names, in the order in which they began; of many, `a`, `a 2`, …"""
    ones = sorted(spans, key=lambda one: (one.began, -one.ended))
    known = {one.id for one in ones}

    def below(parent: str | None) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for one in ones:
            if one.parent == parent if parent else one.parent not in known:
                times = sum(name.partition(" #")[0] == one.name for name in found)
                found[f"{one.name} #{times + 1}" if times else one.name] = below(one.id)
        return found

    return below(None)


def nested(spans: Iterable[Span]) -> bool:
    """Tell whether every span lies within the one above it."""
    ones = {one.id: one for one in spans}
    pairs = [(one, ones[one.parent]) for one in ones.values() if one.parent in ones]
    return all(up.began <= one.began <= one.ended <= up.ended for one, up in pairs)


def _span(span: Mapping[str, Any]) -> Span:
    status = span.get("status", {})
    return Span(
        name=span["name"],
        id=span["spanId"],
        trace=span["traceId"],
        parent=span.get("parentSpanId", ""),
        began=int(span["startTimeUnixNano"]),
        ended=int(span["endTimeUnixNano"]),
        told=_attributes(span),
        events={one["name"]: _attributes(one) for one in span.get("events", ())},
        links=tuple(one["spanId"] for one in span.get("links", ())),
        is_error=status.get("code") == 2,
        words=status.get("message", ""),
    )


def _attributes(told: Mapping[str, Any]) -> dict[str, Any]:
    return {one["key"]: _value(one["value"]) for one in told.get("attributes", ())}


def _value(value: Mapping[str, Any]) -> Any:
    ((kind, found),) = value.items()
    if kind == "arrayValue":
        return [_value(one) for one in found.get("values", ())]
    return int(found) if kind == "intValue" else found

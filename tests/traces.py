"""Traces as a file of OTLP JSON has them."""

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
    fields: Mapping[str, Any]
    events: Mapping[str, Mapping[str, Any]]
    links: tuple[str, ...]
    is_error: bool
    words: str

    @property
    def input_tokens(self) -> int:
        return self.fields.get("gen_ai.usage.input_tokens", 0)

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.fields.get("gen_ai.usage.output_tokens", 0)


def spans_in(path: Path) -> list[Span]:
    lines = map(json.loads, path.read_text().splitlines())
    return [span for line in lines for span in spans_of(line)]


def spans_of(request: Mapping[str, Any]) -> Iterable[Span]:
    for resource in request["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            yield from map(_span, scope["spans"])


def tree(spans: Iterable[Span]) -> dict[str, Any]:
    """Return names within names, in the order in which they began; of many, `a`, `a 2`, …"""
    ones = sorted(spans, key=lambda span: (span.began, -span.ended))
    known = {span.id for span in ones}

    def below(parent: str | None) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for span in ones:
            if span.parent == parent if parent else span.parent not in known:
                times = sum(name.partition(" #")[0] == span.name for name in fields)
                fields[f"{span.name} #{times + 1}" if times else span.name] = below(span.id)
        return fields

    return below(None)


def nested(spans: Iterable[Span]) -> bool:
    """Return whether every span lies within the one above it."""
    ones = {span.id: span for span in spans}
    pairs = [(span, ones[span.parent]) for span in ones.values() if span.parent in ones]
    return all(up.began <= span.began <= span.ended <= up.ended for span, up in pairs)


def _span(span: Mapping[str, Any]) -> Span:
    status = span.get("status", {})
    return Span(
        name=span["name"],
        id=span["spanId"],
        trace=span["traceId"],
        parent=span.get("parentSpanId", ""),
        began=int(span["startTimeUnixNano"]),
        ended=int(span["endTimeUnixNano"]),
        fields=_attributes(span),
        events={item["name"]: _attributes(item) for item in span.get("events", ())},
        links=tuple(item["spanId"] for item in span.get("links", ())),
        is_error=status.get("code") == 2,
        words=status.get("message", ""),
    )


def _attributes(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {item["key"]: _value(item["value"]) for item in fields.get("attributes", ())}


def _value(value: Mapping[str, Any]) -> Any:
    ((kind, result),) = value.items()
    if kind == "arrayValue":
        return [_value(item) for item in result.get("values", ())]
    return int(result) if kind == "intValue" else result

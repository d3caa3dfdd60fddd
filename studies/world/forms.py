"""Answers that a schema lets through, where nothing is known of the question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random

Json = Any


def variants(schema: Json) -> list[Json]:
    """Return the kinds of value that a schema lets through."""
    return schema.get("anyOf", [schema])


def filled(schema: Json, text: str, chance: random.Random) -> Json:
    """Return a value that a schema lets through; its free strings are a text."""
    schema = chance.choice(variants(schema))
    if choices := schema.get("enum", [False] if schema.get("type") == "boolean" else None):
        return text if text in choices else chance.choice(choices)
    match schema.get("type"):
        case "object":
            fields = schema.get("properties", {})
            needed = schema.get("required", [*fields])
            return {name: filled(fields[name], text, chance) for name in needed}
        case "array":
            return _several(schema["items"], schema.get("minItems", 0), text, chance)
        case "integer" | "number":
            return schema.get("maximum", schema.get("minimum", 1))
        case _:
            return text[: schema.get("maxLength")] or "None"


def _several(items: Json, count: int, text: str, chance: random.Random) -> list[Json]:
    """Return as few items as may be, but a text where there is room for texts."""
    if "enum" in items:
        return chance.sample(items["enum"], count)
    count = max(count, items.get("type") == "string")
    return [filled(items, text, chance) for _ in range(count)]

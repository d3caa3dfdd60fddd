"""A model under constrained decoding: any answer that a schema lets through, by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random

__all__ = ["answer"]

SIGNS = "Wise words, 漢字\n\"'"


def answer(schema: Any, chance: random.Random) -> Any:
    """Make up an answer."""
    if "anyOf" in schema:
        return answer(chance.choice(schema["anyOf"]), chance)
    if "enum" in schema:
        return chance.choice(schema["enum"])
    if schema["type"] == "object":
        return {key: answer(inner, chance) for key, inner in schema["properties"].items()}
    if schema["type"] == "array":
        count = chance.randint(schema["minItems"], min(schema["maxItems"], 4))
        return [answer(schema["items"], chance) for _ in range(count)]
    return _scalar(schema, chance)


def _scalar(schema: Any, chance: random.Random) -> Any:
    if schema["type"] == "integer":
        ends = (schema["minimum"], schema["maximum"])
        return chance.choice([*ends, chance.randint(*ends)])
    if schema["type"] == "boolean":
        return chance.random() < 0.5
    length = chance.randint(schema["minLength"], schema["maxLength"])
    return "W" + "".join(chance.choices(SIGNS, k=length - 1))

"""Random values that conform to a component's schema, as from a model without a clue."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any


def sample(schema: Mapping[str, Any], chance: Random, words: Sequence[str]) -> Any:
    """Return a random value that conforms to a schema.

    Integers are drawn by order of magnitude: of the timeouts up to a week, half are below 13
    minutes.

    Args:
        schema: A schema from `component_schema`: closed objects, `anyOf`, `enum`, bounds.
    """
    match schema:
        case {"anyOf": kinds}:
            drawn = sample(chance.choice(kinds), chance, words)
        case {"enum": choices}:
            drawn = chance.choice(choices)
        case {"type": "object", "properties": fields}:
            drawn = {name: sample(field, chance, words) for name, field in fields.items()}
        case {"type": "array", "items": item, "maxItems": most}:
            count = chance.randint(schema.get("minItems", 0), most)
            drawn = [sample(item, chance, words) for _ in range(count)]
        case {"type": "integer", "minimum": least, "maximum": most}:
            drawn = round(math.expm1(chance.uniform(math.log1p(least), math.log1p(most))))
        case {"type": "string", "maxLength": longest}:
            drawn = chance.choice(words)[:longest]
        case _:
            drawn = chance.random() < 0.5
    return drawn

"""A model under constrained decoding: any answer that a schema lets through, by chance."""

import random
from typing import Any

from coterie.schema.edits.offer.strict import ID, NAME, PROMPT, TEXT

__all__ = ["answer"]

SIGNS = "Wise wörds, 漢字👩\t\n\r\"'\\/.#:-{}[]%&*!|>@`~=\u00a0\u2028\u200d\ufeff\x85"
"""What texts are made of: all that YAML, Jinja and file systems make something of."""
WORD = "Wiseörds,漢字\"'\\/.#:-{}[]%&*!|>@`~="
ENDS = ("", "", "/x.md", " \n", "\n- a: b", "...", "{{ 7 * 7 }}", "null", ".yaml")
LENGTHS = (1, 2, 3, 5, 9, 30, 30, 200)
COUNTS = (1, 2, 3, 4, 6, 12)


def answer(schema: Any, chance: random.Random) -> Any:
    """Make up an answer."""
    if "anyOf" in schema:
        return answer(chance.choice(schema["anyOf"]), chance)
    if "enum" in schema:
        return chance.choice(schema["enum"])
    if schema["type"] == "object":
        return {key: answer(inner, chance) for key, inner in schema["properties"].items()}
    if schema["type"] == "array":
        most = min(schema["maxItems"], max(schema["minItems"], chance.choice(COUNTS)))
        count = chance.randint(schema["minItems"], most)
        return [answer(schema["items"], chance) for _ in range(count)]
    return _scalar(schema, chance)


def _scalar(schema: Any, chance: random.Random) -> Any:
    if schema["type"] == "null":
        return None
    if schema["type"] == "integer":
        ends = (schema["minimum"], schema["maximum"])
        return chance.choice([*ends, chance.randint(*ends)])
    most = schema["maxLength"]
    length = max(schema["minLength"], min(most, chance.choice([*LENGTHS, 2 * most])))
    if schema["pattern"] == PROMPT:
        return _prompt(length, chance)
    if schema["pattern"] == ID:
        return "n" + "".join(chance.choices("a0_", k=length - 1))
    if schema["pattern"] == NAME:
        return "w" + "".join(chance.choices("é9 _-", k=length - 1))
    assert schema["pattern"] == TEXT
    return _ended("".join(chance.choices(SIGNS, k=length)), chance)


def _prompt(length: int, chance: random.Random) -> str:
    if length < 3 or chance.random() < 0.1:
        return "W" + "".join(chance.choices("ise漢!字-_", k=length - 1))
    word = chance.randint(1, length - 2)
    first = "W" + "".join(chance.choices(WORD, k=word - 1))
    rest = chance.choice(WORD) + "".join(chance.choices(SIGNS, k=length - word - 2))
    return _ended(f"{first} {rest}", chance, keep=word + 2)


def _ended(text: str, chance: random.Random, keep: int = 0) -> str:
    """Let a text of the same length end in something."""
    end = chance.choice(ENDS)
    return text[: -len(end)] + end if end and len(text) - keep > len(end) else text

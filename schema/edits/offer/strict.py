"""The few forms of JSON Schema that strict decoding accepts everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...team.team import natural

Schema = dict[str, Any]

ANY_TEXT: Schema = {"type": "string"}
ANY_LIST: Schema = {"type": "array"}
FRACTION: Schema = {"type": "number", "minimum": 0, "maximum": 1}
"""These schemas read answers less strictly than the answers were requested."""

_UNWELCOME = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff"
"""Characters that no text may have: control characters, and those that reorder text."""

TEXT = f"^[^{_UNWELCOME}]+$"

ID = r"^[a-z][a-z0-9_]*$"

NAME = r"^\w[\w -]*$"
"""A few words."""

_SIGN, _PLAIN = r"!-~\u00a1-\u167f\u3000-\ud7ff", r"!-\-0-\[\]-~\u00a1-\u167f\u3000-\ud7ff"
"""The characters of words; and the same without the characters of file names."""

PROMPT = (
    r"^[A-Z\u00c0-\u167f\u3040-\ud7ff]"
    rf"(?:[{_PLAIN}]*|[{_SIGN}]* [!-~\u00a1-\u167f\u3001-\ud7ff][^{_UNWELCOME}]*)$"
)
"""The text of a prompt: it begins with a capital letter, and a single word is no file name.

A word that begins with a small letter would name a prompt file, and small models that begin with
a number continue counting."""


def closed(**fields: Mapping[str, Any]) -> Schema:
    """Return the schema of an object with exactly these fields."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def edit(kind: str, **fields: Mapping[str, Any]) -> Schema:
    """Return the schema of one edit."""
    return closed(**{kind: closed(**fields)})


def among(names: Iterable[str]) -> Schema:
    """Return the schema of one of several words, in their order."""
    return {"type": "string", "enum": [*names]}


def one_of(names: Iterable[str]) -> Schema:
    """Return the schema of one of several names, in natural order."""
    return among(sorted(names, key=natural))


def array(items: Mapping[str, Any], most: int, *, least: int | None = 0) -> Schema:
    """Return the schema of a list; with `least=None`, it has no `minItems`."""
    bound = {} if least is None else {"minItems": least}
    return {"type": "array", "items": items, **bound, "maxItems": most}


def some(names: Iterable[str], *, least: int = 0, most: int) -> Schema:
    """Return the schema of a list of names; a repeated name counts once."""
    return array(one_of(names), most, least=least)


def any_of(choices: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the schema of one of several choices."""
    return choices[0] if len(choices) == 1 else {"anyOf": [*choices]}


def listed(choices: Sequence[Mapping[str, Any]], *, least: int, most: int) -> Schema:
    """Return the schema of a list of any of the choices."""
    return array(any_of(choices), most, least=least)


def text(characters: int, pattern: str = TEXT) -> Schema:
    """Return the schema of a text that matches a pattern."""
    return {**free_text(characters), "pattern": pattern}


def free_text(characters: int, *, least: int = 1) -> Schema:
    """Return the schema of a text of any characters."""
    return {"type": "string", "minLength": least, "maxLength": characters}


def choice(usual: Iterable[float], limit: float | None) -> Schema:
    """Return the schema of a number: the limit, or a usual number below it."""
    numbers = {value for value in usual if limit is None or value < limit}
    if limit is not None:
        numbers.add(limit)
    if all(number == int(number) for number in numbers):
        return {"type": "integer", "enum": sorted(map(int, numbers))}
    return {"type": "number", "enum": sorted(numbers)}


def whole(schema: Mapping[str, Any], limit: float | None) -> Schema | None:
    """Narrow a number's schema to integers up to a limit; None if no integer remains."""
    least: int = schema.get("minimum", 1)
    most = int(schema["maximum"] if limit is None else min(limit, schema["maximum"]))
    return {"type": "integer", "minimum": least, "maximum": most} if least <= most else None


def pairs(
    kind: str, chooser: str, chosen: str, options: Mapping[str, Iterable[str]]
) -> Iterator[Schema]:
    """Yield the schema of an edit per set of options; agents with equal options share one."""
    groups: dict[frozenset[str], list[str]] = {}
    for agent_id, open_to in options.items():
        groups.setdefault(frozenset(open_to), []).append(agent_id)
    for open_to, agents in groups.items():
        if open_to:
            yield edit(kind, **{chooser: one_of(agents), chosen: one_of(open_to)})

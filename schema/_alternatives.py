"""How many schemas of an output schema one value of an answer is held against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .values import is_mapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ._graph import Reading
    from .problems import Problem

    Schema = Mapping[str, Any]

__all__ = ["few_alternatives"]

MOST_HELD_AGAINST = 32
"""Each `anyOf` within another multiplies them, and so the time that it takes to check an answer."""


def few_alternatives(reading: Reading) -> Iterator[Problem]:
    """No value of an answer is held against too many schemas."""
    for agent, path in reading.agents():
        if (most := _most_held_against(agent.output_schema or {})) > MOST_HELD_AGAINST:
            message = (
                f"a value of the answer is held against {most} schemas, by anyOf within anyOf; at"
                f" most {MOST_HELD_AGAINST}. Write fewer alternatives."
            )
            yield reading.problem((*path, "output_schema"), message)


def _most_held_against(schema: Schema) -> int:
    most, ahead = 0, [[schema]]
    while ahead:
        held = _with_alternatives(ahead.pop())
        most = max(most, len(held))
        ahead += _of_parts(held)
    return most


def _with_alternatives(schemas: list[Schema]) -> list[Schema]:
    """Give all that a value is held against where it is held against these."""
    held: list[Schema] = []
    ahead = schemas
    while ahead:
        held += ahead
        ahead = [inner for one in ahead for inner in one.get("anyOf", ()) if is_mapping(inner)]
    return held


def _of_parts(held: list[Schema]) -> Iterable[list[Schema]]:
    """Give what each field of a value, and each of its items, is held against."""
    parts: dict[str | None, list[Schema]] = {}
    for one in held:
        named: Mapping[str | None, Any] = {None: one.get("items"), **one.get("properties", {})}
        for name, schema in named.items():
            if is_mapping(schema):
                parts.setdefault(name, []).append(schema)
    return parts.values()

"""The schema of a tool's arguments as every provider takes it, mended or refused when it loads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...schema.values.errors import InputError
from ...schema.values.json_text import dumps
from ...schema.values.problems import quoted
from ...schema.values.values import is_list, is_mapping

LARGEST_SCHEMA = 20_000  # characters of JSON
EXCLUSIVE = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
"""What is a number today, and in draft 4 was a word about another field."""


def usable_parameters(schema: Any, name: str) -> Mapping[str, Any]:
    """Return the schema of a tool's arguments, with what providers want that it leaves out.

    Args:
        schema: As whoever wrote the tool wrote it; None where there is none.

    Raises:
        InputError: No provider would take it.
    """
    from jsonschema import Draft202012Validator, SchemaError

    if schema is not None and not is_mapping(schema):
        raise _refused(name, f"its arguments are described by {quoted(schema)}, which is no object")
    mended = _mended(schema or {})
    if len(dumps(mended)) > LARGEST_SCHEMA:
        raise _refused(
            name,
            f"the schema of its arguments has more than {LARGEST_SCHEMA} characters, which every"
            " call of a model would have to carry",
        )
    if mended["type"] != "object":
        raise _refused(
            name,
            f"its arguments are of the type {quoted(mended['type'])}, and models give an object"
            " only. Write type: object, with properties",
        )
    try:
        Draft202012Validator.check_schema(mended)
    except SchemaError as error:
        raise _refused(
            name, f"its arguments are described with an invalid JSON Schema: {error.message[:300]}"
        ) from None
    for reference in _references(mended):
        if not _leads(reference, mended):
            raise _refused(name, f"its arguments refer to {quoted(reference)}, which is not there")
    return mended


def _refused(name: str, why: str) -> InputError:
    return InputError(f"the tool {name!r}: {why}.")


def _mended(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Add the type and the properties, and say otherwise what draft 4 said otherwise."""
    kept = {
        key: _without_draft_4(item)
        for key, item in schema.items()
        if key != "$schema" and not (item is None and key in {"properties", "required", "type"})
    }
    kind = kept.get("type", "object")
    kept["type"] = "object" if is_list(kind) and "object" in kind else kind
    return {**kept, "properties": kept.get("properties", {})}


def _without_draft_4(value: Any) -> Any:
    if is_list(value):
        return [_without_draft_4(item) for item in value]
    if not is_mapping(value):
        return value
    fields = {key: _without_draft_4(item) for key, item in value.items()}
    for exclusive, bound in EXCLUSIVE.items():
        is_exclusive = fields.get(exclusive)
        if isinstance(is_exclusive, bool):
            del fields[exclusive]
            if is_exclusive and bound in fields:
                fields[exclusive] = fields.pop(bound)
    return fields


def _references(value: Any) -> Iterator[str]:
    if is_list(value):
        for item in value:
            yield from _references(item)
    elif is_mapping(value):
        for key, item in value.items():
            if key == "$ref" and isinstance(item, str):
                yield item
            else:
                yield from _references(item)


def _leads(reference: str, schema: Mapping[str, Any]) -> bool:
    """Return whether a reference leads to a place in the schema itself."""
    path, sign, pointer = reference.partition("#")
    if path or not sign:
        return False
    place: Any = schema
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if is_list(place) and name.isdecimal() and int(name) < len(place):
            place = place[int(name)]
        elif is_mapping(place) and name in place:
            place = place[name]
        else:
            return False
    return not pointer or pointer.startswith("/")

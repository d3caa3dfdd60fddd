"""The schema of a tool's arguments in a form that every provider accepts.

An incomplete schema is completed, an unusable one refused, when the tool loads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...schema.values.errors import InputError
from ...schema.values.json_text import dumps
from ...schema.values.problems import quoted
from ...schema.values.values import is_list, is_mapping

LARGEST_SCHEMA = 20_000  # characters of JSON
SAME_VALUE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
"""Keywords whose subschemas apply to the same value."""
EXCLUSIVE = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
"""Keywords that are numbers today, and in draft 4 modified another keyword."""


def usable_parameters(schema: Any, name: str) -> Mapping[str, Any]:
    """Return the schema of a tool's arguments, completed by what providers require.

    Raises:
        InputError: No provider would accept it.
    """
    try:
        return _usable(schema, name)
    except RecursionError:
        raise _refused(name, "its arguments are described in too many levels") from None


def _usable(schema: Any, name: str) -> Mapping[str, Any]:
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
        if _target(reference, mended) is None:
            raise _refused(name, f"its arguments refer to {quoted(reference)}, which is not there")
    over = set[int]()
    if any(_is_endless(part, mended, over, ()) for part in _parts(mended)):
        raise _refused(name, "its arguments refer to themselves, and to nothing else")
    return mended


def _refused(name: str, why: str) -> InputError:
    return InputError(f"the tool {name!r}: {why}.")


def _mended(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Add type and properties if missing, and translate keywords of draft 4."""
    result = {
        key: _without_draft_4(item)
        for key, item in schema.items()
        if key != "$schema" and not (item is None and key in {"properties", "required", "type"})
    }
    kind = result.get("type", "object")
    result["type"] = "object" if is_list(kind) and "object" in kind else kind
    return {**result, "properties": result.get("properties", {})}


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


def _references(schema: Any) -> Iterator[str]:
    references = (part.get(name) for part in _parts(schema) for name in ("$ref", "$dynamicRef"))
    return (reference for reference in references if isinstance(reference, str))


def _parts(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every mapping in a schema."""
    if is_mapping(value):
        yield value
    for item in value.values() if is_mapping(value) else value if is_list(value) else ():
        yield from _parts(item)


def _is_endless(part: Any, schema: Any, over: set[int], above: tuple[int, ...]) -> bool:
    """Return whether checking a value against a part means checking it against the part again.

    Args:
        over: The parts known to be finite.
        above: The parts for which this one is checked.
    """
    if not is_mapping(part) or id(part) in over:
        return False
    if id(part) in above:
        return True
    reference = part.get("$ref")
    inner = [_target(reference, schema)] if isinstance(reference, str) else []
    for name in SAME_VALUE:
        schemas = part.get(name)
        inner += schemas if is_list(schemas) else [schemas]
    if any(_is_endless(each, schema, over, (*above, id(part))) for each in inner):
        return True
    over.add(id(part))
    return False


def _target(reference: str, schema: Mapping[str, Any]) -> Any:
    """Return the part of a schema that a reference names; None if it is outside."""
    path, sign, pointer = reference.partition("#")
    if path or not sign or (pointer and not pointer.startswith("/")):
        return None
    place: Any = schema
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if is_list(place) and name.isdecimal() and int(name) < len(place):
            place = place[int(name)]
        elif is_mapping(place) and name in place:
            place = place[name]
        else:
            return None
    return place

"""Convert JSON Schemas into the subset that Anthropic's API accepts.

Its output format requires every object to be closed, and refuses bounds on values
(platform.claude.com/docs/en/build-with-claude/structured-outputs). We check the answer against the
whole schema anyway, so mere bounds are left out. A schema that the format cannot express, such as a
mapping with any keys, is requested in another way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....schema.values.values import is_list, is_mapping

ANNOTATIONS = ("type", "title", "description", "enum", "const", "required")
FORMATS = frozenset(
    ("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid")
)
OPEN = ("patternProperties", "$ref", "$dynamicRef", "prefixItems")
JOINED = ("anyOf", "oneOf", "allOf")
SCALARS = (str, int, float, type(None))


class _Unsaid(Exception):
    """The output format cannot express a schema."""


def as_output_format(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the output format that enforces a schema; None if it cannot express it."""
    try:
        return {"type": "json_schema", "schema": _closed(schema)}
    except (_Unsaid, RecursionError):
        return None


def as_input_schema(schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return a schema as that of a tool's input; None if it does not describe an object."""
    is_object = schema.get("type") == "object" and not any(word in schema for word in JOINED)
    return schema if is_object else None


def _closed(schema: Any) -> dict[str, Any]:
    if not is_mapping(schema) or any(word in schema for word in OPEN):
        raise _Unsaid
    fields = {key: schema[key] for key in ANNOTATIONS if key in schema}
    if schema.get("format") in FORMATS:
        fields["format"] = schema["format"]
    if not all(isinstance(item, SCALARS) for item in fields.get("enum", ())):
        raise _Unsaid
    for key in JOINED:
        if key in schema:
            fields["allOf" if key == "allOf" else "anyOf"] = [_closed(item) for item in schema[key]]
    if not fields.keys() & {"type", "enum", "const", "anyOf", "allOf"}:
        raise _Unsaid
    return fields | _items(schema) | _fields(schema)


def _items(schema: Mapping[str, Any]) -> dict[str, Any]:
    if not _may_be(schema, "array"):
        return {}
    return {"items": _closed(schema.get("items"))}


def _fields(schema: Mapping[str, Any]) -> dict[str, Any]:
    if not _may_be(schema, "object"):
        return {}
    fields = schema.get("properties") or {}
    if schema.get("additionalProperties", not fields) is not False:
        raise _Unsaid
    closed = {name: _closed(field) for name, field in fields.items()}
    return {"properties": closed, "additionalProperties": False}


def _may_be(schema: Mapping[str, Any], kind: str) -> bool:
    kinds: Any = schema.get("type")
    return kind in (kinds if is_list(kinds) else [kinds])

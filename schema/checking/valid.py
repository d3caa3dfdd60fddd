"""A fast check whether a value surely matches a JSON Schema, as most values do.

jsonschema reports what is wrong with a value, and where. It is called only for values that are not
surely valid: with its import, `mas-validate` would take 450 ms for a team instead of 210, and it
checks a sample of an evaluation in 170 microseconds, where this module takes 33. This module knows
the keywords of our own schemas. It leaves the decision to jsonschema where its dialect (1.0 is an
integer, a pattern may match a part of a text) differs from that of our files, and for any other
keyword.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from json import dumps
from types import MappingProxyType
from typing import Any

from ..values.values import is_list, is_mapping

_PLAIN = frozenset({bool, dict, float, int, list, str, type(None)})
_SILENT = frozenset({
    "$defs", "$schema", "default", "description", "else", "examples", "then", "title",
})  # fmt: skip
"""Keywords that restrict no value, or that another keyword reads."""


class _Undecided(Exception):
    """Validity depends on the dialect, or on a keyword that is unknown here."""


def surely_valid(
    value: Any,
    schema: Mapping[str, Any],
    others: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> bool:
    """Return whether a value is valid in each of our dialects; false may mean unknown.

    Args:
        schema: The schema; references with `#` lead into it.
        others: Other schemas that it may refer to, by their `$id`.
    """
    try:
        return _fits(value, schema, _Home(root=schema, others=others))
    except (_Undecided, RecursionError):
        return False


class _Home:
    """The targets of references: the schema itself, or others."""

    __slots__ = ("others", "root")

    def __init__(self, *, root: Mapping[str, Any], others: Mapping[str, Mapping[str, Any]]) -> None:
        self.root = root
        self.others = others


def _fits(value: Any, schema: Any, home: _Home) -> bool:
    """Return whether a value is valid by a part of a schema."""
    if isinstance(schema, bool):
        return schema
    if type(value) not in _PLAIN or not is_mapping(schema):
        raise _Undecided
    speaking = [key for key in schema if key not in _SILENT and not key.startswith("x-")]
    if any(key not in _CHECKS for key in speaking):
        raise _Undecided
    return all(_CHECKS[key](value, schema[key], schema, home) for key in speaking)


def _identified(_: Any, __: str, schema: Mapping[str, Any], home: _Home) -> bool:
    if schema is not home.root:  # from here on, references would lead elsewhere
        raise _Undecided
    return True


def _referred(value: Any, reference: str, _: Mapping[str, Any], home: _Home) -> bool:
    document, pointer = reference.partition("#")[::2]
    root = home.others.get(document) if document else home.root
    if root is None or not pointer.startswith("/") or set(pointer) & {"~", "%"}:
        raise _Undecided
    part: Any = root
    for name in pointer[1:].split("/"):
        if not is_mapping(part) or name not in part:
            raise _Undecided
        part = part[name]
    return _fits(value, part, _Home(root=root, others=home.others) if document else home)


def _of_type(value: Any, kinds: str | list[str], _: Mapping[str, Any], __: _Home) -> bool:
    return any(_is_of(kind, value) for kind in ([kinds] if isinstance(kinds, str) else kinds))


def _is_of(kind: str, value: Any) -> bool:
    if kind not in _KINDS or (kind == "integer" and _is_whole(value)):
        raise _Undecided
    return type(value) in _KINDS[kind]


def _is_whole(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()


def _one_of(value: Any, choices: list[Any], _: Mapping[str, Any], __: _Home) -> bool:
    return any(_is_equal(value, choice) for choice in choices)


def _constant(value: Any, only: Any, _: Mapping[str, Any], __: _Home) -> bool:
    return _is_equal(value, only)


def _is_equal(first: Any, second: Any) -> bool:
    """Return whether two values are equal: true differs from 1, and 1.0 does not."""
    if isinstance(first, dict | float | list) and type(first) is type(second):
        raise _Undecided  # item by item; and what is not a number may be itself, or not
    return isinstance(first, bool) == isinstance(second, bool) and first == second


def _distinct(items: Any, rule: bool, _: Mapping[str, Any], __: _Home) -> bool:
    if not rule or not is_list(items):
        return True
    if not all(isinstance(item, str) for item in items):
        raise _Undecided
    texts = {dumps(item) for item in items}  # by which `_shape` tells them apart
    if len(texts) != len({*items}):
        raise _Undecided
    return len(texts) == len(items)


def _matched(text: Any, pattern: str, _: Mapping[str, Any], __: _Home) -> bool:
    if not isinstance(text, str) or re.fullmatch(pattern, text):
        return True
    if re.search(pattern, text):
        raise _Undecided
    return False


def _fields(value: Any, rules: Mapping[str, Any], _: Mapping[str, Any], home: _Home) -> bool:
    if not is_mapping(value):
        return True
    return all(_fits(item, rules[key], home) for key, item in value.items() if key in rules)


def _other_fields(value: Any, rule: Any, schema: Mapping[str, Any], home: _Home) -> bool:
    if not is_mapping(value):
        return True
    properties = schema.get("properties", {})
    return all(_fits(item, rule, home) for key, item in value.items() if key not in properties)


def _names(value: Any, rule: Any, _: Mapping[str, Any], home: _Home) -> bool:
    return not is_mapping(value) or all(_fits(key, rule, home) for key in value)


def _items(value: Any, rule: Any, _: Mapping[str, Any], home: _Home) -> bool:
    return not is_list(value) or all(_fits(item, rule, home) for item in value)


def _there(value: Any, names: list[str], _: Mapping[str, Any], __: _Home) -> bool:
    return not is_mapping(value) or all(name in value for name in names)


def _any_of(value: Any, rules: list[Any], _: Mapping[str, Any], home: _Home) -> bool:
    return any(_fits(value, rule, home) for rule in rules)


def _one_alone(value: Any, rules: list[Any], _: Mapping[str, Any], home: _Home) -> bool:
    return sum(_fits(value, rule, home) for rule in rules) == 1


def _none_of(value: Any, rule: Any, _: Mapping[str, Any], home: _Home) -> bool:
    return not _fits(value, rule, home)


def _depending(value: Any, rule: Any, schema: Mapping[str, Any], home: _Home) -> bool:
    branch = "then" if _fits(value, rule, home) else "else"
    return _fits(value, schema.get(branch, True), home)


def _sized(
    kind: type | tuple[type, ...], within: Callable[[Any, Any], bool]
) -> Callable[[Any, Any, Mapping[str, Any], _Home], bool]:
    """Return the check of a bound, for values of one kind."""

    def check(value: Any, bound: Any, _: Mapping[str, Any], __: _Home) -> bool:
        return not isinstance(value, kind) or isinstance(value, bool) or within(value, bound)

    return check


_KINDS: Mapping[str, frozenset[type]] = {
    "array": frozenset({list}),
    "boolean": frozenset({bool}),
    "integer": frozenset({int}),
    "null": frozenset({type(None)}),
    "number": frozenset({int, float}),
    "object": frozenset({dict}),
    "string": frozenset({str}),
}
_CHECKS: Mapping[str, Callable[[Any, Any, Mapping[str, Any], _Home], bool]] = {
    "$id": _identified,
    "$ref": _referred,
    "additionalProperties": _other_fields,
    "anyOf": _any_of,
    "const": _constant,
    "enum": _one_of,
    "exclusiveMinimum": _sized((int, float), lambda value, bound: not value <= bound),
    "if": _depending,
    "items": _items,
    "maxItems": _sized(list, lambda value, bound: len(value) <= bound),
    "maxLength": _sized(str, lambda value, bound: len(value) <= bound),
    "maxProperties": _sized(dict, lambda value, bound: len(value) <= bound),
    "maximum": _sized((int, float), lambda value, bound: not value > bound),
    "minItems": _sized(list, lambda value, bound: len(value) >= bound),
    "minLength": _sized(str, lambda value, bound: len(value) >= bound),
    "minProperties": _sized(dict, lambda value, bound: len(value) >= bound),
    "minimum": _sized((int, float), lambda value, bound: not value < bound),
    "not": _none_of,
    "oneOf": _one_alone,
    "pattern": _matched,
    "properties": _fields,
    "propertyNames": _names,
    "required": _there,
    "type": _of_type,
    "uniqueItems": _distinct,
}

"""Checks lines of a pool's ledger against `ledger.schema.json`, compiled."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from itertools import chain
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, cast

from ...schema.host.fields import root
from ...schema.values.problems import dotted, quoted
from ...schema.values.values import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from jsonschema.protocols import Validator

    from ...schema.values.problems import Path

LEDGER = "ledger"
"""The name of the schema of lines."""


def misshapen(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the deviations of a line from the schema; none for an unknown kind."""
    if validator := _validators().get(str(value.get("kind"))):
        for error in validator.iter_errors(value):
            yield f"{dotted(tuple(error.absolute_path)) or 'the line'}: {quoted(error.message)}"
    yield from (f"{dotted(path)}: {number!r} is not a plain number" for path, number in _odd(value))


def _odd(value: Any, path: Path = ()) -> Iterator[tuple[Path, float]]:
    """Yield numbers that JSON does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        yield path, value
    for key, item in _items(value):
        yield from _odd(item, (*path, key))


def _items(value: Any) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, Mapping):
        return value.items()
    return enumerate(value) if isinstance(value, list | tuple) else ()


@functools.cache
def _validators() -> Mapping[str, Validator]:
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    agent: Resource[Any] = Resource.from_contents(root("agent").schema)
    defs, registry = _definitions(LEDGER), agent @ Registry()
    return {
        kind: Draft202012Validator({"$defs": defs, **defs[kind]}, registry=registry)
        for kind in defs
    }


def has_types(value: Mapping[str, Any]) -> bool:
    """Return whether a line's values have the types of the schema.

    This is a part of `misshapen`, in a hundredth of its time (2.5 microseconds a line, not 250): it
    checks every line when a pool is opened. A line of an unknown kind always passes.
    """
    kind = value.get("kind")
    is_known = isinstance(kind, str) and kind in _definitions(LEDGER)
    return not is_known or _definition(LEDGER, f"#/$defs/{kind}")(value)


@functools.cache
def _definition(of: str, reference: str) -> Callable[[Any], bool]:
    """Compile the target of a reference: a definition of the schema, or another of our schemas."""
    *_, other, last = reference.replace("/", ":").split(":")
    if reference.startswith("urn:"):
        return _check(root(other).schema, other)
    return _check(_definitions(of)[last], of)


def _is_of(of: str, reference: str, value: Any) -> bool:
    return _definition(of, reference)(value)


def _check(schema: Mapping[str, Any], of: str) -> Callable[[Any], bool]:
    """Compile a schema's check of types."""
    if reference := schema.get("$ref"):
        return functools.partial(_is_of, of, reference)  # which may lead here again
    kinds = schema.get("type", "any")
    types = tuple(
        chain.from_iterable(_TYPES[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds))
    )
    no_bool = bool not in types and object not in types
    named = {key: _check(entry, of) for key, entry in schema.get("properties", {}).items()}
    others, items = schema.get("additionalProperties"), schema.get("items")
    other = _check(others, of) if is_mapping(others) else None
    item = _check(items, of) if is_mapping(items) else None
    has_parts = bool(named) or other is not None or item is not None

    def fits(value: Any) -> bool:
        if not isinstance(value, types) or (no_bool and isinstance(value, bool)):
            return False
        if not has_parts:
            return True
        if isinstance(value, dict):
            for key, entry in cast("dict[str, Any]", value).items():
                check = named.get(key, other)
                if check is not None and not check(entry):
                    return False
            return True
        return item is None or not is_list(value) or all(map(item, value))

    return fits


_TYPES: Mapping[str, tuple[type, ...]] = {
    "any": (object,), "array": (list,), "boolean": (bool,), "integer": (int,),
    "null": (type(None),), "number": (int, float), "object": (dict,), "string": (str,),
}  # fmt: skip


@functools.cache
def _definitions(of: str) -> Mapping[str, Any]:
    if of != LEDGER:
        return root(of).schema["$defs"]
    path = FilePath(__file__).with_name("ledger.schema.json")
    return json.loads(path.read_text(encoding="utf-8"))["$defs"]

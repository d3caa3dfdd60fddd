"""Plain values, as JSON and YAML have them, told apart in a way that type checkers follow."""

from __future__ import annotations

import copyreg
import functools
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from operator import attrgetter
from types import MappingProxyType
from typing import Annotated, Any, TypeGuard, TypeVar

T = TypeVar("T")

JSON = "a value that JSON has"
Json = Annotated[Any, JSON]
"""The type of values that JSON has, which type checkers do not follow."""


def frozen(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields with tuples for lists."""
    return {key: tuple(item) if is_list(item) else item for key, item in fields.items()}


def nothing() -> Mapping[Any, Any]:
    """Return an empty mapping that nobody can change: the default of a field."""
    return MappingProxyType({})


def is_mapping(value: object) -> TypeGuard[dict[str, Any]]:
    """Return whether a plain value is a mapping; its keys are text, as our readers make sure."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Return whether a plain value is a list."""
    return isinstance(value, list)


def is_texts(value: object) -> TypeGuard[list[str]]:
    """Return whether a plain value is a list of texts."""
    return is_list(value) and all(isinstance(item, str) for item in value)


def equal_numbers_alike(value: Any) -> Any:
    """Copy a plain value with equal numbers written alike: `600.0` as `600`."""
    if is_mapping(value):
        return {key: equal_numbers_alike(item) for key, item in value.items()}
    if is_list(value):
        return [equal_numbers_alike(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def without_nulls(value: Any) -> Any:
    """Copy a plain value without what is null in it, as YAML has a field that nothing follows."""
    if is_mapping(value):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value if item is not None] if is_list(value) else value


def plain(item: Any) -> Any:
    """Copy a value as dicts and lists, with whatever they hold."""
    if isinstance(item, str | int | float | None):
        return item
    if is_dataclass(item):
        return unlike_default(item)
    if isinstance(item, Mapping):
        return {str(key): plain(value) for key, value in item.items()}
    if isinstance(item, list | tuple):
        return [plain(value) for value in item]
    return item


def parts(item: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as they are; `asdict` copies whatever they hold."""
    return {field.name: getattr(item, field.name) for field in fields(item)}


def replaced(item: T, **changes: Any) -> T:
    """Return a dataclass with other fields, as `dataclasses.replace` does in four times the time.

    All its fields are arguments of its `__init__`.
    """
    names, values_of = _fields(type(item))
    return type(item)(**dict(zip(names, values_of(item), strict=True)) | changes)


@functools.cache
def _fields(kind: Any) -> tuple[tuple[str, ...], attrgetter[tuple[Any, ...]]]:
    """Return the fields of a dataclass that has several, and what takes them at once."""
    names = tuple(field.name for field in fields(kind))
    return names, attrgetter(*names)


def unlike_default(part: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that are not at their default, as plain values.

    A field whose name is a word of Python, as `is_`, has that word for its name in files.
    """
    value: dict[str, Any] = {}
    for field, name, usual in _defaults(type(part)):
        item = getattr(part, field)
        if item is not usual and not is_same(item, usual):
            value[name] = plain(item)
    return value


@functools.cache
def _defaults(kind: type[Any]) -> tuple[tuple[str, str, Any], ...]:
    """Return the name of each field of a dataclass, in code and in files, and its default."""
    return tuple((field.name, field.name.rstrip("_"), _default(field)) for field in fields(kind))


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def is_same(item: Any, usual: Any) -> bool:
    """Return whether two plain values are equal; true is not 1."""
    return item == usual and isinstance(item, bool) == isinstance(usual, bool)


def _proxy_of(items: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(items)


# Otherwise values that hold one could be neither pickled nor copied deeply.
copyreg.pickle(MappingProxyType, lambda proxy: (_proxy_of, (dict(proxy),)))

"""Checks against a JSON Schema that cost little, whatever is checked."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from ..schema.values import is_list, is_mapping
from .bounds import LONGEST_STRUCTURED, MOST_VALUES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Keyword = Callable[[Any, Any, Any, Any], Iterator[Any]]

__all__ = ["briefly", "excess"]

ALTERNATIVES = ("anyOf", "oneOf")
TOO_LONG = "its texts are too long to be worked on"
TOO_MANY = "it has too many values to be worked on"


def briefly(validator: Any) -> Mapping[str, Keyword]:
    """Give the keywords of a class of validators that find all errors of every alternative.

    As they are given, they find the first of each: one is enough to be none of them.
    """
    return {name: _brief(validator.VALIDATORS[name]) for name in ALTERNATIVES}


def excess(value: Any, values: int = MOST_VALUES, characters: int = LONGEST_STRUCTURED) -> str:
    """Say in which way a value is too much to be worked on; nothing where it is not.

    Args:
        value: A JSON value.
        values: The most values that it may consist of.
        characters: The most characters that its texts may have, names included.
    """
    ahead = [value]
    while ahead:
        one = ahead.pop()
        values -= 1
        if isinstance(one, str):
            characters -= len(one)
        elif is_mapping(one):
            characters -= sum(map(len, one))
            ahead += islice(one.values(), max(values, 0) + 1)
        elif is_list(one):
            ahead += islice(one, max(values, 0) + 1)
        if values < 0:
            return TOO_MANY
        if characters < 0:
            return TOO_LONG
    return ""


def _brief(keyword: Keyword) -> Keyword:
    def checked(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        return keyword(_Brief(validator), value, instance, schema)

    return checked


class _Brief:
    """A validator that finds no more than one error of a part."""

    def __init__(self, validator: Any) -> None:
        self.evolve = validator.evolve
        self._validator = validator

    def descend(self, *place: Any, **path: Any) -> Iterator[Any]:
        return islice(self._validator.descend(*place, **path), 1)

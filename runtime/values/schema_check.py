"""JSON Schema checks whose cost is bounded, whatever they check."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from ...schema.values.values import is_list, is_mapping
from .bounds import LONGEST_STRUCTURED, MOST_STEPS, MOST_VALUES

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    Keyword = Callable[[Any, Any, Any, Any], Iterator[Any] | None]

ALTERNATIVES = ("anyOf", "oneOf")
UNCHECKED = ("pattern", "patternProperties", "unevaluatedItems", "unevaluatedProperties")
"""Keywords that are not checked: a pattern can take forever, and the others repeat the whole schema
for each value. A tool that declares them checks them itself."""
COMPARED_IN_A_STEP = 8
TOO_LONG = "its texts are too long to be worked on"
TOO_MANY = "it has too many values to be worked on"


class TooManySteps(Exception):
    """Checking a value against a schema takes too many steps."""


class StepBudget:
    """The steps left for several checks together: keywords that values are checked against."""

    def __init__(self) -> None:
        self.steps = MOST_STEPS

    @contextmanager
    def checking(self) -> Generator[None]:
        """Count the checks in a `with` block, which raises `TooManySteps` when no step is left."""
        _THREAD.room = self
        try:
            yield
        finally:
            del _THREAD.room

    def take(self, steps: int) -> None:
        """Use up steps."""
        self.steps -= steps
        if self.steps < 0:
            raise TooManySteps


_THREAD = threading.local()


def brief_keywords(validator: Any) -> Mapping[str, Keyword]:
    """Return a validator class's keywords, adapted for `StepBudget.checking`.

    The original keywords find all errors of every alternative. These find the first error of each,
    which is enough to reject it.
    """
    keywords: dict[str, Keyword] = {**validator.VALIDATORS, **dict.fromkeys(UNCHECKED, _nothing)}
    keywords |= {name: _brief(keywords[name]) for name in ALTERNATIVES}
    if "additionalProperties" in keywords:
        keywords["additionalProperties"] = _without_patterns(keywords["additionalProperties"])
    return {name: _counted(name, keyword) for name, keyword in keywords.items()}


def excess(value: Any, values: int = MOST_VALUES, characters: int = LONGEST_STRUCTURED) -> str:
    """Return in which way a value is too large to process; empty if it is not.

    Args:
        values: The most values that it may consist of.
        characters: The most characters of its texts, keys included.
    """
    ahead = [value]
    while ahead:
        item = ahead.pop()
        values -= 1
        if isinstance(item, str):
            characters -= len(item)
        elif is_mapping(item):
            characters -= sum(map(len, item))
            ahead += islice(item.values(), max(values, 0) + 1)
        elif is_list(item):
            ahead += islice(item, max(values, 0) + 1)
        if values < 0:
            return TOO_MANY
        if characters < 0:
            return TOO_LONG
    return ""


def _counted(name: str, keyword: Keyword) -> Keyword:
    def checked(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any] | None:
        _THREAD.room.take(1 + _comparisons(name, value, instance) // COMPARED_IN_A_STEP)
        return keyword(validator, value, instance, schema)

    return checked


def _comparisons(name: str, value: Any, instance: Any) -> int:
    """Return the most comparisons of values that one keyword makes."""
    if name == "enum" and is_list(value):
        return len(value)
    if name == "uniqueItems" and is_list(instance):
        is_sortable = len({type(item) for item in instance}) == 1 and isinstance(instance[0], str)
        return len(instance) if is_sortable else len(instance) ** 2 // 2
    return 0


def _nothing(*_: Any) -> None:
    return None


def _without_patterns(keyword: Keyword) -> Keyword:
    def checked(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any] | None:
        if "patternProperties" in schema:
            return None
        return keyword(validator, value, instance, schema)

    return checked


def _brief(keyword: Keyword) -> Keyword:
    def checked(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any] | None:
        return keyword(_Brief(validator), value, instance, schema)

    return checked


class _Brief:
    """A validator that reports at most one error of a part."""

    def __init__(self, validator: Any) -> None:
        self.evolve = validator.evolve
        self._validator = validator

    def descend(self, *place: Any, **path: Any) -> Iterator[Any]:
        return islice(self._validator.descend(*place, **path), 1)

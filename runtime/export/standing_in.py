"""Definitions that stand in for larger ones of ours in a program that is written for others."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

from jsonschema import Draft202012Validator

from ...schema.values.problems import dotted

MOST_PROBLEMS = 8


class NoAnswer(Exception):
    """An agent ended without an answer."""


def is_mapping(value: object) -> bool:
    """Return whether a value is an object of JSON."""
    return isinstance(value, dict)


def is_list(value: object) -> bool:
    """Return whether a value is a list of JSON."""
    return isinstance(value, list)


def scrubbed(text: str) -> str:
    """Return a text that is to be shown."""
    return text


def checker(schema: Mapping[str, Any]) -> Callable[[Any], list[str]]:
    """Return what finds the problems of a value, as sentences that a model can act on."""
    validator = Draft202012Validator(schema)

    def problems(value: Any) -> list[str]:
        errors = itertools.islice(validator.iter_errors(value), MOST_PROBLEMS)
        return [
            f"{dotted(tuple(error.absolute_path)) or 'the answer'}: {error.message[:200]}"
            for error in errors
        ]

    return problems

"""Check arguments against a tool's parameters, and explain problems to the model."""

from __future__ import annotations

import functools
import json
from itertools import islice
from typing import TYPE_CHECKING, Any

from ...schema.values.json_text import dumps, loads
from ...schema.values.problems import dotted
from ...schema.values.values import is_list, is_mapping
from ..values.schema_check import StepBudget, TooManySteps, brief_keywords

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jsonschema.protocols import Validator

MOST_PROBLEMS = 5
LONGEST_SHOWN = 80
"""The most characters of a value to show unchanged."""


def arguments_in(text: str) -> dict[str, Any]:
    """Parse the arguments of a call. Nothing is guessed: they must be one JSON object.

    An empty text is an empty object, as endpoints write a call without arguments.

    Raises:
        ValueError: The text is something else; the message tells the model how to mend it.
    """
    if not text.strip():
        return {}
    try:
        value = loads(text)
        json.loads(text, object_pairs_hook=_without_doubles)
    except ValueError as error:
        raise ValueError(f"its arguments {_fault(text, error)}") from None
    if is_mapping(value):
        return value
    kind = "a text in quotes" if isinstance(value, str) else "no JSON object, as {...}"
    raise ValueError(f"its arguments are {kind}. Write the object itself")


def fitted(
    arguments: Mapping[str, Any], parameters: Mapping[str, Any]
) -> tuple[Mapping[str, Any], list[str]]:
    """Check arguments against a tool's parameters.

    Returns:
        The arguments, without optional ones that are null if the tool accepts no null; and their
        problems, as sentences.
    """
    problems = _problems(arguments, parameters)
    bare = _without_nulls(arguments, parameters) if problems else arguments
    if bare != arguments and not _problems(bare, parameters):
        return bare, []
    return arguments, problems


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("say one name twice")
    return value


def _fault(text: str, error: ValueError) -> str:
    """Return why a text is not JSON."""
    begin = text.lstrip()[:1]
    if not isinstance(error, json.JSONDecodeError):
        return f"are not JSON: {error}"
    if begin == "`":
        return "stand in a fence of code. Write the JSON object alone"
    if begin not in {"{", "["}:
        return "do not begin with {. Write a JSON object alone, without words around it"
    if error.msg.startswith("Unterminated") or not text[error.pos :].strip():
        return "end in the middle of the JSON"
    if error.msg.startswith("Extra data"):
        return f"go on after the JSON object: {_shown(text[error.pos :])}"
    advice = "" if "'" not in text[:2] else " JSON has double quotes."
    return f"are not JSON at character {error.pos + 1}: {error.msg}.{advice}"


def _without_nulls(value: Any, schema: Any) -> Any:
    """Return a value without null fields that its schema does not require."""
    if not is_mapping(value) or not is_mapping(schema):
        return value
    fields = schema.get("properties")
    required = schema.get("required")
    properties: Mapping[str, Any] = fields if is_mapping(fields) else {}
    needed: list[Any] = required if is_list(required) else []
    return {
        name: _without_nulls(item, properties.get(name))
        for name, item in value.items()
        if item is not None or name in needed or name not in properties
    }


def _problems(arguments: Mapping[str, Any], parameters: Mapping[str, Any]) -> list[str]:
    """Check arguments; a server's schema may have invalid or circular references."""
    from referencing.exceptions import Unresolvable

    validator = _validator(dumps(parameters))
    try:
        with StepBudget().checking():
            return [*map(_problem_text, islice(validator.iter_errors(arguments), MOST_PROBLEMS))]
    except (Unresolvable, RecursionError):
        return ["its parameters refer to each other in a way that cannot be checked."]
    except TooManySteps:
        return ["the arguments are too much to be checked: give fewer values."]


def _problem_text(error: Any) -> str:
    place = dotted(tuple(error.absolute_path)) or "the arguments"
    if error.validator == "type" and isinstance(error.instance, str):
        return f"{place}: {error.message[:200]}{_unquoted(error.instance, error.validator_value)}"
    return f"{place}: {error.message[:200]}"


def _unquoted(text: str, kinds: Any) -> str:
    """Return the suggestion for a text that holds the wanted value in quotes."""
    try:
        value = loads(text)
    except ValueError:
        return ""
    wanted = kinds if is_list(kinds) else [kinds]
    is_wanted = any(_integers().is_type(value, str(kind)) for kind in wanted)
    return f". Write {_shown(text)} without quotes" if is_wanted else ""


def _shown(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


@functools.cache
def _integers() -> Any:
    """Return JSON Schema's type checker, except that 5.0 is no integer, as for tools."""
    from jsonschema import Draft202012Validator

    return Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    )


@functools.cache
def _validator(parameters: str) -> Validator:
    from jsonschema import Draft202012Validator, validators
    from referencing import Registry

    brief = brief_keywords(Draft202012Validator)
    strict = validators.extend(Draft202012Validator, brief, type_checker=_integers())
    return strict(loads(parameters), registry=Registry())

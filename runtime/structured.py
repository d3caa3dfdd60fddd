"""Structured answers: JSON in a model's text, checked against an agent's output schema."""

from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING, Any

from ..schema.problems import dotted, quoted
from ..schema.values import is_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["answer_in", "first_json", "first_object", "parse_structured"]

_FENCED = re.compile(r"```(?:json)?[^\S\n]*\n(.*?)```", re.DOTALL)
MOST_PROBLEMS = 8
MOST_CANDIDATES = 100


def parse_structured(text: str, schema: Mapping[str, Any]) -> tuple[Any, list[str]]:
    """Read a model's answer as JSON and check it.

    Returns:
        The value, and what is wrong with it as sentences that a model can act on.
    """
    try:
        value = first_json(text)
    except ValueError:
        return None, [f"it is not JSON: {quoted(text.strip()[:80])}"]
    try:
        return value, _problems(value, schema)
    except RecursionError:
        return value, ["it is nested too deeply"]


def first_json(text: str) -> Any:
    """Find the JSON value in a text: the whole text, a fenced block, or the first object in it.

    Raises:
        ValueError: There is none.
    """
    fenced = _FENCED.search(text)
    for candidate in (text.strip(), fenced[1].strip() if fenced else ""):
        try:
            return json.loads(candidate, parse_constant=_refuse)
        except (ValueError, RecursionError):
            continue
    decoder = json.JSONDecoder(parse_constant=_refuse)
    for found in itertools.islice(re.finditer(r"[{\[]", text), MOST_CANDIDATES):
        try:
            return decoder.raw_decode(text, found.start())[0]
        except (ValueError, RecursionError):
            continue
    raise ValueError("no JSON in the text")


def first_object(text: str) -> dict[str, Any]:
    """Find the JSON value in a text, where it is an object; else give an empty one."""
    try:
        value: Any = first_json(text)
    except ValueError:
        return {}
    return value if is_mapping(value) else {}


def answer_in(value: Any) -> tuple[str, str | None]:
    """Give a structured value's JSON text, and its field `answer` as text where it has one."""
    content = json.dumps(value, ensure_ascii=False)
    if not is_mapping(value) or "answer" not in value:
        return content, None
    answer: Any = value["answer"]
    return content, answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def _problems(value: Any, schema: Mapping[str, Any]) -> list[str]:
    from jsonschema import Draft202012Validator
    from referencing import Registry

    errors = Draft202012Validator(schema, registry=Registry()).iter_errors(value)
    found = [
        f"{dotted(tuple(error.absolute_path)) or 'the answer'}: {error.message[:200]}"
        for error in errors
    ]
    return found[:MOST_PROBLEMS]


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")

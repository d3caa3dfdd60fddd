"""Checks for contradicting request fields in a models.yaml, which JSON Schema cannot do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..values.problems import Path, Problem, quoted
from ..values.values import is_mapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..values.document import Document


def request_problems(document: Document, value: Any) -> Iterator[Problem]:
    """Yield fields of a model's requests that are set twice, or in two ways.

    Args:
        value: The file's value, without malformed parts.
    """
    models = value.get("models") if is_mapping(value) else None
    for alias, fields in models.items() if is_mapping(models) else ():
        if not is_mapping(fields):
            continue
        path: Path = ("models", alias)
        if "effort" in fields and "thinking_tokens" in fields:
            message = "cannot be combined with effort. Leave one of them out."
            yield document.problem((*path, "thinking_tokens"), message, at_key=True)
        open_headers = {name.casefold() for name in _names(fields, "headers")}
        for name in _names(fields, "header_env"):
            if name.casefold() in open_headers:
                message = f"the header {quoted(name)} is under headers, too. Leave one of them out."
                yield document.problem((*path, "header_env", name), message, at_key=True)


def _names(fields: Mapping[str, Any], field: str) -> list[str]:
    item = fields.get(field)
    return list(item) if is_mapping(item) else []

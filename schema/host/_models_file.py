"""Checks of a models.yaml that JSON Schema cannot do: fallbacks, and fields of requests."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

from ..values.hints import did_you_mean, listed
from ..values.problems import Path, Problem, quoted
from ..values.values import is_mapping
from .models import DEFAULT_ALIAS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..values.document import Document


def fallback_problems(document: Document, value: Any) -> Iterator[Problem]:
    """Yield fallbacks that are unknown or form a cycle.

    Args:
        value: The file's value, without malformed parts.
    """
    models = _models(value)
    aliases = {*_models(document.value), DEFAULT_ALIAS}
    ahead = {alias: _fallbacks(fields) for alias, fields in models.items()}
    for alias, fallbacks in ahead.items():
        for index, name in fallbacks.items():
            path: Path = ("models", alias, "fallback", index)
            if name == alias:
                message = f"{quoted(alias)} cannot be its own fallback. Leave it out."
                yield document.problem(path, message)
            elif name not in aliases:
                hint = did_you_mean(name, aliases) or f" Aliases: {listed(sorted(aliases))}."
                yield document.problem(path, f"no model {quoted(name)}.{hint}")
    if cycle := _cycle({alias: {*names.values()} - {alias} for alias, names in ahead.items()}):
        message = f"circular fallbacks: {' -> '.join(cycle)}. Leave one of them out."
        yield document.problem(("models", cycle[0], "fallback"), message)


def _models(value: Any) -> Mapping[str, Any]:
    models = value.get("models") if is_mapping(value) else None
    return models if is_mapping(models) else {}


def _fallbacks(fields: Any) -> dict[int, str]:
    listed = (fields or {}).get("fallback") or ()
    return {index: name for index, name in enumerate(listed) if name is not None}


def _cycle(fallbacks: Mapping[str, set[str]]) -> list[str]:
    """Return the aliases of a cycle; each is a fallback of the one before it."""
    try:
        TopologicalSorter(fallbacks).prepare()
    except CycleError as error:
        return error.args[1][::-1]
    return []


def request_problems(document: Document, value: Any) -> Iterator[Problem]:
    """Yield fields of a model's requests that are set twice, or in two ways.

    Args:
        value: The file's value, without malformed parts.
    """
    for alias, fields in _models(value).items():
        if not is_mapping(fields):
            continue
        path: Path = ("models", alias)
        if "effort" in fields and "thinking_tokens" in fields:
            message = "cannot be combined with effort. Leave one of them out."
            yield document.problem((*path, "thinking_tokens"), message, at_key=True)
        open_headers = {name.casefold() for name in _keys(fields, "headers")}
        for name in _keys(fields, "header_env"):
            if name.casefold() in open_headers:
                message = f"the header {quoted(name)} is under headers, too. Leave one of them out."
                yield document.problem((*path, "header_env", name), message, at_key=True)


def _keys(fields: Mapping[str, Any], field: str) -> list[str]:
    item = fields.get(field)
    return list(item) if is_mapping(item) else []

"""Parsing of model answers: first their shape, then the edits that they make to a team."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...runtime.values.structured import json_in, parse_structured
from ...schema.edits import Component, Edit, RejectedEdits, apply, components, edits_from_json
from ...schema.edits.offer.strict import ANY_TEXT, free_text
from ...schema.host.catalogue import Catalogue
from ...schema.loading.ceiling import CapabilityPolicy
from ...schema.team.team import Team
from ...schema.values.errors import ConfigError
from ...schema.values.problems import Problem, quoted
from ...schema.values.terminal import on_one_line
from ...schema.values.values import is_list, is_mapping
from .bounds import Bounds

MOST_PROBLEMS = 8
LONGEST_PROBLEM = 300
TOO_DEEP = "it is nested too deeply."


class InvalidAnswer(Exception):
    """An answer that fails validation.

    Attributes:
        problems: The reasons, as sentences that the model can act on.
    """

    def __init__(self, *problems: str) -> None:
        super().__init__(*problems)
        more = len(problems) - MOST_PROBLEMS
        texts = [problem[:LONGEST_PROBLEM] for problem in problems[:MOST_PROBLEMS]]
        self.problems = (*texts, *([f"and {more} more problems."] if more > 0 else []))


def reason_schema(bounds: Bounds) -> Mapping[str, Any]:
    """Return the schema of a reason. The reason comes first in an answer: think first, then act."""
    return free_text(bounds.reason)


def structured(text: str, schema: Mapping[str, Any], bounds: Bounds) -> dict[str, Any]:
    """Parse an answer by its schema. A reason of any length is accepted, and cut.

    Raises:
        InvalidAnswer: The answer does not match the schema.
    """
    fields: dict[str, Any] = schema["properties"]
    lenient = {**fields, **({"reason": ANY_TEXT} if "reason" in fields else {})}
    try:
        value, problems = parse_structured(text, {**schema, "properties": lenient})
    except RecursionError:
        raise InvalidAnswer(TOO_DEEP) from None
    if problems:
        raise InvalidAnswer(*problems)
    return {**value, **({"reason": _reason(value["reason"], bounds)} if "reason" in value else {})}


def edits_in(
    text: str, bounds: Bounds, allowed: Sequence[Component]
) -> tuple[str, tuple[Edit, ...]]:
    """Parse a reason and edits of the allowed components.

    Every kind of edit in `edits.schema.json` is accepted, even if the model was offered fewer: not
    every endpoint supports constrained decoding.

    Raises:
        InvalidAnswer: It has another shape, edits another component, or is too long.
    """
    try:
        value = json_in(text, _has_edits)
    except ValueError:
        raise InvalidAnswer(f"it is not JSON: {quoted(text.strip()[:80])}") from None
    if not is_mapping(value) or not is_list(listed := value.get("edits")):
        raise InvalidAnswer('it is no JSON object with a list under "edits".')
    if unknown := sorted(value.keys() - {"reason", "edits"}):
        raise InvalidAnswer(f"unknown fields: {quoted(unknown)}. There are reason and edits.")
    if problems := list(_excesses(listed, bounds)):
        raise InvalidAnswer(*problems)
    try:
        component = allowed[0] if len(allowed) == 1 else None
        edits = edits_from_json(json.dumps({"edits": listed}), component=component)
    except ConfigError as error:
        raise InvalidAnswer(*sentences(error.problems)) from None
    except RecursionError:
        raise InvalidAnswer(TOO_DEEP) from None
    if foreign := sorted(components(edits) - {*allowed}):
        raise InvalidAnswer(
            f"it edits {', '.join(foreign)}; here only {', '.join(allowed)} may be edited."
        )
    return _reason(value.get("reason"), bounds), edits


def _has_edits(value: Any) -> bool:
    return is_mapping(value) and is_list(value.get("edits"))


def child_of(
    parent: Team, edits: Sequence[Edit], catalogue: Catalogue, ceiling: CapabilityPolicy
) -> Team:
    """Return the team that the edits make of a parent.

    Raises:
        InvalidAnswer: The edits cannot be applied, or the child exceeds the ceiling.
    """
    result = apply(parent, edits, catalogue, ceiling)
    if isinstance(result, RejectedEdits):
        raise InvalidAnswer(*sentences(result.problems))
    return result


def _excesses(listed: list[Any], bounds: Bounds) -> Iterator[str]:
    if len(listed) > bounds.edits:
        yield f"{len(listed)} edits; at most {bounds.edits} may be made at once."
    longest = max(map(len, _texts(listed)), default=0)
    if longest > bounds.characters:
        yield f"a text of {longest} characters; at most {bounds.characters} are allowed."


def _texts(value: Any) -> Iterator[str]:
    """Yield every string in a value, including keys, at any depth."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case list() as items:
                waiting += items
            case dict() as fields:
                waiting += [*fields, *fields.values()]
            case _:
                pass


def _reason(value: object, bounds: Bounds) -> str:
    return on_one_line(value)[: bounds.reason] if isinstance(value, str) else ""


def sentences(problems: Iterable[Problem]) -> Iterator[str]:
    """Return the problems of edits, as sentences for the model that wrote them."""
    return (f"{problem.path or 'the edits'}: {problem.message}" for problem in problems)

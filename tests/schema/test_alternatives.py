"""No output schema makes an answer cost more to check than it costs to read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from coterie.schema.loading import check_team

from .strategies import CATALOGUE


def told(schema: Any) -> list[str]:
    text = f"name: t\nagents:\n  a:\n    prompt: Do it.\n    output_schema: {json.dumps(schema)}\n"
    return [str(problem) for problem in check_team(text.encode(), "team.yaml", CATALOGUE)[1]]


def doubled(times: int) -> Any:
    return {"anyOf": [doubled(times - 1)] * 2} if times else {"type": "string"}


@pytest.mark.parametrize(
    "schema",
    [
        doubled(5),
        {"type": "array", "items": doubled(5)},
        {"anyOf": [{"properties": {"b": {"anyOf": [{"type": "null"}] * 16}}}] * 3},
        {"anyOf": [{"items": {"anyOf": [{"type": "null"}] * 16}}] * 3},
    ],
)
def test_alternatives_that_multiply_are_told_where_they_stand(schema: Any) -> None:
    [problem] = told(schema)
    assert problem.startswith(
        "team.yaml:5:20: error: agents.a.output_schema: a value of the answer"
    )
    assert "at most 32" in problem


def test_alternatives_of_different_values_do_not_multiply() -> None:
    either = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    fields = {f"f{number}": either for number in range(64)}
    assert told({"type": "object", "properties": fields}) == []
    assert told({"anyOf": [{"type": "object", "properties": fields}] * 8}) == []
    assert told({"anyOf": [{"const": number} for number in range(16)]}) == []


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"$ref": "#"}, "5:21"),
        ({"properties": {"b": {"$ref": "#"}}}, "self-contained"),
        ({"$dynamicRef": "#"}, "unknown field"),
        ({"type": "string", "pattern": "(a+)+$"}, "Regular expressions are not used"),
        ({"enum": [*range(257)]}, "at most 256"),
    ],
)
def test_what_else_would_cost_more_is_no_part_of_an_output_schema(schema: Any, why: str) -> None:
    assert why in told(schema)[0]

"""What an output schema may not have, because checking an answer could take for ever."""

import json
from typing import Any

import pytest

from coterie.schema.loading.loading import check_team

from ..strategies import CATALOGUE


def told(schema: Any) -> list[str]:
    text = f"name: t\nagents:\n  a:\n    prompt: Do it.\n    output_schema: {json.dumps(schema)}\n"
    return [str(problem) for problem in check_team(text.encode(), "team.yaml", CATALOGUE)[1]]


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

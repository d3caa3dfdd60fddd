"""Schemas of what a model may choose: no choice is offered that is none."""

import pytest

from coterie.schema.edits.offer.strict import whole


@pytest.mark.parametrize(
    ("limit", "most"), [(None, 9), (12, 9), (4.5, 4), (2, 2), (1.5, None), (0, None)]
)
def test_a_number_ends_at_its_limit_and_is_not_offered_below_its_least(
    limit: float | None, most: int | None
) -> None:
    schema = whole({"type": "number", "minimum": 2, "maximum": 9}, limit)
    expected = None if most is None else {"type": "integer", "minimum": 2, "maximum": most}
    assert schema == expected

"""Values with other fields."""

from dataclasses import dataclass, replace

import pytest

from coterie.schema.values.values import replaced


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """What is replaced."""

    x: int
    y: int = 0


def test_other_fields_stand_in_place_of_those_that_were_there() -> None:
    point = Point(x=1, y=2)
    assert replaced(point, y=3) == replace(point, y=3)
    assert point == Point(x=1, y=2)
    with pytest.raises(TypeError, match="z"):
        replaced(point, z=3)

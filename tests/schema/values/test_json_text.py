"""JSON that everybody can read: no NaN, no Infinity, and nothing too deep."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.schema.values.json_text import dumps, loads

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def refused(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


@given(values, st.booleans())
def test_whatever_is_written_is_json_and_is_read_again(value: object, ascii_only: bool) -> None:
    written = dumps(value, ensure_ascii=ascii_only)
    strict = json.loads(written, parse_constant=refused)
    assert loads(written) == strict


@given(values)
def test_what_is_finite_is_written_as_ever(value: object) -> None:
    plain = json.dumps(value)
    if all(word not in plain for word in ("NaN", "Infinity")):
        assert dumps(value) == plain


def test_a_number_that_is_not_finite_is_written_as_null() -> None:
    assert dumps({"a": [math.nan, math.inf, -math.inf, 1.5]}) == '{"a": [null, null, null, 1.5]}'
    assert dumps({"a": math.nan, "b": {1}}, default=sorted, indent=1) == (
        '{\n "a": null,\n "b": [\n  1\n ]\n}'
    )


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}', "1e999", "-1e999"])
def test_what_is_not_finite_is_not_read(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not JSON|too large a number"):
        loads(text)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "9" * 5_000, "{", ""])
def test_what_cannot_be_read_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        loads(text)

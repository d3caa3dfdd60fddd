"""What calls consumed, as a plain value."""

from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.values.usage import COUNT_NAMES, NOTHING, Usage, total
from coterie.schema.values.codec import from_value, to_value

COUNTS = {name: st.integers(0, 3) for name in COUNT_NAMES if "usd" not in name}
PRICES = {name: st.sampled_from([0.0, 0.25, 1.5]) for name in COUNT_NAMES if "usd" in name}


@given(st.builds(Usage, **COUNTS, **PRICES))
def test_its_value_is_what_its_declaration_says(usage: Usage) -> None:
    assert [*usage.value().items()] == [*to_value(usage).items()]
    assert from_value(Usage, usage.value()) == usage


@given(st.lists(st.builds(Usage, **COUNTS, **PRICES)))
def test_the_total_is_the_sum(usages: list[Usage]) -> None:
    assert total(usages) == sum(usages, NOTHING)


@given(st.lists(st.integers(0, 10**13).map(lambda picos: Usage(usd=picos / 10**12))))
def test_the_total_of_prices_does_not_depend_on_their_order(usages: list[Usage]) -> None:
    assert total(usages) == total(usages[::-1]) == sum(usages, NOTHING)

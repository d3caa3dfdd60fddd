"""Where lines stand: what was added is found, in its order, however much there is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.pool.values import places
from coterie.pool.values.places import Places


@given(
    st.lists(st.sampled_from("abcdefgé\ud800"), max_size=60),
    st.integers(1, 20),
    st.sampled_from([0, 99]),
)
def test_what_was_added_is_found_in_its_order(added: list[str], fresh: int, many: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(places, "FRESH", fresh)
        patch.setattr(places, "MANY", many)
        some = Places()
        for offset, about in enumerate(added):
            some.add(about, offset)
        again = Places(*some.packed())
        for item in (some, again):
            for about in "abcdefghé\ud800":
                numbers = [offset for offset, other in enumerate(added) if other == about]
                assert list(item.find(about)) == numbers
        again.add("h", 99)
        assert list(again.find("h")) == [99]
        assert again.packed() == Places(*again.packed()).packed()


def test_keys_without_offsets_are_none() -> None:
    with pytest.raises(ValueError, match="each key has one offset"):
        Places(b"12345678", b"")

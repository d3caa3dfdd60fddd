"""Where lines stand: what was added is found, in its order, however much there is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.pool.values import places
from coterie.pool.values.places import Places


@given(
    st.lists(st.sampled_from("abcdefgé\ud800"), max_size=60),
    st.sampled_from([0, 99]),
)
def test_what_was_added_is_found_in_its_order(added: list[str], many: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
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


@given(st.lists(st.lists(st.integers(0, 40), max_size=12), max_size=8), st.sampled_from([3, 99]))
def test_lines_that_are_added_at_once_are_found_like_others(
    blocks: list[list[int]], many: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(places, "MANY", many)
        patch.setattr(places, "AT_ONCE", 2)
        known, offset = Places(), 0
        added = list[int]()
        for block in blocks:
            offsets = [*range(offset, offset + len(block))]
            is_new = len({*block}) == len(block) and {*block}.isdisjoint(added)
            wanted = is_new and len(block) >= 2
            assert known.add_new([*map(str, block)], offsets) == wanted
            if not wanted:
                for number, place in zip(block, offsets, strict=True):
                    known.add(str(number), place)
            added += block
            offset += len(block)
        for number in range(41):
            expected = [place for place, item in enumerate(added) if item == number]
            assert known.find(str(number)) == expected

"""What is encoded is found and decoded, within bounds."""

import base64
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.scrubbing.byte_dumps import dumps_in
from coterie.runtime.scrubbing.encodings import (
    RUN,
    SMALL_EXPANSION,
    UnpackBudget,
    encoded_in,
    unescaped,
    unpacked,
)

RUNS = st.sampled_from(["aGVsbG8w", "-_+/", "0123", " ", "\n", "\\n", "%0A", '"', "\u0142"])
NUMBERS = st.tuples(
    st.sampled_from(["", "", "0x", "\\x"]),
    st.sampled_from(["41", "deadbeef", "0"]),
    st.sampled_from([" ", ",\t", ":", ";", ",\n", "\\n"]),
).map("".join)
CELLS = st.sampled_from(["   u", "   :", "  \\0", "\t\t\t,", " 012", "    ", "\n"])


@pytest.mark.parametrize("parts", [RUNS, NUMBERS, CELLS])
@given(data=st.data())
def test_the_classes_of_characters_hide_nothing_that_the_patterns_find(
    data: st.DataObject, parts: st.SearchStrategy[str]
) -> None:
    text = "".join(data.draw(st.lists(parts, min_size=2, max_size=6)))
    encoded = [*encoded_in(text)]
    runs = [(part.start, part.end) for part in encoded if part.text]
    assert runs == [match.span() for match in RUN.finditer(text)]
    dumps = [(part.start, part.end, part.dumped) for part in encoded if part.dumped]
    assert dumps == [(dump.start, dump.end, dump.readings) for dump in dumps_in(text)]


@given(st.binary(max_size=60), st.integers(1, 500))
def test_no_more_is_unpacked_than_may_be(content: bytes, most: int) -> None:
    packed = gzip.compress(content * 99) * 3
    parts = [*unpacked(packed, UnpackBudget(left=most))]
    assert sum(map(len, parts)) <= most
    assert parts[0] == (content * 99)[:most]


def test_all_archives_of_a_run_share_what_may_be_unpacked() -> None:
    bomb = base64.b64encode(gzip.compress(gzip.compress(bytes(10_000_000))) * 20).decode()
    (run,) = encoded_in(bomb)
    assert sum(map(len, run.decoded())) < (SMALL_EXPANSION + 5) * len(bomb)


@given(st.binary(min_size=12, max_size=90), st.integers(0, 3))
def test_a_run_is_read_from_each_place_in_a_group(content: bytes, skipped: int) -> None:
    text = f"({base64.b64encode(bytes(3) + content).decode()[skipped:]})"
    (run,) = encoded_in(text)
    assert (run.start, text[run.end :].strip("=")) == (1, ")")
    assert any(content[3:] in part for part in run.decoded())


@given(st.lists(st.sampled_from(["a", "-", " ", "&#65;", "\\u0042", "%43", "\\104", "&#x2d;"])))
def test_places_of_an_unescaped_text_are_those_of_the_text(parts: list[str]) -> None:
    text = "".join(parts)
    plain = unescaped(text)
    letters = {"&#65;": "A", "\\u0042": "B", "%43": "C", "\\104": "D", "&#x2d;": "-"}
    if plain is None:
        assert not letters.keys() & {*parts}
        return
    assert plain.text == "".join(letters.get(part, part) for part in parts)
    ends = [len("".join(parts[: at + 1])) for at in range(len(parts))]
    for at, part in enumerate(parts):
        assert plain.place(at, at + 1) == (ends[at] - len(part), ends[at])


@pytest.mark.parametrize("text", ["", "plain words, 50 % of them", "\\n\\t", "&amp; &lt;", "%20"])
def test_a_text_without_escaped_letters_is_left_alone(text: str) -> None:
    assert unescaped(text) is None


def test_archives_within_archives_share_what_may_be_unpacked_of_all() -> None:
    bomb = base64.b64encode(gzip.compress(bytes(10_000_000)))
    text = f"{bomb.decode()}\n\n\n" * 20
    room = UnpackBudget(left=50_000)
    size = sum(len(part) for run in encoded_in(text) for part in run.decoded(room))
    assert room.left == 0
    assert size <= 50_000 + 10 * len(text)  # a run is read in ten ways

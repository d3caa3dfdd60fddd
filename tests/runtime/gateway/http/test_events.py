"""Events are read from bytes, wherever the network cuts them."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.gateway.http.events import EventReader

PIECES = st.sampled_from(
    [
        *(f"data: {word}" for word in ("1", '"漢😀"', "[DONE]", "")),
        *("data:2", ": keep-alive", "event: ping", "id: 7", ""),
    ]
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


def read(content: bytes, cuts: list[int]) -> tuple[list[bytes], EventReader]:
    places = [0, *sorted(min(cut, len(content)) for cut in cuts), len(content)]
    reader = EventReader()
    result = [
        data
        for start, end in itertools.pairwise(places)
        for data in reader.feed(content[start:end])
    ]
    return [*result, *reader.end()], reader


@given(
    lines=st.lists(PIECES, max_size=12),
    end=ENDS,
    mark=st.sampled_from([b"", b"\xef\xbb\xbf"]),
    cuts=st.lists(st.integers(min_value=0, max_value=200), max_size=20),
)
def test_where_a_stream_is_cut_does_not_matter(
    lines: list[str], end: str, mark: bytes, cuts: list[int]
) -> None:
    content = mark + end.join(lines).encode()
    blocks, reader = read(content, cuts)
    assert blocks == read(mark + "\n".join(lines).encode(), [])[0]
    assert reader.is_stream == any(line.startswith("data:") for line in lines)


def test_an_event_is_what_its_lines_of_data_say() -> None:
    content = b": hello\nevent: x\ndata: one\ndata:two\nretry: 3\n\n\n\ndata: three"
    assert read(content, [])[0] == [b"one\ntwo", b"three"]
    assert read(b"event: ping\n\ndata: one\n\n", [])[1].name == b""


@given(
    document=st.sampled_from([b'{"a": "data: 1\\n\\n"}', b"[1]", b"<p>\n\ndata: 2\n\n"]),
    space=st.sampled_from([b"", b"\n\n  "]),
    cuts=st.lists(st.integers(min_value=0, max_value=30), max_size=5),
)
def test_a_document_for_a_stream_is_kept(document: bytes, space: bytes, cuts: list[int]) -> None:
    blocks, reader = read(space + document, cuts)
    assert (blocks, bytes(reader.plain)) == ([], document)


def test_of_what_is_neither_the_beginning_is_kept() -> None:
    blocks, reader = read(b"Sign in first\n" * 1000, [100])
    assert blocks == []
    assert bytes(reader.plain).startswith(b"Sign in first")
    assert len(reader.plain) <= 400

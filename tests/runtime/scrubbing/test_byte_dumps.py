"""Dumps of bytes are found in a text, and read however they were written."""

import pytest

from coterie.runtime.scrubbing.byte_dumps import dumps_in

XXD = """\
00000000: 7573 6572 3a74 6b2d 3966 5132 784c 7a37  user:tk-9fQ2xLz7
00000010: 5262 3457 6d31                           Rb4Wm1"""
OD = """\
0000000   u   s   e   r   :   t   k   -   9   f   Q   2   x   L   z   7
0000020   R   b   4   W   m   1
0000026"""
WORDS = """\
0000000 7375 7265 743a 2d6b 6639 3251 4c78 377a
0000010 6252 5734 316d
0000016"""
HEXADECIMAL_COLUMN = """\
00000000: 6465 6164 6265 6566 6465 6164 6265 6566  deadbeefdeadbeef
00000010: 3031 3233 3435 3637                      01234567"""


@pytest.mark.parametrize(
    ("dump", "content"),
    [
        (XXD, b"user:tk-9fQ2xLz7Rb4Wm1"),
        (OD, b"user:tk-9fQ2xLz7Rb4Wm1"),
        (WORDS, b"user:tk-9fQ2xLz7Rb4Wm1"),
        (HEXADECIMAL_COLUMN, b"deadbeefdeadbeef01234567"),
        ("75 73 65 72", b"user"),
        ("75:73:65:72", b"user"),
        ("0x75, 0x73, 0x65,\n 0x72", b"user"),
        ("[117, 115, 101, 114]", b"user"),
        ("165 163 145 162", b"user"),
    ],
)
def test_a_dump_is_read(dump: str, content: bytes) -> None:
    text = f"so it is:\n{dump}\nand so on"
    (result,) = dumps_in(text)
    assert any(content in reading for reading in result.readings)
    assert text[result.start : result.end].strip("[]") == dump.strip("[]")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No dump. 12 of 30 words, a few.",
        "at 10:20 or 11:30",
        "3.14 2.71 1.41",
        "a be",
        "\\\\n" * 9,
    ],
)
def test_other_texts_hold_none(text: str) -> None:
    assert [*dumps_in(text)] == []

"""Finds dumps of bytes in a text and reads them: `xxd`, `hexdump`, `od`, lists of numbers.

A line of a dump is an offset, bytes or words, and a column of characters; only the middle is
required. The program that wrote a dump is unknown, so it is read in every way; one of them is
right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .encodings import BREAK, hint_of

MOST_ON_A_LINE = 256
"""The most bytes on a line of a dump with offsets."""

_BYTES = r"(?:0x|\\{1,128}+x)?(?:[0-9A-Fa-f]{2,16}|[0-9])"
_GAP = r"(?:[ \t]{1,4}|[ \t]?[,:;][ \t]?)"
_CELL = r"""(?:[ \t]{3}(?:\\[\\"]|[!-~])|[ \t]{2}\\{1,128}+[0abfnrtv]|[ \t][0-7]{3}|[ \t]{4})"""
"""A byte as written by `od -c`, also within JSON."""
LEAD = 40
"""The most characters between the beginning of a dump and the first match of its hint."""
_LINE = (
    r"(?:[ \t]*(?P<offset>[0-9A-Fa-f]{4,16})(?P<colon>:?)(?=[ \t]))?"
    r"(?:(?P<cells>(?=(?:[ \t][0-7]{3}|[ \t]{4}){0,16}(?:[ \t]{3}[!-~]|[ \t]{2}\\))"
    rf"(?>{_CELL}{{2,}}))(?![0-9A-Za-z])"
    rf"|[ \t]*(?P<tokens>(?>(?:{_BYTES}{_GAP})+)(?:{_BYTES}(?![0-9A-Za-z.]))?"
    rf"|{_BYTES}(?![0-9A-Za-z.])))"
)
FIRST = re.compile(rf"(?:(?<![0-9A-Za-z.])|(?<=\\[nr])){_LINE}")
FURTHER = re.compile(rf"{BREAK.pattern}{{1,2}}{_LINE}")
COLUMN = re.compile(r"(?:[ \t]+|(?<=[ \t]))[|>]?")
SIGN = re.compile(r"[^\n\r]")
ESCAPED_SIGN = re.compile(r"\\[\\\"]|[^\n\r\\]")
LINE_END = re.compile(rf"[ \t]*(?:{BREAK.pattern}|\"|\Z)")
TOKENS = re.compile(r"(?:0x|\\{1,128}+x)?([0-9A-Fa-f]+)")
CELLS = re.compile(_CELL)
OCTAL = re.compile("[0-3][0-7]{2}|[01][0-7]{5}")
"""A byte, or two."""
SIGNS = dict(zip("0abfnrtv", b"\0\a\b\f\n\r\t\v", strict=True))


@dataclass(frozen=True, kw_only=True, slots=True)
class Dump:
    """A part of a text that may be a dump.

    Attributes:
        readings: The bytes that it may show, one for each way to read it.
    """

    start: int
    end: int
    readings: tuple[bytes, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _DumpLine:
    """A line of a dump, with its parts."""

    start: int
    end: int
    offset: str = ""
    is_labelled: bool = False
    tokens: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str, match: re.Match[str]) -> _DumpLine:
        tokens = tuple(TOKENS.findall(match["tokens"] or match["cells"]))
        end = match.end()
        if match["offset"] and match["tokens"]:
            end = _after_column(text, end, sum(map(len, tokens)) // 2)
        return cls(
            start=match.end() - len(match[0].lstrip(" \t")),
            end=end,
            offset=match["offset"] or "",
            is_labelled=bool(match["colon"]),
            tokens=tokens,
            cells=tuple(CELLS.findall(match["cells"] or "")),
        )


def _after_column(text: str, start: int, count: int) -> int:
    """Return the end of the column that shows a line's bytes as characters.

    In JSON some of them take two characters. The right end is the one where the line ends.
    """
    column = COLUMN.match(text, start)
    if column is None:
        return start
    ends: list[int] = []
    short: list[int] = []
    for sign in (ESCAPED_SIGN, SIGN):
        end, left = column.end(), min(count, MOST_ON_A_LINE)
        while left and (match := sign.match(text, end)):
            end, left = match.end(), left - 1
        (short if left else ends).append(end + (text[end : end + 1] in {"|", "<"}))
    ends += short
    return next((end for end in ends if LINE_END.match(text, end)), ends[0])


def dumps_in(text: str) -> Iterator[Dump]:
    """Yield runs of consecutive lines that may be dumps of bytes."""
    hint = hint_of(text)
    block: list[_DumpLine] = []
    place = 0
    while True:
        if block and (match := FURTHER.match(text, place)):
            block.append(_DumpLine.of(text, match))
            place = block[-1].end
            continue
        yield from _block(block)
        result = hint.search(text, place)
        match = result and _first(text, max(place, result.start() - LEAD), result.start())
        if not match:
            return
        block = [_DumpLine.of(text, match)]
        place = block[-1].end


def _first(text: str, place: int, hint: int) -> re.Match[str] | None:
    """Return the first line of a dump that ends after the place of a hint."""
    match = FIRST.search(text, place)
    while match is not None and match.end() <= hint:
        match = FIRST.search(text, match.end())
    return match


def _block(lines: list[_DumpLine]) -> Iterator[Dump]:
    if sum(max(len(line.tokens), len(line.cells)) for line in lines) >= 3:
        yield Dump(start=lines[0].start, end=lines[-1].end, readings=tuple(_read(lines)))


def _read(lines: list[_DumpLine]) -> Iterator[bytes]:
    """Read a dump in every way in which it may have been written."""
    widths = [_width(*pair) for pair in zip(lines, [*lines[1:], None], strict=True)]
    for read in READINGS:
        yield b"".join(read(line)[:width] for line, width in zip(lines, widths, strict=True))
    if any(line.offset and not line.is_labelled for line in lines):  # which may be a byte, too
        bare = [
            _DumpLine(start=0, end=0, tokens=(*filter(None, [line.offset]), *line.tokens))
            for line in lines
        ]
        for read in READINGS[:2]:
            yield b"".join(map(read, bare))


def _width(line: _DumpLine, following: _DumpLine | None) -> int | None:
    """Return how many bytes a line has according to the next line's offset; None if unknown."""
    if following is None or not line.offset or not following.offset:
        return None
    for base in (16, 8):
        try:
            width = int(following.offset, base) - int(line.offset, base)
        except ValueError:
            continue
        if 0 < width <= MOST_ON_A_LINE and (base == 8 or width % 2 == 0):
            return width if base == 16 or width <= 32 else None
    return None


def _bytes(line: _DumpLine) -> bytes:
    return bytes.fromhex("".join([token for token in line.tokens if len(token) % 2 == 0]))


def _turned(line: _DumpLine) -> bytes:
    """Read little-endian words, as `od -x` and `hexdump` write them."""
    words = [token for token in line.tokens if len(token) in {4, 8, 16}]
    return b"".join([bytes.fromhex(word)[::-1] for word in words])


def _octal(line: _DumpLine) -> bytes:
    """Read bytes or words of two bytes in octal."""
    numbers = [token for token in line.tokens if len(token) in {3, 6} and OCTAL.fullmatch(token)]
    return b"".join([int(number, 8).to_bytes(len(number) // 3, "little") for number in numbers])


def _decimal(line: _DumpLine) -> bytes:
    numbers = [int(token) for token in line.tokens if len(token) <= 3 and token.isdecimal()]
    return bytes([number for number in numbers if number < 256])


def _signs(line: _DumpLine) -> bytes:
    """Read the output of `od -c`."""
    return b"".join(_sign(cell.strip()) for cell in line.cells) if line.cells else _octal(line)


def _sign(cell: str) -> bytes:
    if len(cell) == 3 and cell.isdecimal():
        return bytes([int(cell, 8) & 0xFF])
    if len(cell) > 1 and cell[-1] in SIGNS:
        return bytes([SIGNS[cell[-1]]])
    return (cell[-1:] or " ").encode()


READINGS: tuple[Callable[[_DumpLine], bytes], ...] = (_bytes, _turned, _octal, _decimal, _signs)

"""Finds encoded parts of a text and decodes them one layer deep.

These are runs of base64, base32 and hexadecimal, dumps of bytes, gzip, zlib, bzip2, xz and zip data
in these, and characters that are written as escapes or entities. This module does not know the
secrets: its callers search the decoded text. All of it is linear in the length of the text.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import lzma
import re
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from string import ascii_letters, digits

SHORTEST_RUN = 16
"""The fewest characters of a run of base64 or hexadecimal. A shorter one holds no secret two layers
deep."""
EXPANSION = 4
SMALL_EXPANSION, SMALL = 32, 1 << 18
"""Compressed data is unpacked to at most 4 times its length, but to 32 times up to 256 KiB. The
rest is not searched."""
MOST_UNPACKED = 1 << 22
"""The most bytes that are unpacked of one text or file."""
MOST_PACKED = 8
"""The most archives in one run that are unpacked."""

BREAK = re.compile(r"(?:\\{1,128}+[nr]|[\r\n]|%0A)")
"""A line break, plain or escaped for JSON or a URL."""
_SOON = r"[ \t,:;]{1,4}(?:0x|\\{1,128}+x)?(?:[0-9A-Fa-f]{2,16}|0)"
HINT = re.compile(rf"[0-9A-Fa-f]{{2}}{_SOON}{_SOON}(?=[ \t,:;\n\r\\])")
CELL_HINT = re.compile(rf"{HINT.pattern}|[ \t]{{3}}[!-~][ \t]{{2}}(?:[ \t][!-~]|\\)")
"""A pattern that occurs in every dump. Few other texts match it, and only matches are examined."""

HINT_CLASSES = re.compile(rb"hh[ts]{1,4}[hxb]+[ts]{1,4}[hxb]+[tsb]")
CELL_CLASSES = re.compile(rb"ttt[^t]tt")
"""The hints, and a little more, in the classes of characters of `_HINT_CLASSES`."""

BASE32 = re.compile(rf"[A-Z2-7]{{{SHORTEST_RUN},}}+")
RUN = re.compile(
    rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{{SHORTEST_RUN},}}+"
    rf"(?>(?:{BREAK.pattern}{{1,2}}[A-Za-z0-9+/_-]++(?=[=\"'\\\r\n,)\]}}<]|%0A|\Z))*)"
)
AFTER = re.compile(rf"{BREAK.pattern}{{0,2}}[ \t]*[^ \t\r\n\\]{{0,80}}+")
HEX = re.compile(rf"[0-9A-Fa-f]{{{SHORTEST_RUN},}}+")
PLAIN_BASE64 = str.maketrans("-_", "+/")


def _classes(**signs: str) -> bytes:
    """Return a table for `bytes.translate` that gives each sign the letter of its class."""
    letters = {sign: letter for letter, some in signs.items() for sign in some}
    return "".join(letters.get(chr(code), " ") for code in range(256)).encode()


_HINT_CLASSES = _classes(h="0123456789abcdefABCDEF", t=" \t", s=",:;\n\r", x="x", b="\\")
_ESCAPE_CLASSES = _classes(b="\\", e="01uUx", p="&%")
_RUN_CLASSES = _classes(r=f"{ascii_letters}{digits}+/_-")
_ANY_RUN = b"r" * SHORTEST_RUN


@dataclass(frozen=True, kw_only=True, slots=True)
class Encoded:
    """A part of a text that may be encoded.

    Attributes:
        text: The part without its line breaks; empty for a dump.
        dumped: The bytes that the dump may show, one for each way to read it.
    """

    start: int
    end: int
    text: str = ""
    dumped: tuple[bytes, ...] = ()

    def open_end(self, text: str) -> int:
        """Return the position up to which further text decides where the part ends."""
        following = AFTER.match(text, self.end)
        return following.end() if following else self.end

    def decoded(self, total: UnpackBudget | None = None) -> Iterator[bytes]:
        """Yield all possible decodings, also unpacked as far as the part's length allows.

        Args:
            total: The budget for unpacking, shared with other parts.
        """
        room = UnpackBudget.of(self.end - self.start)
        if total is not None:
            room.left = min(room.left, total.left)
        before = room.left
        for content in (*self.dumped, *_of_run(self.text)):
            yield content
            yield from unpacked(content, room)
        if total is not None:
            total.left -= before - room.left


@dataclass(slots=True)
class UnpackBudget:
    """How many bytes may still be unpacked."""

    left: int

    @classmethod
    def of(cls, size: int) -> UnpackBudget:
        """Return the budget for an encoded part of a size."""
        return cls(
            left=min(max(EXPANSION * size, min(SMALL_EXPANSION * size, SMALL)), MOST_UNPACKED)
        )


def encoded_in(text: str) -> Iterator[Encoded]:
    """Yield the parts of a text that may be encoded, without decoding them."""
    # Most texts have none. To find that out, their characters' classes take a tenth of the time.
    content = text.encode("latin-1", "replace")
    yield from _runs(text, content.translate(_RUN_CLASSES))
    classes = content.translate(_HINT_CLASSES)
    if not (HINT_CLASSES.search(classes) or CELL_CLASSES.search(classes)):
        return
    if hint_of(text).search(text) is None:
        return
    from .byte_dumps import dumps_in

    for dump in dumps_in(text):
        yield Encoded(start=dump.start, end=dump.end, dumped=dump.readings)


def _runs(text: str, classes: bytes) -> Iterator[Encoded]:
    place = classes.find(_ANY_RUN)
    while place >= 0 and (match := RUN.match(text, place)):
        yield Encoded(start=place, end=match.end(), text=BREAK.sub("", match[0]))
        place = classes.find(_ANY_RUN, match.end())


def hint_of(text: str) -> re.Pattern[str]:
    """Return the pattern that occurs in every dump of bytes in a text."""
    return CELL_HINT if "   " in text else HINT


def _of_run(run: str) -> Iterator[bytes]:
    """Read a run as base64 and as hexadecimal, from each offset in a group of characters."""
    if not run:
        return
    plain = run.translate(PLAIN_BASE64)
    for skipped in range(4):
        whole = (len(plain) - skipped) // 4 * 4
        rest = plain[skipped + whole :]
        padded = f"{rest}{'=' * (4 - len(rest))}" if len(rest) > 1 else ""
        yield binascii.a2b_base64(plain[skipped : skipped + whole] + padded)
    for match in BASE32.finditer(run):
        for skipped in range(8):
            yield base64.b32decode(match[0][skipped:][: (len(match[0]) - skipped) // 8 * 8])
    for match in HEX.finditer(run):
        for skipped in range(2):
            digits = match[0][skipped:]
            yield bytes.fromhex(digits[: len(digits) // 2 * 2])


# What is packed.


def unpacked(content: bytes, room: UnpackBudget) -> Iterator[bytes]:
    """Yield the readable content of archives in some bytes, also of archives in archives.

    Args:
        room: The budget for unpacking, shared by all archives.
    """
    for outer in _archives(content, room):
        yield outer
        yield from _archives(outer, room)


def _archives(content: bytes, room: UnpackBudget) -> Iterator[bytes]:
    for place, unpack in _beginnings(content):
        if room.left <= 0:
            break
        part = unpack(content[place:], room.left)
        room.left -= len(part)
        yield part


def _beginnings(content: bytes) -> Iterator[tuple[int, Callable[[bytes, int], bytes]]]:
    """Yield where archives begin, and the function that unpacks each."""
    for magic, unpack in PACKERS.items():
        place = content.find(magic)
        for _ in range(MOST_PACKED):
            if place < 0:
                break
            yield place, unpack
            place = content.find(magic, place + 1)
    if content[:1] == b"\x78" and int.from_bytes(content[:2], "big") % 31 == 0:
        yield 0, _inflated


def _inflated(content: bytes, most: int, bits: int = 47) -> bytes:
    """Unpack gzip or zlib; of a damaged stream, the part before the damage."""
    stream, parts = zlib.decompressobj(bits), list[bytes]()
    try:
        # The checksum at the end may be cut or wrong: the rest is still read.
        for part in (content[:-8], content[-8:]):
            if (left := most - sum(map(len, parts))) > 0:
                parts.append(stream.decompress(part, left))
    except zlib.error:
        pass
    return b"".join(parts)


def _zipped(content: bytes, most: int) -> bytes:
    """Unpack a deflated member of a zip file; a stored one is readable unpacked."""
    method = int.from_bytes(content[8:10], "little")
    names = int.from_bytes(content[26:28], "little") + int.from_bytes(content[28:30], "little")
    return _inflated(content[30 + names :], most, -15) if method == 8 else b""


def _bzipped(content: bytes, most: int) -> bytes:
    try:
        return bz2.BZ2Decompressor().decompress(content, most)
    except (OSError, ValueError):
        return b""


def _xzipped(content: bytes, most: int) -> bytes:
    try:
        return lzma.LZMADecompressor(memlimit=1 << 27).decompress(content, most)
    except lzma.LZMAError:
        return b""


PACKERS: dict[bytes, Callable[[bytes, int], bytes]] = {
    b"\x1f\x8b\x08": _inflated,
    b"PK\x03\x04": _zipped,
    b"BZh": _bzipped,
    b"\xfd7zXZ\0": _xzipped,
}

# Escapes.

WIDEST_ESCAPE = 24
"""The most characters of an escape of a letter: of `\\u0041` or `&amp;#65;`."""
_LETTER = "(?:3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa])"
ESCAPE = re.compile(
    r"[&\\%](?:"
    r"(?<=&)(?:amp;){0,4}+#"
    r"(?:[xX]0{0,8}+(?P<entity>[2-7][0-9A-Fa-f])|0{0,8}+(?P<number>[0-9]{2,3}));?"
    rf"|(?<=(?<!\\)\\)\\{{0,127}}+(?:(?:u00|x|U000000)(?P<escape>{_LETTER})|(?P<octal>[01][0-7]{{2}}))"
    rf"|(?<=%)(?:25){{0,8}}+(?:5[Cc](?:u00|x)(?P<escape_>{_LETTER})|(?P<quoted>{_LETTER})))"
)
"""An ASCII character that is written by its number."""
MARKS = (b"be", b"p")
"""Every text with escaped letters contains one of these, in the classes of `_ESCAPE_CLASSES`."""
BASES = {"number": 10, "octal": 8}
"""The bases of the numbers in escapes; all others are hexadecimal."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unescaped:
    """A text with its escaped letters and digits decoded.

    Attributes:
        views: The start of each part of it, unchanged or decoded.
        places: The start of each of these in the original text, and its end.
    """

    text: str
    views: list[int]
    places: list[int]

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the position of a part of this text in the original text."""
        return self._place(start), self._place(end - 1, is_end=True)

    def _place(self, at: int, *, is_end: bool = False) -> int:
        index = bisect_right(self.views, at) - 1
        begun, place = self.views[index], self.places[index]
        if index % 2:  # an escape, which is taken whole
            return self.places[index + 1] if is_end else place
        return place + at - begun + is_end


def unescaped(text: str) -> Unescaped | None:
    """Decode escaped letters and digits in a text; None if there are none."""
    classes = text.encode("latin-1", "replace").translate(_ESCAPE_CLASSES)
    if not any(mark in classes for mark in MARKS):
        return None
    parts: list[str] = []
    views, places = [0], [0]
    size = end = 0
    for match in ESCAPE.finditer(text):
        kind, start = str(match.lastgroup), match.start()
        parts += [text[end:start], chr(int(match[kind], BASES.get(kind, 16)))]
        size += start - end
        views += [size, size + 1]
        places += [start, match.end()]
        size, end = size + 1, match.end()
    if not parts:
        return None
    return Unescaped(text="".join([*parts, text[end:]]), views=views, places=[*places, len(text)])

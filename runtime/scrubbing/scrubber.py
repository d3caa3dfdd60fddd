"""Removes secrets from everything that is written.

A known secret is found as it is and in the forms in which programs pass text on: escaped
for JSON (also JSON in JSON), a URL, Python or HTML, in base64 at any offset of a longer text,
and in hexadecimal. Each form has one pattern, and fixed texts of which every match contains one:
most lines contain none of them, and then no pattern is tried.

Other encodings are decoded, up to `DEEPEST` layers deep, and searched in the same
way: dumps of bytes, archives, UTF-16, base64 of base64. If a secret is found, the whole
outermost part is removed.
"""

from __future__ import annotations

import base64
import functools
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from ...schema.values.secrets import keys_in
from .encodings import (
    MOST_UNPACKED,
    WIDEST_ESCAPE,
    Encoded,
    UnpackBudget,
    encoded_in,
    unescaped,
    unpacked,
)

SHORTEST = 6
"""The fewest characters of a secret. A shorter one occurs in any text by chance: hiding `7` in an
answer would change the answer."""

LONGEST = 128
"""Characters of one pattern. A longer secret, such as a private key, is searched for in pieces."""

LONGEST_HOLD = 1 << 16
"""The most characters that a stream holds back, however long something like a key continues."""

DEEPEST = 3
"""The most layers of encodings that are decoded."""

STEPS = 8
"""How many times a stream searches again what it holds back."""

MARK = "[secret]"
PRINTABLE = bytes([0, 9, 10, 13, *range(32, 127)])
ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
APART = " | "
"""A separator of texts that are searched together: no encoded part extends across it."""
_PLAIN = re.compile("[A-Za-z0-9]*")
"""Characters that every text encoding leaves unchanged."""

_BREAKS = (r"\n", r"\r", "\n", "\r", "%0A")
"""Line breaks, also escaped for JSON and a URL."""

_UNIT = re.compile(r"\\+|.", re.DOTALL)
"""A character, or a whole run of backslashes: single ones could be escaped in many ways."""

_MOST_SLASHES = 128
"""The most backslashes that may escape a character: seven levels of JSON double it as often."""
_SLASH = r"(?:\\|%(?:25){0,3}5[Cc])"
_NO_SLASH_BEFORE = r"(?<!\\)(?<!%5[Cc])(?<!%255[Cc])(?<!%25255[Cc])(?<!%2525255[Cc])"
# Slashes are taken all at once, from the first on. A search that tries each number of them from
# each of them takes hours for megabytes of slashes. They are in atomic groups, since Python before
# 3.11.5 goes wrong where what is repeated possessively is itself tried in several ways.
_SLASHES = f"(?>{_SLASH}{{1,{_MOST_SLASHES}}})"
_FIRST_SLASHES = f"{_NO_SLASH_BEFORE}(?>{_SLASH}+)"
_BEGUN_ESCAPE = re.compile(rf"\\{{1,{_MOST_SLASHES}}}+(?:u[0-9A-Fa-f]{{0,3}})?\Z")

_SHORT_ESCAPES = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}
_WIDEST = 150
"""The most characters that one character of a secret, or a line break, takes."""

_SHORTEST_LINE = 60
"""The fewest characters between two line breaks."""


class Scrubber:
    """Removes secrets from texts.

    Args:
        secrets: The known secrets. Those shorter than `SHORTEST` are ignored.

    Attributes:
        reach: The most characters that a known secret takes in any of its forms.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        pieces = sorted({piece for secret in secrets for piece in _pieces(secret.strip())})
        forms = [form for piece in pieces for form in _forms(piece)]
        self._forms = tuple((form.token, form) for form in forms if not form.breaks)
        self._broken_forms = tuple((form.token, form) for form in forms if form.breaks)
        width = max(map(len, pieces), default=0) * WIDEST_ESCAPE
        self.reach = max((form.width for form in forms), default=0) + width
        self._needles = [
            piece.encode(encoding, "surrogatepass") for piece in pieces for encoding in ENCODINGS
        ]

    def __call__(self, text: str) -> str:
        """Return the text without known secrets and without anything that looks like a key."""
        return _without([*self._spans(text), *_lookalikes(text)], text)

    def without_secrets(self, text: str) -> str:
        """Return the text without known secrets. What only looks like a key stays."""
        return _without(self._spans(text), text)

    def stream(self) -> ScrubberStream:
        """Return a scrubber of a text that arrives in pieces."""
        return ScrubberStream(self)

    def cut(self, text: str, most: int) -> int:
        """Return where a text can be cut without splitting anything that may be removed.

        Args:
            text: The text. More of it may follow.
            most: The last position for the cut.
        """
        spans = [*self._plainly(text), *self._escaped(text), *_lookalikes(text)]
        if self._forms:
            spans += [(encoded.start, encoded.open_end(text) + 1) for encoded in encoded_in(text)]
        for start, end in sorted(spans, reverse=True):
            if start < most < end:
                most = start
        return most

    def _spans(self, text: str) -> list[tuple[int, int]]:
        if not self._forms:
            return []
        return [*self._plainly(text), *self._escaped(text), *self._encoded(text)]

    def _escaped(self, text: str) -> list[tuple[int, int]]:
        """Yield the secrets that are written with escapes."""
        plain = unescaped(text)
        if plain is None:
            return []
        spans = (plain.place(*span) for span in self._plainly(plain.text))
        return [(_begun(text, start), end) for start, end in spans]

    def _encoded(self, text: str) -> list[tuple[int, int]]:
        """Yield the encoded parts that hold a secret in some layer."""
        stretches = [*encoded_in(text)]
        # Mostly there is nothing: all that differ are searched at once.
        different = {(part.end - part.start, part.text, part.dumped): part for part in stretches}
        if not stretches or not self._are_in([*different.values()], DEEPEST):
            return []
        return [
            (_begun(text, stretch.start), stretch.end)
            for stretch in stretches
            if self._are_in([stretch], DEEPEST)
        ]

    def _are_in(
        self, stretches: Sequence[Encoded], layers: int, room: UnpackBudget | None = None
    ) -> bool:
        """Return whether some parts hold a secret.

        Args:
            room: The budget for unpacking all of them; None: the budget of one text.
        """
        room = room or UnpackBudget(left=MOST_UNPACKED)
        contents = [content for stretch in stretches for content in stretch.decoded(room)]
        joined = b" | ".join(contents)
        if any(needle in joined for needle in self._needles):
            return True
        text = APART.join(
            text for content in contents if _is_text(content) for text in _texts(content)
        )
        if not text:
            return False
        if self._plainly(text) or self._escaped(text):
            return True
        inner = [*encoded_in(text)] if layers > 1 else []
        return bool(inner) and self._are_in(inner, layers - 1, room)

    def _plainly(self, text: str) -> list[tuple[int, int]]:
        """Yield the secrets in the forms that have patterns."""
        result = [form for token, form in self._forms if token in text]
        unbroken = _unbroken(text)
        result += [form for token, form in self._broken_forms if token in unbroken]
        return [
            (_begun(text, match.start()), match.end())
            for form in result
            for match in form.pattern.finditer(text)
        ]


def holds_secret(content: bytes, scrub: Callable[[str], str]) -> bool:
    """Return whether the bytes of a file hold a secret, whatever the kind of file.

    They are read as UTF-8 and byte by byte, and once more without zeros, which UTF-16 and UTF-32
    write between the letters of a key.
    """
    packed = unpacked(content, UnpackBudget.of(len(content)))
    for part in {content, content.replace(b"\0", b""), *packed}:
        for text in {part.decode("latin-1"), part.decode(errors="surrogateescape")}:
            if scrub(text) != text:
                return True
    return False


class ScrubberStream:
    """A scrubber of a stream. No secret passes, wherever the text is split."""

    def __init__(self, scrubber: Scrubber) -> None:
        self._scrubber = scrubber
        self._reach = max(scrubber.reach, LONGEST)
        self._held = ""
        self._next = self._reach

    def feed(self, text: str) -> str:
        """Add the next piece; return the text so far that cannot be part of a secret."""
        self._held += text
        if len(self._held) < min(self._next, LONGEST_HOLD):
            return ""
        cut = len(self._held) - self._reach
        if len(self._held) < LONGEST_HOLD:
            # What begins before the cut and ends after it may go on in the next piece.
            cut = self._scrubber.cut(self._held, cut)
        clean = self._release(max(cut, 0))
        self._next = len(self._held) + self._reach // STEPS
        return clean

    def flush(self) -> str:
        """Return the rest at the end of the text."""
        return self._release(len(self._held))

    def _release(self, cut: int) -> str:
        head, self._held = self._held[:cut], self._held[cut:]
        return self._scrubber(head)


def _is_text(content: bytes) -> bool:
    """Return whether bytes are mostly text; a wrong decoding is not."""
    return 2 * len(content.translate(None, PRINTABLE)) < len(content)


def _texts(content: bytes) -> Iterator[str]:
    """Read bytes as text: byte by byte, without the zeros of UTF-16, and as UTF-8."""
    yield content.decode("latin-1")
    if b"\0" in content:
        yield content.replace(b"\0", b"").decode("latin-1")
    if not content.isascii():
        with suppress(UnicodeDecodeError):
            yield content.decode()


class _SecretForm:
    """A form in which a secret is written.

    Args:
        parts: A pattern for each of its characters.
        token: A text in every match of the form's pattern, ignoring line breaks.
        width: The most characters that the pattern matches.
        breaks: Whether line breaks may occur between the characters.
    """

    def __init__(self, parts: list[str], token: str, *, width: int, breaks: bool) -> None:
        self.token = token
        self.breaks = breaks
        self.width = width
        self._parts = parts

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        """The form as a regular expression, compiled on first use."""
        between = r"(?>(?:\\{1,128}+[nr]|[\r\n]|%0A){0,2})" if self.breaks else ""
        return re.compile(between.join(self._parts))


def _pieces(secret: str) -> Iterator[str]:
    """Split a secret into pieces of similar size, none longer than `LONGEST`."""
    if len(secret) >= SHORTEST:
        count = -(-len(secret) // LONGEST)
        size = -(-len(secret) // count)
        yield from (secret[start : start + size] for start in range(0, len(secret), size))


def _forms(secret: str) -> Iterator[_SecretForm]:
    """Yield all forms in which a secret may be written."""
    token = max(_PLAIN.findall(secret), key=len)
    units = _UNIT.findall(secret)
    parts = [_written(*three) for three in zip(["", *units], units, [*units[1:], ""], strict=False)]
    width = sum(1 if _PLAIN.fullmatch(character) else _WIDEST for character in secret)
    yield _SecretForm(parts, token, width=width, breaks=False)
    for written in {secret, *(json.dumps(secret, ensure_ascii=way)[1:-1] for way in (True, False))}:
        for offset in range(3):
            yield _base64(written.encode(errors="surrogatepass"), offset)
    digits = secret.encode(errors="surrogatepass").hex()
    for text in (digits, digits.upper()):
        yield _SecretForm(list(text), text, width=_width(text), breaks=True)


def _written(before: str, character: str, after: str) -> str:
    """Return the pattern of a unit in text formats, nested or not.

    Args:
        before: The unit before it; empty for the first.
        after: The unit after it; empty for the last.
    """
    if _PLAIN.fullmatch(character):
        return character
    if character.startswith("\\") and after and not before:
        # With those of what comes after.
        return f"{_NO_SLASH_BEFORE}(?>{_SLASH}{{{len(character)},}})"
    if character.startswith("\\"):
        # As often doubled as it was quoted; what comes after may begin with a backslash, too.
        doublings = (2**times * len(character) for times in range(7, -1, -1))
        return f"(?:{'|'.join(f'{_SLASH}{{{number}}}' for number in doublings)})"
    slashes = _SLASHES if before else _FIRST_SLASHES
    if before.startswith("\\"):
        slashes = f"(?>(?:{_SLASHES})?)"  # the unit before it may have taken them
    encoded = character.encode(errors="surrogatepass")
    units = character.encode("utf-16-be", errors="surrogatepass").hex()
    escapes = [
        "".join(rf"{slashes}x(?i:{byte:02x})" for byte in encoded),
        rf"{slashes}x(?i:{ord(character):02x})",
        "".join(rf"{slashes}u(?i:{units[i : i + 4]})" for i in range(0, len(units), 4)),
        rf"{slashes}U(?i:{ord(character):08x})",
    ]
    if character in _SHORT_ESCAPES:
        escapes.append(rf"{slashes}{_SHORT_ESCAPES[character]}")
    signs = [
        re.escape(character),
        "".join(f"%(?:25){{0,3}}(?i:{byte:02x})" for byte in encoded),
        re.escape(html.escape(character)),
        *([r"\+", "%(?:25){0,3}2[Bb]"] if character == " " else []),
    ]
    return f"(?:{'|'.join(escapes)}|(?:{slashes})?(?:{'|'.join(signs)}))"


def _base64(secret: bytes, offset: int) -> _SecretForm:
    """Return the form of a secret in base64, `offset` bytes after a group of three began.

    It contains only the characters that depend on nothing but the secret.
    """
    encoded = base64.b64encode(bytes(offset) + secret).decode()
    first = -(-offset * 8 // 6)
    text = encoded[first : (offset + len(secret)) * 8 // 6]
    others = {"+": r"(?:\+|-|%2[Bb])", "/": rf"(?:(?:{_SLASHES})?/|_|%2[Ff])"}
    token = max(_PLAIN.findall(text), key=len)
    parts = [others.get(character, character) for character in text]
    return _SecretForm(parts, token, width=_width(text), breaks=True)


def _width(text: str) -> int:
    """Return the most characters that an encoded text takes when it is broken into lines."""
    return len(text) + (len(text) // _SHORTEST_LINE + 1 + text.count("/")) * _WIDEST


def _begun(text: str, start: int) -> int:
    """Return the start of the escape that a secret ends; the secret's own start if there is none.

    Removing a part of an escape would leave a line of JSON that is not JSON any more.
    """
    head = text[max(start - _MOST_SLASHES - len("u000"), 0) : start]
    result = _BEGUN_ESCAPE.search(head)
    return start - len(result[0]) if result else start


def _unbroken(text: str) -> str:
    """Return a text without line breaks, which programs put into long runs of base64."""
    while r"\\" in text:  # JSON in JSON
        text = text.replace(r"\\", "\\")
    for mark in _BREAKS:
        text = text.replace(mark, "")
    return text


def _lookalikes(text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in keys_in(text))


def _without(spans: list[tuple[int, int]], text: str) -> str:
    """Replace each part of a text by a mark; adjacent parts become one."""
    if not spans:
        return text
    parts: list[str] = []
    covered = -1
    for start, end in sorted(spans):
        if start > covered:
            parts += [text[max(covered, 0) : start], MARK]
        covered = max(covered, end)
    return "".join([*parts, text[covered:]])

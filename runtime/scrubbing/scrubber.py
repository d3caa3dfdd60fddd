"""Taking secrets out of everything that is written.

A secret that is known is found as it is and in the forms in which programs pass text on: escaped
for JSON (also JSON in JSON), a URL, Python or HTML, in base64 wherever it stands in a longer text,
and in hexadecimal. For each form there is one pattern, and fixed texts that stand in every text in
which the pattern can match: most lines hold none of them, and then no pattern is tried.

What is encoded otherwise is decoded, up to `DEEPEST` layers deep, and sought in there in the same
way: dumps of bytes, what is packed, UTF-16, base64 of base64. Where something is found, the whole
outermost stretch is taken out.
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
"""Characters of a secret. A shorter one stands in any text by chance: hiding `7` in an answer would
change the answer, and what is hidden in every word is not secret."""

LONGEST = 128
"""Characters of one pattern. A longer secret, such as a private key, is sought in pieces."""

LONGEST_HOLD = 1 << 16
"""Characters that a stream holds back at most, however long something like a key goes on."""

DEEPEST = 3
"""Layers of encodings that are undone."""

STEPS = 8
"""How many times a stream looks again at what it holds back."""

MARK = "[secret]"
PRINTABLE = bytes([0, 9, 10, 13, *range(32, 127)])
ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
APART = " | "
"""Between texts that are searched together: nothing that is encoded goes on across it."""
_PLAIN = re.compile("[A-Za-z0-9]*")
"""Characters that no encoding of text as text changes."""

_BREAKS = (r"\n", r"\r", "\n", "\r", "%0A")
"""How line breaks show, also in JSON and in a URL."""

_UNIT = re.compile(r"\\+|.", re.DOTALL)
"""A character, but all backslashes that stand together: each alone could be many in many ways."""

_MOST_SLASHES = 128
"""What may stand before a character by way of escape: seven levels of JSON double it as often."""
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
"""Characters that one character of a secret takes at most, or a break of lines."""

_SHORTEST_LINE = 60
"""Characters from one break to the next."""


class Scrubber:
    """Takes secrets out of texts.

    Args:
        secrets: What is known to be secret. Those shorter than `SHORTEST` are left alone.

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
        """Return the text without known secrets and without what looks like a key."""
        return _without([*self._spans(text), *_lookalikes(text)], text)

    def without_secrets(self, text: str) -> str:
        """Return the text without known secrets. What only looks like a key stays."""
        return _without(self._spans(text), text)

    def stream(self) -> ScrubberStream:
        """Scrub a text that comes in pieces."""
        return ScrubberStream(self)

    def cut(self, text: str, most: int) -> int:
        """Return where a text can be cut so that nothing that may be taken out is split.

        Args:
            text: The text. More of it may come.
            most: Where it is cut at the latest.
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
        """Find what letters written as escapes spell."""
        plain = unescaped(text)
        if plain is None:
            return []
        spans = (plain.place(*span) for span in self._plainly(plain.text))
        return [(_begun(text, start), end) for start, end in spans]

    def _encoded(self, text: str) -> list[tuple[int, int]]:
        """Find what is encoded and holds a secret in some layer."""
        stretches = [*encoded_in(text)]
        # Mostly there is nothing: all of them are searched at once.
        if not stretches or not self._are_in(stretches, DEEPEST):
            return []
        return [
            (_begun(text, stretch.start), stretch.end)
            for stretch in stretches
            if self._are_in([stretch], DEEPEST)
        ]

    def _are_in(
        self, stretches: Sequence[Encoded], layers: int, room: UnpackBudget | None = None
    ) -> bool:
        """Return whether some stretches hold a secret.

        Args:
            room: How much may be unpacked of all; None: as much as of one text.
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
        """Find secrets in the forms of which there are patterns."""
        result = [form for token, form in self._forms if token in text]
        unbroken = _unbroken(text)
        result += [form for token, form in self._broken_forms if token in unbroken]
        return [
            (_begun(text, match.start()), match.end())
            for form in result
            for match in form.pattern.finditer(text)
        ]


def holds_secret(content: bytes, scrub: Callable[[str], str]) -> bool:
    """Return whether the bytes of a file hold a secret, whatever kind of file it is.

    They are read as UTF-8 and byte by byte, and so again without zeros: UTF-16 and UTF-32 write
    them between the letters of a key.

    Args:
        scrub: Takes secrets out of a text.
    """
    packed = unpacked(content, UnpackBudget.of(len(content)))
    for part in {content, content.replace(b"\0", b""), *packed}:
        for text in {part.decode("latin-1"), part.decode(errors="surrogateescape")}:
            if scrub(text) != text:
                return True
    return False


class ScrubberStream:
    """A text on its way through a scrubber. No secret passes, wherever the text is split."""

    def __init__(self, scrubber: Scrubber) -> None:
        self._scrubber = scrubber
        self._reach = max(scrubber.reach, LONGEST)
        self._held = ""
        self._next = self._reach

    def feed(self, text: str) -> str:
        """Take the next piece; give what of the text so far can hold no part of a secret."""
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
        """Return the rest: the text is at its end."""
        return self._release(len(self._held))

    def _release(self, cut: int) -> str:
        head, self._held = self._held[:cut], self._held[cut:]
        return self._scrubber(head)


def _is_text(content: bytes) -> bool:
    """Return whether bytes are text for the greater part; what is decoded wrongly is not."""
    return 2 * len(content.translate(None, PRINTABLE)) < len(content)


def _texts(content: bytes) -> Iterator[str]:
    """Read bytes as text: byte by byte, also without zeros, which UTF-16 has, and as UTF-8."""
    yield content.decode("latin-1")
    if b"\0" in content:
        yield content.replace(b"\0", b"").decode("latin-1")
    if not content.isascii():
        with suppress(UnicodeDecodeError):
            yield content.decode()


class _SecretForm:
    """A way in which a secret is written.

    Args:
        parts: A pattern for each of its characters.
        token: A text that stands in all that the form's pattern matches, line breaks left out.
        width: The most characters that the pattern matches.
        breaks: Whether line breaks may stand between the characters.
    """

    def __init__(self, parts: list[str], token: str, *, width: int, breaks: bool) -> None:
        self.token = token
        self.breaks = breaks
        self.width = width
        self._parts = parts

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        """The form as a regular expression; most are never needed."""
        between = r"(?>(?:\\{1,128}+[nr]|[\r\n]|%0A){0,2})" if self.breaks else ""
        return re.compile(between.join(self._parts))


def _pieces(secret: str) -> Iterator[str]:
    """Split a secret into pieces of like size, none longer than `LONGEST`."""
    if len(secret) >= SHORTEST:
        count = -(-len(secret) // LONGEST)
        size = -(-len(secret) // count)
        yield from (secret[start : start + size] for start in range(0, len(secret), size))


def _forms(secret: str) -> Iterator[_SecretForm]:
    """Yield all ways in which a secret may be written."""
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
    """Return the pattern of a unit as text formats write it, nested in each other or not.

    Args:
        before: The unit ahead of it; nothing ahead of the first.
        after: The one after it; nothing after the last.
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

    Only characters that the secret determines alone are in it.
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
    """Give where the escape begins that a secret is the end of; the secret's own start, if of none.

    Of an escape without its beginning or its end, a line of JSON would be no JSON any more.
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
    """Put a mark in the place of each stretch of a text; stretches that touch become one."""
    if not spans:
        return text
    parts: list[str] = []
    covered = -1
    for start, end in sorted(spans):
        if start > covered:
            parts += [text[max(covered, 0) : start], MARK]
        covered = max(covered, end)
    return "".join([*parts, text[covered:]])

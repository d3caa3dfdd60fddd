"""Looks for a secret in what was written, in every form in which it can be read back.

This shares nothing with the scrubber: it decodes whatever can be decoded, and looks at the result.
"""

import base64
import binascii
import html
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote_to_bytes

ESCAPE = re.compile(rb"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
LETTERS = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{8,}")
HEX = re.compile(rb"[0-9A-Fa-f]{12,}")


def leaks(content: bytes, *secrets: str, depth: int = 3) -> set[tuple[str, str]]:
    """Find secrets in bytes: each with the steps that reveal it, such as `raw unquoted`."""
    return {
        (secret, steps)
        for steps, view in readings(content, depth)
        for secret in secrets
        if secret.encode() in view or secret.encode("utf-16-le") in view
    }


def cuttings(content: bytes, *secrets: str, size: int = 12) -> set[str]:
    """Find parts of secrets, which were cut: all runs of this many characters of them."""
    parts = {
        secret[start : start + size]
        for secret in secrets
        for start in range(len(secret) - size + 1)
    }
    return {part for part in parts if part.encode() in content}


def readings(content: bytes, depth: int) -> Iterator[tuple[str, bytes]]:
    """Yield all that can be read from some bytes by up to so many steps of decoding."""
    seen: set[bytes] = set()
    waiting = [("raw", content)]
    for level in range(depth + 1):
        following: list[tuple[str, bytes]] = []
        for steps, view in waiting:
            if view not in seen:
                seen.add(view)
                yield steps, view
                if level < depth:
                    following += [(f"{steps}, {step}", data) for step, data in _views(view)]
        waiting = following


def written(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield every file below a folder with its bytes; of databases also the rows, as text."""
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            yield path, str(path.readlink()).encode()
        elif path.is_file():
            content = path.read_bytes()
            yield path, content
            if content.startswith(b"SQLite format 3\0"):
                yield path, _rows(path)


def _views(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Decode bytes in each way that changes them."""
    for step, decode in (
        ("unescaped", lambda text: _paired(ESCAPE.sub(_unescaped, text))),
        ("unescaped as characters", lambda text: ESCAPE.sub(_unescaped_character, text)),
        ("unquoted", lambda text: unquote_to_bytes(text.replace(b"+", b" "))),
        ("unquoted plainly", unquote_to_bytes),
        ("of HTML", _of_html),
    ):
        if (decoded := decode(content)) != content:
            yield step, decoded
    joined = re.sub(rb"(?:\\+[nr]|[\r\n])+", b"", content)
    if runs := b"\n".join(_from_base64(joined)):
        yield "of base64", runs
    if runs := b"\n".join(_from_hex(joined)):
        yield "of hex", runs


def _unescaped(match: re.Match[bytes]) -> bytes:
    wide, widest, narrow, letter = match.groups()
    if wide or widest:
        return chr(int(wide or widest, 16) % 0x110000).encode(errors="surrogatepass")
    return bytes([int(narrow, 16)]) if narrow else LETTERS.get(letter, letter)


def _unescaped_character(match: re.Match[bytes]) -> bytes:
    return chr(int(match[3], 16)).encode() if match[3] else _unescaped(match)


def _of_html(text: bytes) -> bytes:
    return html.unescape(text.decode(errors="surrogateescape")).encode(errors="surrogateescape")


def _paired(text: bytes) -> bytes:
    """Join halves of characters, which JSON writes each on its own."""
    halves = re.compile(rb"\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf]")
    return halves.sub(_joined, text)


def _joined(match: re.Match[bytes]) -> bytes:
    units = match[0].decode(errors="surrogatepass").encode("utf-16-le", errors="surrogatepass")
    return units.decode("utf-16-le").encode()


def _from_base64(text: bytes) -> Iterator[bytes]:
    for run in BASE64.findall(text):
        plain = run.replace(b"-", b"+").replace(b"_", b"/")
        for start in range(4):
            part = plain[start:]
            yield base64.b64decode(part + b"A" * (-len(part) % 4))


def _from_hex(text: bytes) -> Iterator[bytes]:
    for run in HEX.findall(text):
        for start in range(2):
            part = run[start:]
            yield binascii.unhexlify(part[: len(part) // 2 * 2])


def _rows(path: Path) -> bytes:
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        rows = [
            repr(row).encode(errors="backslashreplace")
            for (table,) in database.execute("select name from sqlite_master where type = 'table'")
            for row in database.execute(f'select * from "{table}"')  # noqa: S608 - its own name
        ]
    database.close()
    return b"\n".join(rows)

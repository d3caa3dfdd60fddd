"""The scrubber finds secrets that are encoded: dumped, packed, in UTF-16, layer upon layer."""

import base64
import bz2
import gzip
import io
import json
import lzma
import random
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.scrubbing.scrubber import Scrubber, holds_secret

from ...effort import grows_linearly

KEY = "tk-9fQ2xLz7Rb4Wm1Yc8Vn5Kd3Hs6Jg0Pa"
SECRETS = (
    KEY,
    "hunter2!",
    "p@ss/w\"ö\\rd+= %&<~>'🔑",
    "deadbeefdeadbeefdeadbeef0123456789",
    "x" * 300 + KEY,
)
AROUND = ("", "user:", "a line\nexport KEY=", "x" * 200)
"""What stands ahead of a secret in what is encoded."""


def zipped(content: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    with zipfile.ZipFile(file := io.BytesIO(), "w", method) as archive:
        archive.writestr("notes.txt", b"nothing here\n" * 9)
        archive.writestr("key.txt", content)
    return file.getvalue()


BYTES: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "UTF-16-LE": lambda content: content.decode().encode("utf-16-le"),
    "UTF-16-BE": lambda content: content.decode().encode("utf-16-be"),
    "UTF-16": lambda content: content.decode().encode("utf-16"),
    "UTF-32": lambda content: content.decode().encode("utf-32"),
    "gzip": gzip.compress,
    "zlib": zlib.compress,
    "zlib, fast": lambda content: zlib.compress(content, 1),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zip": zipped,
    "zip, stored": partial(zipped, method=zipfile.ZIP_STORED),
    "gzip of gzip": lambda content: gzip.compress(gzip.compress(content)),
    "base64": base64.b64encode,
    "lines of base64": base64.encodebytes,
    "base64 for URLs": base64.urlsafe_b64encode,
    "hexadecimal": lambda content: content.hex().encode(),
    "JSON": lambda content: json.dumps({"key": content.decode()}).encode(),
    "base64 of base64": lambda content: base64.b64encode(base64.b64encode(content)),
    "base64 of gzip": lambda content: base64.b64encode(gzip.compress(content)),
}


def rows(content: bytes, size: int = 16) -> Iterator[tuple[int, bytes]]:
    yield from ((place, content[place : place + size]) for place in range(0, len(content), size))


def characters(row: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)


def xxd(content: bytes, size: int = 16, group: int = 2) -> str:
    width = size * 2 + size // group
    return "\n".join(
        f"{place:08x}: {row.hex(' ', -group):{width}} {characters(row)}"
        for place, row in rows(content, size)
    )


def hexdump(content: bytes) -> str:
    return (
        "\n".join(
            f"{place:08x}  {row[:8].hex(' '):23}  {row[8:].hex(' '):23}  |{characters(row)}|"
            for place, row in rows(content)
        )
        + f"\n{len(content):08x}\n"
    )


def od(
    content: bytes, cell: Callable[[bytes], str], width: int = 1, address: str = "{:07o}"
) -> str:
    padded = content + bytes(-len(content) % width)
    return (
        "\n".join(
            address.format(place)
            + "".join(cell(row[at : at + width]) for at in range(0, len(row), width))
            for place, row in rows(padded)
        )
        + "\n"
        + address.format(len(content))
    )


def sign(byte: bytes) -> str:
    short = {0: r"\0", 7: r"\a", 8: r"\b", 9: r"\t", 10: r"\n", 11: r"\v", 12: r"\f", 13: r"\r"}
    code = byte[0]
    shown = chr(code) if 32 <= code < 127 else short.get(code, f"{code:03o}")
    return f"{shown:>4}"


TEXTS: dict[str, Callable[[bytes], str]] = {
    "base64": lambda content: base64.b64encode(content).decode(),
    "lines of base64": lambda content: base64.encodebytes(content).decode(),
    "base64 for URLs": lambda content: base64.urlsafe_b64encode(content).decode(),
    "base64 in JSON": lambda content: json.dumps({"a": base64.encodebytes(content).decode()}),
    "a data URL": lambda content: f"data:text/plain;base64,{base64.b64encode(content).decode()}",
    "base32": lambda content: base64.b32encode(content + bytes(-len(content) % 5)).decode(),
    "hexadecimal": bytes.hex,
    "xxd": xxd,
    "xxd -c 8": lambda content: xxd(content, 8),
    "xxd -g 1": partial(xxd, group=1),
    "xxd -p": lambda content: "\n".join(row.hex() for _, row in rows(content, 30)),
    "xxd -i": lambda content: ",\n  ".join(
        ", ".join(f"0x{byte:02x}" for byte in row) for _, row in rows(content, 12)
    ),
    "xxd in JSON": lambda content: json.dumps({"output": f"dump:\n{xxd(content)}\n", "b": 1}),
    "hexdump -C": hexdump,
    "hexdump -C in JSON": lambda content: json.dumps([hexdump(content)]),
    "hexdump": partial(od, cell=lambda word: f" {word[::-1].hex()}", width=2, address="{:07x}"),
    "od -c": partial(od, cell=sign),
    "od -c in JSON": lambda content: json.dumps(od(content, sign)),
    "od -An -c": partial(od, cell=sign, address=""),
    "od -x": partial(od, cell=lambda word: f" {word[::-1].hex()}", width=2),
    "od -tx4": partial(od, cell=lambda word: f" {word[::-1].hex()}", width=4),
    "od -tx8": partial(od, cell=lambda word: f" {word[::-1].hex()}", width=8),
    "od": partial(od, cell=lambda word: f" {int.from_bytes(word, 'little'):06o}", width=2),
    "od -b": partial(od, cell=lambda byte: f" {byte[0]:03o}"),
    "od -An -tx1": partial(od, cell=lambda byte: f" {byte.hex()}", address=""),
    "od -A x -tx1": partial(od, cell=lambda byte: f" {byte.hex()}", address="{:06x}"),
    "bytes with spaces": lambda content: content.hex(" "),
    "bytes with colons": lambda content: content.hex(":").upper(),
    "a list of numbers": lambda content: str(list(content)),
    "numbers in JSON": lambda content: json.dumps(list(content), separators=(",", ":")),
}
ESCAPED: dict[str, Callable[[str], str]] = {
    "entities": lambda character: f"&#{ord(character)};",
    "entities, hexadecimal": lambda character: f"&#x{ord(character):x};",
    "entities, large, with zeros": lambda character: f"&#X{ord(character):06X};",
    "entities of entities": lambda character: f"&amp;#{ord(character)};",
    "JSON": lambda character: f"\\u{ord(character):04x}",
    "JSON in JSON": lambda character: f"\\\\u{ord(character):04X}",
    "Python": lambda character: f"\\x{ord(character):02x}",
    "the shell": lambda character: f"\\{ord(character):03o}",
    "a URL": lambda character: f"%{ord(character):02X}",
    "a URL in a URL": lambda character: f"%25{ord(character):02x}",
}


def parts_of(secret: str) -> list[str]:
    """Return parts of a secret that are too long to stand anywhere by chance."""
    return [secret[at : at + 12] for at in range(max(1, len(secret) - 11))]


@pytest.mark.parametrize("text_form", TEXTS)
def test_an_encoded_secret_is_taken_out(text_form: str) -> None:
    for bytes_form, encode in BYTES.items():
        for secret in SECRETS[:3] if bytes_form != "plain" else SECRETS:
            around = AROUND[(len(bytes_form) + len(text_form)) % len(AROUND)]
            encoded = TEXTS[text_form](encode(f"{around}{secret} and more".encode()))
            scrubber = Scrubber([secret])
            clean = scrubber(f"before\n{encoded}\nafter it")
            assert "[secret]" in clean, (bytes_form, secret, encoded)
            assert clean.startswith("before\n")
            assert clean.endswith("\nafter it")
            assert scrubber(clean) == clean
            assert not any(part in clean for part in parts_of(secret)), (bytes_form, clean)
            if text_form.endswith("in JSON") and text_form != "numbers in JSON":
                json.loads(clean.removeprefix("before\n").removesuffix("\nafter it"))


@pytest.mark.parametrize("form", ESCAPED)
@pytest.mark.parametrize("secret", [KEY, "hunter2!", "deadbeefdeadbeefdeadbeef0123456789"])
def test_a_secret_of_escaped_letters_is_taken_out(form: str, secret: str) -> None:
    escaped = [ESCAPED[form](character) for character in secret]
    scrubber, chance = Scrubber([secret]), random.Random(3)
    assert scrubber(f"a{''.join(escaped)}b") == "a[secret]b"
    for _ in range(5):  # some are, others are not
        mixed = "".join(chance.choice(pair) for pair in zip(escaped, secret, strict=True))
        assert scrubber(f"<{mixed}> &#65; \\u0041 %41") == "<[secret]> &#65; \\u0041 %41"
        assert "[secret]" in scrubber(base64.b64encode(f"<{mixed}>".encode()).decode())


@pytest.mark.parametrize("form", ["gzip", "zlib", "zip", "bzip2", "xz", "UTF-16"])
def test_a_file_that_is_packed_is_seen_to_hold_a_secret(form: str) -> None:
    scrubber = Scrubber([KEY])
    assert holds_secret(BYTES[form](f"a\n{KEY}\n".encode()), scrubber)
    assert not holds_secret(BYTES[form](f"a\n{KEY[1:]}\n".encode()), scrubber)


def test_what_is_damaged_is_read_up_to_the_damage() -> None:
    packed = gzip.compress(f"{KEY}\n{random.Random(1).randbytes(500).hex()}".encode())
    for content in (packed[:-4], packed[:-20], packed[:-8] + bytes(8), packed + b"more"):
        assert "[secret]" in Scrubber([KEY])(base64.b64encode(content).decode())


def test_text_without_secrets_stays_as_it_is() -> None:
    """The sources and documents of this project, and what is encoded of them."""
    scrubber = Scrubber(SECRETS)
    root = Path(__file__).parents[3]
    files = [
        *sorted((root / "docs").glob("*.md"))[::12],
        *sorted((root / "runtime").glob("*.py"))[::12],
    ]
    chance = random.Random(5)
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert scrubber.without_secrets(text) == text
        sample = text[:1_500].encode()
        forms = chance.sample(sorted(TEXTS), 3)
        for encoded in (
            TEXTS[form](BYTES[kind](sample)) for form in forms for kind in ("plain", "gzip")
        ):
            assert scrubber.without_secrets(encoded) == encoded


ODD_TEXT = st.text(alphabet='0123456789abcdefABCDEFgZ+/=_-: ,|\\nrux%&#;\n\t"', max_size=200)


@given(ODD_TEXT | st.binary(max_size=99).map(xxd) | st.binary(max_size=99).map(TEXTS["od -c"]))
def test_what_looks_encoded_and_is_not_stays_as_it_is(text: str) -> None:
    assert Scrubber(["kxv7-very-secret-value-8123", "hunter2!"]).without_secrets(text) == text


@given(
    st.lists(st.integers(0, 400), max_size=12),
    st.sampled_from(sorted(TEXTS)),
    st.sampled_from(sorted(BYTES)),
)
def test_no_split_shows_encoded_secrets(cuts: list[int], text_form: str, bytes_form: str) -> None:
    encoded = TEXTS[text_form](BYTES[bytes_form](f"some {KEY} more".encode()))
    text = f"before\n{encoded}\nbetween {'words ' * 999}\n{encoded}\nafter"
    scrubber = Scrubber([KEY])
    stream = scrubber.stream()
    places = sorted({0, len(text), *(cut * len(text) // 400 for cut in cuts)})
    given_out = [stream.feed(text[start:end]) for start, end in pairwise(places)]
    assert "".join([*given_out, stream.flush()]) == scrubber(text)


def test_deeper_layers_are_not_promised_and_cost_nothing() -> None:
    text = KEY
    for _ in range(9):
        text = base64.b64encode(text.encode()).decode()
    assert Scrubber([KEY])(text) == text


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (lambda size: "A" * size, 10_000),
        (lambda size: ("A" * 60 + "\n") * (size // 60), 10_000),
        (lambda size: "0" * size, 20_000),
        (lambda size: "00 " * size, 5_000),
        (lambda size: "00000000: " * size, 2_500),
        (lambda size: xxd(random.Random(1).randbytes(size)), 3_000),
        (lambda size: "   a" * size, 5_000),
        (lambda size: "1, " * size, 5_000),
        (lambda size: "&#" * size, 10_000),
        (lambda size: "&amp;" * size, 10_000),
        (lambda size: "\\u00" * size, 10_000),
        (lambda size: "%25" * size, 10_000),
        (lambda size: "&#65;" * size, 5_000),
        (lambda size: base64.b64encode(gzip.compress(bytes(size * 1000))).decode(), 1_500),
        (lambda size: base64.b64encode(b"\x1f\x8b\x08" * size).decode(), 1_000),
        (lambda size: base64.b64encode(b"PK\3\4" * size).decode(), 1_000),
        (lambda size: TEXTS["base64"](base64.b64encode(random.Random(1).randbytes(size))), 5_000),
        (lambda size: "\\n".join(["word" * 5] * size), 1_000),
    ],
    ids=[
        *("a run", "lines", "hex", "bytes", "offsets", "dump", "cells", "numbers", "entities"),
        *("amp", "u00", "quoted", "letters", "bomb", "many gzip", "many zip", "layers", "JSON"),
    ],
)  # fmt: skip
def test_nothing_encoded_makes_it_slow(text: Callable[[int], str], size: int) -> None:
    scrubber = Scrubber([KEY])
    assert grows_linearly(lambda size: partial(scrubber.without_secrets, text(size)), size)

"""The scrubber: no secret passes, in whatever form, and nothing else is changed."""

import base64
import html
import json
import random
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coterie.runtime.scrubbing.scrubber import SHORTEST, Scrubber, holds_secret

from ...effort import grows_linearly
from ...leaks import leaks

KEY = "tk-9fQ2xLz7Rb4Wm1Yc8Vn5Kd3Hs6Jg0Pa"
ODD = "p@ss/w\"ö\\rd+= %&<~>\n'🔑"
LOOKALIKE = "sk-proj-4bC8dE2fG6hJ0kL3mN7p"


def wrapped(width: int, text: str) -> str:
    return "\n".join(text[start : start + width] for start in range(0, len(text), width))


def as_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def lower_quote(text: str) -> str:
    """Percent-encoded with small hexadecimal digits, as some clients do."""
    return "".join(c if c.isalnum() and c.isascii() else _percent(c).lower() for c in text)


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode())


def nested(times: int, text: str) -> str:
    return text if times == 0 else nested(times - 1, json.dumps([text]))


FORMS: dict[str, Callable[[str], str]] = {
    "raw": str,
    "JSON": json.dumps,
    "JSON, not ASCII": lambda text: json.dumps(text, ensure_ascii=False),
    "JSON in JSON": lambda text: json.dumps(json.dumps(text)),
    "JSON in JSON, not ASCII": lambda text: json.dumps(
        json.dumps({"a": text}, ensure_ascii=False), ensure_ascii=False
    ),
    "JSON, thrice": lambda text: json.dumps([json.dumps([json.dumps([text])])]),
    "JSON, six times": lambda text: nested(6, text),
    "a path of a URL": quote,
    "a part of a URL": lambda text: quote(text, safe=""),
    "a query": quote_plus,
    "a query, small digits": lower_quote,
    "a query in a query": lambda text: quote_plus(quote_plus(text)),
    "a query in JSON": lambda text: json.dumps(quote_plus(text)),
    "JSON in a query": lambda text: quote_plus(json.dumps(text)),
    "Python": repr,
    "Python, ASCII": ascii,
    "Python's bytes": lambda text: repr(text.encode()),
    "HTML": html.escape,
    "base64": as_base64,
    "base64 for URLs": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "base64 one byte on": lambda text: as_base64(f"u{text}"),
    "base64 two bytes on": lambda text: as_base64(f"us{text}"),
    "basic authentication": lambda text: "Basic " + as_base64(f"user:{text}"),
    "base64 of JSON": lambda text: as_base64(json.dumps({"key": text})),
    "base64 of JSON, not ASCII": lambda text: as_base64(json.dumps(text, ensure_ascii=False)),
    "base64 in a query": lambda text: quote_plus(as_base64(text)),
    "lines of base64": lambda text: base64.encodebytes(f"{'x' * 50}{text}".encode()).decode(),
    "short lines of base64": lambda text: wrapped(60, as_base64(f"{'x' * 37}{text}")),
    "lines of base64 in JSON in JSON": lambda text: json.dumps(
        json.dumps(base64.encodebytes(f"{'x' * 49}{text}".encode()).decode())
    ),
    "hexadecimal": lambda text: text.encode().hex(),
    "large hexadecimal": lambda text: text.encode().hex().upper(),
    "lines of hexadecimal": lambda text: wrapped(60, f"{'x' * 19}{text}".encode().hex()),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("secret", [KEY, ODD, "k3y/with+odd\"signs='", "x" * 300 + KEY])
def test_a_known_secret_is_taken_out_in_every_form(form: str, secret: str) -> None:
    text = f"before {FORMS[form](secret)} after"
    assert leaks(text.encode(), secret, depth=6), "the search must be able to find it"
    clean = Scrubber([secret])(text)
    assert leaks(clean.encode(), secret, depth=6) == set()
    assert "[secret]" in clean
    assert clean.startswith("before ")
    assert clean.endswith(" after")


@pytest.mark.parametrize("form", ["JSON", "JSON in JSON", "JSON, thrice", "a query in JSON"])
@given(
    secret=st.text(min_size=SHORTEST).map(str.strip).filter(lambda text: len(text) >= SHORTEST),
    around=st.text(alphabet='ab"\\\n\té\u2028', max_size=8),
)
@example(secret="nightly-42x", around="\n")
@example(secret="name123\\", around='"')
@example(secret="e9abcdef", around="é")
def test_json_stays_json(form: str, secret: str, around: str) -> None:
    text = FORMS[form](f"{around}{secret}{around}{secret}")
    assert "[secret]" in json.dumps(json.loads(Scrubber([secret]).without_secrets(text)))


@given(
    secret=st.text(alphabet='abcKEY-._/+=%"\\é ', min_size=SHORTEST, max_size=40).filter(
        lambda text: len(text.strip()) >= SHORTEST
    ),
    form=st.sampled_from(sorted(FORMS)),
    around=st.text(max_size=20),
)
def test_no_secret_survives(secret: str, form: str, around: str) -> None:
    clean = Scrubber([secret])(f"{around} {FORMS[form](secret)} {around}")
    assert not leaks(clean.replace("[secret]", "\0").encode(errors="replace"), secret.strip())


@given(st.text(), st.lists(st.text(alphabet="xyz-0123456789", min_size=8, max_size=20)))
def test_what_holds_no_secret_is_not_changed(text: str, secrets: list[str]) -> None:
    scrubber = Scrubber(secrets)
    if not any(secret.strip() in text for secret in secrets):
        assert scrubber(text) == text
        assert scrubber.without_secrets(text) == text


def test_only_known_secrets_are_taken_out_where_work_must_stay_whole() -> None:
    scrubber = Scrubber([KEY])
    assert scrubber.without_secrets(f"{KEY} {LOOKALIKE}") == f"[secret] {LOOKALIKE}"
    assert scrubber(f"{KEY} {LOOKALIKE}") == "[secret] [secret]"


def test_what_looks_like_a_key_is_taken_out_unknown() -> None:
    assert Scrubber()(f"use {LOOKALIKE}") == "use [secret]"


def test_a_secret_within_a_longer_one_leaves_nothing_of_that() -> None:
    for secrets in (["abcdef12", "abcdef123456"], ["abcdef12", "ef123456"]):
        assert Scrubber(secrets)("<abcdef123456>") == "<[secret]>"


def test_a_secret_that_any_text_may_hold_is_left_alone() -> None:
    assert Scrubber(["7", "a", "admin", "", "  "])("admin: 7 apples") == "admin: 7 apples"
    assert Scrubber(["  key-123\n"])("a key-123.") == "a [secret]."


def test_a_part_of_a_long_secret_is_taken_out_too() -> None:
    lines = ["".join(random.Random(n).choices("abcdefghijkXYZ123", k=64)) for n in range(30)]
    clean = Scrubber(["\n".join(lines)])("\n".join(lines[5:25]))
    assert all(line not in clean for line in lines[7:23])


@given(
    st.lists(st.integers(0, 400), max_size=12),
    st.sampled_from([KEY, ODD]),
    st.sampled_from(sorted(FORMS)),
    st.integers(1, 3),
)
def test_no_split_shows_a_secret(cuts: list[int], secret: str, form: str, times: int) -> None:
    text = f"before {FORMS[form](secret)} between {LOOKALIKE} " * times + "after"
    scrubber = Scrubber([secret])
    stream = scrubber.stream()
    given_out: list[str] = []
    places = sorted({0, len(text), *(cut * len(text) // 400 for cut in cuts)})
    for start, end in pairwise(places):
        given_out.append(stream.feed(text[start:end]))
    given_out.append(stream.flush())
    assert "".join(given_out) == scrubber(text)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_stream_gives_out_what_it_can(size: int) -> None:
    text = f"{'plain text. ' * 1000}{KEY}{' more of it' * 1000}"
    scrubber = Scrubber([KEY])
    stream = scrubber.stream()
    pieces = [stream.feed(text[start : start + size]) for start in range(0, len(text), size)]
    assert len("".join(pieces)) > 10_000
    assert "".join(pieces) + stream.flush() == scrubber(text)


def test_a_stream_of_a_key_without_an_end_is_bounded() -> None:
    stream = Scrubber([KEY]).stream()
    out = "".join(stream.feed("sk-aB3" * 1000) for _ in range(50))
    assert "[secret]" in out
    assert len(stream.flush()) < 1 << 16


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (lambda size: "\\" * size + KEY, 50_000),
        (lambda size: as_base64(KEY) + "\\n" * size, 25_000),
        (lambda size: (as_base64(KEY)[:-4] + "\n") * size, 500),
        (lambda size: f"{KEY[:-1]} " * size, 1_000),
        (lambda size: "sk-" * size, 10_000),
        (lambda size: "-----BEGIN PRIVATE KEY-----" + "\n" * size, 50_000),
        (lambda size: ("-----BEGIN PRIVATE KEY-----" + "\\" * 30) * size, 750),
    ],
    ids=["slashes", "breaks", "nearly", "almost", "sk", "key of nothing", "many keys"],
)
def test_no_text_makes_it_slow(text: Callable[[int], str], size: int) -> None:
    scrubber = Scrubber([KEY, ODD, "\\\\\\\\\\\\\\\\"])
    assert grows_linearly(lambda size: partial(scrubber, text(size)), size)


LATIN = st.characters(codec="latin-1", categories=["L", "N", "P"])


@given(secret=st.text(LATIN, min_size=SHORTEST, max_size=60), before=st.binary(max_size=9))
def test_a_secret_is_found_in_bytes_however_they_are_encoded(secret: str, before: bytes) -> None:
    for encoding in ("utf-8", "latin-1", "utf-16-le", "utf-16", "utf-32-be"):
        content = before + secret.encode(encoding) + b"\xff\n"
        assert holds_secret(content, Scrubber([secret])), encoding


@given(secret=st.text(st.characters(categories=["L"]), min_size=SHORTEST, max_size=60))
def test_a_secret_in_any_script_is_found_in_bytes(secret: str) -> None:
    assert holds_secret(f"<{secret}>".encode(), Scrubber([secret]))


@given(content=st.binary())
def test_other_bytes_hold_none(content: bytes) -> None:
    assert not holds_secret(content, Scrubber(["kxv7-very-secret-value-8123"]))

"""Whatever is sent to the server, it answers with plain HTTP and prints nothing."""

import asyncio
import logging
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from coterie.runtime.view import Links, Page
from coterie.runtime.view.run import RunSite
from coterie.runtime.view.server import PageServer

from .test_run_page import run_of
from .test_server import Shelf

LOCAL = b"Host: localhost\r\n"
LARGE = 60_000
METHODS = b"POST PUT DELETE OPTIONS PATCH TRACE CONNECT PROPFIND M-SEARCH SOURCE".split()
WRONG_METHODS = (b"get", b"FOO", b"G\0T", b"G\xffT", b"A" * LARGE, b"", b"\x16\x03\x01\x02\0\x01")
ESCAPES = b"%00 %ff %ed%a0%80 %zz % %2 %c0%af %2e%2e%2f %252e %0d%0aX: %F0%9F%94%91 %u0041".split()
RAW = (b"\0", b"\xff", b"\xc3\xa4", b"\x7f", b"\x01", b"\t", b"a b", b"\xed\xa0\x80")
"""Bytes that no path may have as they are."""
PATHS = b"/ // /../ /../../etc/passwd /./ /\\ /? /?from=%ff# /;a=b /~root/ /favicon.ico *".split()
AUTHORITIES = b"localhost [::1] 127.0.0.1:1 [::1 localhost:99999999 evil.example user:pw@h".split()
HOSTS = (
    b"evil.example localhost.evil.example [::2] [ [\xff \xff 127.0.0.1.x @localhost a:b:c".split()
)
HEADERS = (
    b"X: " + b"a" * LARGE,
    b"a" * LARGE + b": x",
    b"X: a\r\n" * 5_000 + b"Y: b",
    b"X: \0",
    b"X: \xff",
    b"X\xff: a",
    b"X a",
    b": a",
    b"X : a",
    b" folded: a",
    b"Host: localhost",
    b"Cookie: " + b"a=b; " * 900,
    b"Expect: something",
    b"Range: bytes=9-1,-,999999999999999999999-",
    b"Accept-Encoding: \xff;q=nan",
    b"If-Modified-Since: never",
    b"Upgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Version: 99",
    b"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings",
)
LENGTHS = b"-1 +1 1e3 0x10 99999999999999999999999 1,2 \xff 30".split()
CODINGS = b"gzip deflate br zstd identity unheard-of".split()
CHUNKS = (b"ZZ\r\n", b"-1\r\n", b"ffffffffffffffffff\r\n", b"5\r\nab", b"1;" + b"x" * LARGE)
VERSIONS = b"HTTP/0.9 HTTP/1.2 HTTP/2.0 HTTP/9.9 HTTP/11 HTTP/1.1.1 http/1.1 XTP/1.1 HTTP/x".split()
OTHER = (
    b"\r\n\r\n",
    b"\0" * 100,
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"SSH-2.0-x\r\n",
    b"\x80" * LARGE,
    b"GET /\r\n",
    b"GET\r\n\r\n",
    b"\r\n" * 5_000,
)


def requests(base: bytes) -> Iterator[bytes]:
    """Yield requests that are malformed, too large, incomplete or of no use.

    Args:
        base: What the address of every page begins with.
    """

    def sent(
        path: bytes = base,
        headers: bytes = LOCAL,
        *,
        method: bytes = b"GET",
        version: bytes = b"HTTP/1.1",
        body: bytes = b"",
    ) -> bytes:
        return method + b" " + path + b" " + version + b"\r\n" + headers + b"\r\n" + body

    yield from (sent(base + b"a" * size) for size in (7_000, 9_000, LARGE, 20 * LARGE))
    yield from (sent(base + b"live?from=" + b"a" * size) for size in (7_000, LARGE))
    yield from (sent(base + odd) for odd in (*ESCAPES, *RAW))
    yield from (sent(b"/" + odd + b"/") for odd in (*ESCAPES, *RAW))
    yield from (sent(base + b"live?from=" + odd) for odd in (*ESCAPES, *RAW))
    yield from (sent(path) for path in PATHS)
    yield from (sent(b"http://" + name + base) for name in AUTHORITIES)
    yield from (
        sent(scheme + base) for scheme in (b"file://", b"://", b"a:b:", b"https://localhost")
    )
    yield from (sent(method=method) for method in (*METHODS, *WRONG_METHODS))
    yield from (sent(version=version) for version in VERSIONS)
    yield sent(headers=b"")
    yield from (sent(headers=b"Host: " + host + b"\r\n") for host in HOSTS)
    yield from (sent(headers=LOCAL + header + b"\r\n") for header in HEADERS)
    for method in (b"GET", b"POST"):
        for length in LENGTHS:  # of a body that does not come
            header = b"Content-Length: " + length + b"\r\n"
            yield sent(headers=LOCAL + header, method=method, body=b"abc")
        for coding in CODINGS:
            header = b"Content-Encoding: " + coding + b"\r\nContent-Length: 3\r\n"
            yield sent(headers=LOCAL + header, method=method, body=b"abc")
        for chunk in CHUNKS:
            header = b"Transfer-Encoding: chunked\r\n"
            yield sent(headers=LOCAL + header, method=method, body=chunk)


def fragments(base: bytes) -> Iterator[bytes]:
    """Yield requests that end too early, or are none: perhaps without an answer."""
    yield from OTHER
    whole = b"GET " + base + b" HTTP/1.1\r\n" + LOCAL + b"X: a\r\n\r\n"
    yield from (whole[:size] for size in range(0, len(whole), 9))
    chance = Random(7)
    for _ in range(40):  # a byte of it changed
        place = chance.randrange(len(whole))
        yield whole[:place] + bytes([chance.randrange(256)]) + whole[place + 1 :]


@dataclass(frozen=True, kw_only=True)
class Answer:
    status: int
    head: bytes
    body: bytes


async def answer_to(request: bytes, port: int, *, is_whole: bool = True) -> Answer | None:
    """Return the answer to a request; None for one without an end that has none."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        if not is_whole:
            writer.write_eof()
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"\r\nContent-Length: (\d+)", head)
        body = await reader.readexactly(int(length[1])) if length else b""
        return Answer(status=int(head.split()[1]), head=head, body=body)
    except (asyncio.IncompleteReadError, ConnectionError):
        if is_whole:
            raise
        return None
    finally:
        writer.close()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_of(tmp_path_factory.mktemp("secret-place"), "7")


async def test_every_request_gets_a_plain_answer_and_prints_nothing(
    run: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    answers: list[tuple[bytes, Answer]] = []
    async with PageServer(site=RunSite(folder=run), source=run) as server:
        base, port = server.base.encode(), server.port
        for is_whole, all_of_a_kind in ((True, requests(base)), (False, fragments(base))):
            for request in all_of_a_kind:
                answer = await answer_to(request, port, is_whole=is_whole)
                if answer is not None:
                    answers.append((request, answer))
        page = await answer_to(b"GET %b HTTP/1.0\r\n%b\r\n" % (base, LOCAL), port)
        assert page is not None
        assert (page.status, b"trio: sum" in page.body) == (200, True)
    assert sum(answer.status >= 400 for _, answer in answers) > 120
    for request, answer in answers:
        assert answer.status in {200, 400, 403, 404, 405, 417}, request[:200]
        if answer.status != 200:
            assert b"\r\nContent-Type: text/plain" in answer.head, request[:200]
            assert not leaks_of(answer, run), request[:200]
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


def leaks_of(answer: Answer, run: Path) -> list[str]:
    text = (answer.head + answer.body).decode("latin-1")
    places = ("Traceback", 'File "', ".py", str(run), run.parents[1].name, sys.prefix)
    return [place for place in places if place in text]


async def test_a_fault_of_ours_is_printed_and_not_answered(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(Shelf):
        def page(self, address: str, links: Links) -> Page:
            raise RuntimeError("a fault of ours")

    async with PageServer(site=Broken(), source=Path("x")) as server:
        request = b"GET %b HTTP/1.1\r\n%b\r\n" % (server.base.encode(), LOCAL)
        answer = await answer_to(request, server.port)
        assert answer is not None
        assert (answer.status, b"fault" in answer.body) == (500, False)
    (record,) = caplog.records
    assert (record.levelno, "a fault of ours" in caplog.text) == (logging.ERROR, True)

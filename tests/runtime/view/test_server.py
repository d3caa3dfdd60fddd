"""The server shows its pages to the browsers of this machine that know its address, and no more."""

import asyncio
import base64
import hashlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import ClientResponse, ClientSession
from markupsafe import escape

from coterie.runtime.view import Links, NoPage, Page
from coterie.runtime.view.report import report
from coterie.runtime.view.server import PageServer
from coterie.schema import InputError

from ...webpage import parsed


@dataclass(kw_only=True)
class Shelf:
    """A site of two pages, and one that is not in its table of contents."""

    text: str = "words"
    state: str = ""
    damaged: str = ""
    made: list[str] = field(default_factory=list[str])

    title: str = "Shelf"
    contents: dict[str, str] = field(default_factory=lambda: {"": "First", "books/one": "Second"})

    def page(self, address: str, links: Links) -> Page:
        if self.damaged:
            raise InputError(self.damaged)
        if address not in {*self.contents, "hidden"}:
            raise NoPage(address)
        self.made.append(address)
        away = links.to("spine", "books/one")
        body = f'<h1 id="{links.id("spine")}">{escape(self.text)}</h1><a href="{away}">two</a>'
        return Page(title=f"At {address!r}", body=escape("") + type(escape(""))(body))


def visit(
    site: Shelf,
    act: Callable[[PageServer, ClientSession], Awaitable[None]],
    source: Path = Path("x"),
) -> None:
    async def main() -> None:
        async with (
            PageServer(site=site, source=source, pause=0.01) as server,
            ClientSession() as client,
        ):
            await act(server, client)

    asyncio.run(asyncio.wait_for(main(), 300))


async def text_of(client: ClientSession, address: str, **headers: str) -> tuple[int, str]:
    async with client.get(address, headers=headers) as response:
        return response.status, await response.text()


def test_a_page_leads_to_others_below_the_token() -> None:
    async def act(server: PageServer, client: ClientSession) -> None:
        status, text = await text_of(client, server.address)
        page = parsed(text)
        assert status == 200
        addresses = [element.attributes["href"] for element in page.all("a")]
        second = f"{server.base}books/one"
        assert addresses == [
            "#content",
            server.base,
            f"{server.base}books",
            f"{second}#spine",
        ]
        _, text = await text_of(client, f"http://127.0.0.1:{server.port}{second}")
        assert parsed(text).one("h1").attributes["id"] == "spine"
        status, _ = await text_of(client, f"{server.address}hidden")
        assert status == 200
        status, text = await text_of(client, f"{server.address}books/two")
        assert (status, text) == (404, "There is no page 'books/two' here.\n")

    contents = {"": "First", "books": "Second", "books/one": "not in the head of each page"}
    visit(Shelf(contents=contents), act)


def test_who_does_not_know_the_token_or_comes_from_elsewhere_is_refused() -> None:
    async def act(server: PageServer, client: ClientSession) -> None:
        root = f"http://127.0.0.1:{server.port}"
        for path in ("/", "/favicon.ico", "/guess/", f"/{server.token[:-1]}/", f"/{server.token}"):
            status, text = await text_of(client, root + path)
            assert (status, "words" in text) == (404, False), path
        for host in (
            "evil.example",
            f"evil.example:{server.port}",
            "127.0.0.1.evil.example",
            "[::2]",
        ):
            status, text = await text_of(client, server.address, Host=host)
            assert (status, "words" in text) == (403, False), host
        for host in ("localhost", "127.0.0.1:9", f"localhost:{server.port}", "[::1]", "[::1]:80"):
            assert (await text_of(client, server.address, Host=host))[0] == 200, host
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
            async with client.request(method, server.address) as response:
                assert response.status == 405, method

    visit(Shelf(), act)
    assert len({PageServer(site=Shelf(), source=Path("x")).token for _ in range(9)}) == 9


def hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_policy_lets_nothing_run_but_the_pages_own_script_and_style() -> None:
    async def act(server: PageServer, client: ClientSession) -> None:
        async with client.get(server.address) as response:
            refuses_all_else(response, await response.text())

    visit(Shelf(), act)


def refuses_all_else(response: ClientResponse, text: str) -> None:
    page = parsed(text)
    told_values = response.headers["Content-Security-Policy"]
    policy = dict(part.strip().split(" ", 1) for part in told_values.split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == hash_of(page.one("script").text)
    assert policy["style-src"] == hash_of(page.one("style").text)
    assert policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in told_values
    meta = page.one("meta", **{"http-equiv": "Content-Security-Policy"}).attributes["content"]
    assert told_values == f"{meta}; frame-ancestors 'none'"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert response.headers["Cache-Control"] == "no-store"


def test_a_damaged_folder_has_a_page_that_says_so() -> None:
    async def act(server: PageServer, client: ClientSession) -> None:
        status, text = await text_of(client, server.address)
        assert status == 200
        assert parsed(text).one("p", class_="problem").text == "line 3 is <damaged>."

    visit(Shelf(damaged="line 3 is <damaged>."), act)


def test_changes_are_told_until_there_are_no_more_and_a_page_is_made_once_for_each() -> None:
    site = Shelf(state="1")

    async def act(server: PageServer, client: ClientSession) -> None:
        _, text = await text_of(client, server.address)
        await text_of(client, server.address)
        assert site.made == [""]
        live = parsed(text).one("body").attributes["data-live"]
        assert parsed(text).one("meta", **{"http-equiv": "refresh"})
        async with client.get(f"http://127.0.0.1:{server.port}{live}") as stream:
            site.state, site.text = "2", "more"
            assert await next_of(stream) == "change"
            assert parsed((await text_of(client, server.address))[1]).one("h1").text == "more"
            assert site.made == ["", ""]
            site.state = ""
            assert await next_of(stream) == "end"
        _, text = await text_of(client, server.address)
        assert "data-live" not in parsed(text).one("body").attributes

    visit(site, act)


async def next_of(stream: ClientResponse) -> str:
    async for line in stream.content:
        if result := re.match(rb"event: (\w+)", line):
            return result[1].decode()
    raise AssertionError("the stream ended")


def test_a_file_has_all_pages_whose_parts_are_named_apart() -> None:
    page = parsed(report(Shelf(), Path("x")))
    first, second = page.all("h1")
    assert (first.attributes["id"], second.attributes["id"][:17]) == ("spine", "books_one--spine-")
    ids = [element.attributes["id"] for element in page.all() if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    addresses = {element.attributes["href"] for element in page.all("a")}
    assert {address[1:] for address in addresses} <= {*ids}
    assert "data-live" not in page.one("body").attributes


def test_a_taken_port_is_told() -> None:
    async def act(server: PageServer, _: ClientSession) -> None:
        with pytest.raises(InputError, match=f"cannot listen on 127.0.0.1:{server.port}"):
            async with PageServer(site=Shelf(), source=Path("x"), port=server.port):
                pass

    visit(Shelf(), act)

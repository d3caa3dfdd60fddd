"""Requests go through the proxy that the environment names, and nowhere else."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.gateway import CallError, ChatAnswer, Gateway
from coterie.runtime.gateway.endpoint import endpoint_of
from coterie.runtime.gateway.environment import proxy_for
from coterie.schema import Model
from coterie.schema.values.errors import InputError

from ...provider import model, request

PROXY = "http://proxy.example:3128"


@pytest.mark.parametrize(
    ("url", "environment", "proxy"),
    [
        ("https://api.example/v1", {"HTTPS_PROXY": PROXY}, PROXY),
        ("https://api.example/v1", {"HTTP_PROXY": PROXY}, None),
        ("http://api.example/v1", {"http_proxy": PROXY, "HTTP_PROXY": "http://other:1"}, PROXY),
        ("https://api.example/v1", {"ALL_PROXY": "proxy.example:3128"}, PROXY),
        ("https://api.example/v1", {"HTTPS_PROXY": ""}, None),
        ("http://127.0.0.1:8000/v1", {"ALL_PROXY": PROXY}, None),
        ("http://localhost:8000/v1", {"ALL_PROXY": PROXY}, None),
        ("http://[::1]:8000/v1", {"ALL_PROXY": PROXY}, None),
        ("http://10.1.2.3/v1", {"ALL_PROXY": PROXY}, PROXY),
    ],
)
def test_the_proxy_is_named(url: str, environment: Mapping[str, str], proxy: str | None) -> None:
    assert proxy_for(url, environment) == proxy


@pytest.mark.parametrize(
    ("listed", "host", "is_exempt"),
    [
        ("api.example", "api.example", True),
        ("example", "api.example", True),
        (".example", "api.example", True),
        ("other.example, api.example ", "API.example", True),
        ("*", "api.example", True),
        ("api.example:443", "api.example:443", True),
        ("api.example:443", "api.example:8443", False),
        ("pi.example", "api.example", False),
        ("", "api.example", False),
        (",", "api.example", False),
        ("10.0.0.0/8", "10.1.2.3:8000", True),
        ("10.0.0.0/8", "11.1.2.3", False),
        ("10.0.0.0/99, fd00::/8", "[fd00::1]:8000", True),
        ("10.0.0.0/8", "api.example", False),
    ],
)
def test_no_proxy_names_the_exceptions(listed: str, host: str, is_exempt: bool) -> None:
    environment = {"HTTPS_PROXY": PROXY, "NO_PROXY": listed}
    assert (proxy_for(f"https://{host}/v1", environment) is None) is is_exempt


@pytest.mark.parametrize("proxy", ["socks5://user:hidden@h:1", "http://", "http://user:hidden@h:x"])
def test_what_is_no_proxy_is_told_before_anything_is_asked(proxy: str) -> None:
    spec = Model(alias="default", model="m", api_base="https://api.example/v1")
    with pytest.raises(InputError, match="HTTPS_PROXY does not name a supported proxy") as caught:
        Gateway({"default": spec}, environment={"HTTPS_PROXY": proxy}).check(["default"])
    assert "hidden" not in str(caught.value)


def asked(
    api_base: str, answer: bytes, environment: Mapping[str, str], *, password: str = ""
) -> tuple[ChatAnswer | CallError, list[str]]:
    """Ask through a proxy that answers so; give what came, and what the proxy was sent."""
    heads: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(answer)
        await writer.drain()
        writer.close()

    async def scene() -> ChatAnswer | CallError:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        user = f"user:{password}@" if password else ""
        place = f"http://{user}127.0.0.1:{server.sockets[0].getsockname()[1]}"
        proxies = {"HTTP_PROXY": place, "HTTPS_PROXY": place, **environment}
        spec = model(api_base=api_base)
        async with server, Gateway({"default": spec}, environment=proxies) as way:
            try:
                return await way.chat(request(retries=0))
            except CallError as error:
                assert way.secrets() == ({password} if password else frozenset())
                return error

    return asyncio.run(scene()), heads


def completion(text: str) -> bytes:
    message: dict[str, Any] = {"message": {"content": text}}
    body = json.dumps({"choices": [message]}).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def test_a_request_goes_through_the_proxy_and_nothing_of_netrc_goes_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login somebody password netrc-secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    result, heads = asked("http://api.example/v1", completion("four"), {}, password="pass-word")
    assert isinstance(result, ChatAnswer)
    assert result.text == "four"
    assert heads[0].startswith("POST http://api.example/v1/chat/completions HTTP/1.1\r\n")
    assert "Proxy-Authorization: Basic dXNlcjpwYXNzLXdvcmQ=" in heads[0]
    assert "\r\nAuthorization:" not in heads[0]


def test_a_proxy_that_refuses_is_told_without_its_password() -> None:
    refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    result, heads = asked("https://api.example/v1", refusal, {}, password="pass-word")
    assert isinstance(result, CallError)
    assert heads[0].startswith("CONNECT api.example:443 ")
    assert "proxy 127.0.0.1:" in str(result)
    assert "HTTP 407" in str(result)
    assert "pass-word" not in str(result)
    assert (result.kind, result.may_be_billed) == ("down", False)


@pytest.mark.parametrize(
    ("status", "body", "is_proxy"),
    [(502, b"", True), (503, b"<html>no route", True), (407, b"", True), (502, b"{}", False)],
)
def test_what_no_proxy_sent_on_is_free(status: int, body: bytes, is_proxy: bool) -> None:
    refusal = b"HTTP/1.1 %d No\r\nContent-Length: %d\r\n\r\n" % (status, len(body)) + body
    result, _ = asked("http://api.example/v1", refusal, {})
    assert isinstance(result, CallError)
    assert ("proxy 127.0.0.1:" in str(result)) is is_proxy
    assert (result.kind, result.usage.tokens) == ("down", 0)
    assert bool(result.usage.calls) is bool(result.usage.doubted_tokens) is not is_proxy


def test_a_proxy_that_is_not_there_has_cost_nothing() -> None:
    gone = {"HTTP_PROXY": "http://user:pass-word@127.0.0.1:9"}
    result, _ = asked("http://api.example/v1", b"", gone, password="pass-word")
    assert isinstance(result, CallError)
    assert "proxy 127.0.0.1:9: unreachable" in str(result)
    assert "pass-word" not in str(result)
    assert (result.kind, result.may_be_billed) == ("down", False)


def test_this_machine_is_reached_without_a_proxy() -> None:
    spec = Model(alias="default", model="m", api_base="http://127.0.0.1:1/v1")
    assert endpoint_of(spec, {"HTTP_PROXY": PROXY, "ALL_PROXY": PROXY}).proxy is None

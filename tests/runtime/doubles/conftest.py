from __future__ import annotations

import json
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from http.client import HTTPResponse

    from coterie.runtime.doubles import ScriptedModel

    Ask = Callable[..., tuple[HTTPResponse, bytes]]


def _ask(
    model: ScriptedModel,
    prompt: str = "Hello",
    *,
    path: str = "/chat/completions",
    method: str = "POST",
    headers: dict[str, str] | None = None,
    timeout: float = 10.0,
    **fields: Any,
) -> tuple[HTTPResponse, bytes]:
    """Send one request on a connection of its own and read the whole answer."""
    body = {"model": "m", "messages": [{"role": "user", "content": prompt}], **fields}
    address = urlsplit(model.api_base)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=timeout)
    try:
        connection.request(method, address.path + path, json.dumps(body), headers or {})
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


@pytest.fixture
def ask() -> Ask:
    return _ask


@pytest.fixture
def text_of() -> Callable[..., str]:
    def text(model: ScriptedModel, prompt: str = "Hello", **fields: Any) -> str:
        return json.loads(_ask(model, prompt, **fields)[1])["choices"][0]["message"]["content"]

    return text

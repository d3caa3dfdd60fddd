"""What a tool server writes is a reply, an error in its place, or nothing that concerns anybody."""

from random import Random

import pytest
from mcp.types import JSONRPCError, JSONRPCMessage, JSONRPCResponse

from coterie.runtime.tools.server_process import (
    UNREADABLE,
    ServerProcess,
    _message,  # pyright: ignore[reportPrivateUsage]
)

from ...canned import seeds


def test_a_reply_is_read_or_is_an_error_of_its_request(nightly: bool) -> None:
    texts = ["caf\u00e9", "lone \\ud83d", "\u6f22", "a\\u0000b", "{", '\\"']
    for seed in seeds(nightly):
        chance = Random(seed)
        asked = chance.sample(range(9), chance.randint(1, 3))
        wanted = chance.choice(asked)
        content = f'[{{"type": "text", "text": "{chance.choice(texts)}"}}]'
        envelope = f'{{"jsonrpc": "2.0", "id": {wanted}, "result": {{"content": {content}}}}}'
        line = envelope.encode(chance.choice(["utf-8", "latin-1"]), "replace")
        if chance.random() < 0.5:
            line = line[: chance.randint(45, len(line))] + chance.choice([b"", b"}", b"\xff", b"]"])
        message = read_reply(line, asked)
        assert message is not None, line
        root = message.root
        assert isinstance(root, JSONRPCResponse | JSONRPCError)
        assert root.id == wanted
        assert isinstance(root, JSONRPCResponse) or root.error.message.startswith(UNREADABLE)


@pytest.mark.parametrize(
    "line",
    [b"Server ready on stdio\n", b"{not json\n", b'{"level": "info", "msg": "at work"}\n', b"[]\n"],
)
def test_what_a_server_prints_is_no_reply(line: bytes) -> None:
    assert read_reply(line, [2]) is None


def test_a_reply_that_names_nobody_is_of_the_only_request() -> None:
    line = b'{"jsonrpc": "2.0", "result": {"content": []}}\n'
    (only, several) = (read_reply(line, asked) for asked in ([2], [2, 3]))
    assert only is not None
    assert isinstance(only.root, JSONRPCError)
    assert only.root.id == 2
    assert several is None


def read_reply(line: bytes, asked: list[int]) -> JSONRPCMessage | None:
    """Read a line as a server's process does that was asked these requests."""
    process = object.__new__(ServerProcess)
    process._request_ids = {*asked}
    return _message(line) or process._refused(line)

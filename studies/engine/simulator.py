"""A model that takes a known time and remembers what each agent was shown.

    python simulator.py        # prints its port; standard library only

`POST …/chat/completions` with model `sim-MILLISECONDS`; where `sim-MILLISECONDS-PIECES` is asked to
stream, its pieces come all along that time. `GET /seen?run=…` tells, for every agent of a run and
each of its calls, which outputs of which runs the prompt held, each as often as it did.
An agent whose id the prompt of run `hang` names as `[[hang=ID]]` is never answered.
"""

from __future__ import annotations

import asyncio
import json
import re
import resource
from typing import Any

AGENT, RUN = re.compile(rb"\[\[a=(\w+)\]\]"), re.compile(rb"\[\[r=([\w-]+)\]\]")
SAID, HANGS = re.compile(rb"ANSWER\(([\w@-]+)\)"), re.compile(rb"\[\[hang=(\w+)\]\]")
WORDS = "The reasoning is short, and the conclusion follows from what was said before. " * 3

seen: dict[str, dict[str, list[list[str]]]] = {}


class Connection(asyncio.Protocol):
    """One client's connection; answers requests in the order in which they come."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.transport: asyncio.Transport = transport  # pyright: ignore[reportAttributeAccessIssue]
        self.received = b""
        self.waiting: set[asyncio.Task[None]] = set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget answers that nobody waits for any more."""
        del exc
        for task in self.waiting:
            task.cancel()

    def data_received(self, data: bytes) -> None:
        """Take whole requests out of the stream."""
        self.received += data
        while (end := self.received.find(b"\r\n\r\n")) >= 0:
            head, start = self.received[:end], end + 4
            length = re.search(rb"(?i)content-length: *(\d+)", head)
            stop = start + (int(length[1]) if length else 0)
            if len(self.received) < stop:
                return
            body, self.received = self.received[start:stop], self.received[stop:]
            task = asyncio.ensure_future(self.answer(head.split(b" ")[1].decode(), body))
            self.waiting.add(task)
            task.add_done_callback(self.waiting.discard)

    async def answer(self, path: str, body: bytes) -> None:
        """Answer one request after the time of its model."""
        if "/seen" in path:
            self.send(seen.pop(path.partition("run=")[2], {}))
            return
        request = json.loads(body)
        agent, run = (
            result[1].decode() if (result := sign.search(body)) else "" for sign in (AGENT, RUN)
        )
        shown = sorted(name.decode() for name in SAID.findall(body))
        seen.setdefault(run, {}).setdefault(agent, []).append(shown)
        hangs = HANGS.search(body)
        _, milliseconds, *pieces = request["model"].split("-")
        seconds = 3600 if hangs and hangs[1].decode() == agent else float(milliseconds) / 1000
        answer = completion(request["model"], f"ANSWER({agent}@{run}) {WORDS}", len(body))
        if pieces and request.get("stream"):
            await self.stream(answer, int(pieces[0]), seconds)
        else:
            await asyncio.sleep(seconds)
            self.send(answer)

    async def stream(self, answer: dict[str, Any], pieces: int, seconds: float) -> None:
        """Write an answer in pieces."""
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
        self.transport.write(head + b"transfer-encoding: chunked\r\n\r\n")
        for _ in range(pieces):
            await asyncio.sleep(seconds / pieces)
            self.write(event(answer, {"content": "word "}, None))
        self.write(event(answer, {}, "stop") + b"data: [DONE]\n\n")
        self.write(b"")

    def write(self, content: bytes) -> None:
        """Write a chunk of a response; an empty one ends it."""
        if not self.transport.is_closing():
            self.transport.write(b"%x\r\n%b\r\n" % (len(content), content))

    def send(self, value: object) -> None:
        """Write one response."""
        content = json.dumps(value).encode()
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
        if not self.transport.is_closing():
            self.transport.write(head % len(content) + content)


def completion(model: str, text: str, size: int) -> dict[str, Any]:
    """Write an answer as the chat API has it."""
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-0",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": size // 4,
            "completion_tokens": 60,
            "total_tokens": size // 4 + 60,
        },
    }


def event(answer: dict[str, Any], delta: dict[str, str], reason: str | None) -> bytes:
    """Write a piece of an answer as the chat API streams it."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
    usage = answer["usage"] if reason else None
    fields = {**answer, "object": "chat.completion.chunk", "choices": [choice], "usage": usage}
    return b"data: %b\n\n" % json.dumps(fields).encode()


async def main() -> None:
    """Serve until killed."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201 - how the driver learns it
    await server.serve_forever()


if __name__ == "__main__":
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    asyncio.run(main())

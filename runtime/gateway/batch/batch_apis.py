"""The batch APIs of providers: how batches are submitted, found again, looked at and read."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

import aiohttp

from ....schema.values.values import is_mapping
from ...values.bounds import LARGEST_ANSWER
from ..chat.answer import parsed
from ..chat.errors import CallError
from ..http.http_client import answer_in, read_bounded
from ..http.refusals import refusal, without, words_of
from ..wires import WIRES

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from ..chat.messages import ChatAnswer
    from ..endpoint import Endpoint
    from ..http.http_client import HttpClient

Line = dict[str, Any]
PAGE = 100
"""Batches that are listed at once."""
METADATA = "coterie"
"""Where a batch of OpenAI's API says which one it is."""
HURRY = 3_600
"""Seconds by which a provider's clock may be behind ours."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchState:
    """How far a batch is.

    Attributes:
        is_over: Whether no further request of it will be answered.
        answered: How many requests are answered, or failed.
        results: The paths of what came of them.
        failure: The provider's words where it refused the whole batch.
        is_full: Whether it did so because too much waits there already.
    """

    is_over: bool
    answered: int
    results: tuple[str, ...]
    failure: str = ""
    is_full: bool = False


class BatchApi(Protocol):
    """What one batch API differs in from others.

    Attributes:
        most: Requests in a batch.
        largest: Bytes of them.
        is_named: Whether a batch says which one it is; else only its results do.
    """

    most: int
    largest: int
    is_named: bool

    async def submit(
        self, http: HttpClient, endpoint: Endpoint, key: str, requests: Mapping[str, bytes]
    ) -> str:
        """Submit requests, by their ids; return the batch's id.

        Raises:
            CallError: It is refused, or nobody knows whether it was taken.
        """
        ...

    async def submitted(
        self, http: HttpClient, endpoint: Endpoint, key: str, count: int, since: float
    ) -> list[str]:
        """Return the ids of batches that may be the one with a key.

        Args:
            http: Makes requests.
            endpoint: Where.
            key: What we call the batch.
            count: How many requests it has.
            since: Seconds since the epoch when it was noted.

        Raises:
            CallError: They cannot be listed.
        """
        ...

    async def state(self, http: HttpClient, endpoint: Endpoint, batch: str) -> BatchState:
        """Return how far a batch is.

        Raises:
            CallError: Nobody says.
        """
        ...

    def answer(self, endpoint: Endpoint, line: Line) -> ChatAnswer:
        """Take the answer out of a line of results.

        Raises:
            CallError: It has none.
        """
        ...


class OpenAIBatches:
    """OpenAI's (developers.openai.com/api/docs/guides/batch): files of lines."""

    most, largest, is_named = 50_000, 190 << 20, True

    async def submit(
        self, http: HttpClient, endpoint: Endpoint, key: str, requests: Mapping[str, bytes]
    ) -> str:
        """Upload a file and submit it; see `BatchApi.submit`."""
        url = f"/v1{WIRES[endpoint.wire].path}"
        head = '{"custom_id": "%s", "method": "POST", "url": "%s", "body": '
        lines = [(head % (name, url)).encode() + body + b"}\n" for name, body in requests.items()]
        form = aiohttp.FormData({"purpose": "batch"})
        file = io.BytesIO(b"".join(lines))
        form.add_field("file", file, filename=f"{key}.jsonl", content_type="application/jsonl")
        uploaded = await _asked(http, endpoint, "POST", "/files", data=form)
        order = {
            "input_file_id": uploaded["id"],
            "endpoint": url,
            "completion_window": "24h",
            "metadata": {METADATA: key},
        }
        return str((await _asked(http, endpoint, "POST", "/batches", json=order))["id"])

    async def submitted(
        self, http: HttpClient, endpoint: Endpoint, key: str, count: int, since: float
    ) -> list[str]:
        """Find the batch whose metadata has the key; see `BatchApi.submitted`."""
        del count
        async for batch in _listed(http, endpoint, "/batches", "after"):
            if (batch.get("metadata") or {}).get(METADATA) == key:
                return [str(batch["id"])]
            if batch["created_at"] < since - HURRY:
                break
        return []

    async def state(self, http: HttpClient, endpoint: Endpoint, batch: str) -> BatchState:
        """Read a batch's status; see `BatchApi.state`."""
        told = await _asked(http, endpoint, "GET", f"/batches/{quote(batch, safe='')}")
        counts = told.get("request_counts") or {}
        files = (told.get(name) for name in ("output_file_id", "error_file_id"))
        errors = (told.get("errors") or {}).get("data") or []
        return BatchState(
            is_over=told["status"] in {"completed", "failed", "expired", "cancelled"},
            answered=counts.get("completed", 0) + counts.get("failed", 0),
            results=tuple(f"/files/{quote(file, safe='')}/content" for file in files if file),
            failure=words_of(json.dumps(errors).encode()) if told["status"] == "failed" else "",
            is_full=any(error.get("code") == "token_limit_exceeded" for error in errors),
        )

    def answer(self, endpoint: Endpoint, line: Line) -> ChatAnswer:
        """Read a line of the output file or of the error file; see `BatchApi.answer`."""
        response, error = line.get("response"), line.get("error")
        if not is_mapping(response) or response.get("body") is None:
            raise _unanswered(endpoint, words_of(json.dumps({"error": error}).encode()))
        body, status = response["body"], response.get("status_code")
        if status == 200 and is_mapping(body):
            return answer_in(endpoint, body, {})
        has_key = endpoint.key is not None
        content = json.dumps(body).encode()
        raise refusal(endpoint.shown, int(status or 500), {}, content, has_key=has_key)


class AnthropicBatches:
    """Anthropic's (platform.claude.com/docs/en/build-with-claude/batch-processing).

    A batch has no name of ours: it is found by its number of requests and the ids in its results.
    """

    most, largest, is_named = 100_000, 240 << 20, False
    _path = "/messages/batches"

    async def submit(
        self, http: HttpClient, endpoint: Endpoint, key: str, requests: Mapping[str, bytes]
    ) -> str:
        """Submit requests in one body; see `BatchApi.submit`."""
        del key
        head = '{"custom_id": "%s", "params": '
        items = [(head % name).encode() + body + b"}" for name, body in requests.items()]
        data = io.BytesIO(b'{"requests": [' + b",".join(items) + b"]}")
        return str((await _asked(http, endpoint, "POST", self._path, data=data))["id"])

    async def submitted(
        self, http: HttpClient, endpoint: Endpoint, key: str, count: int, since: float
    ) -> list[str]:
        """List batches with as many requests; see `BatchApi.submitted`."""
        del key
        alike: list[str] = []
        async for batch in _listed(http, endpoint, self._path, "after_id"):
            if datetime.fromisoformat(batch["created_at"]).timestamp() < since - HURRY:
                break
            if sum(batch["request_counts"].values()) == count:
                alike.append(str(batch["id"]))
        return alike

    async def state(self, http: HttpClient, endpoint: Endpoint, batch: str) -> BatchState:
        """Read a batch's status; see `BatchApi.state`."""
        path = f"{self._path}/{quote(batch, safe='')}"
        told = await _asked(http, endpoint, "GET", path)
        counts = told["request_counts"]
        is_over = told["processing_status"] == "ended"
        # The address that it names is not asked: our key goes to our address alone.
        return BatchState(
            is_over=is_over,
            answered=sum(counts.values()) - counts.get("processing", 0),
            results=(f"{path}/results",) if is_over else (),
        )

    def answer(self, endpoint: Endpoint, line: Line) -> ChatAnswer:
        """Read a line of results; see `BatchApi.answer`."""
        result = line["result"]
        if result["type"] == "succeeded":
            return answer_in(endpoint, result["message"], {})
        if result["type"] == "errored":
            return answer_in(endpoint, result["error"], {})  # which raises what it tells of
        raise _unanswered(endpoint, f"the request is {result['type']}")


BATCH_APIS: Mapping[str, BatchApi] = {
    "anthropic": AnthropicBatches(),
    "chat": OpenAIBatches(),
    "responses": OpenAIBatches(),
}
"""The batch API of each wire."""


async def lines_of(
    http: HttpClient, endpoint: Endpoint, paths: Sequence[str]
) -> AsyncGenerator[tuple[str, Line]]:
    """Read the lines of results, each with the id of its request, without secrets.

    Raises:
        CallError: They cannot be read, or one is too long.
    """
    for path in paths:
        async with http.response(endpoint, "GET", path) as response:
            rest = b""
            async for chunk in response.content.iter_any():
                *whole, rest = (rest + chunk).split(b"\n")
                for line in filter(bytes.strip, whole):
                    yield _line(endpoint, line)
                if len(rest) > LARGEST_ANSWER:
                    raise _malformed(endpoint, "a line of results is too long")
            if rest.strip():
                yield _line(endpoint, rest)


def _line(endpoint: Endpoint, content: bytes) -> tuple[str, Line]:
    line = dict(parsed(endpoint.shown, without(endpoint.secrets, content)))
    return str(line.get("custom_id")), line


async def _asked(
    http: HttpClient, endpoint: Endpoint, method: str, path: str, **sent: Any
) -> Mapping[str, Any]:
    """Make a request that is answered by a JSON object."""
    async with http.response(endpoint, method, path, **sent) as response:
        content = await read_bounded(response)
    return parsed(endpoint.at(path), without(endpoint.secrets, content))


async def _listed(
    http: HttpClient, endpoint: Endpoint, path: str, after: str
) -> AsyncGenerator[Mapping[str, Any]]:
    """List batches, the newest first."""
    params = {"limit": str(PAGE)}
    while True:
        page = await _asked(http, endpoint, "GET", path, params=params)
        for batch in page["data"]:
            yield batch
        if not page.get("has_more") or not page["data"]:
            return
        params[after] = str(page["data"][-1]["id"])


def _unanswered(endpoint: Endpoint, why: str) -> CallError:
    return CallError(f"{endpoint.shown}: not answered in its batch: {why}.", kind="timeout")


def _malformed(endpoint: Endpoint, what: str) -> CallError:
    return CallError(f"{endpoint.shown}: {what}.", kind="malformed", may_be_billed=True)

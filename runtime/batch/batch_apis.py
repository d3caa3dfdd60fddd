"""The batch APIs of OpenAI and Anthropic: submit, find, poll and read batches."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, TypeAlias
from urllib.parse import quote

import aiohttp

from ...schema.values.values import is_mapping
from ..gateway import CallError, ChatAnswer, Endpoint
from ..gateway.chat.answer import parsed, without
from ..gateway.http.http_client import HttpClient, answer_in, read_bounded
from ..gateway.http.refusals import refusal, words_of
from ..gateway.wires import WIRES
from ..values.bounds import LARGEST_ANSWER

Line: TypeAlias = "Mapping[str, Any]"
METADATA = "coterie"
"""The metadata field by which a batch at OpenAI's API is recognized."""
SKEW = 3_600
"""Seconds by which a provider's clock may be behind ours."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchState:
    """The progress of a batch.

    Attributes:
        is_over: Whether no further request of it will be answered.
        answered: Requests that are answered, or failed.
        failure: The error by which the provider refused the whole batch; else None.
    """

    is_over: bool
    answered: int
    results: Sequence[str]
    failure: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class _Api:
    """A batch API at an endpoint. Each of its requests raises `CallError` on failure.

    Attributes:
        is_named: Whether a batch carries our key; else only its results identify it.
    """

    http: HttpClient
    endpoint: Endpoint
    most: ClassVar[int]
    largest: ClassVar[int]
    is_named: ClassVar[bool]

    async def lines(self, paths: Sequence[str]) -> AsyncGenerator[tuple[str, Line]]:
        """Read the lines of results, each with the id of its request."""
        for path in paths:
            async with self.http.response(self.endpoint, "GET", path) as response:
                rest = b""
                async for chunk in response.content.iter_any():
                    *whole, rest = (rest + chunk).split(b"\n")
                    for line in filter(bytes.strip, whole):
                        yield self._line(line)
                    if len(rest) > LARGEST_ANSWER:
                        raise ValueError("a line of results is too long")
                if rest.strip():
                    yield self._line(rest)

    def _line(self, content: bytes) -> tuple[str, Line]:
        line = parsed(self.endpoint.shown, without(self.endpoint.secrets, content))
        return str(line["custom_id"]), line

    async def _request(self, method: str, path: str, **sent: Any) -> Mapping[str, Any]:
        async with self.http.response(self.endpoint, method, path, **sent) as response:
            content = await read_bounded(response)
        return parsed(self.endpoint.at(path), without(self.endpoint.secrets, content))

    async def _listed(self, path: str, after: str) -> AsyncGenerator[Mapping[str, Any]]:
        """Return the batches, the newest first."""
        params, has_more = {"limit": "100"}, True
        while has_more:
            page = await self._request("GET", path, params=params)
            for batch in page["data"]:
                yield batch
                params[after] = str(batch["id"])
            has_more = bool(page.get("has_more") and page["data"])

    def _unanswered(self, why: str) -> CallError:
        where = self.endpoint.shown
        return CallError(f"{where}: not answered in its batch: {why}.", kind="timeout")


class OpenAIBatches(_Api):
    """OpenAI's batch API (developers.openai.com/api/docs/guides/batch): files of lines."""

    most, largest, is_named = 50_000, 190 << 20, True

    async def submit(self, key: str, requests: Mapping[str, bytes]) -> str:
        """Submit requests by their ids, under a key of ours; return the batch's id."""
        url = f"/v1{WIRES[self.endpoint.wire].path}"
        head = '{"custom_id": "%s", "method": "POST", "url": "%s", "body": '
        lines = [(head % (name, url)).encode() + body + b"}\n" for name, body in requests.items()]
        form = aiohttp.FormData({"purpose": "batch"})
        file = io.BytesIO(b"".join(lines))
        form.add_field("file", file, filename=f"{key}.jsonl", content_type="application/jsonl")
        uploaded = await self._request("POST", "/files", data=form)
        order = {
            "input_file_id": uploaded["id"],
            "endpoint": url,
            "completion_window": "24h",
            "metadata": {METADATA: key},
        }
        return str((await self._request("POST", "/batches", json=order))["id"])

    async def submitted(self, key: str, _count: int, since: float) -> list[str]:
        """Return the ids of batches since a moment that may be ours: the one with the key."""
        async for batch in self._listed("/batches", "after"):
            if (batch.get("metadata") or {}).get(METADATA) == key:
                return [str(batch["id"])]
            if batch["created_at"] < since - SKEW:
                break
        return []

    async def state(self, batch: str) -> BatchState:
        """Return the progress of a batch."""
        fields = await self._request("GET", f"/batches/{quote(batch, safe='')}")
        counts = fields.get("request_counts") or {}
        files = (fields.get(name) for name in ("output_file_id", "error_file_id"))
        errors = (fields.get("errors") or {}).get("data") or []
        return BatchState(
            is_over=fields["status"] in {"completed", "failed", "expired", "cancelled"},
            answered=counts.get("completed", 0) + counts.get("failed", 0),
            results=[f"/files/{quote(file, safe='')}/content" for file in files if file],
            failure=next(iter(errors), {}) if fields["status"] == "failed" else None,
        )

    def answer(self, line: Line) -> ChatAnswer:
        """Extract the answer from a line of results."""
        response = line.get("response")
        if not is_mapping(response) or not is_mapping(body := response.get("body")):
            raise self._unanswered(words_of(json.dumps({"error": line.get("error")}).encode()))
        if (status := response["status_code"]) == 200:
            return answer_in(self.endpoint, body, {})
        has_key, content = self.endpoint.key is not None, json.dumps(body).encode()
        raise refusal(self.endpoint.shown, status, {}, content, has_key=has_key)


class AnthropicBatches(_Api):
    """Anthropic's batch API (platform.claude.com/docs/en/build-with-claude/batch-processing).

    A batch does not carry our key: its number of requests and the ids in its results identify it.
    """

    most, largest, is_named = 100_000, 240 << 20, False
    path = "/messages/batches"

    async def submit(self, _key: str, requests: Mapping[str, bytes]) -> str:
        """Submit requests by their ids; return the batch's id."""
        head = '{"custom_id": "%s", "params": '
        items = [(head % name).encode() + body + b"}" for name, body in requests.items()]
        data = io.BytesIO(b'{"requests": [' + b",".join(items) + b"]}")
        return str((await self._request("POST", self.path, data=data))["id"])

    async def submitted(self, _key: str, count: int, since: float) -> list[str]:
        """Return the ids of batches since a moment that may be ours: with as many requests."""
        alike: list[str] = []
        async for batch in self._listed(self.path, "after_id"):
            if datetime.fromisoformat(batch["created_at"]).timestamp() < since - SKEW:
                break
            if sum(batch["request_counts"].values()) == count:
                alike.append(str(batch["id"]))
        return alike

    async def state(self, batch: str) -> BatchState:
        """Return the progress of a batch."""
        path = f"{self.path}/{quote(batch, safe='')}"
        fields = await self._request("GET", path)
        counts, is_over = fields["request_counts"], fields["processing_status"] == "ended"
        # Its own URL is not called: our key is sent to our address only.
        return BatchState(
            is_over=is_over,
            answered=sum(counts.values()) - counts.get("processing", 0),
            results=[f"{path}/results"] if is_over else [],
        )

    def answer(self, line: Line) -> ChatAnswer:
        """Extract the answer from a line of results."""
        result = line["result"]
        if result["type"] not in {"succeeded", "errored"}:
            raise self._unanswered(f"the request is {result['type']}")
        # An error's body raises the error that it reports.
        return answer_in(self.endpoint, result.get("message") or result["error"], {})


BatchApi: TypeAlias = OpenAIBatches | AnthropicBatches


def batch_api(http: HttpClient, endpoint: Endpoint) -> BatchApi:
    """Return the batch API of an endpoint, by its wire."""
    return (AnthropicBatches if endpoint.wire == "anthropic" else OpenAIBatches)(http, endpoint)

"""The batch APIs of OpenAI and Anthropic in front of a server that answers requests by themselves.

Sources: https://developers.openai.com/api/reference/resources/batches and
https://platform.claude.com/docs/en/api/messages/batches.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from coterie.runtime.doubles.endpoints import EndpointAnswer, HttpRequest
from coterie.runtime.doubles.reply import Reply
from coterie.runtime.doubles.server import LoopbackServer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from coterie.runtime.doubles.server import Answering

Fate = Literal["answered", "expired", "canceled"]
CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
PAGE = 2
"""Batches on a page of their list, so that clients have to turn pages."""


def answered(_batch: int, _request: int) -> Fate:
    """Answer every request."""
    return "answered"


@dataclass(kw_only=True, eq=False)
class Batch:
    """A batch, whose requests are answered, and billed, as soon as it is there.

    Attributes:
        id: Its id.
        requests: Each request's `custom_id`, path and body.
        metadata: What the client says of it.
        failure: Why it is refused as a whole.
        looks: How often it was looked at.
        lines: The result of each request, by its id: the status and the body, or how it ended.
    """

    id: str
    requests: Sequence[tuple[str, str, Mapping[str, Any]]]
    metadata: Mapping[str, str] | None = None
    failure: Mapping[str, Any] | None = None
    looks: int = 0
    created: float = field(default_factory=lambda: datetime.now(UTC).timestamp())
    lines: dict[str, tuple[int, Any] | str] = field(default_factory=dict[str, Any])


class BatchingServer(LoopbackServer):
    """A provider with a batch API on 127.0.0.1, while in `with`.

    Args:
        inner: Answers single requests, and those in batches.
        looks: How often a batch is looked at until it is over; about half is answered before.
        fate: How a request ends, by the number of its batch and its own, from 0.
        refuses: The codes of errors by which batches are refused as a whole, by their numbers.
    """

    def __init__(
        self,
        inner: Answering,
        *,
        looks: int = 2,
        fate: Callable[[int, int], Fate] = answered,
        refuses: Mapping[int, str] | None = None,
    ) -> None:
        self._served = _BatchEndpoints(inner, looks, fate, refuses or {})
        super().__init__(self._served)

    @property
    def batches(self) -> tuple[Batch, ...]:
        """Every batch until now."""
        return tuple(self._served.batches.values())

    def hurry(self) -> None:
        """Have every batch be over when it is looked at next."""
        self._served.looks = 0

    @property
    def billed(self) -> list[str]:
        """The bodies of all requests that were answered in batches, in order."""
        return [
            json.dumps(body, sort_keys=True)
            for batch in self.batches
            for name, _, body in batch.requests
            if isinstance(line := batch.lines.get(name), tuple) and line[0] == 200
        ]


class _BatchEndpoints:
    """Answers requests. Only the server's thread calls it."""

    def __init__(
        self,
        inner: Answering,
        looks: int,
        fate: Callable[[int, int], Fate],
        refuses: Mapping[int, str],
    ) -> None:
        self._inner = inner
        self.looks = looks
        self._fate = fate
        self._refuses = refuses
        self._files: dict[str, bytes] = {}
        self.batches: dict[str, Batch] = {}

    def authorized(self, request: HttpRequest) -> bool:
        """Whether the request carries the key, or none is asked for."""
        return self._inner.authorized(request)

    def answer(self, request: HttpRequest, body: dict[str, Any] | None) -> EndpointAnswer:
        """Answer a request of a batch API, or have it answered."""
        path, _, query = request.path.removeprefix("/v1").partition("?")
        if not self.authorized(request):
            return self._inner.answer(request, body)
        match request.method, *path.strip("/").split("/"):
            case "POST", "files":
                answer = _json(self._uploaded(request.body))
            case "GET", "files", file, "content":
                answer = _plain(self._files[file])
            case "POST", "batches":
                answer = self._ordered(request, body or {})
            case "GET", "batches":
                answer = _json(self._page(query, self._openai))
            case "GET", "batches", name:
                answer = self._told(name, self._openai)
            case "POST", "messages", "batches":
                answer = self._sent(request, body or {})
            case "GET", "messages", "batches":
                answer = _json(self._page(query, self._anthropic))
            case "GET", "messages", "batches", name:
                answer = self._told(name, self._anthropic)
            case "GET", "messages", "batches", name, "results":
                answer = _plain(_lines(_anthropic_line(*result) for result in self._results(name)))
            case _:
                answer = self._inner.answer(request, body)
        return answer

    def _uploaded(self, form: bytes) -> dict[str, Any]:
        """Keep the file of a form."""
        boundary = form.partition(b"\r\n")[0]
        parts = [part.partition(b"\r\n\r\n") for part in form.split(boundary)]
        named = {head: body.removesuffix(b"\r\n") for head, _, body in parts}
        content = next(body for head, body in named.items() if b'filename="' in head)
        purpose = next(body for head, body in named.items() if b'name="purpose"' in head)
        name = f"file-{len(self._files)}"
        self._files[name] = content
        fields = {"id": name, "object": "file", "bytes": len(content), "status": "processed"}
        return {**fields, "purpose": purpose.decode()}

    def _ordered(self, request: HttpRequest, order: dict[str, Any]) -> EndpointAnswer:
        """Take a batch of OpenAI's API, and answer its requests."""
        if order.get("completion_window") != "24h" or order["input_file_id"] not in self._files:
            return _json({"error": {"message": "Invalid batch.", "code": "invalid"}}, status=400)
        lines = [json.loads(line) for line in self._files[order["input_file_id"]].splitlines()]
        requests = [(line["custom_id"], line["url"], line["body"]) for line in lines]
        code = self._refuses.get(len(self.batches), "")
        if len({body["model"] for *_, body in requests}) > 1:
            code = "mismatched_model"
        if len({name for name, *_ in requests}) < len(requests):
            code = "duplicate_custom_id"
        if any(url != order["endpoint"] for _, url, _ in requests):
            code = "mismatched_endpoint"
        failure = {"code": code, "message": f"The batch has failed: {code}.", "line": None}
        batch = self._taken(request, requests, order.get("metadata"), failure if code else None)
        return _json(self._openai(batch))

    def _sent(self, request: HttpRequest, order: dict[str, Any]) -> EndpointAnswer:
        """Take a batch of Anthropic's API, and answer its requests."""
        items = order["requests"]
        if order.keys() != {"requests"} or not all(
            CUSTOM_ID.fullmatch(item["custom_id"]) and "stream" not in item["params"]
            for item in items
        ):
            error = {"type": "invalid_request_error", "message": "requests: Invalid"}
            return _json({"type": "error", "error": error}, status=400)
        requests = [(item["custom_id"], "/v1/messages", item["params"]) for item in items]
        return _json(self._anthropic(self._taken(request, requests)))

    def _taken(
        self,
        request: HttpRequest,
        requests: Sequence[tuple[str, str, Mapping[str, Any]]],
        metadata: Mapping[str, str] | None = None,
        failure: Mapping[str, Any] | None = None,
    ) -> Batch:
        number = len(self.batches)
        batch = Batch(id=f"batch_{number}", requests=requests, metadata=metadata, failure=failure)
        for place, (name, path, body) in enumerate(requests if failure is None else ()):
            batch.lines[name] = fate = self._fate(number, place)
            if fate == "answered":
                content = json.dumps(body).encode()
                item = HttpRequest(method="POST", path=path, headers=request.headers, body=content)
                answer = self._inner.answer(item, dict(body))
                batch.lines[name] = (answer.reply.status, json.loads(answer.content))
        self.batches[batch.id] = batch
        return batch

    def _told(self, name: str, form: Callable[[Batch], dict[str, Any]]) -> EndpointAnswer:
        if (batch := self.batches.get(name)) is None:
            return _json({"error": {"message": f"No batch {name}.", "code": None}}, status=404)
        batch.looks += 1
        return _json(form(batch))

    def _page(self, query: str, form: Callable[[Batch], dict[str, Any]]) -> dict[str, Any]:
        """List batches, the newest first."""
        given = dict(part.split("=") for part in query.split("&") if part)
        after = given.get("after") or given.get("after_id")
        names = [*reversed(self.batches)]
        names = names[names.index(after) + 1 if after else 0 :]
        page = [form(self.batches[name]) for name in names[:PAGE]]
        return {"object": "list", "data": page, "has_more": len(names) > PAGE}

    def _is_over(self, batch: Batch) -> bool:
        return batch.looks >= self.looks

    def _openai(self, batch: Batch) -> dict[str, Any]:
        """Write a batch as OpenAI does."""
        is_over = self._is_over(batch)
        good = [
            result for result in self._results(batch.id) if result[1] not in ("expired", "canceled")
        ]
        bad = [result for result in self._results(batch.id) if result not in good]
        status = "failed" if batch.failure else "in_progress"
        files: dict[str, str] = {}
        if is_over and not batch.failure:
            status = "expired" if any(line == "expired" for _, line in bad) else "completed"
            for kind, lines in {"output": good, "error": bad}.items():
                if lines:
                    name = f"file-{batch.id}-{kind}"
                    self._files[name] = _lines(_openai_line(*line) for line in lines)
                    files[f"{kind}_file_id"] = name
        done = len(good) if is_over else len(good) // 2
        counts = {"total": len(batch.requests), "completed": done, "failed": 0}
        fields = {"output_file_id": None, "error_file_id": None, **files, "request_counts": counts}
        errors = {"object": "list", "data": [batch.failure]} if batch.failure else None
        named = {"id": batch.id, "object": "batch", "metadata": batch.metadata, "status": status}
        return {**named, **fields, "errors": errors, "created_at": int(batch.created)}

    def _anthropic(self, batch: Batch) -> dict[str, Any]:
        """Write a batch as Anthropic does."""
        ends = [_anthropic_line(*result)["result"]["type"] for result in self._results(batch.id)]
        counts = {
            name: ends.count(name) for name in ("succeeded", "errored", "canceled", "expired")
        }
        if not (is_over := self._is_over(batch)):
            counts = {**dict.fromkeys(counts, 0), "succeeded": counts["succeeded"] // 2}
        counts["processing"] = len(ends) - sum(counts.values())
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if is_over else "in_progress",
            "request_counts": counts,
            "created_at": datetime.fromtimestamp(batch.created, UTC).isoformat(),
            "results_url": f"https://elsewhere.test/{batch.id}/results" if is_over else None,
        }

    def _results(self, name: str) -> list[tuple[str, tuple[int, Any] | str]]:
        """Return the result of the requests of a batch, in another order than they were sent in."""
        return [*reversed(self.batches[name].lines.items())]


def _openai_line(name: str, line: tuple[int, Any] | str) -> dict[str, Any]:
    fields: dict[str, Any] = {"id": f"batch_req_{name}", "custom_id": name, "response": None}
    if isinstance(line, str):
        return {**fields, "error": {"code": f"batch_{line}", "message": f"It is {line}."}}
    status, body = line
    response = {"status_code": status, "request_id": "req_0", "body": body}
    return {**fields, "response": response, "error": None}


def _anthropic_line(name: str, line: tuple[int, Any] | str) -> dict[str, Any]:
    if isinstance(line, str):
        return {"custom_id": name, "result": {"type": line}}
    status, body = line
    kind, place = ("succeeded", "message") if status == 200 else ("errored", "error")
    return {"custom_id": name, "result": {"type": kind, place: body}}


def _lines(lines: Any) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _json(value: Any, *, status: int = 200) -> EndpointAnswer:
    return EndpointAnswer(reply=Reply(status=status), content=json.dumps(value).encode())


def _plain(content: bytes) -> EndpointAnswer:
    return EndpointAnswer(reply=Reply(), content=content, content_type="application/octet-stream")

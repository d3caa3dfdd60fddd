"""A server that answers as a provider does, and keeps books of what it served."""

from __future__ import annotations

import hmac
import json
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from coterie.runtime.doubles.endpoints import EndpointAnswer
from coterie.runtime.doubles.reply import Reply
from coterie.runtime.doubles.server import LoopbackServer

from .provider import KEY
from .said import Bill, Refusal, Said, bill_of, size

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from coterie.runtime.doubles.endpoints import HttpRequest

    from .provider import Provider, Speech
    from .said import Step

NOTHING = Bill()
NO_OBJECT = Refusal(status=400, message="The body is no JSON object.")
SCRIPT_ENDED = Refusal(status=500, message="The script has no further answer.", kind="script")


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One request in the books.

    Attributes:
        path: Where it came in.
        body: What was sent; None where it was no JSON object.
        said: What it was answered; None for an error.
        refusal: The error.
        bill: What it costs; nothing for an error.
        streamed: Whether it asked for a stream.
        at: When it came, in seconds of `time.monotonic`.
    """

    path: str
    body: Mapping[str, Any] | None
    said: Said | None = None
    refusal: Refusal | None = None
    bill: Bill = NOTHING
    streamed: bool = False
    at: float


class ProviderDouble(LoopbackServer):
    """A provider on 127.0.0.1, while in `with`. It checks every request as the provider does.

    Args:
        provider: Who to be.
        script: What the requests that are accepted come to, in their order.
    """

    def __init__(self, provider: Provider, script: Iterable[Step]) -> None:
        self._desk = ProviderEndpoints(provider, script)
        super().__init__(self._desk)

    @property
    def books(self) -> tuple[Entry, ...]:
        """Every request until now, in the order of their arrival."""
        return tuple(self._desk.entries)


class ProviderEndpoints:
    """Answers requests as a provider does. Only the server's thread calls it.

    Args:
        provider: Who to be.
        script: What the requests that are accepted come to, in their order.
    """

    def __init__(self, provider: Provider, script: Iterable[Step]) -> None:
        self._provider = provider
        self._script = iter(script)
        self.entries: list[Entry] = []

    def authorized(self, request: HttpRequest) -> bool:
        """Whether the request carries the key, or none is asked for."""
        header, form = self._provider.key_header
        given = request.headers.get(header, "").encode()
        wanted = form.format(key=KEY).encode()
        return self._provider.wrong_key is None or hmac.compare_digest(given, wanted)

    def answer(self, request: HttpRequest, body: dict[str, Any] | None) -> EndpointAnswer:
        """Answer a request as the provider does."""
        path = request.path.partition("?")[0]
        entry = Entry(path=path, body=body, at=time.monotonic())
        result = self._came(request, path, body)
        return (
            self._refused(entry, result)
            if isinstance(result, Refusal)
            else self._told(entry, *result)
        )

    def _came(
        self, request: HttpRequest, path: str, body: dict[str, Any] | None
    ) -> tuple[Speech, Said] | Refusal:
        """Find the result of a request."""
        provider = self._provider
        if provider.wrong_key is not None and not self.authorized(request):
            return provider.wrong_key
        speech = provider.speaks.get(path, provider.elsewhere)
        if path not in provider.speaks or body is None:
            return provider.elsewhere if body else NO_OBJECT
        if provider.unknown_model is not None and body.get("model") != provider.model:
            return provider.unknown_model.about(model=body.get("model"))
        return speech if isinstance(speech, Refusal) else self._next(speech, body)

    def _next(self, speech: Speech, body: dict[str, Any]) -> tuple[Speech, Said] | Refusal:
        step = self._objection(speech, body) or next(self._script, SCRIPT_ENDED)
        if isinstance(step, Said) and step.refusal and isinstance(speech.refuses, Refusal):
            return speech.refuses
        return step if isinstance(step, Refusal) else (speech, step)

    def _objection(self, speech: Speech, body: dict[str, Any]) -> Refusal | None:
        provider, read = self._provider, size(body)
        if provider.overflow is not None and read > provider.context:
            return provider.overflow.about(size=read, most=provider.context)
        return speech.objection(body)

    def _told(self, entry: Entry, speech: Speech, answer: Said) -> EndpointAnswer:
        """Write an answer down and out."""
        body = entry.body or {}
        if not speech.asked_to_think(body):
            answer = replace(answer, thinking="")
        bill = bill_of(size(body), answer, caches=speech.caches)
        streamed = bool(body.get("stream"))
        self.entries.append(replace(entry, said=answer, bill=bill, streamed=streamed))
        reply = Reply(delivery="half" if answer.cut_off else "whole")
        document = speech.form.document(speech, body, answer, bill)
        if not streamed:
            return _plain(reply.replace(body=json.dumps(document)))
        content = "".join(f"{event}\n\n" for event in speech.form.events(speech, body, document))
        return EndpointAnswer(
            reply=reply, content=content.encode(), content_type="text/event-stream"
        )

    def _refused(self, entry: Entry, refusal: Refusal) -> EndpointAnswer:
        self.entries.append(replace(entry, refusal=refusal))
        body = json.dumps(self._provider.envelope(refusal))
        return _plain(Reply(status=refusal.status, body=body, headers=refusal.headers))


def _plain(reply: Reply) -> EndpointAnswer:
    return EndpointAnswer(reply=reply, content=(reply.body or "").encode())

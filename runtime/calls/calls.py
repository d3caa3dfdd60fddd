"""Model calls of runs and operators: journaled, cached, bounded, without the host's secrets."""

from __future__ import annotations

import hashlib
import time
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ...schema.values.codec import from_value
from ...schema.values.json_text import dumps, loads
from ...schema.values.values import replaced
from ..gateway import CallError, ChatAnswer, ToolRequest, Usage, bare
from ..gateway.chat.dialogue import shortened
from ..gateway.model_client import no_account, unrecorded
from ..record.journal import digest
from ..scrubbing.scrubber import APART
from ..values.bounds import LARGEST_ANSWER, LONGEST_EVENT, apart

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..gateway import ChatRequest, Gateway, Message
    from ..gateway.chat.fallback import ParameterChange
    from ..gateway.stream_sink import Tell
    from ..record.journal import Journal
    from ..values.budget import Budget
    from .cache import Cache

SHORTEST = 2_000
"""The least characters of a message to keep."""


def _unchanged(text: str) -> str:
    return text


@dataclass(frozen=True, kw_only=True, slots=True)
class Calls:
    """Makes model calls by their path.

    Attributes:
        journal: Replays recorded answers before the gateway is called, and records new ones.
        cache: Answers after the journal.
        scrub: Removes the host's secrets from an answer before anyone sees it.
        seed: Where the seeds of calls come from; None for the endpoints' own randomness.
        are_batched: Whether an answer may take a day; such waits then do not count in teams' time.
    """

    gateway: Gateway
    journal: Journal | None = None
    cache: Cache | None = None
    scrub: Callable[[str], str] = _unchanged
    seed: int | None = None
    are_batched: bool = False

    async def chat(
        self,
        path: str,
        request: ChatRequest,
        tell: Tell,
        *,
        budget: Budget | None = None,
        trim: bool = False,
        on_words: Callable[[str], None] | None = None,
    ) -> ChatAnswer:
        """Call a model, or return its recorded answer.

        Args:
            path: Identifies the call, whenever it is made.
            request: The request; its seed is derived from the path that the journal returns.
            tell: Called with events: `model_call`, `model_retried`, `model_fallback`,
                `model_error`, `parameter_adapted`, `question_asked`, `question_closed`, `trimmed`.
            trim: Shorten the conversation if it exceeds the model's context.
            on_words: Called with the text of a live answer as it arrives, secrets included.

        Raises:
            CallError: No usable answer.
            BudgetReached: The budget does not allow the call.
            NotRecorded: A replay has no such answer.
            StorageError: The answer cannot be recorded.
        """
        origin = path if self.journal is None else self.journal.origin(path)
        if (seed := seed_of(self.seed, origin)) != request.seed:
            request = replaced(request, seed=seed)
        call = _Call(self, request, partial(tell, path=path), budget, trim, on_words)
        started = time.monotonic()
        try:
            value, source = await call.value(path)
        except CallError as error:
            tell(
                "model_error",
                path=path,
                alias=request.model,
                kind=error.kind,
                error=self.scrub(str(error)),
                seconds=round(time.monotonic() - started, 6),
                **({"usage": error.usage.value()} if error.usage.calls else {}),
            )
            if self.journal is not None:
                self.journal.note_failed(path, error.usage)
            raise
        answer = call.answer or from_value(ChatAnswer, value)
        _tell_call(tell, path, request, answer, source)
        if left_out := value.get("left_out"):
            tell("trimmed", path=path, left_out=left_out)
        return answer


def seed_of(seed: int | None, path: str) -> int | None:
    """Derive a call's seed from the run's, so that it depends on the path and not on time."""
    if seed is None:
        return None
    digested = hashlib.sha256(f"{seed}/{path}".encode()).digest()
    return int.from_bytes(digested[:4], "big") >> 1


@dataclass(slots=True)
class _Call:
    """One call on its way through journal and cache; `answer` is a model's new answer."""

    calls: Calls
    request: ChatRequest
    tell: Tell
    budget: Budget | None
    trim: bool
    on_words: Callable[[str], None] | None
    answer: ChatAnswer | None = None

    async def value(self, path: str) -> tuple[Mapping[str, Any], str]:
        """Return the answer as a JSON object, and its source."""
        journal = self.calls.journal
        if journal is None:
            return await self._cached(path)
        key = digest(self._shape(), self.request.model)
        async with journal.alone(path, key):
            return await self._journaled(journal, path, key)

    async def _journaled(
        self, journal: Journal, path: str, key: str
    ) -> tuple[Mapping[str, Any], str]:
        cache = self.calls.cache
        if cache is not None:
            cache.begin(self._question(), journal.recorded_before(key))
        recorded = journal.get(path, key)
        if recorded is not None:
            if cache is not None:
                cache.skip(self._question())
            return recorded, recorded.get("source", "journal")
        journal.must_be_live(path)
        value, source = await self._cached(path)
        await journal.put(path, "model", key, value)
        return value, source

    async def _cached(self, path: str) -> tuple[Mapping[str, Any], str]:
        cache, ask = self.calls.cache, partial(self._ask_gateway, path)
        if cache is None:
            value, _ = await ask()
            return value, "model"
        value, is_kept = await cache.once(self._question(), ask)
        if not is_kept:
            return value, "model"
        self.answer = None
        return {**value, "usage": Usage(cached_calls=1).value()}, "cache"

    async def _ask_gateway(self, path: str) -> tuple[Mapping[str, Any], bool]:
        """Call the gateway, with a shortened conversation if necessary.

        Args:
            path: The path under which the costs of its attempts are recorded.

        Returns:
            The answer, and whether the requested model gave it, not a fallback.
        """
        request, left_out = self.request, 0
        journal = self.calls.journal
        account, attempt = no_account, unrecorded
        if journal is not None:
            account = partial(journal.open_account, path)
            attempt = partial(journal.batched_attempt, path)
        while True:
            try:
                answer = await self.calls.gateway.chat(
                    request,
                    self._tell_retry,
                    on_fallback=self._tell_fallback,
                    on_words=self.on_words,
                    on_adapted=self._tell_adapted,
                    budget=self.budget,
                    open_account=account,
                    tell=self.tell,
                    folder=None if journal is None else journal.folder,
                    batched_attempt=attempt,
                )
            except CallError as error:
                if error.kind != "overflow" or not self.trim:
                    raise
                messages, cut = trimmed(request.messages)
                if not cut:
                    raise
                left_out += cut
                request = replaced(request, messages=messages)
            else:
                is_own = answer.alias == request.model
                work = partial(_clean, answer, self.calls.scrub)
                self.answer = await apart(_size(answer), work)
                return _value(self.answer, left_out), is_own

    def _tell_retry(self, error: CallError, wait: float) -> None:
        text = self.calls.scrub(str(error))
        self.tell("model_retried", kind=error.kind, error=text, wait=round(wait, 3))

    def _tell_fallback(self, error: CallError, alias: str) -> None:
        text = self.calls.scrub(str(error))
        self.tell("model_fallback", kind=error.kind, error=text, alias=alias)

    def _tell_adapted(self, change: ParameterChange) -> None:
        fields = {**asdict(change), "words": self.calls.scrub(change.words)}
        self.tell("parameter_adapted", **fields)

    def _question(self) -> str:
        """Return the digest of everything that affects the answer."""
        from ..local.weights import weights_sha256

        model = self.calls.gateway.models[self.request.model]
        settings = [model.settings] if model.settings else []
        who = weights_sha256(model.model) or model.model
        return digest(self._shape(), who, model.api_base, *settings)

    def _shape(self) -> list[Any]:
        """Return the parts of a request that affect its answer, except the model."""
        item = self.request
        sampling = [item.max_tokens, item.temperature, item.seed, item.stop]
        attachments = {name: shown.sha256 for name, shown in item.attachments.items()} or None
        later = {"top_p": item.top_p, "effort": item.effort, "attachments": attachments}
        fields = {name: value for name, value in later.items() if value is not None}
        shape = [item.messages, *sampling, item.tools, item.tool_choice, item.schema]
        return [*shape, fields] if fields else shape


def _clean(answer: ChatAnswer, scrub: Callable[[str], str]) -> ChatAnswer:
    texts = [answer.text, answer.finish_reason, answer.model, answer.fingerprint, answer.thinking]
    is_plain = not (answer.tool_calls or answer.kept)
    if is_plain and scrub(together := APART.join(texts)) == together:
        return answer
    text, finish_reason, model, fingerprint, thinking = map(scrub, texts)
    return replaced(
        answer,
        text=text,
        tool_calls=tuple(_clean_call(tool_call, scrub) for tool_call in answer.tool_calls),
        finish_reason=finish_reason,
        model=model,
        fingerprint=fingerprint,
        thinking=thinking,
        kept=scrubbed(answer.kept, scrub) if answer.kept else {},
    )


def _value(answer: ChatAnswer, left_out: int) -> Mapping[str, Any]:
    value: dict[str, Any] = {
        "text": answer.text,
        "tool_calls": [_call_value(tool_call) for tool_call in answer.tool_calls],
        "finish_reason": answer.finish_reason,
        "usage": answer.usage.value(),
        "model": answer.model,
        "alias": answer.alias,
        "seconds": answer.seconds,
        "attempts": answer.attempts,
    }
    fields = {
        "left_out": left_out,
        "fingerprint": answer.fingerprint,
        "thinking": answer.thinking,
        "kept": answer.kept,
        "adapted": dict(answer.adapted),
    }
    return {**value, **{name: item for name, item in fields.items() if item}}


def _size(answer: ChatAnswer) -> int:
    """Return the characters of an answer; one with kept fields counts as long, uncounted."""
    if answer.kept:
        return LARGEST_ANSWER
    called = (call.arguments for call in answer.tool_calls)
    return sum(map(len, (answer.text, answer.thinking, *called)))


def _clean_call(call: ToolRequest, scrub: Callable[[str], str]) -> ToolRequest:
    extra = scrubbed(call.extra, scrub) if call.extra else {}
    texts = scrub(call.id), scrub(call.name), scrub(call.arguments)
    return ToolRequest(id=texts[0], name=texts[1], arguments=texts[2], extra=extra)


def _call_value(call: ToolRequest) -> dict[str, Any]:
    value = {"id": call.id, "name": call.name, "arguments": call.arguments}
    return {**value, "extra": call.extra} if call.extra else value


def scrubbed(value: Any, scrub: Callable[[str], str]) -> Any:
    """Remove the host's secrets from every text of a JSON value."""
    text = dumps(value, ensure_ascii=False)
    clean = scrub(text)
    return value if clean == text else loads(clean)


def _tell_call(
    tell: Tell, path: str, request: ChatRequest, answer: ChatAnswer, source: str
) -> None:
    tell(
        "model_call",
        path=path,
        alias=request.model,
        model=answer.model,
        **({} if answer.alias == request.model else {"answered_by": answer.alias}),
        max_tokens=request.max_tokens,
        **({} if request.temperature is None else {"temperature": request.temperature}),
        messages=shortened([bare(message) for message in request.messages], LONGEST_EVENT),
        **_attached(request),
        text=shortened(answer.text, LONGEST_EVENT),
        tool_calls=shortened(
            [
                {"id": call.id, "name": call.name, "arguments": call.arguments}
                for call in answer.tool_calls
            ],
            LONGEST_EVENT,
        ),
        **_thinking(answer),
        finish_reason=answer.finish_reason,
        usage=answer.usage.value(),
        attempts=answer.attempts,
        seconds=answer.seconds,
        **({"adapted": answer.adapted} if answer.adapted else {}),
        **({} if source == "model" else {"source": source}),
    )


def _attached(request: ChatRequest) -> Mapping[str, Any]:
    """Return the fields of a call's event about the attachments that the model saw."""
    records = [attachment.described(name) for name, attachment in request.attachments.items()]
    return {"attachments": records} if records else {}


def _thinking(answer: ChatAnswer) -> Mapping[str, Any]:
    """Return the fields of an answer's event about its thinking."""
    return {"thinking": shortened(answer.thinking, LONGEST_EVENT)} if answer.thinking else {}


def trimmed(messages: Sequence[Message]) -> tuple[list[Message], int]:
    """Remove the middle half of the longest text among messages, with a note in its place.

    Returns:
        The messages, and the number of characters that were left out: 0 if none is long enough.
    """
    lengths = [len(_text(message)) for message in messages]
    longest = max(range(len(lengths)), key=lengths.__getitem__, default=0)
    if not lengths or lengths[longest] <= SHORTEST:
        return list(messages), 0
    text = _text(messages[longest])
    half = max(SHORTEST, len(text) // 2) // 2
    left_out = len(text) - 2 * half
    note = f"\n[… {left_out:,} characters left out: too long for the model …]\n"
    if left_out <= len(note):  # the note would be as long as the text that it replaces
        return list(messages), 0
    shorter: dict[str, Any] = {**messages[longest], "content": text[:half] + note + text[-half:]}
    return [*messages[:longest], shorter, *messages[longest + 1 :]], left_out


def _text(message: Message) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else ""

"""What is tried with each provider. What is right is what the double's own books say."""

from __future__ import annotations

import json
import math
from base64 import b64encode
from typing import TYPE_CHECKING, Any, Protocol

from coterie.runtime.doubles import ScriptedCall
from coterie.runtime.gateway import spoken
from coterie.runtime.gateway.chat.errors import CallError
from coterie.schema.values.errors import InputError

from ..doubles import Said, Speech
from .shown import SHOWN
from .trial import QUESTION, check_without_key, trial
from .verdict import NONE, TOLD, Verdict, checked

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from coterie.runtime.gateway import ChatAnswer
    from coterie.runtime.gateway.chat.errors import Kind as Failure
    from coterie.schema.values.attachments import Kind

    from ..doubles import Provider
    from .trial import Trial


class Cell(Protocol):
    """Tries something with a provider."""

    def __call__(self, provider: Provider, *, stream: bool) -> Awaitable[Verdict]:
        """Try it; with answers in pieces, or whole."""
        ...


TEXT = "Six times seven is 42."
THOUGHT = 'Maybe {"answer": 41}? No, count again.'
CLOSED: Mapping[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "integer"}},
    "required": ["answer"],
    "additionalProperties": False,
}
OPEN: Mapping[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "integer"}, "note": {"type": "string"}},
    "required": ["answer"],
}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "multiply",
            "description": "Multiply two numbers.",
            "parameters": {
                "type": "object",
                "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                "required": ["a", "b"],
            },
        },
    }
]
WRONG_KEY = "sk-not-the-one-it-knows"


async def text(provider: Provider, *, stream: bool) -> Verdict:
    """A plain answer."""
    async with trial(provider, [Said(text=TEXT)], stream=stream) as item:
        answer = await item.ask()
    return checked(right=answer.text == TEXT, why=f"the answer is {answer.text!r}")


async def schema(provider: Provider, *, stream: bool) -> Verdict:
    """An answer under a schema: a closed one, and one with an optional field."""
    words = json.dumps({"answer": 42})
    async with trial(provider, [Said(text=words), Said(text=words)], stream=stream) as item:
        answers = [(await item.ask(schema=wanted)).text for wanted in (CLOSED, OPEN)]
    right = all(json.loads(answer) == {"answer": 42} for answer in answers)
    return checked(right=right, why=f"the answers are {answers}")


async def tools(provider: Provider, *, stream: bool) -> Verdict:
    """Two tool calls, one after the other, and an answer."""
    async with trial(
        provider, [_calls(6, 7), _calls(42, 1), Said(text=TEXT)], stream=stream
    ) as item:
        answer, arguments = await _looped(item)
    expected = [{"a": 6, "b": 7}, {"a": 42, "b": 1}]
    right = answer.text == TEXT and arguments == expected
    return checked(right=right, why=f"it called with {arguments} and said {answer.text!r}")


async def thinking(provider: Provider, *, stream: bool) -> Verdict:
    """What was thought is kept, and is no part of the answer."""
    words = json.dumps({"answer": 42})
    async with trial(provider, [Said(thinking=THOUGHT, text=words)], stream=stream) as item:
        answer = await item.ask(schema=CLOSED, effort="high")
    if not item.books[-1].bill.thinking:
        return Verdict("wrong", "the model was not asked to think")
    if answer.text != words:
        return Verdict("wrong", f"the answer is {answer.text!r}")
    right = answer.thinking in ({THOUGHT} if provider.shows_thinking else {"", THOUGHT})
    return checked(right=right, why=f"it thought {answer.thinking!r}")


async def back(provider: Provider, *, stream: bool) -> Verdict:
    """What was thought before a tool's call comes back with its result, where it must."""
    if provider.comes_back is None:
        return NONE
    script = [_calls(6, 7, THOUGHT), _calls(42, 1, "Once more."), Said(text=TEXT)]
    async with trial(provider, script, stream=stream) as item:
        answer, _ = await _looped(item, effort="high")
    entries = [entry for entry in item.books if entry.said]
    if not entries[0].bill.thinking:
        return Verdict("wrong", "the model was not asked to think")
    second = json.dumps(entries[1].body)
    right = answer.text == TEXT and json.dumps(provider.comes_back(THOUGHT))[1:-1] in second
    return checked(right=right, why=f"it said {answer.text!r}, and the thought did not come back")


async def image(provider: Provider, *, stream: bool) -> Verdict:
    """An image reaches the model; one that takes none says so after one request."""
    return await _shown(provider, "image", stream=stream)


async def pdf(provider: Provider, *, stream: bool) -> Verdict:
    """So does a PDF."""
    return await _shown(provider, "pdf", stream=stream)


async def refusal(provider: Provider, *, stream: bool) -> Verdict:
    """The model will not answer."""
    speech = _speech(provider)
    if speech.refuses is None:
        return NONE
    word = "I can't help with that."
    async with trial(provider, [Said(refusal=word)], stream=stream) as item:
        try:
            answer = await item.ask()
        except CallError as error:
            words = getattr(speech.refuses, "message", word)
            return TOLD if words in str(error) else Verdict("wrong", f"{error}")
    right = answer.text == word or answer.finish_reason in {"content_filter", "refusal"}
    return checked(right=right, why=f"the answer is {answer.text!r}, {answer.finish_reason}")


async def usage(provider: Provider, *, stream: bool) -> Verdict:
    """Tokens read, cached and written are those of the double's books."""
    async with trial(provider, [Said(thinking=THOUGHT, text=TEXT)], stream=stream) as item:
        await item.ask(effort="high")
    bill = item.books[-1].bill
    counted = (item.spent.prompt_tokens, item.spent.cached_tokens, item.spent.completion_tokens)
    billed = (bill.prompt, bill.cached, bill.completion)
    right = counted == billed and not item.spent.unmetered_calls
    return checked(right=right, why=f"read, cached, written: {counted}, billed {billed}")


async def cost(provider: Provider, *, stream: bool) -> Verdict:
    """The price is that of the double's books; where the provider names it, nobody else has to."""
    async with trial(provider, [Said(thinking=THOUGHT, text=TEXT)], stream=stream) as item:
        await item.ask(effort="high")
    billed = item.books[-1].bill.usd
    right = math.isclose(item.spent.usd, billed, abs_tol=1e-9) and not item.spent.unpriced_calls
    return checked(right=right, why=f"${item.spent.usd:.6f}, billed ${billed:.6f}")


async def wrong_key(provider: Provider, *, stream: bool) -> Verdict:
    """A key that nobody knows: told after one request, nothing counted."""
    if provider.wrong_key is None:
        return NONE
    async with trial(provider, [], key=WRONG_KEY, stream=stream) as item:
        return await _denied(item, "denied")


async def missing_key(provider: Provider, *, stream: bool) -> Verdict:
    """No key: told before anything is sent."""
    if not provider.needs_key:
        return NONE
    try:
        check_without_key(provider)
    except InputError:
        return TOLD
    return Verdict("wrong", "nobody missed it")


async def unknown_model(provider: Provider, *, stream: bool) -> Verdict:
    """A model that the provider does not have: told after one request."""
    if provider.unknown_model is None:
        return NONE
    choice = provider.choice.removesuffix(provider.model) + "no-such-model"
    async with trial(provider, [Said(text=TEXT)], choice=choice, stream=stream) as item:
        return await _denied(item, "unknown")


async def overflow(provider: Provider, *, stream: bool) -> Verdict:
    """More than the model can read: told after one request, as that."""
    if provider.overflow is None:
        return NONE
    long = {"role": "user", "content": "word " * provider.context}
    async with trial(provider, [Said(text=TEXT)], stream=stream) as item:
        return await _denied(item, "overflow", messages=[long])


async def rate_limit(provider: Provider, *, stream: bool) -> Verdict:
    """One call too many: tried again, not before the provider said."""
    if provider.busy is None:
        return NONE
    async with trial(provider, [provider.busy, Said(text=TEXT)], stream=stream) as item:
        answer = await item.ask(retries=2)
    busy = next(index for index, entry in enumerate(item.books) if entry.refusal is provider.busy)
    waited = item.books[busy + 1].at - item.books[busy].at
    asked = provider.busy.wait
    right = answer.text == TEXT and len(item.books) == busy + 2 and waited >= asked
    return checked(right=right, why=f"{len(item.books)} requests, {waited:.2f} s of {asked:g} s")


async def streamed(provider: Provider, *, stream: bool) -> Verdict:
    """The answer comes as a stream, unless models.yaml says `stream: false`; nothing is lost."""
    async with trial(provider, [Said(text=TEXT)], stream=stream) as item:
        answer = await item.ask()
    if item.books[-1].streamed is not stream:
        return Verdict("wrong", "it was not asked for a stream, or for the whole, as it should be")
    right = answer.text == TEXT and item.spent.completion_tokens == item.books[-1].bill.completion
    return checked(right=right, why=f"{answer.text!r}, {item.spent}")


async def cut_off(provider: Provider, *, stream: bool) -> Verdict:
    """A stream, or an answer, that ends in the middle is none."""
    async with trial(provider, [Said(text=TEXT * 20, cut_off=True)], stream=stream) as item:
        try:
            answer = await item.ask()
        except CallError as error:
            right = error.may_pass and error.usage.uncertain_calls == 1
            return TOLD if right else Verdict("wrong", f"{error.kind}, {error.usage}: {error}")
    return Verdict(
        "wrong", f"{len(answer.text)} of {len(TEXT) * 20} characters count as the answer"
    )


async def adapted(provider: Provider, *, stream: bool) -> Verdict:
    """Parameters that the model does not take are left out after one refusal each, and told."""
    fields = {"temperature": 0.7, "seed": 7, "stop": ("STOP",)}
    async with trial(provider, [Said(text=TEXT), Said(text=TEXT)], stream=stream) as item:
        first = await item.ask(**fields)
        needed = len(item.books)
        second = await item.ask(**fields)
    refused = sum(entry.refusal is not None for entry in item.books[:needed])
    number, count = len(item.books) - needed, len(item.adapted)
    right = first.text == second.text == TEXT and number == 1 and count == refused
    return checked(right=right, why=f"{refused} refused, {count} told, then {number} requests")


CELLS: Mapping[str, Cell] = {
    "text": text,
    "schema": schema,
    "tools": tools,
    "thinking": thinking,
    "given back": back,
    "image": image,
    "pdf": pdf,
    "refusal": refusal,
    "usage": usage,
    "cost": cost,
    "wrong key": wrong_key,
    "no key": missing_key,
    "unknown model": unknown_model,
    "overflow": overflow,
    "rate limit": rate_limit,
    "streamed": streamed,
    "cut off": cut_off,
    "adapted": adapted,
}
"""What is tried, by the column's name."""


def _calls(a: int, b: int, thought: str = "") -> Said:
    arguments = json.dumps({"a": a, "b": b})
    return Said(thinking=thought, calls=(ScriptedCall(name="multiply", arguments=arguments),))


async def _shown(provider: Provider, kind: Kind, *, stream: bool) -> Verdict:
    sees, seen = _speech(provider).sees, SHOWN[kind]
    is_taken = sees is not None and kind in sees.parts.values()
    if sees is None or not (is_taken or sees.otherwise):
        return NONE
    async with trial(provider, [Said(text=TEXT)], stream=stream) as item:
        if not is_taken:
            return await _denied(item, "rejected", attachments={"seen": seen})
        answer = await item.ask(attachments={"seen": seen})
    holds = b64encode(seen.content).decode() in json.dumps(item.books[-1].body)
    return checked(right=answer.text == TEXT and holds, why=f"{answer.text!r}, shown: {holds}")


def _speech(provider: Provider) -> Speech:
    return next(speak for speak in provider.speaks.values() if isinstance(speak, Speech))


async def _looped(entry: Trial, **fields: Any) -> tuple[ChatAnswer, list[Any]]:
    """Call tools until the model answers; give the answer and what they were called with."""
    messages: list[Mapping[str, Any]] = [QUESTION]
    arguments: list[Any] = []
    for _ in range(4):
        answer = await entry.ask(messages=messages, tools=TOOLS, **fields)
        if not answer.tool_calls:
            return answer, arguments
        ids = [call.id or f"call_{index}" for index, call in enumerate(answer.tool_calls)]
        given = [json.loads(call.arguments) for call in answer.tool_calls]
        arguments += given
        messages.append(spoken(answer, ids))
        messages += [
            {"role": "tool", "tool_call_id": item, "content": str(at["a"] * at["b"])}
            for item, at in zip(ids, given, strict=True)
        ]
    raise CallError("the model never came to an answer", kind="malformed")


async def _denied(item: Trial, kind: Failure, **fields: Any) -> Verdict:
    """Expect a failure of a kind, told after one request, for which nothing is counted."""
    try:
        answer = await item.ask(retries=2, **fields)
    except InputError:
        return TOLD if not item.books else Verdict("wrong", "told after a request")
    except CallError as error:
        # Before it comes to that, the model may have had to be spoken to otherwise.
        number = sum(entry.refusal == item.books[-1].refusal for entry in item.books)
        counted = error.usage.tokens
        right = error.kind == kind and number == 1 and not counted and WRONG_KEY not in str(error)
        why = f"{error.kind} after {number} requests, {counted} tokens counted: {error}"
        return TOLD if right else Verdict("wrong", why)
    return Verdict("wrong", f"it answered {answer.text!r}")

"""What a provider's double says, refuses and bills, before it is written in the provider's form."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from coterie.runtime.doubles.reply import ScriptedCall

Body = Mapping[str, Any]
"""A request's JSON object."""

_CHARACTERS_PER_TOKEN = 4
_CACHED_SHARE = 4
_TICKS = 10**10
_USD_READ, _USD_CACHED, _USD_WRITTEN = 2e-6, 5e-7, 8e-6


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """The result of the model.

    Attributes:
        text: The answer.
        thinking: What it thought before. Every provider bills it; not every one shows it.
        calls: The tools that it calls.
        refusal: Why it does not answer; the provider has a form of its own for that.
        cut_off: Whether the response ends in the middle, as if that were its end.
    """

    text: str = ""
    thinking: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    refusal: str = ""
    cut_off: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """An answer that is an error.

    Attributes:
        status: The HTTP status.
        message: For people. `{name}`s in it are filled by `about`.
        kind: The `type` of the error, where the provider has one.
        code: For programs.
        param: The parameter at fault, where the provider names it there.
        headers: Added to those of the response, names in lower case.
        wait: Seconds that it asks to wait; 0 where it says nothing of it.
    """

    status: int
    message: str
    kind: str = "invalid_request_error"
    code: str | int | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    wait: float = 0.0

    def about(self, **values: object) -> Self:
        """Fill in what it is about."""
        return replace(
            self,
            message=self.message.format(**values),
            param=self.param and self.param.format(**values),
        )


Step = Said | Refusal
"""What one accepted request is answered with."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bill:
    """What one answer costs by the provider's own books, in tokens.

    Attributes:
        prompt: Read, cached ones included.
        cached: Those of them from the prompt cache.
        thinking: Thought.
        text: Written besides.
    """

    prompt: int = 0
    cached: int = 0
    thinking: int = 0
    text: int = 0

    @property
    def completion(self) -> int:
        """Tokens written, thinking included, as they are paid."""
        return self.thinking + self.text

    @property
    def total(self) -> int:
        """All tokens."""
        return self.prompt + self.completion

    @property
    def usd(self) -> float:
        """The price, in USD, at 2 for a million tokens read, 0.5 cached and 8 written."""
        fresh = self.prompt - self.cached
        return fresh * _USD_READ + self.cached * _USD_CACHED + self.completion * _USD_WRITTEN

    @property
    def ticks(self) -> int:
        """The price in 10^-10 USD."""
        return round(self.usd * _TICKS)


def bill_of(prompt: int, answer: Said, *, caches: bool) -> Bill:
    """Bill an answer to a prompt of so many tokens, a quarter of them from the cache if any."""
    written = (
        answer.text + answer.refusal + "".join(call.name + call.arguments for call in answer.calls)
    )
    return Bill(
        prompt=prompt,
        cached=prompt // _CACHED_SHARE if caches else 0,
        thinking=tokens(answer.thinking),
        text=max(1, tokens(written)),
    )


def size(body: Body) -> int:
    """Count what a request gives to read, in tokens."""
    read = [body.get(key) for key in ("system", "instructions", "messages", "input", "tools")]
    return tokens(json.dumps([item for item in read if item]))


def tokens(text: str) -> int:
    """Count tokens, one for four characters."""
    return math.ceil(len(text) / _CHARACTERS_PER_TOKEN)


def digest(text: str) -> str:
    """Return a short text that only this text leads to."""
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=6).hexdigest()


def mark(thinking: str) -> str:
    """Return the beginning of the id of a call that was made after this thinking."""
    return digest(thinking)[:4]


def names(listed: str) -> frozenset[str]:
    """Take names out of a text that lists them."""
    return frozenset(listed.split())

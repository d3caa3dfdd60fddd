"""What one provider's API is like: what it takes, what it refuses, and how it says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from .chat_form import CHAT_PARAMETERS, ChatForm, openai_bill, openai_error
from .said import Refusal

if TYPE_CHECKING:
    from .said import Bill, Body, Said
    from .sees import Sees

KEY = "sk-the-key-of-this-double"
"""The key that every double takes."""

NOT_SERVED = Refusal(status=404, message="Not Found", kind="not_found_error")

Rule = Callable[["Body"], Refusal | None]
"""Looks at a whole request, whose parameters are all known, and refuses it or not."""


class Form(Protocol):
    """How answers are written: OpenAI's chat completions, its responses, Anthropic's messages."""

    def document(self, speech: Speech, body: Body, answer: Said, bill: Bill) -> dict[str, Any]:
        """Write an answer."""
        ...

    def events(self, speech: Speech, body: Body, document: Mapping[str, Any]) -> list[str]:
        """Write the same answer as the server-sent events of a stream, each without its end."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """A parameter that the model does not take, or not with every value.

    Attributes:
        parameter: Its name.
        refusal: What is answered; `{parameter}` and `{value}` are known in it.
        allowed: Values that it takes nevertheless.
    """

    parameter: str
    refusal: Refusal
    allowed: tuple[object, ...] = ()

    def objection(self, body: Body) -> Refusal | None:
        """Refuse a request that does not keep to it."""
        value = body.get(self.parameter)
        if value is None or value in self.allowed:
            return None
        return self.refusal.about(parameter=self.parameter, value=value)


@dataclass(frozen=True, kw_only=True, slots=True)
class Speech:
    """What one path of a provider takes and gives: what is not said is as OpenAI's chat has it.

    Attributes:
        form: How answers are written.
        accepts: The parameters that it knows.
        unknown: What is answered to any other, with `{parameter}`; None where it is ignored.
        limits: Parameters that this model does not take.
        rules: What else a request must keep to, in the order in which it is looked at.
        usage: Writes a bill.
        message: Adds to a message of the chat form what was thought, and what is to come back.
        sees: What it takes besides text; None where nobody has written down what is answered.
        asked_to_think: Whether a request asks the model to think; else it does not.
        refuses: How the model says that it will not answer: in the message's own place for it, by
            its finish reason, or by an error; None where there is no such form.
        caches: Whether the usage has what came from the cache.
        whole_calls: Whether a stream has each tool call in one piece.
        usage_unasked: Whether a stream ends with the usage although nobody asked for it.
    """

    form: Form = field(default_factory=ChatForm)
    accepts: frozenset[str] = CHAT_PARAMETERS
    usage: Callable[[Bill], Mapping[str, Any]] = openai_bill
    unknown: Refusal | None = None
    limits: tuple[Limit, ...] = ()
    rules: tuple[Rule, ...] = ()
    message: Callable[[dict[str, Any], Said], dict[str, Any]] = lambda message, _said: message
    sees: Sees | None = None
    asked_to_think: Callable[[Body], bool] = lambda _body: True
    refuses: Literal["field", "filter"] | Refusal | None = None
    caches: bool = True
    whole_calls: bool = False
    usage_unasked: bool = False

    def objection(self, body: Body) -> Refusal | None:
        """Find what is wrong with a request, first by its parameters, then as a whole."""
        if self.unknown is not None:
            for parameter in body:
                if parameter not in self.accepts:
                    return self.unknown.about(parameter=parameter)
        seen = (self.sees.objection,) if self.sees else ()
        checks = (*(limit.objection for limit in self.limits), *self.rules, *seen)
        return next((refusal for check in checks if (refusal := check(body))), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Provider:
    """A provider as its own pages, and reports of those who called it, describe it.

    Errors are written as OpenAI writes them, where nothing else is said.

    Attributes:
        name: Its name, for people.
        model: The model's name there.
        choice: The same as `--model` takes it: `deepseek/deepseek-v4-pro`.
        speaks: What each path takes, or with what it refuses everything.
        variables: The environment variables that make a client come here; `{origin}` and `{key}`
            are known in their values.
        envelope: Writes an error.
        wrong_key: What is answered to a key that it does not know; None: it asks for none.
        unknown_model: To another model's name, `{model}`; None: it answers under any.
        overflow: To a prompt of `{size}` tokens where `{most}` fit. None: it cuts in silence.
        busy: To one call too many.
        context: The most tokens that it reads.
        elsewhere: What is answered on any other path.
        key_header: The header with the key, in lower case, and what it holds.
        shows_thinking: Whether a client sees what was thought.
        comes_back: Gives the text that later requests of a tool loop must carry when this was
            thought; None where nothing has to.
        needs_key: Whether nobody is served without a key, at its own address.
        reports_cost: Whether the usage has the price.
        sources: Where the forms can be read: threads, and pages of the provider.
    """

    name: str
    model: str
    choice: str
    speaks: Mapping[str, Speech | Refusal]
    variables: Mapping[str, str]
    sources: tuple[str, ...]
    envelope: Callable[[Refusal], Any] = openai_error
    wrong_key: Refusal | None = None
    unknown_model: Refusal | None = None
    overflow: Refusal | None = None
    busy: Refusal | None = None
    as_of: str = "2026-11-22"
    context: int = 2_000
    key_header: tuple[str, str] = ("authorization", "Bearer {key}")
    elsewhere: Refusal = NOT_SERVED
    shows_thinking: bool = True
    comes_back: Callable[[str], str] | None = None
    needs_key: bool = True
    reports_cost: bool = False

"""Alternative forms of request parameters, the best first, and which of them a model refuses.

Endpoints refuse different things: a parameter, its name, or one of its values. So a wire writes
each parameter as a ladder: a few forms, of which the last usually leaves the parameter out. Once an
endpoint refuses a form, all later requests use the next one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from collections.abc import Set as AbstractSet

    from ..endpoint import Endpoint
    from .messages import ChatRequest


@dataclass(frozen=True, kw_only=True, slots=True)
class ParameterForm:
    """One form of a request parameter.

    Attributes:
        name: The form in the endpoint's words: `json_schema`, `low`, `max_completion_tokens`.
        place: The request field that holds it. If an endpoint does not know the field, all its
            forms are refused together.
        fields: What it adds to the request.
        is_same: Whether it means the same as the first form of its ladder.
        is_known: Whether the API has it. An unknown form is never sent, and is reported as refused.
    """

    name: str
    place: str = ""
    fields: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    is_same: bool = False
    is_known: bool = True


ParameterFallback = tuple[ParameterForm, ...]
"""The forms of a parameter, the best first."""

LEFT_OUT = ParameterForm(name="left out")
"""The form that leaves the parameter out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ParameterChange:
    """A parameter that all further requests to a model send in another form.

    Attributes:
        parameter: The refused parameter, as the chat API names it.
        instead: The form sent in its place.
    """

    alias: str
    parameter: str
    asked: str
    instead: str
    words: str


def each_alone(**values: Any) -> dict[str, ParameterFallback]:
    """Return ladders with two forms each: the given value, or left out. None gives no ladder."""
    return {
        name: (ParameterForm(name=str(value), place=name, fields={name: value}), LEFT_OUT)
        for name, value in values.items()
        if value is not None
    }


def unknown(name: str) -> ParameterForm:
    """Return a requested form that the API does not have."""
    return ParameterForm(name=name, is_known=False)


def in_pieces(endpoint: Endpoint, **options: Any) -> ParameterFallback:
    """Return the ladder for the delivery of an answer: streamed, or else whole.

    Args:
        endpoint: The endpoint to call. Through litellm, answers always arrive whole.
        options: Further fields for streamed answers.
    """
    if endpoint.kind == "litellm" or not endpoint.stream:
        return ()
    alone = {"stream": True}
    with_options = ParameterForm(
        name="with options",
        place=next(iter(options), ""),
        fields={**alone, **options},
        is_same=True,
    )
    plain = ParameterForm(name="in pieces", place="stream", fields=alone, is_same=True)
    return (*((with_options,) if options else ()), plain, ParameterForm(name="whole", is_same=True))


def tool_choices(
    request: ChatRequest, write_choice: Callable[[Any], Any] = lambda choice: choice
) -> ParameterFallback:
    """Return the ladder of a tool choice: as requested, or else left to the model.

    Args:
        write_choice: Converts a choice of the chat API into the form of the current API.
    """
    choice = request.tool_choice
    if not request.tools or choice is None:
        return ()
    values = dict.fromkeys((choice, "auto")) if isinstance(choice, str) else (choice, "auto")
    return (*(_choice(item, write_choice(item)) for item in values), LEFT_OUT)


def _choice(choice: Any, value: Any) -> ParameterForm:
    name = choice if isinstance(choice, str) else "named"
    return ParameterForm(name=name, place="tool_choice", fields={"tool_choice": value})


def refused_form(parameter: str, form: ParameterForm) -> str:
    """Return the name that records a refused form."""
    return f"{parameter}={form.name}"


def refused_field(parameter: str, place: str) -> str:
    """Return the name that records a refused field, whatever its value."""
    return f"{parameter} in {place}"


def is_refused(parameter: str, form: ParameterForm, refused: AbstractSet[str]) -> bool:
    """Return whether an endpoint refuses a form or its field."""
    return refused_form(parameter, form) in refused or (
        form.place != "" and refused_field(parameter, form.place) in refused
    )


def chosen(
    ladders: Mapping[str, ParameterFallback], refused: AbstractSet[str]
) -> dict[str, ParameterForm]:
    """Choose the first known, unrefused form of each parameter, or else its last form."""
    return {
        parameter: next(
            (form for form in ladder if form.is_known and not is_refused(parameter, form, refused)),
            ladder[-1],
        )
        for parameter, ladder in ladders.items()
        if ladder
    }

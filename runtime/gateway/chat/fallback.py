"""The forms in which a request can say something, the best first, and which a model does not take.

Endpoints differ in what they take: a parameter, its name, or a value of it. So a wire writes each
parameter as a ladder, a few forms of which the last is mostly to leave it out. Where an endpoint
refuses a form, the next one is said from then on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from ..endpoint import Endpoint


@dataclass(frozen=True, kw_only=True, slots=True)
class ParameterForm:
    """A way to say something in a request.

    Attributes:
        name: What is said, as endpoints call it: `json_schema`, `low`, `max_completion_tokens`.
        place: The request's field that it stands in. Forms of one field are refused together where
            an endpoint does not know the field at all.
        fields: What it adds to the request.
        is_same: Whether it means the same as the first form of its ladder, in other words.
        is_known: Whether the API has it. What it has not is never said, and told as if refused.
    """

    name: str
    place: str = ""
    fields: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    is_same: bool = False
    is_known: bool = True


ParameterFallback = tuple[ParameterForm, ...]
"""The forms of a parameter, the best first."""

LEFT_OUT = ParameterForm(name="left out")
"""Not to say it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ParameterChange:
    """What is said otherwise to a model from now on.

    Attributes:
        parameter: What it refuses, as the chat API calls it.
        instead: What is said in its place.
    """

    alias: str
    parameter: str
    asked: str
    instead: str
    words: str


def each_alone(**values: Any) -> dict[str, ParameterFallback]:
    """Give the ladders of parameters that are said in one way or left out; those of None are none.

    Args:
        values: The values by parameter, which is the name of the field too.
    """
    return {
        name: (ParameterForm(name=str(value), place=name, fields={name: value}), LEFT_OUT)
        for name, value in values.items()
        if value is not None
    }


def unknown(name: str) -> ParameterForm:
    """Return a form that is asked for and that the API does not have."""
    return ParameterForm(name=name, is_known=False)


def in_pieces(endpoint: Endpoint, **options: Any) -> ParameterFallback:
    """Return the ladder of how an answer comes: in pieces, or else whole.

    Args:
        endpoint: Who answers. What a library calls answers it whole.
        options: Further fields that are meant for answers in pieces.
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


def refused_form(parameter: str, form: ParameterForm) -> str:
    """Return the name under which a form that was refused is remembered."""
    return f"{parameter}={form.name}"


def refused_field(parameter: str, place: str) -> str:
    """Return the name under which a field that was refused is remembered, whatever stands in it."""
    return f"{parameter} in {place}"


def is_refused(parameter: str, form: ParameterForm, refused: AbstractSet[str]) -> bool:
    """Return whether an endpoint does not take a form, or the field that it stands in."""
    return refused_form(parameter, form) in refused or (
        form.place != "" and refused_field(parameter, form.place) in refused
    )


def chosen(
    ladders: Mapping[str, ParameterFallback], refused: AbstractSet[str]
) -> dict[str, ParameterForm]:
    """Choose a form of each parameter: the first known that was not refused, else the last."""
    return {
        parameter: next(
            (form for form in ladder if form.is_known and not is_refused(parameter, form, refused)),
            ladder[-1],
        )
        for parameter, ladder in ladders.items()
        if ladder
    }

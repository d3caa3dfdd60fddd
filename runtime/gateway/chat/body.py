"""What is sent to an endpoint."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, cast

from ....schema.values.values import is_mapping
from ...values.encoded import encoded
from .fallback import chosen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from .fallback import ParameterFallback, ParameterForm
    from .messages import Message


@dataclass(frozen=True, kw_only=True, slots=True)
class Body:
    """The body of a request.

    Attributes:
        forms: The form in which each parameter is said that can be said in several.
    """

    fields: Mapping[str, Any]
    content: bytes
    forms: Mapping[str, ParameterForm] = field(default_factory=dict[str, "ParameterForm"])
    ladders: Mapping[str, ParameterFallback] = field(default_factory=dict[str, "ParameterFallback"])

    @property
    def is_streamed(self) -> bool:
        """Whether it asks for the answer in pieces."""
        return self.fields.get("stream") is True

    @classmethod
    def of(
        cls,
        fields: Mapping[str, Any],
        ladders: Mapping[str, ParameterFallback] | None = None,
        refused: AbstractSet[str] = frozenset(),
        extra: Mapping[str, Any] | None = None,
    ) -> Self:
        """Write down what is to be said.

        Args:
            fields: What is said in one way only. What is None is not said.
            ladders: What can be said in several ways, by parameter.
            refused: What the endpoint does not take, as `refused_form` and `refused_field` name it.
            extra: What the host wants said besides; what it says otherwise is not changed by it.
        """
        forms = chosen(ladders or {}, refused)
        record = {name: item for name, item in fields.items() if item is not None}
        for form in forms.values():
            record = _merged(record, form.fields)
        record = _merged(extra or {}, record)
        return cls(fields=record, content=_content(record), forms=forms, ladders=ladders or {})

    def saying(self, messages: Sequence[Message]) -> Body:
        """Return the same with other messages."""
        record = {**self.fields, "messages": messages}
        return Body(fields=record, content=_content(record), forms=self.forms, ladders=self.ladders)

    @property
    def adapted(self) -> dict[str, str]:
        """What is said otherwise than it was asked for, by parameter: the form's name."""
        return {
            parameter: form.name
            for parameter, form in self.forms.items()
            if form is not self.ladders[parameter][0] and not form.is_same
        }


def _content(message: Mapping[str, Any]) -> bytes:
    """Write a body in ASCII: by its bytes we estimate its tokens, rather too many than too few."""
    content = encoded(message)
    return content if content.isascii() else json.dumps(message).encode()


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Lay fields over others, object by object."""
    return {**under, **{key: _over(under.get(key), item) for key, item in over.items()}}


def _over(under: Any, over: Any) -> Any:
    if is_mapping(under) and is_mapping(over):
        return _merged(cast("Mapping[str, Any]", under), cast("Mapping[str, Any]", over))
    return over

"""Request bodies."""

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
    """The body of a request."""

    fields: Mapping[str, Any]
    content: bytes
    forms: Mapping[str, ParameterForm] = field(default_factory=dict[str, "ParameterForm"])
    ladders: Mapping[str, ParameterFallback] = field(default_factory=dict[str, "ParameterFallback"])

    @property
    def is_streamed(self) -> bool:
        """Whether the request asks for a streamed answer."""
        return self.fields.get("stream") is True

    @classmethod
    def of(
        cls,
        fields: Mapping[str, Any],
        ladders: Mapping[str, ParameterFallback] | None = None,
        refused: AbstractSet[str] = frozenset(),
        extra: Mapping[str, Any] | None = None,
    ) -> Self:
        """Build a request body.

        Args:
            fields: Fields with a single form. None leaves a field out.
            ladders: The forms of each other parameter, the best first.
            refused: Forms and fields that the endpoint refuses, as `refused_form` and
                `refused_field` name them.
            extra: Further fields that the host configures. `fields` and `ladders` take precedence.
        """
        forms = chosen(ladders or {}, refused)
        record = {name: item for name, item in fields.items() if item is not None}
        for form in forms.values():
            record = _merged(record, form.fields)
        record = _merged(extra or {}, record)
        return cls(fields=record, content=_content(record), forms=forms, ladders=ladders or {})

    def saying(self, messages: Sequence[Message]) -> Body:
        """Return a copy of this body with other messages."""
        record = {**self.fields, "messages": messages}
        return Body(fields=record, content=_content(record), forms=self.forms, ladders=self.ladders)

    @property
    def adapted(self) -> dict[str, str]:
        """The form used for each parameter that differs in meaning from the requested one."""
        return {
            parameter: form.name
            for parameter, form in self.forms.items()
            if form is not self.ladders[parameter][0] and not form.is_same
        }


def _content(message: Mapping[str, Any]) -> bytes:
    """Encode a body in ASCII: the token estimate comes from its bytes and must not be too low."""
    content = encoded(message)
    return content if content.isascii() else json.dumps(message).encode()


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merge nested objects; `over` takes precedence."""
    return {**under, **{key: _over(under.get(key), item) for key, item in over.items()}}


def _over(under: Any, over: Any) -> Any:
    if is_mapping(under) and is_mapping(over):
        return _merged(cast("Mapping[str, Any]", under), cast("Mapping[str, Any]", over))
    return over

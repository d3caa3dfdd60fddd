"""A request as the chat API has it, in the words that an endpoint understands."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from ...schema.values import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from .chat import ChatRequest
    from .endpoint import Endpoint

__all__ = ["ADAPTABLE", "Body"]

ADAPTABLE: Mapping[str, str | None] = {"max_tokens": "max_completion_tokens"} | dict.fromkeys(
    ("response_format", "seed", "stop", "temperature")
)
"""What a call can do without where a model does not support it, or the name that it has there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Body:
    """The body of a request.

    Attributes:
        fields: What it says.
        content: The same as JSON.
    """

    fields: Mapping[str, Any]
    content: bytes

    @classmethod
    def of(cls, endpoint: Endpoint, request: ChatRequest, refused: AbstractSet[str]) -> Self:
        """Write a request.

        Args:
            endpoint: Who reads it.
            request: What to ask.
            refused: Parameters of `ADAPTABLE` that the model does not support.
        """
        fields: dict[str, Any] = {
            "model": endpoint.model,
            "messages": list(request.messages),
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "seed": request.seed,
            "stop": list(request.stop) or None,
            "tools": list(request.tools) or None,
            "tool_choice": request.tool_choice if request.tools else None,
            **_constraint(endpoint, request.schema),
        }
        named = ((ADAPTABLE[key] if key in refused else key, item) for key, item in fields.items())
        said = {key: item for key, item in named if key is not None and item is not None}
        return cls(fields=said, content=json.dumps(said).encode())


def _constraint(endpoint: Endpoint, schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Hold the endpoint to a schema, in the way that it offers."""
    if schema is None:
        return {}
    if endpoint.kind == "local":
        from ..local.grammar import schema_grammar

        return {"grammar": schema_grammar(schema)}
    named = {"name": "answer", "schema": schema, "strict": _is_strict(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _is_strict(schema: Any) -> bool:
    """Tell whether every object of a schema is closed and complete, as strict decoding demands."""
    if is_list(schema):
        return all(_is_strict(item) for item in schema)
    if not is_mapping(schema):
        return True
    if schema.get("type") == "object":
        fields: dict[str, Any] = schema.get("properties") or {}
        required: list[str] = schema.get("required") or []
        if schema.get("additionalProperties") is not False or set(required) != set(fields):
            return False
    return all(_is_strict(item) for item in schema.values())

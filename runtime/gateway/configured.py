"""What models.yaml says of a model's requests, on its way to them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...schema.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.models import Model
    from .endpoint import Endpoint

__all__ = ["configured"]

RESPONSES = "responses"
"""The API that knows efforts only (developers.openai.com/api/docs/guides/reasoning)."""


def configured(endpoint: Endpoint, model: Model, environment: Mapping[str, str]) -> Endpoint:
    """Give an endpoint with what its host wants said in every request.

    Args:
        endpoint: Where the model is.
        model: What the host says of it.
        environment: The environment variables, for headers that are secret.

    Raises:
        InputError: A variable that holds a header is not set, or the API takes no number of
            thinking tokens.
    """
    if model.thinking_tokens is not None and (
        endpoint.kind == "local" or endpoint.wire == RESPONSES
    ):
        raise InputError(
            f"model {model.model!r} (alias {model.alias!r}) takes no thinking_tokens"
            f" ({endpoint.shown}). Write an effort in its place, or leave it out."
        )
    hidden = {name: _held(model, name, environment) for name in model.header_env}
    return replace(
        endpoint,
        effort=model.effort,
        thinking=model.thinking_tokens,
        top_p=model.top_p,
        extra=model.body,
        stream=model.stream,
        headers={**model.headers, **hidden},
        hidden=frozenset(hidden.values()),
    )


def _held(model: Model, header: str, environment: Mapping[str, str]) -> str:
    variable = model.header_env[header]
    value = environment.get(variable)
    if not value:
        raise InputError(
            f"model {model.model!r} (alias {model.alias!r}) sends the header {header}, and the"
            f" environment variable {variable} that holds it is not set. Set it, or take the"
            " header out of header_env in models.yaml."
        )
    return value

"""Choose the API for a model."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ....schema.values.errors import InputError
from ..prices import listed
from ..providers import BEARER

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from ....schema.host.models import Model
    from ..chat.errors import CallError
    from ..endpoint import Endpoint

RESPONSES_AT = ("openai.com", "azure.com", "x.ai")
"""Domains with models that may answer only through the Responses API."""
KEY_HEADER = "x-api-key"
"""The header in which Anthropic's API takes the key (platform.claude.com/docs/en/api/overview)."""
DEPLOYMENT = re.compile(r"/deployments/[^/]+$")
"""The part of an Azure address that serves chat completions only
(learn.microsoft.com/azure/ai-foundry/openai/how-to/responses)."""
ELSEWHERE = re.compile(r"v1/responses|responses api|not a chat model", re.IGNORECASE)
"""OpenAI's messages that a model, or a model with tools, needs the Responses API:

* `This model is only supported in v1/responses and not in v1/chat/completions.`
  (github.com/pgadmin-org/pgadmin4/issues/9795)
* `Function tools with reasoning_effort are not supported for gpt-5.6-terra in
  /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to
  'none'.` (github.com/danny-avila/LibreChat/issues/14231)
* `This is not a chat model and thus not supported in the v1/chat/completions endpoint. Did you mean
  to use v1/completions?` (github.com/micz/ThunderAI/issues/570)"""


def spoken(model: Model, endpoint: Endpoint) -> Endpoint:
    """Return an endpoint with the API for its model.

    models.yaml takes precedence; then litellm's list, which knows the models that answer only
    through the Responses API; then the endpoint's usual API.

    Raises:
        InputError: models.yaml names an API, but a library calls the model.
    """
    if endpoint.kind != "openai":
        if model.api is not None:
            raise InputError(
                f"model {model.model!r} (alias {model.alias!r}): api: {model.api} is not supported,"
                " because it is not called directly. Leave api out, or write its api_base."
            )
        return endpoint
    return _by(model.api or _listed(model, endpoint) or endpoint.wire, endpoint)


def spoken_now(endpoint: Endpoint, refused: AbstractSet[str]) -> Endpoint:
    """Return an endpoint for the Responses API if the model refused chat; else unchanged.

    Args:
        refused: Parameters and APIs that the model refused so far.
    """
    has_moved = refused_api("chat") in refused and refused_api("responses") not in refused
    return _by("responses", endpoint) if has_moved and _may_move(endpoint) else endpoint


def answers_elsewhere(
    error: CallError, now: Endpoint, usual: Endpoint, refused: AbstractSet[str]
) -> str | None:
    """Return the API to use instead, if the endpoint's error asks for it."""
    if now.wire != usual.wire:
        is_nowhere = error.status == 404 and "model" not in error.words.lower()
        return usual.wire if is_nowhere else None
    says_so = error.status in {400, 404} and ELSEWHERE.search(error.words) is not None
    can_be = _may_move(usual) and refused_api("responses") not in refused
    return "responses" if says_so and can_be else None


def refused_api(wire: str) -> str:
    """Return the name that records a refused API."""
    return f"api={wire}"


def _may_move(endpoint: Endpoint) -> bool:
    return endpoint.kind == "openai" and endpoint.wire == "chat"


def _by(wire: str, endpoint: Endpoint) -> Endpoint:
    """Return an endpoint configured for an API."""
    base, header = endpoint.api_base, endpoint.key_header
    if wire == "anthropic":
        base = f"{base.removesuffix('/v1')}/v1"
        header = KEY_HEADER if header == BEARER else header
    if wire == "responses":
        base = DEPLOYMENT.sub("", base)
    return replace(endpoint, wire=wire, api_base=base, key_header=header)


def _listed(model: Model, endpoint: Endpoint) -> str | None:
    host = urlsplit(endpoint.api_base).hostname or ""
    is_there = any(host == word or host.endswith(f".{word}") for word in RESPONSES_AT)
    if endpoint.wire != "chat" or not is_there:
        return None
    return "responses" if listed(model).get("mode") == "responses" else None

"""How other programs reach a model: by a provider that they know, or at an address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from ...schema.foreign.docker_names import PROVIDERS as DOCKER
from ...schema.host.models import Model
from ..gateway.providers import PROVIDERS

PROVIDER_NAMES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "langgraph": {
            "openai": "openai",
            "anthropic": "anthropic",
            "bedrock": "bedrock_converse",
            "bedrock_converse": "bedrock_converse",
            "vertex_ai": "google_vertexai",
        },
        "docker-agent": {ours: theirs for theirs, ours in DOCKER.items() if ours != "azure"},
    }
)
"""The other programs' names of providers, by ours. All others are reached at their addresses."""

Wire = Literal["chat", "responses", "anthropic"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reached:
    """How a model is reached.

    Attributes:
        provider: The provider's name in the other program; empty if there is an address.
        address: The address, up to and with the version; empty if there is a provider.
        key_env: The variable with the key; None if no key is sent, or the provider has a usual
            variable.
        wire: The API at the address.
    """

    provider: str = ""
    name: str
    address: str = ""
    key_env: str | None = None
    wire: Wire = "chat"


def reached_for(target: str, model: Model | None) -> Reached | None:
    """Return how a program reaches a model; None if only coterie reaches it.

    Args:
        model: The model; None if the alias is not defined.
    """
    if model is None or model.is_embedded:
        return None
    if model.api_base:
        return Reached(
            name=model.model,
            address=model.api_base,
            key_env=model.key_env,
            wire=model.api or "chat",
        )
    names = PROVIDER_NAMES[target]
    ours, _, name = model.model.partition("/")
    if ours in names:
        return Reached(
            provider=names[ours], name=name, key_env=model.key_env, wire=model.api or "chat"
        )
    provider = PROVIDERS.get(ours)
    if provider is None or not provider.address or provider.wire not in {"chat", "responses"}:
        return None
    prefix = "" if name.startswith(provider.model_prefix) else provider.model_prefix
    usual = provider.key_in[0] if provider.needs_key else None
    return Reached(
        name=f"{prefix}{name}",
        address=provider.address,
        key_env=model.key_env or usual,
        wire="responses" if provider.wire == "responses" else "chat",
    )

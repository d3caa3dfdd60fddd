"""Where a model is reached: what an alias comes down to on this host."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from ...schema.errors import InputError
from ...schema.models import EMBEDDED, Model

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Endpoint", "endpoint_of"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """An address for calls.

    Attributes:
        kind: `openai` for an OpenAI-compatible HTTP endpoint, `local` for the embedded server,
            `litellm` for every other provider.
        model: The model's name there.
        api_base: The address, up to and with `/v1`; empty for `local` and `litellm`.
        key: The key to send, or None. Never shown.
        weights: The model file of a `local` endpoint; None for the built-in one.
    """

    kind: Literal["openai", "local", "litellm"]
    model: str
    api_base: str = ""
    key: str | None = None
    weights: Path | None = None

    @property
    def shown(self) -> str:
        """The address for messages; of a provider without one, the model."""
        return f"{self.api_base}/chat/completions" if self.api_base else self.model


OPENAI_COMPATIBLE: Mapping[str, tuple[str, str, str | None]] = MappingProxyType(
    {
        # provider: (variable with the address, address without it, variable with the key)
        "openai": ("OPENAI_BASE_URL", "https://api.openai.com/v1", "OPENAI_API_KEY"),
        "ollama": ("OLLAMA_API_BASE", "http://127.0.0.1:11434/v1", None),
        "hosted_vllm": ("HOSTED_VLLM_API_BASE", "http://127.0.0.1:8000/v1", "HOSTED_VLLM_API_KEY"),
        "llamacpp": ("LLAMACPP_API_BASE", "http://127.0.0.1:8080/v1", None),
    }
)
"""Providers that are called directly. All others go through litellm."""


def endpoint_of(model: Model, environment: Mapping[str, str]) -> Endpoint:
    """Find out where a model is reached.

    Args:
        model: The model.
        environment: The environment variables, for addresses and keys.

    Raises:
        InputError: The variable that holds the key is not set, or the model has no provider.
    """
    if model.api_base is not None:
        key = _key(model, model.key_env, environment) if model.key_env else None
        return Endpoint(
            kind="openai", model=model.model, api_base=_trimmed(model.api_base), key=key
        )
    provider, _, name = model.model.partition("/")
    if model.model == EMBEDDED:
        return Endpoint(kind="local", model=EMBEDDED)
    if model.model.startswith(f"{EMBEDDED}:"):
        path = Path(model.model.removeprefix(f"{EMBEDDED}:")).expanduser()
        return Endpoint(kind="local", model=path.stem, weights=path)
    if not name:
        raise InputError(
            f"model {model.model!r} of alias {model.alias!r} names no provider. Write"
            f" PROVIDER/{model.model}, for instance openai/{model.model}, or add its api_base."
        )
    if provider not in OPENAI_COMPATIBLE:
        key = _key(model, model.key_env, environment) if model.key_env else None
        return Endpoint(kind="litellm", model=model.model, key=key)
    base_env, usual_base, usual_key_env = OPENAI_COMPATIBLE[provider]
    base = environment.get(base_env, usual_base)
    key_env = model.key_env or usual_key_env
    required = model.key_env is not None or base == usual_base
    key = _key(model, key_env, environment, required=required) if key_env else None
    return Endpoint(kind="openai", model=name, api_base=_trimmed(base), key=key)


def _trimmed(api_base: str) -> str:
    return api_base.rstrip("/").removesuffix("/chat/completions")


def _key(
    model: Model, key_env: str, environment: Mapping[str, str], *, required: bool = True
) -> str | None:
    key = environment.get(key_env)
    if not key and required:
        raise InputError(
            f"model {model.model!r} (alias {model.alias!r}) needs a key: the environment variable"
            f" {key_env} is not set. Set it, or choose another model with --model"
            f" {model.alias}=PROVIDER/NAME; --model {model.alias}=local needs no key."
        )
    return key or None

"""The models that this host offers: an alias, and what stands behind it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT_ALIAS", "EMBEDDED", "Model"]

DEFAULT_ALIAS = "default"
"""The alias that every host has: `--model`, else models.yaml, else MAS_MODEL, else the embedded."""

EMBEDDED = "local"
"""The model that needs neither key nor server. `local:/path.gguf` is a file of the user's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """What an alias stands for. The fields are those of models.yaml.

    Attributes:
        alias: The name that teams write.
        model: Provider and model, `openai/gpt-4o-mini`; with `api_base`, the endpoint's own name.
        api_base: The address of an OpenAI-compatible endpoint, up to and with `/v1`.
        key_env: The environment variable that holds the key for this endpoint, and for no other.
        usd_per_mtok_input: Price of reading, USD per million tokens. None: unknown, never free.
        usd_per_mtok_cached: Price of reading from the prompt cache. None: that of reading.
        usd_per_mtok_output: Price of writing, USD per million tokens.
        concurrency: Most calls in flight. None: no bound of our own.
        timeout: Seconds for one call, to the last byte of the answer.
        fallback: The aliases that answer in its place when it fails, in this order.
        notes: What the model is good at.
        origin: Where the alias was defined, for messages.
    """

    alias: str
    model: str
    api_base: str | None = None
    key_env: str | None = None
    usd_per_mtok_input: float | None = None
    usd_per_mtok_cached: float | None = None
    usd_per_mtok_output: float | None = None
    concurrency: int | None = None
    timeout: float = 300
    fallback: tuple[str, ...] = ()
    notes: str = ""
    origin: str = ""

    @property
    def is_embedded(self) -> bool:
        """Whether the model runs in our own server on this machine."""
        return self.model == EMBEDDED or self.model.startswith(f"{EMBEDDED}:")

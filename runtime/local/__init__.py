"""The embedded model: a small language model that needs no key and, once fetched, no network.

* `weights` knows the default model file: where it comes from, where it is kept.
* `server` runs a llama.cpp server for it, or for any other GGUF file, as a child process.
* `grammar` holds the model to a JSON Schema while it writes.
"""

from __future__ import annotations

from .grammar import schema_grammar
from .server import LocalServer, start_server
from .weights import Weights, find, pull, remove, weights_dir

__all__ = [
    "LocalServer",
    "Weights",
    "find",
    "pull",
    "remove",
    "schema_grammar",
    "start_server",
    "weights_dir",
]

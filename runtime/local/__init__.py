"""The embedded model: a small language model that needs no key and, once fetched, no network.

* `weights` knows the default model file: its origin and its place.
* `server` runs a llama.cpp server for it, or for any other GGUF file, as a child process.
* `grammar` constrains the model to a JSON Schema while it writes.
"""

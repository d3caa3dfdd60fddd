"""Constrains the embedded model to a JSON Schema while it writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def schema_grammar(schema: Mapping[str, Any]) -> str:
    """Write a schema as a grammar, for the field `grammar` of a chat request to llama.cpp.

    The model can then choose only tokens that keep the text valid; fields come in the order of the
    schema's `properties`. Blanks between JSON tokens are forbidden, because a small model may write
    them without end. A schema with unbounded strings or arrays can still be cut off by
    `max_tokens`.

    Keywords that the decoder does not know (`uniqueItems`, `not`, `contains`) are ignored, so
    the reader of the answer checks it. A schema that the decoder cannot read at all, for instance
    because of a `$ref` to another document, leaves the answer unconstrained.
    """
    guided = {**schema, "x-guidance": {"whitespace_flexible": False, "lenient": True}}
    return "%llguidance {}\nstart: %json " + json.dumps(guided)

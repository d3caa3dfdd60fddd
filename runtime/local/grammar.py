"""Holds the embedded model to a JSON Schema while it writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def schema_grammar(schema: Mapping[str, Any]) -> str:
    """Write a schema as a grammar, for the field `grammar` of a chat request to llama.cpp.

    Only tokens that keep the text valid can then be chosen; fields come in the order of the
    schema's `properties`. No blank may stand between JSON tokens: where it may, a small model gets
    caught in writing blanks without end. A schema with unbounded strings or arrays can still be cut
    off by `max_tokens`.

    A keyword that the decoder does not know (`uniqueItems`, `not`, `contains`) is passed over, so
    whoever reads the answer checks it. A schema that the decoder cannot read at all, for instance
    for a `$ref` to another document, leaves the answer free.
    """
    guided = {**schema, "x-guidance": {"whitespace_flexible": False, "lenient": True}}
    return "%llguidance {}\nstart: %json " + json.dumps(guided)

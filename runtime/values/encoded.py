"""Fast JSON for data of every call: requests, entries, events, and digests of questions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal

import orjson

from ...schema.values.json_text import dumps

PLAIN = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
SORTED = PLAIN | orjson.OPT_SORT_KEYS
INDENTED = PLAIN | orjson.OPT_INDENT_2


def encoded(
    value: Any,
    default: Callable[[Any], Any] | None = None,
    *,
    is_sorted: bool = False,
    indent: Literal[2] | None = None,
) -> bytes:
    """Return a value as JSON in UTF-8, compact unless indented; numbers not finite become null.

    The standard library handles lone surrogates, keys that are not text and integers of more than
    64 bits. It writes ASCII, ten times as slowly.
    """
    options = INDENTED if indent else SORTED if is_sorted else PLAIN
    try:
        return orjson.dumps(value, default, options)
    except TypeError:
        text = dumps(value, default=default, indent=indent)
    if is_sorted:
        text = json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    return text.encode("ascii")

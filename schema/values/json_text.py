"""JSON as in RFC 8259, unlike the standard library's: no `NaN`, no `Infinity`.

`loads` reads foreign JSON, and `dumps` writes everything shown or stored. So any reader can parse
our JSON.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable
from typing import Any


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text[:40]} is too large a number")
    return value


DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)
"""Reads one value at the start of a longer text; see `json.JSONDecoder.raw_decode`."""


def loads(text: str | bytes) -> Any:
    """Read JSON.

    Raises:
        ValueError: It is no JSON, has a number that is not finite, or is nested too deeply.
    """
    try:
        # `json.loads` would make a decoder for each text.
        if isinstance(text, bytes):
            text = text.decode(json.detect_encoding(text), "surrogatepass")
        if text.startswith("\ufeff"):
            raise ValueError("it begins with a byte order mark")
        return DECODER.decode(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def dumps(
    value: Any,
    *,
    indent: int | None = None,
    ensure_ascii: bool = True,
    default: Callable[[Any], Any] | None = None,
) -> str:
    """Write JSON; a number that is not finite becomes null, as in JavaScript.

    Args:
        indent: Spaces per level; None: all on one line.
        ensure_ascii: Whether to escape all other characters.
        default: Converts any other value to a plain one.
    """
    try:
        return _encoder(indent, ensure_ascii, default).encode(value)
    except ValueError:
        value = _finite_only(json.loads(json.dumps(value, default=default)))
        return _encoder(indent, ensure_ascii, None).encode(value)


@functools.lru_cache(maxsize=16)
def _encoder(
    indent: int | None, ensure_ascii: bool, default: Callable[[Any], Any] | None
) -> json.JSONEncoder:
    """Return the cached encoder for these arguments; `json.dumps` creates one for every text."""
    return json.JSONEncoder(
        allow_nan=False, indent=indent, ensure_ascii=ensure_ascii, default=default
    )


def _finite_only(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite_only(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite_only(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

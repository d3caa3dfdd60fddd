"""JSON as RFC 8259 has it, which the standard library's is not: no `NaN`, no `Infinity`.

What others wrote is read with `loads`, and whatever is shown or kept is written with `dumps`. So
each text that we call JSON can be read by everybody.
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
"""Reads one value of a text that has more in it; see `json.JSONDecoder.raw_decode`."""


def loads(text: str | bytes) -> Any:
    """Read JSON.

    Raises:
        ValueError: It is none, has a number that is not finite, or is nested too deeply to be read.
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
    """Write JSON; a number that is not finite is null, as in JavaScript.

    Args:
        indent: Spaces of each level; None: all in one line.
        ensure_ascii: Whether other characters are written as escapes.
        default: Gives a plain value for another one.
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
    """Return what writes JSON so; `json.dumps` makes one for every text."""
    return json.JSONEncoder(
        allow_nan=False, indent=indent, ensure_ascii=ensure_ascii, default=default
    )


def _finite_only(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite_only(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite_only(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

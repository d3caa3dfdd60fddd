"""The kinds of draws, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .answer_form import answer_form
from .calculator import calculator
from .examples import examples
from .parameters import max_tokens, model, temperature, tool
from .quote import quote
from .seeds import seed
from .source import Draw, Sketches, drawing
from .structure import check, leave_out, vote

_SKETCHES: Mapping[str, Sketches] = {
    "examples": examples,
    "answer_form": answer_form,
    "calculator": calculator,
    "quote": quote,
    "vote": vote,
    "check": check,
    "seed": seed,
    "max_tokens": max_tokens,
    "temperature": temperature,
    "model": model,
    "tool": tool,
    "leave_out": leave_out,
}
KINDS: Mapping[str, Draw] = MappingProxyType(
    {kind: drawing(kind, sketches) for kind, sketches in _SKETCHES.items()}
)
"""Every kind, in the order of how often it gains something."""

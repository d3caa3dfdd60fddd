"""The most that may be spent: in USD, tokens, calls and seconds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, replace

from ...schema.values.codec import stored
from ...schema.values.errors import InputError
from ...schema.values.hints import did_you_mean


@stored(closed=True)
class Caps:
    """The most that may be spent. None: no cap.

    Attributes:
        usd: USD, as far as prices are known.
        tokens: Prompt and output tokens.
        calls: Model calls that were answered or may have been billed.
        seconds: Wall time.

    Raises:
        InputError: A cap is not a number above 0.
    """

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name, cap in self.value().items():
            if not (math.isfinite(cap) and cap > 0):
                raise InputError(
                    f"the budget's {name} is {cap!r}. A cap is a number above 0; leave {name} out"
                    " for no cap."
                )

    @classmethod
    def parse(cls, text: str) -> Caps:
        """Parse caps as users write them: `usd=2,tokens=500000,calls=100,seconds=900`.

        Raises:
            InputError: A cap is unknown, named twice, or not a number above 0.
        """
        caps: dict[str, float] = {}
        for part in text.split(","):
            name, _, number = (piece.strip() for piece in part.partition("="))
            if name not in (names := [cap.name for cap in fields(cls)]):
                hint = did_you_mean(name, names) or f" The caps are {', '.join(names)}."
                raise InputError(
                    f"budget {text!r}: no cap is named {name!r}.{hint} Write usd=2,tokens=500000."
                )
            if name in caps:
                raise InputError(f"budget {text!r}: {name} occurs twice. Keep one.")
            caps[name] = _number(text, name, number)
        return cls(**caps)  # pyright: ignore[reportArgumentType] - whole where they must be

    def less(self, spent: Mapping[str, float]) -> Caps | None:
        """Return what is left of the caps; None if one is used up.

        Args:
            spent: The amounts spent, by the names of caps.
        """
        left = {name: cap - spent.get(name, 0) for name, cap in self.value().items()}
        return replace(self, **left) if all(cap > 0 for cap in left.values()) else None

    def value(self) -> dict[str, float]:
        """Return the caps that are set as plain values, for the trace."""
        caps = ((cap.name, getattr(self, cap.name)) for cap in fields(self))
        return {name: cap for name, cap in caps if cap is not None}


def _number(text: str, name: str, number: str) -> float:
    try:
        cap = float(number)
    except ValueError:
        cap = math.nan
    whole = name in {"tokens", "calls"}
    if not (math.isfinite(cap) and cap > 0) or (whole and cap != int(cap)):
        kind = "a whole number" if whole else "a number"
        raise InputError(f"budget {text!r}: {name} is {number!r}. Write {kind} above 0.")
    return int(cap) if whole else cap

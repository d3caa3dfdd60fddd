"""How a cell of a table came out."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Verdict(NamedTuple):
    """How a cell came out.

    Attributes:
        mark: `works`, `told` where an error says what is the matter, before anything is lost,
            `wrong`, or `-` where the provider has no such thing.
        why: What is wrong.
    """

    mark: Literal["works", "told", "wrong", "-"]
    why: str = ""


WORKS, TOLD, NONE = Verdict("works"), Verdict("told"), Verdict("-")
Table = dict[str, dict[str, Verdict]]
"""Verdicts by the provider's name and the column."""


def checked(*, right: bool, why: str) -> Verdict:
    """Return works, or wrong with the reason."""
    return WORKS if right else Verdict("wrong", why)

"""The scorers `letter`, `mention` and `sequence`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ...runtime.scorers import Score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["letter", "mention", "sequence"]

# Where a letter stands for a choice, the surest place first. `END` keeps the words "A" and "I" out.
END = r"(?=\W*$|[*_]*[.:,;)\]])"
PLACES = (
    r"\(([{letters}])\)",
    rf"^\W*([{{letters}}])\b{END}",
    rf"\b([{{letters}}])\b{END}",
)
_DATE = r"\d{4}-\d\d-\d\d"
_NOT_IN_AN_ITEM = " \t\"'`*.[](){}"


def letter(answer: str, reference: str, options: Mapping[str, Any]) -> Score:
    """Compare the letter of a choice: `(B)`, else one that begins a line, else one that stands out.

    The last one counts of the first of these kinds that the answer has. So the words after it do
    not matter: `(A) I have no comment.` is A. The option `letters` says which letters there are.
    """
    letters = str(options["letters"])
    for place in PLACES:
        found = re.findall(place.format(letters=letters), answer, re.MULTILINE)
        if found:
            return _verdict(found[-1] == reference, found[-1], reference)
    return Score(value=0.0, reason="no letter of a choice in the answer")


def mention(answer: str, reference: str, options: Mapping[str, Any]) -> Score:
    """Compare what the answer mentions last among some words, in any case.

    The option `among` is a list of these words, or `dates`: whatever is written as YYYY-MM-DD.
    """
    among = options["among"]
    known = _DATE if among == "dates" else "|".join(map(re.escape, among))
    found = re.findall(rf"\b(?:{known})\b", answer, re.IGNORECASE)
    if not found:
        return Score(value=0.0, reason="nothing in the answer is one of those asked for")
    return _verdict(found[-1].casefold() == reference.casefold(), found[-1], reference)


def sequence(answer: str, reference: Sequence[Any], options: Mapping[str, Any]) -> Score:
    """Compare the items of the answer's last line, which commas part: all of them, in order.

    What stands before a colon in that line does not count, nor do case, quotes and brackets.
    """
    del options
    last = (answer.strip().splitlines() or [""])[-1].rpartition(":")[2]
    found = [item.strip(_NOT_IN_AN_ITEM).casefold() for item in last.split(",")]
    wanted = [str(item).casefold() for item in reference]
    return _verdict(found == wanted, ", ".join(found), ", ".join(wanted))


def _verdict(right: bool, found: str, wanted: str) -> Score:
    reason = "right" if right else f"{found[:80]!r} is not {wanted[:80]!r}"
    return Score(value=float(right), reason=reason)

"""The verdict of BIG-Bench Extra Hard: the relevant part of an answer, and whether it is right.

Figures are comparable only if verdicts are, so every quirk of the original evaluator is preserved:
the steps, their order and where they stop. `docs/research/bbeh.md` describes them for users.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...runtime.agents.outcomes import Score
from ...schema.host.scorer_form import ScorerForm, takes

PREFIXES = ("The answer is:", "The final answer is ", "The final answer is: ", "The answer is ")
"""Phrases that may announce an answer, in exact spelling, in search order."""

WRAPPERS = ("boxed{", "text{", "texttt{")
"""LaTeX commands that are removed, in this order; each removal also drops the text's last brace."""

LONGEST_QUOTE = 80


@takes(ScorerForm(reference={"type": ["string", "number", "boolean"]}))
def bbeh(answer: str, reference: Any, options: Mapping[str, Any]) -> Score:
    """Return the original verdict; measures `prefixed`: whether a prefix announced the answer."""
    del options
    concluded, wanted = conclusion(answer), expectation(str(reference))
    right = agree(concluded, wanted)
    verb = "is" if right else "is not"
    return Score(
        value=float(right),
        reason=f"{concluded[:LONGEST_QUOTE]!r} {verb} {wanted[:LONGEST_QUOTE]!r}",
        measures={"prefixed": float(any(prefix in answer for prefix in PREFIXES))},
    )


def conclusion(answer: str) -> str:
    """Return the part of an answer that is compared.

    Without a prefix it is the whole answer. LaTeX is removed before the first line is cut out, and
    bold type after the search for prefixes: bold type that ends right after a prefix leaves a space
    before the answer.
    """
    text = answer.strip()
    for prefix in PREFIXES:
        text = text.rpartition(prefix)[2].strip()
    text = _without_latex(text.removesuffix(".")).lower()
    first_line = text.replace(", ", ",").replace("**", "").partition("\n")[0]
    return first_line.removesuffix(".")


def expectation(reference: str) -> str:
    """Return a reference in the form of a conclusion. A final full stop stays."""
    return reference.strip().lower().replace(", ", ",")


def agree(answer: str, wanted: str) -> bool:
    """Return whether a conclusion matches the expectation.

    A single character in round brackets is compared only as that character: `(7)` is 7, but not
    7.0.
    """
    if answer == wanted:
        return True
    if _is_bracketed(answer):
        return answer[1] == wanted
    if _is_bracketed(wanted):
        return wanted[1] == answer
    return (
        _same_number(answer, wanted)
        or answer.replace("'", "") == wanted.replace("'", "")
        or answer == f"[{wanted}]"
        or wanted == f"[{answer}]"
        or answer == f"{wanted}?"
    )


def _without_latex(text: str) -> str:
    if text.startswith("$") and text.endswith("$"):
        text = text[1:-1]
    for wrapper in WRAPPERS:
        if wrapper in text and text.endswith("}"):
            # Between the first wrapper and the second, if there is one.
            text = text[:-1].split(wrapper, 2)[1]
    return text


def _is_bracketed(text: str) -> bool:
    return len(text) == 3 and text[0] == "(" and text[2] == ")"


def _same_number(answer: str, wanted: str) -> bool:
    """Compare texts that Python reads as numbers, such as `1_000`, ` 1e3` and `inf`."""
    try:
        return float(answer) == float(wanted)
    except ValueError:
        return False

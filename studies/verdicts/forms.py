"""Ten ways to write a published answer in mathematics, none of which changes what it means."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_FRACTION = re.compile(r"\\d?frac\{(\d+)\}\{(\d+)\}")
_PLAIN = re.compile(r"-?\d+|-?\d*\.\d+|-?\\d?frac\{\d+\}\{\d+\}")
_SUM = re.compile(r"(?:[\w^{}\s+-]|\\sqrt|\\pi)*")
_SIGN_INSIDE = re.compile(r"\{[^}]*[+-]|\^[+-]")
_TERM = re.compile(r"[+-]?[^+-]+")


def bare(text: str) -> str:
    """Say it in words, without a sign that it is mathematics."""
    return f"The final answer is {text}."


def boxed(text: str) -> str:
    """Box it, as the request wants it."""
    return f"So it is $\\boxed{{{text}}}$."


def decimals(text: str) -> str:
    """Write a fraction whose decimals end by them, a decimal as a fraction, 7 as 7.0."""
    if re.fullmatch(r"-?\d+", text):
        return boxed(f"{text}.0")
    if re.fullmatch(r"-?\d*\.\d+", text):
        value = Fraction(text)
        sign = "-" if value < 0 else ""
        return boxed(f"{sign}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}")
    return boxed(_FRACTION.sub(_decimal, text) if _PLAIN.fullmatch(text) else text)


def dfrac(text: str) -> str:
    r"""Write `\dfrac` for `\frac`, and the other way round."""
    return boxed(re.sub(r"\\(d?)frac", lambda item: "\\frac" if item[1] else "\\dfrac", text))


def displayed(text: str) -> str:
    """Set it on a line of its own."""
    return f"Hence\n\\[ {text} \\]"


def dollars(text: str) -> str:
    """Set it between dollar signs."""
    return f"Hence it is ${text}$"


def reordered(text: str) -> str:
    """Write the terms of a sum in the other order."""
    terms = _TERM.findall(text.replace(" ", ""))
    if len(terms) < 2 or not _SUM.fullmatch(text) or _SIGN_INSIDE.search(text):
        return boxed(text)
    turned = "".join(term if term[0] in "+-" else f"+{term}" for term in reversed(terms))
    return boxed(turned.removeprefix("+"))


def sized(text: str) -> str:
    r"""Write `\left(` for `(` and so on; where they are written so, write plain ones."""
    if "\\left" in text:
        return boxed(text.replace("\\left", "").replace("\\right", ""))
    if "\\text" in text or "\\mbox" in text:
        return boxed(text)
    return boxed(re.sub(r"[(\[]", r"\\left\g<0>", re.sub(r"[)\]]", r"\\right\g<0>", text)))


def spaced(text: str) -> str:
    """Set spaces around signs and brackets."""
    return boxed(re.sub(r"(?<!\\)([+=()])", r" \1 ", text))


def with_units(text: str) -> str:
    """Say after a plain number of what; elsewhere wrap words in bold."""
    if _PLAIN.fullmatch(text):
        return boxed(f"{text} \\text{{ units}}")
    return boxed(text.replace("\\text{", "\\textbf{"))


FORMS: Mapping[str, Callable[[str], str]] = {
    form.__name__: form
    for form in (
        bare, boxed, decimals, dfrac, displayed, dollars, reordered, sized, spaced, with_units,
    )
}  # fmt: skip


def _decimal(match: re.Match[str]) -> str:
    value = Fraction(int(match[1]), int(match[2]))
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return f"{float(value):.12f}".rstrip("0") if rest == 1 else match[0]

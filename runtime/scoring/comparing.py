"""Compares answers whatever their spelling: texts, numbers, letters, JSON values."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from decimal import Context
from typing import Any

from ...schema.values.json_text import dumps
from ...schema.values.values import is_list, is_mapping

_MINUS = str.maketrans(dict.fromkeys("\u2212\ufe63\uff0d", "-"))
_SPACE = r"[ \u00a0\u2009\u202f]"
_GROUP = rf"(?:{_SPACE}|['\u2019_]|\\,|\{{,\}})"
_SIZE = rf"""
    (?<!\d[,. '_\u00a0\u2009\u2019\u202f]) (?:
        \d{{1,3}}+ (?: , \d{{2}} (?!\d) )*+ , \d{{3}} (?! \d | ,\d ) (?: \.\d++ )?  # 12,34,567.8
      | \d{{1,3}}+ (?: , \d{{3}} )++ (?! \d | ,\d ) (?: \.\d++ )?           # 1,234,567.8
      | \d{{1,3}}+ (?: \. \d{{3}} )++ ,\d++ (?! [\d,.]*\d )                  # 1.234.567,8
      | \d{{1,3}}+ (?: \. \d{{3}} ){{2,}}+ (?! [\d,.]*\d )                   # 1.234.567
      | \d{{1,3}}+ (?: {_GROUP} \d{{3}} )++ (?! \d ) (?: \.\d++ | ,\d++ (?! [,.]?\d ) )?  # 1 234,5
    )
    | \d++ (?: \.\d++ )?
    | (?<! [\d.] ) \.\d++
"""
NUMBER = re.compile(
    rf"(?P<sign>(?<! [\w)\]}}] ) [-+] [$€£]?+ )? (?P<size>{_SIZE}) (?P<power>[eE][-+]?\d++)?",
    re.VERBOSE,
)
"""A number. A minus after a word or a bracket is no sign: `3-5` ends in 5."""
_CONTEXT = Context(prec=100, traps=[])
_EXPONENTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_POWER = re.compile(
    r"""
    (?: (?<![\d.]) (?P<times>\d++(?:\.\d++)?) \s*+ (?: [\u00d7x*\u00b7] | \\times | \\cdot ) \s*+
      | (?<![\d.,]) )
    10 (?: \s?(?:\^|\*\*)\s? \{? (?P<power>[-+]?\d{1,4}) \}? | (?P<raised>[⁺⁻]?[⁰¹²³⁴-⁹]{1,4}) )
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""`1.5 x 10^6`, `10⁻³`."""
_LATEX_FRACTION = re.compile(r"\\[dt]?frac\{(\d{1,30})\}\{(\d{1,30})\}")
_FRACTION = re.compile(
    r"""
    (?<! [\d/.,\u2044] ) (?: (\d{1,30}) (?: [ \u00a0] | (?=[½⅓-⅞¼¾]) ) )?
    (?: (\d{1,30}) \s?[/\u2044]\s? (\d{1,30}) | ([½⅓-⅞¼¾]) ) (?! [/\u2044\d] | [.,]\d )
    """,
    re.VERBOSE,
)
"""`3/4`, `2 1/2`, `2½`, and no date."""

_STATED = re.compile(
    r"""
    \b(?:answer|choice|option)(?:\s+is\b|\s*[:=])
    [\s:*_(\[{$"'\\]*+ (?:(?:option|choice|letter|boxed|text)\b[\s*_(\[{"'\\]*+)*+
    (?-i: ([A-Z]) | ([a-z])(?=[)\].*_}"']|\s*$) ) \b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""`The answer is (B)`, `Answer: b.`"""
_BEGINS = re.compile(
    r"[\s*_#>-]*((?i:option|choice|answer)[\s*_]+)?([A-Za-z])[*_]*(?(1)[.):,]|[.):])(?=[\s*_]|$)"
)
"""`B. Vitamin C`, `Option B: vitamin C`."""
_LEADS = re.compile(
    r"""
    (?: [\s*_(\[{"'\u2018\u201c$] | \\(?:boxed|text)\b )*+ ([A-Z]) [)\]}*_"'\u2019\u201d$]*+
    (?: [^\S\n]*+\n | [.,;:]?\s++ (?:because|since|as|not)\b | ,?\s*+[(\u2013\u2014] )
    """,
    re.VERBOSE,
)
"""`B because A is wrong`, `B, not A`, `B (A is too small)`, or `B` on a line of its own."""
_OPEN = re.compile(r"\W*([A-Z])\W*(?:\s(?:or|and)\s|[/&,])\W*(?!\1)[A-Z]\W*")
"""`A or B`, and nothing else."""
_MARKED = re.compile(r"\(([A-Z])\)|\*\*([A-Z])\*\*")
_LETTER = re.compile(
    r"\b(?!I['\u2019]|(?:I|A)\s++(?!(?:is|was|or|and|but|because|as|since|seems|fits)\b)[a-z])([A-Z])\b"
)
"""A capital letter by itself that is no word of a sentence, as in `I am` and `A good one`."""
_ALONE = re.compile(r"\W*([A-Za-z])\W*")


def plain(text: str) -> str:
    """Return a text with composed letters and a single character for minus."""
    return unicodedata.normalize("NFC", text).translate(_MINUS)


def text_of(reference: Any) -> str:
    """Return a reference answer as text; as JSON if it is no string."""
    return plain(reference if isinstance(reference, str) else dumps(reference, ensure_ascii=False))


def numerals(text: str) -> list[str]:
    """Return the numbers in a text as Python writes them, without thousands' separators.

    A fraction is one number, and so is one times a power of ten.
    """
    text = _LATEX_FRACTION.sub(r"\1/\2", plain(text).replace("\u2013", "-"))
    text = _FRACTION.sub(_quotient, _POWER.sub(_scientific, text))
    return [_numeral(match) for match in NUMBER.finditer(text)]


def distance(first: str, second: str) -> float:
    """Return the distance between two numerals; infinite if it is too large to compute."""
    apart = _CONTEXT.abs(_CONTEXT.subtract(*map(_CONTEXT.create_decimal, (first, second))))
    return float(apart) if apart.is_finite() else float("inf")


def chosen_letter(text: str) -> str | None:
    """Return the letter that an answer chooses, as a capital.

    It is the letter at the beginning if reasons follow (`B because A is wrong`), or the last one
    that the answer states (`The answer is B`). Otherwise it is the letter of the last line that has
    one: at its beginning (`B. Vitamin C`), the last in brackets, or the last by itself. Empty if
    the answer leaves the choice between two; None if it has no letter.
    """
    text = unicodedata.normalize("NFKC", plain(text))
    if _OPEN.fullmatch(text):
        return ""
    if leads := _LEADS.match(text):
        return leads[1].upper()
    if stated := _STATED.findall(text):
        return "".join(stated[-1]).upper()
    for line in reversed(text.splitlines()):
        if begins := _BEGINS.match(line):
            return begins[2].upper()
        if letters := _MARKED.findall(line) or [(letter,) for letter in _LETTER.findall(line)]:
            return "".join(letters[-1])
    alone = _ALONE.fullmatch(text)
    return alone[1].upper() if alone else None


def same_json(value: Any, wanted: Any) -> bool:
    """Return whether two JSON values are the same: `1` is `1.0`, and never `true`."""
    if is_mapping(value) and is_mapping(wanted):
        value, wanted = (
            {plain(key): item for key, item in side.items()} for side in (value, wanted)
        )
        return value.keys() == wanted.keys() and _all_same(
            [(item, wanted[key]) for key, item in value.items()]
        )
    if is_list(value) and is_list(wanted):
        return len(value) == len(wanted) and _all_same([*zip(value, wanted, strict=True)])
    if isinstance(value, str) and isinstance(wanted, str):
        return plain(value) == plain(wanted)
    return isinstance(value, bool) is isinstance(wanted, bool) and value == wanted


def _all_same(pairs: Sequence[tuple[Any, Any]]) -> bool:
    return all(same_json(value, wanted) for value, wanted in pairs)


def _scientific(match: re.Match[str]) -> str:
    power = match["power"] or match["raised"].translate(_EXPONENTS)
    return f"{match['times'] or 1}e{power}"


def _quotient(match: re.Match[str]) -> str:
    units, over, under, sign = match.groups()
    if sign:
        over, under = unicodedata.normalize("NFKC", sign).split("\u2044")
    if not int(under) or (units and int(over) >= int(under)):
        return match[0]
    return f"{_CONTEXT.divide(int(units or 0) * int(under) + int(over), int(under)):f}"


def _numeral(match: re.Match[str]) -> str:
    size = re.sub(_GROUP, "", match["size"])
    if size != match["size"] and "," in match["size"]:  # 1 234,5
        size = size.replace(",", ".")
    if re.search(r"\.\d{3}[.,]", size):
        size = size.replace(".", "").replace(",", ".")
    minus = "-" if (match["sign"] or "").startswith("-") else ""
    return f"{minus}{size.replace(',', '')}{match['power'] or ''}"

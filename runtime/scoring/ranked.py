"""The scorer `ranked`: the answer is a list, best first, and the rank of the right item counts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...schema.host.scorer_form import ScorerForm, takes
from ...schema.values.problems import Path
from ...schema.values.values import is_list, is_mapping
from ..agents.outcomes import Score
from .answer_line import readings

DEPTH = 10
DEEPEST = 1000
HITS = (1, 3, 5, 10)
"""The values of k for which Hit@k is measured beside the score (MATTRL Table 1)."""

LONGEST_LIST = 100_000
"""Characters of an answer that are read; no depth reaches beyond them."""

_NUMBERED = re.compile(r"[(#]?\d{1,4}[.):](?!\d)\s*(.*)")
_BULLETED = re.compile(r"[-*•]\s+(.*)")
_BOLD = re.compile(r"(\*\*|__)(.+?)\1")
_EXPLAINED = re.compile(r"\s[-\u2013\u2014]\s|:\s|\s\(")

_NAME = {
    "type": "string",
    "pattern": r"(?s).*[^\W_].*",
    "x-rule": "a name: text with a letter or a digit",
    "examples": ["Marfan syndrome"],
}
_NAMED = {
    "type": ["string", "object"],
    **{key: item for key, item in _NAME.items() if key != "type"},
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        "name": {**_NAME, "description": "What it is called."},
        "synonyms": {"type": "array", "items": _NAME, "description": "What else it is called."},
    },
}
_PLACES = {"type": "integer", "minimum": 1, "maximum": DEEPEST, "x-unit": "places"}
REFERENCE = {**_NAMED, "type": ["string", "object", "array"], "minItems": 1, "items": _NAMED}


def _check(options: Mapping[str, Any], _reference: Any) -> Mapping[Path, str]:
    hit, depth = options.get("hit"), options.get("depth")
    if hit is None or depth is None or hit <= depth:
        return {}
    why = f"Hit@{hit} looks at more places than depth, {depth}. Make depth {hit} or more."
    return {("scorer", "hit"): why}


_OPTIONS = {
    "hit": {
        **_PLACES,
        "description": "Gives 1 within so many places, and 0 behind. Default: the reciprocal rank.",
    },
    "depth": {
        **_PLACES,
        "description": "Beyond so many places it is 0. Default: 10, or `hit` where that is more.",
    },
}


@takes(ScorerForm(options=_OPTIONS, reference=REFERENCE, check=_check))
def ranked(answer: str, reference: Any, options: Mapping[str, Any]) -> Score:
    """Look how far up the reference stands in a ranked list, or the first of several that count.

    The value is the reciprocal rank, whose mean is the MRR; with the option `hit`, 1 among the
    first so many and 0 behind them. Beyond `depth` (10, or `hit` where that is more) it is 0.

    The list is JSON, an array or an object with `ranking`, or else the numbered lines, where there
    are none the bulleted ones, and where there are none either, the `Answer:` line, else all lines.
    Names are compared without regard to case, punctuation and spaces. What is listed again counts
    at its first place and takes no other.

    Measures `reciprocal_rank` and `hit@k` for each k in 1, 3, 5 and 10 that is within the depth.
    """
    hit = options.get("hit")
    depth = options.get("depth", max(DEPTH, hit or 0))
    rank = _rank(_items(answer[:LONGEST_LIST]), _names(reference), depth)
    reciprocal = 1 / rank if rank else 0.0
    hits = {f"hit@{k}": float(0 < rank <= k) for k in HITS if k <= depth}
    return Score(
        value=reciprocal if hit is None else float(0 < rank <= hit),
        reason=f"in place {rank}" if rank else f"not in the first {depth} places",
        measures={"reciprocal_rank": reciprocal, **hits},
    )


def _rank(items: Sequence[str], names: set[str], depth: int) -> int:
    """Return the rank of the first item that matches one of the names, from 1; 0 if none does."""
    places: set[str] = set()
    for item in items:
        key = _plain(item)
        if not key or key in places:
            continue
        places.add(key)
        if len(places) > depth:
            break
        if any(_plain(reading) in names for reading in _readings(item)):
            return len(places)
    return 0


def _readings(item: str) -> Iterator[str]:
    """Yield the names that an item may give: all of it, its bold part, what precedes a comment."""
    yield item
    if bold := _BOLD.match(item):
        yield bold[2]
    yield _EXPLAINED.split(item, maxsplit=1)[0]


def _names(reference: Any) -> set[str]:
    """Return every correct name, in the form in which names are compared."""
    several = reference if is_list(reference) else [reference]
    return {_plain(name) for item in several for name in _called(item)}


def _called(entry: Any) -> list[str]:
    return [entry["name"], *entry.get("synonyms", ())] if is_mapping(entry) else [str(entry)]


def _plain(name: str) -> str:
    """Return the compared part of a name: its letters, digits and marks, with single spaces."""
    text = unicodedata.normalize("NFKC", name).casefold()
    letters = (char if unicodedata.category(char)[0] in "LMN" else " " for char in text)
    return " ".join("".join(letters).split())


def _items(answer: str) -> list[str]:
    """Return the items of a list, without their numbers or bullets."""
    if names := _in_json(answer):
        numbered = _marked(_NUMBERED, names)
        return numbered if len(numbered) == len(names) else names
    lines = [line.strip() for line in answer.splitlines()]
    marked = _marked(_NUMBERED, lines) or _marked(_BULLETED, lines)
    return marked or [line.strip() for line in readings(answer)[0].splitlines()]


def _marked(mark: re.Pattern[str], lines: Sequence[str]) -> list[str]:
    return [result[1] for line in lines if (result := mark.match(line))]


def _in_json(answer: str) -> list[str]:
    """Return the list of names in an answer that is JSON; empty if there is none."""
    from ..values.structured import json_in

    try:
        listed = _ranking(json_in(answer, lambda value: _ranking(value) is not None))
    except ValueError:
        return []
    if listed is None:
        return []
    names = [item.get("name") if is_mapping(item) else item for item in listed]
    texts = [name.strip() for name in names if isinstance(name, str)]
    return texts if len(texts) == len(names) else []


def _ranking(value: Any) -> list[Any] | None:
    listed = value.get("ranking") if is_mapping(value) else value
    return listed if is_list(listed) else None

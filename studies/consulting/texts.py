"""The texts of a consultation: what its agents and its meta-model say, and what they read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..fences import FENCED
from .world import FINDINGS, NICHES, WAYS, Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .world import Case

__all__ = [
    "NOTHING_SEEN",
    "answered",
    "answers_in",
    "fenced_texts",
    "niche_in",
    "posed",
    "readings_in",
    "recognised",
    "role_in",
    "said",
    "title_in",
    "way_in",
    "way_said",
]

NOTHING_SEEN = "nothing stands out to me"
TITLE = re.compile(r"Case \d+/\d+")
ROLE = re.compile(r"^You are the (\w+) of a team\.", re.MULTILINE)
READING = re.compile(r"finding (\d+) is (there|absent) \(slide (\w)\)")
ANSWER = re.compile(r"^(\d+): (there|absent)$", re.MULTILINE)
WAY = re.compile(rf"way of working: ({'|'.join(WAYS)})")
NICHE = re.compile(rf"\b({'|'.join(NICHES)}) ward\b")
NAME = re.compile(r"\"(\w+)")


def posed(case: Case) -> str:
    """Write the question of a case."""
    return f"{case.title}, {recognised(case)}: which of its {FINDINGS} findings are there?"


def recognised(case: Case) -> str:
    """Write by what a similar case is recognised."""
    return f"{' and '.join(case.signs)} in the {case.niche} ward"


def title_in(text: str) -> str | None:
    """Find which case a question is about."""
    found = TITLE.search(text)
    return found[0] if found else None


def role_in(instructions: str) -> str:
    """Find what an agent is, as its instructions say; empty where they do not."""
    found = ROLE.search(instructions)
    return found[1] if found else ""


def said(one: Reading) -> str:
    """Write a reading."""
    return f"finding {one.finding + 1} is {_word(there=one.there)} (slide {one.slide})"


def readings_in(text: str) -> list[Reading]:
    """Find the readings in a text, each once, in the order in which they come first."""
    found = (
        Reading(int(number) - 1, word == "there", slide)
        for number, word, slide in READING.findall(text)
    )
    return [*dict.fromkeys(found)]


def way_said(way: str) -> str:
    """Write a way of working."""
    return f"way of working: {way}"


def way_in(text: str) -> str | None:
    """Find the way of working that a text tells of; None where it tells of none."""
    found = WAY.search(text)
    return found[1] if found else None


def niche_in(text: str) -> str | None:
    """Find the niche that a text is about."""
    found = NICHE.search(text)
    return found[1] if found else None


def answered(decisions: Sequence[bool]) -> str:
    """Write an answer: a line for each finding."""
    return "\n".join(f"{at}: {_word(there=one)}" for at, one in enumerate(decisions, 1))


def answers_in(text: str) -> dict[int, bool]:
    """Find what an answer says, by finding."""
    return {int(number) - 1: word == "there" for number, word in ANSWER.findall(text)}


def fenced_texts(text: str, *kinds: str) -> list[tuple[str, str]]:
    """Find the texts in fences of some kinds, each with the first name that its fence has."""
    return [
        (_first(NAME.findall(one["of"])), one["text"])
        for one in FENCED.finditer(text)
        if one["kind"] in kinds
    ]


def _first(names: Iterable[str]) -> str:
    return next(iter(names), "")


def _word(*, there: bool) -> str:
    return "there" if there else "absent"

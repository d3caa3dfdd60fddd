"""The words of the world: what agents say in it, and what is found in what they read.

All of them stand on one line and need no escape in JSON, so they are found wherever they are
quoted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .landscapes import CRAFTS, DETAILS, RODS
from .world import LETTERS, Measure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .landscapes import Member
    from .world import Order, Part

__all__ = [
    "LEADING",
    "absent_in",
    "absent_said",
    "counted_in",
    "counted_said",
    "craft_in",
    "handed_in",
    "handed_said",
    "idle_in",
    "idle_said",
    "instructions",
    "lacked_in",
    "lacked_said",
    "letters_in",
    "letters_said",
    "measure_said",
    "measures_in",
    "other_counted_said",
    "others_counted_in",
    "posed",
    "rule_said",
    "rules_in",
    "title_in",
]

LEADING = (
    "You lead a yard. Start whom an order wants, hand out its parts, and hand in their letters."
    " Work yourself on what nobody is there for."
)
"""The instructions of who leads."""
A_CRAFT, A_ROD, A_DETAIL = ("|".join(one) for one in (CRAFTS, RODS, DETAILS))
TITLE = re.compile(r"\bOrder (?:learn|test) \d+/\d+")
ROLE = re.compile(rf"You are the ({A_CRAFT})\b")
OWN_ROD = re.compile(rf"\bI count ({A_ROD})\.|You count ({A_ROD})\.")
OTHER_ROD = re.compile(rf"\bThe ({A_CRAFT}) counts ({A_ROD})\.")
RULE = re.compile(rf"Always tell the ({A_DETAIL}) with a measure\.")
MEASURE = re.compile(
    rf"Measure for part (\d) by the ({A_CRAFT}): (\d+)((?:, its (?:{A_DETAIL}) is fair)*)\."
)
LETTER = re.compile(rf"\bPart (\d): ([{LETTERS}-])\.")
LACKED = re.compile(rf"For part (\d) I lacked (the ({A_DETAIL})|nothing)\.")
ABSENT = re.compile(rf"\bNobody of us is a ({A_CRAFT})\.")
HANDED = re.compile(rf"\bPart (\d) is for the ({A_CRAFT})\.")
IDLE = re.compile(r"Let everybody sweep the yard (\d+) times a day\.")


def posed(order: Order) -> str:
    """Write the question of a task."""
    wanted = "; ".join(map(_wanted, order.parts))
    return (
        f"{order.title} has these parts: {wanted}. Which letter is right for each, from"
        f" {LETTERS[0]} to {LETTERS[-1]}?"
    )


def _wanted(part: Part) -> str:
    measure = f" with a measure by the {part.source}" if part.source else ""
    return f"part {part.number} by the {part.craft}{measure}"


def title_in(text: str) -> str | None:
    """Find which order a text is about: the one that it names first."""
    found = TITLE.search(text)
    return found[0] if found else None


def instructions(member: Member) -> str:
    """Write the instructions of somebody of a craft: what it knows of itself stands there."""
    needs = f" You need to be told the {member.need} with a measure." if member.need else ""
    return (
        f"You are the {member.craft} of a yard. You count {member.rod}.{needs} Work on the parts"
        " that you are given, and measure for colleagues who need it."
    )


def craft_in(text: str) -> str | None:
    """Find whose instructions these are."""
    found = ROLE.search(text)
    return found[1] if found else None


def counted_said(rod: str) -> str:
    """Say from where one counts."""
    return f"I count {rod}."


def counted_in(text: str) -> str | None:
    """Find from where somebody says that it counts, or reads that it does: the last such place."""
    found = OWN_ROD.findall(text)
    return next(filter(None, found[-1])) if found else None


def other_counted_said(craft: str, rod: str) -> str:
    """Note from where a colleague counts."""
    return f"The {craft} counts {rod}."


def others_counted_in(text: str) -> Mapping[str, str]:
    """Find from where colleagues count, as one has noted: of each the last such note."""
    return dict(OTHER_ROD.findall(text))


def rule_said(detail: str) -> str:
    """Write a rule of conduct."""
    return f"Always tell the {detail} with a measure."


def rules_in(text: str) -> list[str]:
    """Find the details that somebody tells by rule, each once."""
    return [*dict.fromkeys(RULE.findall(text))]


def measure_said(measure: Measure) -> str:
    """Tell a measure."""
    told = "".join(f", its {one} is fair" for one in measure.details)
    return f"Measure for part {measure.part} by the {measure.source}: {measure.number}{told}."


def measures_in(text: str) -> list[Measure]:
    """Find the measures in a text, in order."""
    return [
        Measure(
            part=int(part),
            source=source,
            number=int(number),
            details=tuple(re.findall(A_DETAIL, told)),
        )
        for part, source, number, told in MEASURE.findall(text)
    ]


def letters_said(letters: Mapping[int, str]) -> str:
    """Tell the letters of some parts; where there are none, that there are none."""
    told = (f"Part {number}: {letters[number]}." for number in sorted(letters))
    return " ".join(told) or "I have no part."


def letters_in(text: str) -> Mapping[int, str]:
    """Find the letters of parts; of each part the last one."""
    return {int(number): letter for number, letter in LETTER.findall(text)}


def lacked_said(part: int, detail: str | None) -> str:
    """Answer what one lacked for a part."""
    return f"For part {part} I lacked {f'the {detail}' if detail else 'nothing'}."


def lacked_in(text: str) -> Mapping[int, str | None]:
    """Find what colleagues lacked, by the part; None: nothing."""
    return {int(part): detail or None for part, _, detail in LACKED.findall(text)}


def absent_said(craft: str) -> str:
    """Tell one's team that nobody is of a craft."""
    return f"Nobody of us is a {craft}."


def absent_in(text: str) -> list[str]:
    """Find the crafts of which nobody is said to be, each once."""
    return [*dict.fromkeys(ABSENT.findall(text))]


def handed_said(part: int, craft: str) -> str:
    """Tell who works on a part."""
    return f"Part {part} is for the {craft}."


def handed_in(text: str) -> Mapping[int, str]:
    """Find who works on which part."""
    return {int(part): craft for part, craft in HANDED.findall(text)}


def idle_said(number: int) -> str:
    """Write a rule for all that is of no use."""
    return f"Let everybody sweep the yard {number} times a day."


def idle_in(text: str) -> list[int]:
    """Find the rules for all that are of no use."""
    return [int(number) for number in IDLE.findall(text)]

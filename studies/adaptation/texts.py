"""The texts of the landscape: what agents say, what they are told, and what questions show."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .sheets import ASPECTS, LETTERS
from .world import Crew, Lesson, Member

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .world import Told

__all__ = [
    "fenced_texts",
    "lessons_in",
    "letters_in",
    "outlined",
    "reported",
    "role_in",
    "taught",
    "title_in",
]

TITLE = re.compile(r"Sheet \d+/\d+")
ROLE = re.compile(r"^You are the (\w+) of a team\.", re.MULTILINE)
SAID = re.compile(rf"^part \d+: ([{LETTERS}]+) by ", re.MULTILINE)
AGENT = re.compile(
    r"^(?P<id>\w+): (?P<role>\w+), reports to (?P<receivers>[\w ]+?)(?P<last>, gives .*)?$",
    re.MULTILINE,
)
FENCED = re.compile(
    r"^<(?P<kind>\w+) (?P<sign>\w+)(?: from=\"(?P<sender>\w+)\"[^>\n]*| \"(?P<name>\w+)\")?>\n"
    r"(?P<text>.*?)\n</(?P=kind) (?P=sign)>",
    re.DOTALL | re.MULTILINE,
)
NOBODY = "nobody"
SENTENCES = {aspect.rstrip("."): aspect for aspect in ASPECTS}
LESSON = re.compile(rf"({'|'.join(SENTENCES)}) \(beside ([\w, ]+)\)")


def title_in(text: str) -> str | None:
    """Find which sheet a question is about."""
    found = TITLE.search(text)
    return found[0] if found else None


def role_in(instructions: str) -> str:
    """Find what an agent is, as its instructions say; empty where they do not."""
    found = ROLE.search(instructions)
    return found[1] if found else ""


def taught(lessons: Iterable[Lesson]) -> str:
    """Write lessons as sentences, each with whom the agent hears of."""
    return " ".join(_sentence(one) for one in lessons)


def _sentence(lesson: Lesson) -> str:
    beside = ", ".join(sorted(lesson.neighbours)) or NOBODY
    return f"{lesson.aspect.rstrip('.')} (beside {beside})."


def lessons_in(text: str) -> tuple[Lesson, ...]:
    """Find the lessons in a text that come whole."""
    return tuple(
        Lesson(SENTENCES[aspect], frozenset(beside.split(", ")) - {NOBODY})
        for aspect, beside in LESSON.findall(text)
    )


def reported(said: Sequence[Told]) -> str:
    """Write a report: the letters of each part, who answered it by craft, and by id if another."""
    return "\n".join(
        f"part {number}: {one.letters} by {one.craft}" + (f" ({one.by})" if one.by else "")
        for number, one in enumerate(said, 1)
    )


def letters_in(answer: str) -> str:
    """Give all letters of a report, part after part."""
    return "".join(SAID.findall(answer))


def fenced_texts(text: str, kind: str) -> dict[str, str]:
    """Find the texts in fences of a kind, by the names that the fences have."""
    return {
        one["sender"] or one["name"] or "": one["text"]
        for one in FENCED.finditer(text)
        if one["kind"] == kind
    }


def outlined(text: str, lessons: Mapping[str, tuple[Lesson, ...]] | None = None) -> Crew | None:
    """Read a team from a question that shows its outline; None where none is shown.

    Args:
        text: The question.
        lessons: What is known of what its agents were told; it is not in an outline.
    """
    agents = [*AGENT.finditer(fenced_texts(text, "team").get("", ""))]
    told = lessons or {}
    members = {one["id"]: Member(one["role"], told.get(one["id"], ())) for one in agents}
    heard: dict[str, list[str]] = {name: [] for name in members}
    for one in agents:
        for receiver in one["receivers"].split(" and "):
            if receiver in heard:
                heard[receiver].append(one["id"])
    return Crew.made(members, {name: tuple(ears) for name, ears in heard.items()})

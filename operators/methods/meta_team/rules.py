"""The rules of a team: lines of its constitution, which a retrospective adds and removes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....schema.edits import Edit, SetNote
from ....schema.edits.offer.strict import array, free_text
from ....schema.team.team import Team
from ....schema.values.problems import quoted
from ...core.material import fenced
from .gate import Refused
from .notes import shown_name, text_of
from .room import NoteLimits

MOST = 3
"""The most rules to add, and the most to remove, at once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """The constitution of a team, line by line.

    A person may have written it in any form. Remaining lines keep their form, and a new rule
    becomes a line at the end.

    Attributes:
        most: The most rules to add, and the most to remove, at once.
    """

    team: Team
    room: NoteLimits
    most: int = MOST

    @property
    def lines(self) -> Sequence[str]:
        """The lines that are not blank, in order; they are numbered from 1."""
        return [splitline for splitline in self.team.constitution.splitlines() if splitline.strip()]

    @property
    def text(self) -> str:
        """The lines with their numbers, in a fence."""
        numbered = (f"{number}. {line.strip()}" for number, line in enumerate(self.lines, 1))
        return fenced("constitution", "\n".join(numbered))

    @property
    def schema(self) -> Mapping[str, Any]:
        """The schemas of the answer's lists about rules."""
        lists: dict[str, Any] = {"rules": array(free_text(self.room.note), self.most)}
        if numbers := [*range(1, len(self.lines) + 1)]:
            lists["outdated"] = array({"type": "integer", "enum": numbers}, self.most)
        return lists

    def read(self, answer: Mapping[str, Any]) -> tuple[tuple[Edit, ...], tuple[Refused, ...]]:
        """Parse the answer's lists about rules into an edit of the constitution, if any."""
        refused: list[Refused] = []
        going = self._going(answer.get("outdated", ()), refused)
        coming = self._coming(answer["rules"], refused)
        if not going and not coming:
            return (), tuple(refused)
        stay = [line for number, line in enumerate(self.lines, 1) if number not in going]
        constitution = "\n".join([*stay, *(f"- {name}" for name in coming)])
        ends = "\n" if constitution and self.team.constitution.endswith("\n") else ""
        text = f"{constitution}{ends}"
        return (SetNote(agent=None, note="constitution", text=text),), tuple(refused)

    def _going(self, items: Sequence[Any], refused: list[Refused]) -> set[int]:
        going: set[int] = set()
        for number, item in enumerate(items):
            if number >= self.most:
                refused.append(_refused(item, f"at most {self.most} rules go at once."))
            elif type(item) is not int or not 1 <= item <= len(self.lines):
                refused.append(_refused(item, f"no line {quoted(item)} of the constitution."))
            else:
                going.add(item)
        return going

    def _coming(self, items: Sequence[Any], refused: list[Refused]) -> list[str]:
        rules = {line.strip().removeprefix("- ") for line in self.lines}
        coming: dict[str, None] = {}
        for number, item in enumerate(items):
            rule = text_of(item)
            if number >= self.most:
                refused.append(_refused(item, f"at most {self.most} rules come at once."))
            elif not rule:
                refused.append(_refused(item, "a rule is a text that says something."))
            elif len(rule) > self.room.note:
                why = f"a rule of {len(rule)} characters; at most {self.room.note}."
                refused.append(_refused(item, why))
            elif rule in rules:
                refused.append(_refused(item, "the constitution says that already."))
            else:
                coming[rule] = None
        return [*coming]


def _refused(item: Any, why: str) -> Refused:
    return Refused(what=f"rule {shown_name(item)}", reasons=(why,))

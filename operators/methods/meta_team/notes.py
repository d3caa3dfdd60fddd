"""An agent's notes on itself: patches and skills, which it adds, rewrites, or forgets.

An answer never names an owner: the caller sets it. So no answer, however hostile, can touch the
notes of another agent.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ....schema.edits import SetNote
from ....schema.edits.offer.strict import among, edit, free_text, listed, text
from ....schema.team.team import Agent
from ....schema.values.problems import quoted
from ....schema.values.terminal import on_one_line, speakable
from ....schema.values.values import is_mapping
from ...core.material import fenced
from .gate import Refused
from .room import NoteLimits

LONGEST_NAME = 40
LONGEST_DESCRIPTION = 300
NAME = text(LONGEST_NAME, r"^[a-z][a-z0-9_]*$")
PLURAL = {"patch": "patches", "skill": "skills"}


def name_of(text: str) -> str:
    """Return a valid note name for a text: `Check units!` becomes `check_units`.

    It has only lower-case letters, digits and `_`. So it is no path, and no two names differ only
    in case. It is empty if the text has no such characters.
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")
    return words.lstrip("0123456789_")[:LONGEST_NAME].strip("_")


def text_of(value: object) -> str:
    """Return a note on one line; "" if it has no letters or digits."""
    line = on_one_line(value) if isinstance(value, str) else ""
    return line if any(map(str.isalnum, line)) else ""


def own_schema(agent: Agent, room: NoteLimits, most: int) -> Mapping[str, Any]:
    """Return the schema of an agent's notes on itself."""
    description = free_text(min(LONGEST_DESCRIPTION, room.note))
    choices = [
        edit("patch", name=NAME, text=free_text(room.note)),
        edit("skill", name=NAME, description=description, text=free_text(room.body)),
    ]
    for kind, names in (("patch", agent.notes.patches), ("skill", agent.notes.skills)):
        if names:
            choices.append(edit("forget", note=among([kind]), name=among(sorted(names))))
    return listed(choices, least=0, most=most)


def notes_text(agent: Agent) -> str:
    """Return an agent's notes on itself as shown to a model, by kind and name."""
    notes = agent.notes
    lines = [f"patch {name}: {on_one_line(text)}" for name, text in notes.patches.items()]
    lines += [
        f"skill {name}: {on_one_line(skill.description)}" for name, skill in notes.skills.items()
    ]
    return fenced("own_notes", "\n".join(lines), agent.id)


def shown_name(item: object) -> str:
    """Return a short quotation of a refused item, for its author."""
    return quoted(on_one_line(str(item))[:80])


@dataclass(kw_only=True, eq=False)
class OwnNotes:
    """The parser of an agent's notes on itself.

    Attributes:
        edits: The well-formed notes, by kind and name.
        refused: The other notes, with reasons.
    """

    agent: Agent
    room: NoteLimits
    most: int
    edits: dict[tuple[str, str], SetNote] = field(default_factory=dict["tuple[str, str]", SetNote])
    refused: list[Refused] = field(default_factory=list[Refused])

    def read(self, items: Sequence[Any]) -> OwnNotes:
        """Parse notes, in order."""
        for number, item in enumerate(items):
            reason = "" if number < self.most else f"at most {self.most} notes at once."
            if reason := reason or self._accept(item):
                self.refused.append(Refused(what=shown_name(item), reasons=(reason,)))
        self._hold_to_room()
        return self

    def _accept(self, item: Any) -> str:
        if not is_mapping(item) or len(item) != 1:
            return "a note is {patch: …}, {skill: …} or {forget: …}."
        [(kind, fields)] = item.items()
        if not is_mapping(fields):
            return f"{kind}: it has no fields."
        match kind:
            case "patch":
                return self._written("patch", fields, {"name", "text"})
            case "skill":
                return self._written("skill", fields, {"name", "description", "text"})
            case "forget":
                return self._forgotten(fields)
            case _:
                return f"{quoted(kind)}: there is patch, skill and forget."

    def _written(self, note: Any, answer: Mapping[str, Any], fields: set[str]) -> str:
        if problem := _shape(note, answer, fields):
            return problem
        name = name_of(answer["name"])
        if not name:
            return f"{note}: {quoted(answer['name'])} is not a valid name. Write a word or two."
        if (note, name) in self.edits:
            return f"{note} {name}: there are two of that name. Give them names of their own."
        text = text_of(answer["text"]) if note == "patch" else speakable(answer["text"]).strip()
        described = text_of(answer.get("description", ""))[:LONGEST_DESCRIPTION]
        most = self.room.note if note == "patch" else self.room.body
        if not any(map(str.isalnum, text)) or (note == "skill" and not described):
            return f"{note} {name}: it says nothing. Write words, or forget it."
        if len(text) > most:
            return f"{note} {name}: {len(text)} characters; at most {most}."
        self.edits[note, name] = SetNote(
            agent=self.agent.id, note=note, name=name, text=text, description=described
        )
        return ""

    def _forgotten(self, answer: Mapping[str, Any]) -> str:
        if problem := _shape("forget", answer, {"note", "name"}):
            return problem
        note, name = answer["note"], answer["name"]
        old = getattr(self.agent.notes, PLURAL.get(note, ""), {})
        if name not in old:
            return f"there is no {on_one_line(note)} {quoted(name)} to forget."
        if (note, name) in self.edits:
            return f"{note} {name}: it is decided twice. Write it or forget it."
        self.edits[note, name] = SetNote(agent=self.agent.id, note=note, name=name)
        return ""

    def _hold_to_room(self) -> None:
        """Refuse the last new notes beyond the limits."""
        for note, most in (("patch", self.room.patches), ("skill", self.room.skills)):
            old = {*getattr(self.agent.notes, PLURAL[note])}
            ours = [edit for (kind, _), edit in self.edits.items() if kind == note]
            removals = sum(not our.text for our in ours)
            new = [our for our in ours if our.text and our.name not in old]
            free = max(0, most - len(old) + removals)
            for item in new[free:]:
                del self.edits[note, item.name]
                reason = (
                    f"there are {len(old)} {PLURAL[note]}, and room for {most}. Write one of them"
                    " anew by its name, or forget one."
                )
                self.refused.append(Refused(what=f"{note} {item.name}", reasons=(reason,)))


def _shape(kind: str, answer: Mapping[str, Any], fields: set[str]) -> str:
    if {*answer} != fields or not all(isinstance(item, str) for item in answer.values()):
        return f"{kind}: it has exactly {', '.join(sorted(fields))}, all of them texts."
    return ""

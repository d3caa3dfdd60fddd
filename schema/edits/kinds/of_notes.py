"""Edits of the team's constitution and of its agents' notes."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

from ...values.values import is_mapping
from ..offer.strict import edit, text
from .kind import Kind, no_agent, put

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ...values.problems import Path
    from ..changes import FieldChange
    from ..components import Component
    from ..offer._offer import Offer
    from ..offer.strict import Schema
    from .kind import Objection, Value

Note = Literal["constitution", "patch", "teammate", "pair", "skill", "coaching"]
"""The kinds of notes: the team's constitution, and the notes of an agent."""

NOTES: tuple[Note, ...] = get_args(Note)

NAMED_NOTES: Mapping[str, str] = MappingProxyType(
    {"patch": "patches", "teammate": "teammates", "pair": "pairs", "skill": "skills"}
)
"""The kinds of notes that have names, with the field of `Notes` that holds them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SetNote(Kind):
    """Sets one note: the team's constitution, or a note of one agent.

    Attributes:
        agent: The note's owner. None: the team.
        note: The kind. The team has a constitution. An agent has coaching, and by name: patches,
            notes on teammates, pairwise notes and skills.
        name: The note's name; for notes on teammates and pairwise notes, the teammate.
        text: The note's text, or a skill's body. Empty: removes the note.
        description: When to use a skill.

    Raises:
        ValueError: There is no such kind of note, or its fields do not fit together.
    """

    component: ClassVar[Component] = "notes"

    agent: str | None
    note: Note
    name: str = ""
    text: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        if self.note not in NOTES:
            raise ValueError(f"there is no note {self.note!r}. There are {', '.join(NOTES)}.")
        if (self.agent is None) != (self.note == "constitution"):
            raise ValueError("a constitution is the team's; every other note is an agent's.")
        if bool(self.name) != (self.note in NAMED_NOTES):
            named = "needs a name" if not self.name else "has no name"
            raise ValueError(f"a note of the kind {self.note} {named}.")
        if bool(self.description) != (self.note == "skill" and bool(self.text)):
            raise ValueError("a skill has a body and a description; nothing else is described.")

    @property
    def claims(self) -> tuple[Path, ...]:
        """The note."""
        if self.agent is None:
            return ((self.note,),)
        return (("agents", self.agent, "notes", *self._place),)

    @property
    def about(self) -> tuple[str, ...]:
        """The note's owner."""
        return () if self.agent is None else (self.agent,)

    @property
    def place(self) -> str:
        """Its place among its owner's notes: `patches/units`, `coaching`."""
        return "/".join(self._place)

    @property
    def _place(self) -> tuple[str, ...]:
        return (NAMED_NOTES[self.note], self.name) if self.name else (self.note,)

    def make(self, value: Value) -> Iterator[Objection]:
        """Set the note, or object if its owner does not exist."""
        if self.agent is None:
            put(value, self.note, self.text)
        elif self.agent not in value["agents"]:
            yield self, "agent", no_agent(self.agent, value)
        else:
            agent = value["agents"][self.agent]
            put_note(agent, self._place, self._skill(agent) if self.description else self.text)

    def _skill(self, agent: Value) -> Value:
        old = agent.get("notes", {}).get("skills", {}).get(self.name, {})
        return {**old, "description": self.description, "body": self.text}

    @classmethod
    def making(cls, change: FieldChange) -> Iterator[SetNote]:
        """Yield an edit if a change concerns a note."""
        match change.path:
            case ("constitution",):
                yield cls(agent=None, note="constitution", text=change.after)
            case ("agents", str(agent), "notes", "coaching"):
                yield cls(agent=agent, note="coaching", text=change.after or "")
            case ("agents", str(agent), "notes", str(field), str(name)):
                yield cls(agent=agent, name=name, **_parts(field, change.after))
            case _:
                pass

    def to_json(self) -> dict[str, Any]:
        """Return a constitution alone, and any other note with its owner."""
        if self.agent is None:
            return {self.note: self.text}
        name = {"name": self.name} if self.name else {}
        description = {"description": self.description} if self.description else {}
        return {"agent": self.agent, "note": self.note, **name, "text": self.text, **description}

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Self:
        """Build the edit.

        Raises:
            ValueError: Its parts do not fit together.
        """
        if [*written] == ["constitution"]:
            return cls(agent=None, note="constitution", text=written["constitution"])
        if "constitution" in written or not written.keys() >= {"agent", "note", "text"}:
            raise ValueError("it says a constitution, or agent, note and text of an agent's note.")
        return cls(**written)

    @classmethod
    def offers(cls, offer: Offer) -> Iterator[Schema]:
        """Offer another constitution. `NoteOffer` offers the notes of one agent."""
        yield edit("set_note", constitution=text(offer.characters))


def put_note(agent: Value, place: Path, values: Any) -> None:
    """Set a note of an agent; an empty text removes the note and mappings left empty.

    A changed note loses its entry in `taught`.
    """
    if _put(agent, ("notes", *place), values) != values:
        _put(agent, ("notes", "taught", "/".join(map(str, place))), None)


def _put(value: Value, path: Path, values: Any) -> Any:
    """Set or remove the value at a path, remove mappings left empty, and return the old value."""
    names = [*map(str, path)]
    folders = [value]
    for name in names[:-1]:
        folders.append(folders[-1].setdefault(name, {}))
    before = folders[-1].get(names[-1])
    folders[-1][names[-1]] = values
    for folder, name in zip(reversed(folders), reversed(names), strict=True):
        if not folder[name]:
            del folder[name]
    return before


def _parts(field: str, values: Any) -> dict[str, Any]:
    note = next(note for note, place in NAMED_NOTES.items() if place == field)
    if is_mapping(values):
        return {"note": note, "text": values["body"], "description": values["description"]}
    return {"note": note, "text": values or ""}

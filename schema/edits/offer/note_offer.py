"""The notes of one agent, for a model to write.

An answer names no agent: the caller decides the owner. So no answer, however hostile, can touch the
notes of another agent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...checking._shape import shape_schema
from ...team.team import OF_OTHERS, Team
from ...values.problems import dotted
from ..kinds.of_notes import NAMED_NOTES, Note, SetNote
from .strict import ID, Schema, closed, listed, one_of, text

LONGEST_NAME, LONGEST_MESSAGE = 40, 200
"""Maximum characters."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NoteOffer:
    """The notes that a model may write for an agent: `schema` constrains, `edits` reads its answer.

    Attributes:
        most: The maximum number of notes in one answer.
    """

    team: Team
    agent: str
    kinds: Sequence[Note]
    most: int = 1
    characters: int = 800

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The schema of an answer; None if there is nothing to note.

        `{"notes": [{"patch": {"name": "units", "text": "Write units."}}, …]}`. A note with an old
        name replaces the old note; `forget` removes one.
        """
        choices = [choice for kind in self.kinds for choice in self._choices(kind)]
        if not choices:
            return None
        return closed(notes=listed(choices, least=0, most=self.most))

    def edits(self, answer: Any) -> tuple[SetNote, ...]:
        """Read an answer. Of notes with one name, the last counts.

        Raises:
            ValueError: The answer does not match the schema.
        """
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import best_match

        schema: Any = self.schema or closed(notes={"type": "array", "maxItems": 0})
        error: Any = best_match(Draft202012Validator(schema).iter_errors(answer))
        if error is not None:
            place = dotted(tuple(error.absolute_path)) or "the answer"
            raise ValueError(f"{place}: {error.message[:LONGEST_MESSAGE]}")
        items: list[dict[str, dict[str, str]]] = answer["notes"]
        read = [self._edit(kind, fields) for item in items for kind, fields in item.items()]
        return tuple({edit.claims: edit for edit in read}.values())

    def _edit(self, kind: str, answer: Mapping[str, str]) -> SetNote:
        parts: Mapping[str, Any] = {"note": kind, **answer}
        return SetNote(agent=self.agent, **parts)

    def _choices(self, kind: Note) -> list[Schema]:
        written = text(self.characters)
        if kind not in NAMED_NOTES:
            return [closed(coaching=closed(text=written))]
        names, old = self._names(kind), self._old(kind)
        described = {"description": text(min(300, self.characters))} if kind == "skill" else {}
        forget = closed(forget=closed(note=one_of([kind]), name=one_of(old)))
        new = closed(**{kind: closed(name=names, **described, text=written)}) if names else None
        return [*([new] if new else []), *([forget] if old else [])]

    def _names(self, kind: Note) -> Schema | None:
        """Return the names to choose from: old ones, or, if there is room, any name."""
        if NAMED_NOTES[kind] in OF_OTHERS:
            others = [agent for agent in self.team.agents if agent != self.agent]
            return one_of(others) if others else None
        place = shape_schema("team")["$defs"]["agent"]["properties"]["notes"]["properties"]
        old = self._old(kind)
        if len(old) + self.most <= place[NAMED_NOTES[kind]]["maxProperties"]:
            return text(LONGEST_NAME, ID)
        return one_of(old) if old else None

    def _old(self, kind: Note) -> list[str]:
        return [*getattr(self.team.agents[self.agent].notes, NAMED_NOTES[kind])]

"""Edits of the team as a whole: how it is run, and what is said about it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from ...checking._shape import shape_schema
from ...team.team import Execution
from ...values.problems import Path
from ...values.values import plain
from ..changes import FieldChange
from ..components import TEAM_FIELDS, Component
from ..offer._offer import Offer
from ..offer._structure import is_tied
from ..offer.strict import Schema, edit, one_of, text, whole
from .kind import Kind, Objection, Value, check_field, put


@dataclass(frozen=True, kw_only=True, slots=True)
class SetBackend(Kind):
    """Sets the backend of agents that neither name nor imply one. None goes back to the default."""

    component: ClassVar[Component] = "parameters"

    backend: str | None

    @property
    def claims(self) -> tuple[Path, ...]:
        """The team's backend."""
        return (("backend",),)

    def make(self, value: Value) -> Iterator[Objection]:
        """Set it."""
        put(value, "backend", self.backend)
        return iter(())

    @classmethod
    def making(cls, change: FieldChange) -> Iterator[SetBackend]:
        """Set it anew where it changed."""
        if change.path == ("backend",):
            yield cls(backend=change.after)


@dataclass(frozen=True, kw_only=True, slots=True)
class OfField(Kind):
    """An edit of one of several fields; in JSON, its name is the key of its value.

    Raises:
        ValueError: There is no such field in its place.
    """

    place: ClassVar[Path]
    names: ClassVar[Collection[str]]

    field: str
    value: Any

    def __post_init__(self) -> None:
        check_field(self, self.field, self.names)

    @property
    def claims(self) -> tuple[Path, ...]:
        """The field."""
        return ((*self.place, self.field),)

    def make(self, value: Value) -> Iterator[Objection]:
        """Set the field."""
        for name in self.place:
            value = value[str(name)]
        put(value, self.field, self.value)
        return iter(())

    @classmethod
    def making(cls, change: FieldChange) -> Iterator[OfField]:
        """Set the field anew where it changed."""
        *place, field = change.path
        if (*place,) == cls.place and field in cls.names:
            yield cls(field=str(field), value=change.after)

    def to_json(self) -> dict[str, Any]:
        """Return the field's name as the key of its value."""
        return {self.field: plain(self.value)}

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Self:
        """Take the one key for the field's name."""
        ((field, value),) = written.items()
        return cls(field=field, value=value)


@dataclass(frozen=True, kw_only=True, slots=True)
class SetExecution(OfField):
    """Sets how the team is run, a field of `execution`. None goes back to the default."""

    component: ClassVar[Component] = "parameters"
    place: ClassVar[Path] = ("execution",)
    names: ClassVar[Collection[str]] = frozenset(field.name for field in fields(Execution))

    @classmethod
    def offers(cls, offer: Offer) -> Iterator[Schema]:
        """Offer the other choices, and numbers up to the ceiling."""
        limits = {"timeout": offer.longest_run, "max_retries": offer.most_of("max_retries")}
        for field, schema in shape_schema("team")["properties"]["execution"]["properties"].items():
            now = getattr(offer.team.execution, field)
            if schema.get("type") == "object":
                continue  # how often agents work is for people to say
            if "enum" in schema:
                others = [item for item in schema["enum"] if item != now]
                if field != "context" or is_tied(offer.team):
                    yield edit("set_execution", **{field: one_of(others)})
            elif "boolean" in schema["type"]:
                others = [holds for holds in (True, False) if holds is not now]
                yield edit("set_execution", **{field: {"type": "boolean", "enum": others}})
            elif number := whole(schema, limits[field]):
                yield edit("set_execution", **{field: number})


@dataclass(frozen=True, kw_only=True, slots=True)
class SetMetadata(OfField):
    """Sets what is said about a team and never executed. Solved tasks are plain, as in YAML."""

    component: ClassVar[Component] = "metadata"
    place: ClassVar[Path] = ()
    names: ClassVar[Collection[str]] = frozenset(
        field for field, component in TEAM_FIELDS.items() if component == "metadata"
    )

    @classmethod
    def offers(cls, offer: Offer) -> Iterator[Schema]:
        """Offer another description."""
        yield edit("set_metadata", description=text(offer.characters))

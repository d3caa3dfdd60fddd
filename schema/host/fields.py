"""The fields of our files, from the JSON Schemas, and how to find one by path."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..checking._shape import shape_schema
from ..values.errors import InputError
from ..values.hints import did_you_mean, near
from ..values.problems import quoted
from .scorer_form import option_schemas
from .settings import settings_schemas

DOCUMENTS = ("team", "task", "models", "tools", "policy", "evolution", "arena")
"""The kinds of files, by the names of their schemas."""

ITEM = "[]"
_TOKEN = re.compile(r"\[\d*\]|[^.\[\]]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """A place in a kind of file.

    Attributes:
        document: The kind of file: one of `DOCUMENTS`.
        path: Its path. A part in angle brackets matches any key, `[]` any item:
            `("agents", "<id>", "tools", "[]")`.
        schema: Its JSON Schema, with its reference resolved.
        required: Whether its parent must have it.
        definitions: The definitions passed on its path.
        told_elsewhere: Whether its inner fields are described elsewhere: in a definition that it is
            part of, or with a field that has the same inner fields (`x-as`).
        of: The strategies or scorers that have it; empty for a field that all of them have.
    """

    document: str
    path: tuple[str, ...]
    schema: Mapping[str, Any]
    required: bool = False
    definitions: frozenset[str] = frozenset()
    told_elsewhere: bool = False
    of: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The path for people: `agents.<id>.tools[]`, `task.query`."""
        if not self.path:
            return self.document
        start = ("task",) if self.document == "task" else ()
        return ".".join((*start, *self.path)).replace(f".{ITEM}", ITEM)

    @property
    def key(self) -> str:
        """The last part of the path."""
        return self.path[-1] if self.path else self.document

    @property
    def is_any(self) -> bool:
        """Whether it matches every member of a collection, with any key or number."""
        return self.key == ITEM or self.key.startswith("<")

    @property
    def meaning(self) -> str:
        """The description, without the part about the default."""
        return str(self.schema.get("description", "")).partition(" Default: ")[0]

    @property
    def default(self) -> str:
        """The default: a value, words, or nothing."""
        if "default" in self.schema:
            value = self.schema["default"]
            return value if isinstance(value, str) else json.dumps(value)
        words = str(self.schema.get("description", "")).partition(" Default: ")[2]
        return words.removesuffix(".")

    @property
    def children(self) -> tuple[Field, ...]:
        """The direct inner fields: named ones, then any other key, then any item."""
        if (self.document, self.path, self.of) == ("evolution", ("settings",), ()):
            each = (
                replace(self, schema=settings_schema, of=names)
                for names, settings_schema in settings_schemas()
            )
            return tuple(child for item in each for child in item.children)
        own = self._own
        if (self.document, self.path, self.of) == ("task", ("scorer",), ()):
            each = (
                replace(self, schema=option_schema, of=names)
                for names, option_schema in option_schemas()
            )
            own += tuple(child for item in each for child in item.children)
        return own

    @property
    def _own(self) -> tuple[Field, ...]:
        """The direct inner fields of its own schema."""
        required, names = self.schema.get("required", ()), self.schema.get("propertyNames", {})
        named = [
            self._child(key, schema, required=key in required)
            for key, schema in self.schema.get("properties", {}).items()
            if re.fullmatch(names.get("pattern", ".*"), key)
        ]
        others = self.schema.get("additionalProperties")
        if isinstance(others, dict):
            name = str(names.get("$ref", "name")).rpartition("/")[2].removesuffix("_or_group")
            named.append(self._child(f"<{name}>", others))
        if "items" in self.schema:
            named.append(self._child(ITEM, self.schema["items"]))
        return tuple(named)

    def _child(self, key: str, schema: Mapping[str, Any], *, required: bool = False) -> Field:
        definition = str(schema.get("$ref", "")).rpartition("/")[2]
        if definition:
            schema = {**shape_schema(self.document)["$defs"][definition], **schema}
        return Field(
            document=self.document,
            path=(*self.path, key),
            schema=schema,
            required=required,
            definitions=self.definitions | {definition} - {""},
            told_elsewhere=definition in self.definitions or "x-as" in schema,
            of=self.of,
        )


def root(document: str) -> Field:
    """Return the root field of a kind of file.

    Args:
        document: One of `DOCUMENTS`.
    """
    return Field(document=document, path=(), schema=shape_schema(document))


def walk(field: Field) -> Iterator[Field]:
    """Yield a field and all inner fields, in the schema's order, each definition once."""
    yield field
    if not field.told_elsewhere:
        for child in field.children:
            yield from walk(child)


def find(path: str) -> Field:
    """Return a field by its path.

    Args:
        path: A path for people. The key of a member may be left out or be a real one:
            `agents.max_tokens`, `agents.w2.max_tokens` and `agents.<id>.max_tokens` are the same.
            A path starts at the top of a file, or with the kind of file: `task.scorer`.

    Raises:
        InputError: There is no such field; the message names the closest one.
    """
    words: list[str] = _TOKEN.findall(path)
    if words[:1] == ["agent"]:  # an agent file has an agent's fields
        words[0] = "agents"
    for field, rest in _starts(words):
        for result in _matches(field, rest):
            return result
    raise InputError(_unknown(words))


def _starts(words: Sequence[str]) -> Iterator[tuple[Field, Sequence[str]]]:
    """Yield the possible starts of a path, the likeliest first."""
    yield root("team"), words
    if words and words[0] in DOCUMENTS:
        yield root(words[0]), words[1:]
    yield from ((root(document), words) for document in DOCUMENTS[1:])


def _matches(field: Field, words: Sequence[str]) -> Iterator[Field]:
    """Yield the inner fields that the words may refer to, the likeliest first."""
    if not words:
        yield field
    for child in field.children if words else ():
        if child.key == words[0]:
            yield from _matches(child, words[1:])
        elif child.is_any:
            yield from _matches(child, words)
            yield from _members(child, words)


def _members(field: Field, words: Sequence[str]) -> Iterator[Field]:
    """Read the first words as a member's key, which may have dots: `models.gpt-4.1.timeout`."""
    if words[0].startswith("["):
        if field.key == ITEM:
            yield from _matches(field, words[1:])
    elif field.key != ITEM:
        for count in range(1, len(words)):
            yield from _matches(field, words[count:])
        has_fields = field.children and "string" not in field.schema.get("type", ())
        if (len(words) == 1 or not has_fields) and not _is_slip(field, words[0]):
            yield field


def _is_slip(field: Field, word: str) -> bool:
    """Return whether a last word looks like a misspelt field, not like a key."""
    instead = field.schema.get("x-instead", {})
    return word in instead or bool(did_you_mean(word, (child.key for child in field.children)))


def _unknown(words: Sequence[str]) -> str:
    """Return the message for an unknown path: how far it leads, and the closest field."""
    reached = [_reached(start, rest, len(words) - len(rest)) for start, rest in _starts(words)]
    farthest = max(count for count, _ in reached)
    fields = [field for count, field in reached if count == farthest]
    word = words[farthest]
    for field in fields:
        if hint := _hint(field, word):
            return hint
    if not farthest and (elsewhere := _elsewhere(word)):
        return f"no field {quoted(word)} at the top of a file. Did you mean {elsewhere}?"
    names = _names(fields[0])
    rest = f"Fields there: {', '.join(names)}." if names else "It has no fields."
    return f"no field {quoted(word)} in {fields[0].name}. {rest}"


def _hint(field: Field, word: str) -> str:
    """Return what to write instead of a frequent or misspelt word."""
    for place in (field, *(child for child in field.children if child.is_any)):
        if instead := place.schema.get("x-instead", {}).get(word):
            return f"{quoted(word)} is not a field of {place.name}. {instead}"
    hint = did_you_mean(word, _names(field))
    return hint and f"no field {quoted(word)} in {field.name}.{hint}"


def _names(field: Field) -> list[str]:
    """Return the names of the inner fields, and of the inner fields of every member."""
    places = (field, *(child for child in field.children if child.is_any))
    return [child.key for place in places for child in place.children if not child.is_any]


def _reached(start: Field, words: Sequence[str], skipped: int) -> tuple[int, Field]:
    """Follow a path to its last known field."""
    for count in range(len(words) - 1, 0, -1):
        for field in _matches(start, words[:count]):
            return skipped + count, field
    return skipped, start


def _elsewhere(word: str) -> str:
    """Return fields of the same or a similar name in all our files."""
    places: dict[str, list[str]] = {}
    for field in (field for document in DOCUMENTS for field in walk(root(document))):
        if not field.is_any:
            short = re.sub(r"\.<\w+>|\[\]", "", field.name)
            places.setdefault(field.key, []).append(short)
    text = word if word in places else near(word, places)
    return " or ".join(quoted(place) for place in places.get(text or "", ()))

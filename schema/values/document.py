"""A document built from a flat stream of parser events, with the place of every value.

YAML and JSON files become documents in the same way: their parsers report one event at a time, and
the `Builder` counts. Nothing here recurses, so no nesting can exhaust the stack, and limits hold
before anything large is built.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from .problems import Path, Problem, TextPosition, dotted, quoted

UNWELCOME = {
    re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]"): "control character",
    re.compile("[\ud800-\udfff]"): "half a character",
    re.compile("[\ufffe\uffff]"): "the non-character",
    re.compile("[\u202a-\u202e\u2066-\u2069]"): "text-reordering character",
}
"""Characters that no human text has; the bidirectional ones make a line look different from its
content."""
INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
"""Characters without width: in a key, they would make different names look alike."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentLimits:
    """The limits of a document."""

    bytes: int = 1 << 20
    depth: int = 32
    nodes: int = 20_000
    scalar: int = 65_536


LIMITS = DocumentLimits()


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A file's content: plain values, and the place of each.

    Attributes:
        value: Dicts, lists, strings, numbers, booleans and None.
        keys: The place of each key, by the path of its value.
        complete: Whether the whole file was read. If not, its problems come first.
        grafts: Other documents, by the paths of this document that their values fill.
        origins: The path where a part of the value is written, by its own path, if they differ:
            parts inherited from a group of agents or from a liked agent.
    """

    file: str
    value: Any
    places: Mapping[Path, TextPosition]
    keys: Mapping[Path, TextPosition]
    complete: bool = True
    grafts: Mapping[Path, Document] = field(default_factory=dict[Path, "Document"])
    origins: Mapping[Path, Path] = field(default_factory=dict[Path, Path])

    def written(self, path: Path) -> Path:
        """Return the path where the value at a path is written in the file."""
        for depth in range(len(path), 0, -1) if self.origins else ():
            if (origin := self.origins.get(path[:depth])) is not None:
                return self.written((*origin, *path[depth:]))
        return path

    def faulty_grafts(self, files: Set[str]) -> Iterator[Path]:
        """Yield the paths of grafts with any part from one of these files."""
        for path, graft in self.grafts.items():
            if graft.file in files or any(graft.faulty_grafts(files)):
                yield path

    def problem(self, path: Path, message: str, *, at_key: bool = False) -> Problem:
        """Return a problem of the value at `path`, placed at its nearest parent with a place."""
        path = self.written(path)
        for depth in range(len(path), -1, -1) if self.grafts else ():
            is_here = path[:depth] in self.places
            graft = self.grafts.get(path[:depth])
            if graft is not None and not (is_here and depth == len(path)):
                return graft.problem(path[depth:], message, at_key=at_key)
            if is_here:
                break
        places = self.keys if at_key else self.places
        nearest = path
        while nearest and nearest not in places:
            nearest = nearest[:-1]
        place = places.get(nearest) or self.places.get(nearest, TextPosition())
        return Problem(file=self.file, place=place, path=dotted(path), message=message)


class ReadingStopped(Exception):
    """Reading cannot continue."""


@dataclass(kw_only=True, slots=True)
class _Frame:
    """A collection that is not closed yet."""

    container: dict[str, Any] | list[Any]
    path: Path
    place: TextPosition
    key: str | None = None
    skip: bool = False


@dataclass(kw_only=True, slots=True)
class Builder:
    """Receives events in document order and builds a `Document`, or a list of problems."""

    file: str
    limits: DocumentLimits = LIMITS
    problems: list[Problem] = field(default_factory=list[Problem])
    _places: dict[Path, TextPosition] = field(default_factory=dict[Path, TextPosition])
    _keys: dict[Path, TextPosition] = field(default_factory=dict[Path, TextPosition])
    _stack: list[_Frame] = field(default_factory=list[_Frame])
    _root: Any = None
    _nodes: int = 0

    def report(self, place: TextPosition, message: str, path: Path = ()) -> None:
        """Add a problem and continue."""
        problem = Problem(file=self.file, place=place, path=dotted(path), message=message)
        self.problems.append(problem)

    def stop(self, place: TextPosition, message: str, path: Path = ()) -> ReadingStopped:
        """Add a problem that ends reading; the caller raises the result."""
        self.report(place, message, path)
        return ReadingStopped()

    def path(self) -> Path:
        """Return the path of the next value."""
        if not self._stack:
            return ()
        top = self._stack[-1]
        if isinstance(top.container, list):
            return (*top.path, len(top.container))
        return top.path if top.key is None else (*top.path, top.key)

    def open(self, container: dict[str, Any] | list[Any], place: TextPosition) -> None:
        """Begin a mapping (`{}`) or a sequence (`[]`)."""
        if self._expects_key():
            raise self.stop(
                place,
                "a key is a collection. Keys are words; quote a text that begins with { or [.",
                self.path(),
            )
        self._count(place)
        if len(self._stack) >= self.limits.depth:
            raise self.stop(place, f"nested deeper than {self.limits.depth} levels. Flatten it.")
        path = self.path()
        self._stack.append(_Frame(container=container, path=path, place=place))

    def close(self) -> None:
        """End the innermost open collection."""
        frame = self._stack.pop()
        self._put(frame.container, frame.place)

    def scalar(self, value: object, place: TextPosition) -> None:
        """Add a key, an item or a value."""
        self._count(place)
        if isinstance(value, str):
            value = self._checked_text(value, place)
        if self._expects_key():
            self._take_key(value, place)
        else:
            self._put(value, place)

    def document(self, *, complete: bool = True) -> Document:
        """Return the document built so far."""
        return Document(
            file=self.file,
            value=self._root,
            places=self._places,
            keys=self._keys,
            complete=complete,
        )

    def _expects_key(self) -> bool:
        if not self._stack:
            return False
        top = self._stack[-1]
        return isinstance(top.container, dict) and top.key is None

    def _count(self, place: TextPosition) -> None:
        self._nodes += 1
        if self._nodes > self.limits.nodes:
            limit = self.limits.nodes
            raise self.stop(place, f"more than {limit} values in one file. Keep fewer in it.")

    def _checked_text(self, text: str, place: TextPosition) -> str:
        """Report forbidden characters, and return a text that later steps can show and store."""
        if len(text) > self.limits.scalar:
            self.report(
                place,
                f"a text of {len(text)} characters; at most {self.limits.scalar} fit."
                " Keep long material in a file.",
                self.path(),
            )
            return text[:80]
        for pattern, what in UNWELCOME.items():
            if result := pattern.search(text):
                code = f"U+{ord(result[0]):04X}"
                self.report(place, f"{what} {code} in a text. Remove it.", self.path())
                text = pattern.sub("", text)
        return text

    def _take_key(self, key: object, place: TextPosition) -> None:
        top = self._stack[-1]
        assert isinstance(top.container, dict)  # noqa: S101 - what _expects_key found
        if not isinstance(key, str):
            self.report(place, f"the key {quoted(key)} is not text. Quote it.", top.path)
            key = str(key)
        if result := INVISIBLE.search(key):
            code = f"U+{ord(result[0]):04X}"
            self.report(place, f"invisible character {code} in a key. Remove it.", top.path)
            key = INVISIBLE.sub("", key)
        path = (*top.path, key)
        top.skip = key in top.container
        if top.skip:
            first = self._keys[path]
            self.report(
                place,
                f"duplicate key {quoted(key)}, first at {first.line}:{first.column}. Keep one.",
                path,
            )
        else:
            self._keys.setdefault(path, place)
        top.key = key

    def _put(self, value: Any, place: TextPosition) -> None:
        if not self._stack:
            self._root = value
            self._places[()] = place
            return
        path, top = self.path(), self._stack[-1]
        if isinstance(top.container, list):
            top.container.append(value)
        elif not top.skip:
            top.container[top.key or ""] = value
        self._places.setdefault(path, place)
        top.key, top.skip = None, False

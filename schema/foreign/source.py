"""Reads a file of another program and records which values are used, and which are reported."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..checking._shape import shape_problems
from ..team._meaning import FILE_NAME
from ..team.team import Team, is_prompt_id
from ..values.document import Document
from ..values.problems import Path, Problem, dotted, quoted
from ..values.values import is_list, is_mapping

NOTHING_LIKE_IT = "coterie has no counterpart."
LONGEST_ID = 64
MOST_NAMES = 12
"""The maximum number of names of lost values in one warning."""
_ID = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Imported:
    """A team converted from another program's file, with the host's files that it needs.

    Attributes:
        models: The models for models.yaml: fields by alias.
        losses: Everything without a counterpart, each with its place, as warnings.
        advice: The manual steps that remain, as sentences.
        servers: The servers for tools.yaml: fields by name, with the tools granted to agents.
        clients: All servers in the form of `mcpServers` of a JSON file, if the tools of some are
            not listed.
    """

    program: str
    team: Team
    models: Mapping[str, Mapping[str, Any]]
    losses: tuple[Problem, ...]
    advice: tuple[str, ...] = ()
    servers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, "Mapping[str, Any]"])
    clients: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, "Mapping[str, Any]"])


@dataclass(kw_only=True, slots=True)
class ForeignFile:
    """A file of another program that records which of its values a converter reads.

    Every value is read through `take` or a method that calls it, or is reported by `lose`.
    `lose_unread` walks the whole file at the end and reports each value that is neither, so a
    converter cannot pass over a field by forgetting it.
    """

    document: Document
    losses: list[Problem] = field(default_factory=list["Problem"])
    wrong: list[Problem] = field(default_factory=list["Problem"])
    _handled: set[Path] = field(default_factory=set["Path"])

    def take(self, path: Path) -> Any:
        """Return the value at a path and mark all of it as read; None if absent."""
        self._handled.add(path)
        return self._at(path)

    def has(self, path: Path) -> bool:
        """Return whether a path has a non-empty value, without marking it as read."""
        return self._at(path) not in (None, "", [], {})

    def keys(self, path: Path) -> list[str]:
        """Return the keys of a mapping; empty if there is no mapping."""
        value = self._at(path)
        if value is not None and not is_mapping(value):
            self._unlike(path, value, "a mapping")
        return list(value) if is_mapping(value) else []

    def items(self, path: Path) -> list[Path]:
        """Return the paths of a list's items; empty if there is no list."""
        value = self._at(path)
        if value is not None and not is_list(value):
            self._unlike(path, value, "a list")
        return [(*path, index) for index in range(len(value))] if is_list(value) else []

    def text(self, path: Path) -> str:
        """Return a text without surrounding white space; empty if absent."""
        return self.whole_text(path).strip()

    def whole_text(self, path: Path) -> str:
        """Return a text unchanged; empty if absent."""
        value = self._at(path)
        if value is not None and not isinstance(value, str):
            self._unlike(path, value, "a text")
            return ""
        return self.take(path) or ""

    def texts(self, path: Path) -> list[tuple[Path, str]]:
        """Return the non-empty texts of a list, each with its path; empty if there is no list."""
        return [(item, text) for item in self.items(path) if (text := self.text(item))]

    def number(self, path: Path) -> float | None:
        """Return a number; None if absent."""
        value = self._at(path)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            self._unlike(path, value, "a number")
            return None
        return self.take(path)

    def lose(self, path: Path, message: str) -> None:
        """Report that a value, with all beneath it, has no counterpart."""
        self._handled.add(path)
        self.warn(path, message)

    def warn(self, path: Path, message: str) -> None:
        """Report how the meaning of a converted value has changed."""
        is_item = bool(path) and isinstance(path[-1], int)
        problem = self.document.problem(path, message, at_key=not is_item)
        warning = replace(problem, severity="warning")
        if warning not in self.losses:
            self.losses.append(warning)

    def refuse(self, path: Path, message: str) -> None:
        """Report an error because of which the file is refused."""
        self.wrong.append(self.document.problem(path, message))

    def lose_unread(self, advice: Mapping[str, str]) -> None:
        """Walk the file and report every value that was neither read nor reported.

        Args:
            advice: What to write instead, by field name. The value `false` of such a field is the
                default here too, so it is not reported.
        """
        for path in self._unread((), self.document.value):
            name = next((part for part in reversed(path) if isinstance(part, str)), "")
            value = self._at(path)
            if value is False and name in advice:
                continue
            self.lose(path, f"{advice.get(name, NOTHING_LIKE_IT)}{_listing(value)}")

    def _unread(self, path: Path, value: Any) -> list[Path]:
        """Return the paths of the largest parts of a value that were not handled."""
        if path in self._handled:
            return []
        parts = [(key, part) for key, part in _parts(value) if not _is_empty(part)]
        if not parts:
            return [] if _is_empty(value) else [path]
        unread = [self._unread((*path, key), part) for key, part in parts]
        is_whole = all(rest == [(*path, key)] for (key, _), rest in zip(parts, unread, strict=True))
        return [path] if path and is_whole else [rest for rests in unread for rest in rests]

    def _at(self, path: Path) -> Any:
        value = self.document.value
        for part in path:
            if is_mapping(value):
                value = value.get(str(part))
            elif is_list(value) and isinstance(part, int) and part < len(value):
                value = value[part]
            else:
                return None
        return value

    def _unlike(self, path: Path, value: object, expected_kind: str) -> None:
        self.lose(path, f"{quoted(value)} is not {expected_kind}.")


def _parts(value: Any) -> list[tuple[str | int, Any]]:
    if is_mapping(value):
        return [*value.items()]
    return [*enumerate(value)] if is_list(value) else []


def _is_empty(value: Any) -> bool:
    return value is None or value == "" or (not value and bool(is_list(value) or is_mapping(value)))


def _leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    parts = _parts(value)
    for key, part in parts:
        yield from _leaves(part, (*path, key))
    if not parts:
        yield path


def _listing(value: Any) -> str:
    """List the values inside a lost one."""
    names = [dotted(path) for path in _leaves(value) if path]
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f" It has {', '.join(names[:MOST_NAMES])}{more}." if names else ""


@dataclass(kw_only=True, slots=True)
class Edges:
    """The edges of a graph without cycles, added one by one."""

    reports_to: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    _reached: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    def add(self, reporter: str, receiver: str) -> bool:
        """Add an edge unless it closes a cycle; return whether the graph has it now."""
        beyond = {receiver, *self._reached.get(receiver, ())}
        if reporter in beyond:
            return False
        if receiver in self.reports_to.setdefault(reporter, []):
            return True
        self.reports_to[reporter].append(receiver)
        for agent in {reporter, *(u for u, vs in self._reached.items() if reporter in vs)}:
            self._reached.setdefault(agent, set()).update(beyond)
        return True

    def sinks(self, agents: Iterable[str]) -> list[str]:
        """Return those of these agents without receivers."""
        return [agent for agent in agents if not self.reports_to.get(agent)]

    @property
    def tuples(self) -> Mapping[str, tuple[str, ...]]:
        """The edges in the form of a team."""
        return {u: tuple(vs) for u, vs in self.reports_to.items() if vs}


def ill_fitting(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the problems of an agent's fields: the path in them, and the message."""
    value = {"name": "x", "agents": {"x": dict(fields)}}
    for shape_problem in shape_problems(Document(file="", value=value, places={}, keys={}), "team"):
        yield shape_problem.path.removeprefix("agents.x."), shape_problem.message


def ids_of(names: Iterable[str]) -> Mapping[str, str]:
    """Return a unique id for each name; a name that is a valid id stays unchanged."""
    names = list(names)
    ids = {name: name for name in names if _ID.fullmatch(name)}
    used = {*ids}
    for name in names:
        if name not in ids:
            ids[name] = _free(slug(name), used)
            used.add(ids[name])
    return {name: ids[name] for name in names}


def slug(name: str) -> str:
    """Return a name as an id."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    word = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")
    return (word if word[:1].isalpha() else f"agent_{word}".rstrip("_"))[:LONGEST_ID]


def as_prompt(text: str) -> str:
    """Return a text as a prompt: a single word could be taken for a file name."""
    is_name = is_prompt_id(text) or (len(text.split()) == 1 and FILE_NAME.search(text))
    return f"Your part of the task: {text}" if is_name else text


def _free(word: str, used: set[str]) -> str:
    number, free = 1, word
    while free in used:
        number += 1
        free = f"{word[: LONGEST_ID - 6]}_{number}"
    return free

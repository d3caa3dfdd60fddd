"""A file of another program while it is read: what it says, and what of that has no counterpart."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..checking._shape import shape_problems
from ..team._meaning import FILE_NAME
from ..team.team import is_prompt_id
from ..values.document import Document
from ..values.problems import quoted
from ..values.values import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ..team.team import Team
    from ..values.problems import Path, Problem

__all__ = [
    "NOTHING_LIKE_IT",
    "Edges",
    "ForeignFile",
    "Imported",
    "as_prompt",
    "ids_of",
    "ill_fitting",
    "slug",
]

NOTHING_LIKE_IT = "coterie has nothing like it."
LONGEST_ID = 64
_ID = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Imported:
    """What a file of another program comes to here.

    Attributes:
        program: The program.
        team: The team.
        models: What models.yaml has to say for it: fields by alias.
        lost: What has no counterpart, each with its place, as warnings.
        advice: What is to be done by hand, as sentences.
    """

    program: str
    team: Team
    models: Mapping[str, Mapping[str, Any]]
    lost: tuple[Problem, ...]
    advice: tuple[str, ...] = ()


@dataclass(kw_only=True, slots=True)
class ForeignFile:
    """A file of another program, field by field. Nothing but YAML is known of it before.

    Attributes:
        document: The file as read.
        lost: What has no counterpart so far.
        wrong: What is wrong with it so far.
    """

    document: Document
    lost: list[Problem] = field(default_factory=list["Problem"])
    wrong: list[Problem] = field(default_factory=list["Problem"])

    def at(self, path: Path) -> Any:
        """Give what stands at a path; None where nothing does."""
        value = self.document.value
        for part in path:
            if is_mapping(value):
                value = value.get(str(part))
            elif is_list(value) and isinstance(part, int) and part < len(value):
                value = value[part]
            else:
                return None
        return value

    def mapping(self, path: Path) -> Mapping[str, Any]:
        """Give a mapping; an empty one where there is none."""
        value = self.at(path)
        if value is not None and not is_mapping(value):
            self._unlike(path, value, "a mapping")
        return value if is_mapping(value) else {}

    def text(self, path: Path) -> str:
        """Give a text without the white space around it; an empty one where there is none."""
        return self.whole_text(path).strip()

    def whole_text(self, path: Path) -> str:
        """Give a text as it stands; an empty one where there is none."""
        value = self.at(path)
        if value is not None and not isinstance(value, str):
            self._unlike(path, value, "a text")
        return value if isinstance(value, str) else ""

    def items(self, path: Path) -> list[Any]:
        """Give a list; an empty one where there is none."""
        value = self.at(path)
        if value is not None and not is_list(value):
            self._unlike(path, value, "a list")
        return value if is_list(value) else []

    def texts(self, path: Path) -> list[tuple[Path, str]]:
        """Give the texts of a list, each with its path; none where there is no list."""
        paths = [(*path, index) for index in range(len(self.items(path)))]
        return [(one, text) for one in paths if (text := self.text(one))]

    def number(self, path: Path) -> float | None:
        """Give a number; None where there is none."""
        value = self.at(path)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            self._unlike(path, value, "a number")
            return None
        return value

    def lose(self, path: Path, message: str) -> None:
        """Tell of something that has no counterpart."""
        is_item = bool(path) and isinstance(path[-1], int)
        problem = self.document.problem(path, message, at_key=not is_item)
        warning = replace(problem, severity="warning")
        if warning not in self.lost:
            self.lost.append(warning)

    def refuse(self, path: Path, message: str) -> None:
        """Tell of something that is wrong with the file."""
        self.wrong.append(self.document.problem(path, message))

    def lose_rest(self, path: Path, known: Iterable[str], why: Mapping[str, str]) -> None:
        """Tell of all fields of a mapping that were not read.

        Args:
            path: The mapping.
            known: The fields that were read.
            why: What to say of some of the others.
        """
        for name in self.mapping(path).keys() - {*known}:
            if self.at((*path, name)) not in (None, False, [], {}):
                self.lose((*path, name), why.get(name, NOTHING_LIKE_IT))

    def _unlike(self, path: Path, value: object, what: str) -> None:
        self.refuse(path, f"{quoted(value)} is not {what}.")


@dataclass(kw_only=True, slots=True)
class Edges:
    """Who reports to whom, without a cycle, one edge after the other.

    Attributes:
        reports_to: The edges so far.
    """

    reports_to: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    _reached: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    def add(self, reporter: str, receiver: str) -> bool:
        """Add an edge; tell whether that could be, which it cannot where it closes a cycle."""
        beyond = {receiver, *self._reached.get(receiver, ())}
        if reporter in beyond:
            return False
        if receiver in self.reports_to.setdefault(reporter, []):
            return True
        self.reports_to[reporter].append(receiver)
        for one in {reporter, *(u for u, vs in self._reached.items() if reporter in vs)}:
            self._reached.setdefault(one, set()).update(beyond)
        return True

    def sinks(self, agents: Iterable[str]) -> list[str]:
        """Give those of some agents who report to nobody."""
        return [agent for agent in agents if not self.reports_to.get(agent)]

    @property
    def tuples(self) -> Mapping[str, tuple[str, ...]]:
        """The edges as a team has them."""
        return {u: tuple(vs) for u, vs in self.reports_to.items() if vs}


def ill_fitting(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Give what keeps an agent's fields from loading: the place in them, and what is wrong."""
    value = {"name": "x", "agents": {"x": dict(fields)}}
    for shape_problem in shape_problems(Document(file="", value=value, places={}, keys={}), "team"):
        yield shape_problem.path.removeprefix("agents.x."), shape_problem.message


def ids_of(names: Iterable[str]) -> Mapping[str, str]:
    """Give each name an id that no other has; a name that can be an id stays as it is."""
    names = list(names)
    ids = {name: name for name in names if _ID.fullmatch(name)}
    taken = {*ids}
    for name in names:
        if name not in ids:
            ids[name] = _free(slug(name), taken)
            taken.add(ids[name])
    return {name: ids[name] for name in names}


def slug(name: str) -> str:
    """Make an id of a name."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    word = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")
    return (word if word[:1].isalpha() else f"agent_{word}".rstrip("_"))[:LONGEST_ID]


def as_prompt(text: str) -> str:
    """Give a text as a prompt: some words alone would be taken for the name of a file."""
    is_name = is_prompt_id(text) or (len(text.split()) == 1 and FILE_NAME.search(text))
    return f"Your part of the task: {text}" if is_name else text


def _free(word: str, taken: set[str]) -> str:
    number, free = 1, word
    while free in taken:
        number += 1
        free = f"{word[: LONGEST_ID - 6]}_{number}"
    return free

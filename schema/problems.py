"""Problems of a file: where, what is wrong, and what to write instead."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["FORMATS", "Path", "Place", "Problem", "dotted", "quoted"]

Path = tuple[str | int, ...]
"""The way to a value in a document: `("agents", "w2", "tools", 0)`."""

LONGEST_QUOTE = 60


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Place:
    """A place in a text: line and column, both counted from 1."""

    line: int = 1
    column: int = 1


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Problem:
    """One thing that keeps a file from loading. Problems sort by place.

    Attributes:
        file: The file's name as the user gave it.
        place: Where the problem is.
        path: The field, dotted: `agents.w2.max_tokens`. Empty for the whole file.
        message: What is wrong and what to write instead, as sentences.
    """

    file: str
    place: Place = Place()
    path: str = ""
    message: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.place.line}:{self.place.column}"
        return f"{where}: error: {self.path + ': ' if self.path else ''}{self.message}"


def dotted(path: Path) -> str:
    """Write a path as people do: `agents.w2.tools[0]`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def quoted(value: object) -> str:
    """Show an actual value on one line, cut to a length that keeps the message readable."""
    text = json.dumps(value) if isinstance(value, bool | None) else repr(value)
    if len(text) <= LONGEST_QUOTE:
        return text
    return f"{text[: LONGEST_QUOTE - 12]}…{text[-8:]}"


def _as_text(problems: Sequence[Problem]) -> str:
    return "\n".join(str(problem) for problem in problems)


def _as_json(problems: Sequence[Problem]) -> str:
    return json.dumps([_flat(problem) for problem in problems], indent=2)


def _as_github(problems: Sequence[Problem]) -> str:
    """Render workflow commands, which GitHub shows beside the lines of a change."""
    return "\n".join(
        "::error file={file},line={line},col={column}::{text}".format(
            **_flat(problem), text=_escaped(str(problem).split(" error: ", 1)[1])
        )
        for problem in problems
    )


def _flat(problem: Problem) -> dict[str, object]:
    fields = asdict(problem)
    return {"file": fields.pop("file"), **fields.pop("place"), **fields}


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


FORMATS: Mapping[str, Callable[[Sequence[Problem]], str]] = {
    "text": _as_text,
    "json": _as_json,
    "github": _as_github,
}
"""How problems can be shown, by the name that `--format` takes."""

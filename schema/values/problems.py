"""Problems of a file: the place, the fault, and the fix."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from .secrets import scrubbed
from .terminal import unbroken

Path = tuple[str | int, ...]
"""The path of a value in a document: `("agents", "w2", "tools", 0)`."""

LONGEST_QUOTE = 60
MOST_PROBLEMS = 100
"""The maximum number of problems found in one file, and shown by one command for all files."""
_NAME = re.compile(r"[\w$-]{1,64}")


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class TextPosition:
    """A position in a text: line and column, both from 1."""

    line: int = 1
    column: int = 1


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Problem:
    """One fault of a file. Problems sort by place; none shows a secret key.

    Attributes:
        file: The file's name as the user gave it.
        path: The field, dotted: `agents.w2.max_tokens`. Empty for the whole file.
        message: The fault and the fix, in sentences.
        severity: An error prevents loading; a warning is a likely mistake.
    """

    file: str
    place: TextPosition = TextPosition()
    path: str = ""
    message: str
    severity: Literal["error", "warning"] = "error"

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", scrubbed(self.path))
        object.__setattr__(self, "message", scrubbed(self.message))

    def __str__(self) -> str:
        where = f"{unbroken(self.file)}:{self.place.line}:{self.place.column}"
        return f"{where}: {self.severity}: {_problem_text(self)}"


def dotted(path: Path) -> str:
    """Write a path for people: `agents.w2.tools[0]`. Keys that are not one word are quoted."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            name = part if _NAME.fullmatch(part) else quoted(part)
            text += f".{name}" if text else name
    return text


def quoted(value: object) -> str:
    """Show an actual value on one line, cut to a readable length."""
    as_json = json.dumps(value, ensure_ascii=False, default=repr)
    text = scrubbed(repr(value) if isinstance(value, str | bytes) else as_json)
    if len(text) <= LONGEST_QUOTE:
        return text
    return f"{text[: LONGEST_QUOTE - 12]}…{text[-8:]}"


def reason_of(error: Exception) -> str:
    """Explain in a few words why a file cannot be read."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return getattr(error, "strerror", None) or str(error)


def shown(problems: Sequence[Problem]) -> list[Problem]:
    """Return the first problems, and the number of the others."""
    report, more = list(problems[:MOST_PROBLEMS]), len(problems) - MOST_PROBLEMS
    if more > 0:
        first = problems[MOST_PROBLEMS]
        noun = "problem" if more == 1 else "problems"
        report.append(
            Problem(file=first.file, place=first.place, message=f"… and {more} more {noun}.")
        )
    return report


def _as_text(problems: Sequence[Problem]) -> str:
    return "\n".join(str(problem) for problem in shown(problems))


def _as_json(problems: Sequence[Problem]) -> str:
    return json.dumps([_flat(problem) for problem in shown(problems)], indent=2)


def _as_github(problems: Sequence[Problem]) -> str:
    """Return workflow commands, which GitHub shows beside the lines of a change."""
    return "\n".join(
        f"::{problem.severity} file={_escaped(problem.file, also=':,')},line={problem.place.line},"
        f"col={problem.place.column}::{_escaped(_problem_text(problem))}"
        for problem in shown(problems)
    )


def _problem_text(problem: Problem) -> str:
    return f"{problem.path}: {problem.message}" if problem.path else problem.message


def _flat(problem: Problem) -> dict[str, object]:
    fields = asdict(problem)
    return {"file": fields.pop("file"), **fields.pop("place"), **fields}


def _escaped(text: str, *, also: str = "") -> str:
    for sign in f"%\r\n{also}":
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text


FORMATS: Mapping[str, Callable[[Sequence[Problem]], str]] = {
    "text": _as_text,
    "json": _as_json,
    "github": _as_github,
}
"""The output formats for problems, by the name that `--format` takes."""

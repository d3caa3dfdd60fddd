"""Reads files of JSON objects with the place of each, for instances and predictions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...schema.values.errors import InputError
from ...schema.values.json_text import loads
from ...schema.values.problems import quoted, reason_of


@dataclass(frozen=True, kw_only=True, slots=True)
class ReleaseRecord:
    """One object of a file.

    Attributes:
        place: Its beginning, as `file:line`.
    """

    place: str
    fields: Mapping[str, Any]

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text field.

        Args:
            default: The value of a missing or null field; None: the field is required.

        Raises:
            InputError: It is missing or no text.
        """
        value = self.fields.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            words = "is missing" if name not in self.fields else f"is {quoted(value)}"
            raise InputError(f"{self.place}: the field {name!r} must be text; here it {words}.")
        return value


def read_records(path: Path) -> list[ReleaseRecord]:
    """Read the objects of a `.jsonl` file (one per line) or a `.json` file (a list, or by name).

    Raises:
        InputError: The file cannot be read, has another suffix, or other content.
    """
    readers = {".json": _of_json, ".jsonl": _of_lines}
    if path.suffix not in readers:
        raise InputError(
            f"{path}: the file must end in .json or .jsonl, not {path.suffix!r}. A table in"
            " parquet is converted with: pandas.read_parquet(FILE).to_json('instances.jsonl',"
            " orient='records', lines=True)."
        )
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: it cannot be read: {reason_of(error)}.") from error
    records: list[ReleaseRecord] = []
    for line, value in readers[path.suffix](text, path):
        if not isinstance(value, dict):
            raise InputError(f"{path}:{line}: an object is expected, not {quoted(value)}.")
        records.append(ReleaseRecord(place=f"{path}:{line}", fields=value))
    return records


def _of_lines(text: str, path: Path) -> Iterator[tuple[int, Any]]:
    # Not `splitlines`: text in JSON may hold other line separators than the newline.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, _parsed(line, path, number)


def _of_json(text: str, path: Path) -> Iterator[tuple[int, Any]]:
    whole = _parsed(text, path, 1)
    if not isinstance(whole, list | dict):
        raise InputError(f"{path}:1: a list of objects is expected, not {quoted(whole)}.")
    decode = json.JSONDecoder().raw_decode
    end = _next(text, 0) + 1
    for _ in range(len(whole)):
        if isinstance(whole, dict):
            end = decode(text, _next(text, end))[1]
        start = _next(text, end)
        value, end = decode(text, start)
        yield text.count("\n", 0, start) + 1, value


def _next(text: str, position: int) -> int:
    """Return the beginning of the next value in valid JSON."""
    while text[position] in " \t\r\n,:":
        position += 1
    return position


def _parsed(text: str, path: Path, line: int) -> Any:
    try:
        return loads(text)
    except ValueError as error:
        at = line + error.lineno - 1 if isinstance(error, json.JSONDecodeError) else line
        raise InputError(f"{path}:{at}: this is not JSON: {error}.") from None

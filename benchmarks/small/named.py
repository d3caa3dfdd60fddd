"""Files of published items in a user's folder: one JSON object per line."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...schema.values.errors import InputError
from ...schema.values.json_text import loads
from ...schema.values.problems import reason_of
from ...schema.values.values import is_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ..evaluation.benchmark import Source


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedItem:
    """One item of a file.

    Attributes:
        number: Its line number, from 1.
        where: The file and the line number, for messages.
    """

    number: int
    where: str
    case: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedFile:
    """A file that is not part of coterie and is not downloaded.

    Attributes:
        name: Its name in the user's folder.
        fields: The required, non-empty fields of each line.
    """

    name: str
    published: str
    fields: Mapping[str, type] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def how_to_get(self) -> str:
        """Instructions for getting the file."""
        return (
            f"Name the folder that has {self.name} with --data: a JSON object a line with"
            f" {_listed(self.fields)}, as {self.published}."
        )

    def read(self, benchmark: str, source: Source) -> list[NamedItem]:
        """Return its items, in order.

        Raises:
            InputError: It is missing, cannot be read, or has another form.
        """
        if source.data is None:
            raise InputError(
                f"benchmark {benchmark}: its file is not part of coterie. {self.how_to_get}"
            )
        path = source.data / self.name
        # Not splitlines: texts may contain its other line separators.
        lines = self._text(benchmark, path).removesuffix("\n").split("\n")
        return [self._line(number, text, path) for number, text in enumerate(lines, start=1)]

    def _text(self, benchmark: str, path: Path) -> str:
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"benchmark {benchmark}: {str(path)!r} cannot be read: {reason_of(error)}."
                f" {self.how_to_get}"
            ) from error

    def _line(self, number: int, text: str, path: Path) -> NamedItem:
        where = f"{path}:{number}"
        try:
            case = loads(text)
        except ValueError as error:
            raise InputError(f"{where}: not JSON: {error}. {self.how_to_get}") from None
        for name, kind in self.fields.items():
            value = case.get(name) if is_mapping(case) else None
            if type(value) is not kind or not str(value).strip() or value == []:
                what = f"{name} is {value!r}, not {kind.__name__}"
                raise InputError(f"{where}: {what}. {self.how_to_get}")
        return NamedItem(number=number, where=where, case=case)


def _listed(names: Mapping[str, type]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last

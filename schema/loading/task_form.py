"""The form of the tasks in a file: its column names, and defaults for what it leaves out."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..values.errors import InputError
from ..values.json_text import dumps
from ..values.problems import quoted
from ..values.values import is_mapping
from .scorers import EXACT, named_scorer, scorer_hint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..host.catalogue import Catalogue
    from ..values.document import Document
    from ..values.problems import Problem

FIELDS = ("id", "query", "context", "niche", "answer", "scorer")
"""The fields of a task that a column may fill."""
TEXTS = ("id", "query", "context", "niche")


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskForm:
    """The form in which tasks are written.

    Attributes:
        scorer: The scorer of tasks that name none: a name, or an object as in tasks.
        columns: The task fields by column or key of a foreign file; other columns keep their names.
            None: a task file.
        id: The id of a task that has none; None: each must have one.
    """

    scorer: Any = EXACT
    columns: Mapping[str, str] | None = None
    id: str | None = None

    def path_of(self, column: str) -> tuple[str, ...]:
        """Return the path that a column fills: a field of tasks, or one of their `fields`."""
        name = (self.columns or {}).get(column, column)
        return (name,) if name in FIELDS else ("fields", _identifier(name))

    def value_at(self, path: tuple[str, ...], item: Any) -> Any:
        """Return a value in its field's type; foreign files may have numbers as ids and texts."""
        if self.columns is None or path[0] not in TEXTS:
            return item
        text = item if isinstance(item, str) else dumps(item, ensure_ascii=False)
        return re.sub(r"[^A-Za-z0-9_-]+", "_", text).strip("_-") if path == ("id",) else text

    def read(self, document: Document) -> tuple[Document, list[Problem]]:
        """Return a document as a task file, with defaults filled in, and its problems."""
        if not is_mapping(document.value):
            return document, []
        problems: list[Problem] = []
        if self.columns is not None:
            document, problems = self._mapped(document)
        unsaid = {"scorer": self.scorer} | ({"id": self.id} if self.id else {})
        return replace(document, value={**unsaid, **document.value}), problems

    def _mapped(self, document: Document) -> tuple[Document, list[Problem]]:
        paths = {key: self.path_of(key) for key in document.value}
        value: dict[str, Any] = {}
        problems = [
            document.problem((name,), f"no key is called {quoted(column)}.", at_key=True)
            for column, name in (self.columns or {}).items()
            if column not in paths and paths.get(name) == (name,)
        ]
        for key, item in document.value.items():
            *fields, name = paths[key]
            holder = value.setdefault("fields", {}) if fields else value
            if name in holder:
                message = f"two keys are {quoted(name)}. Rename one with --map."
                problems.append(document.problem((key,), message, at_key=True))
            elif item is not None:
                holder[name] = self.value_at(paths[key], item)
        moved = {
            (*paths[path[0]], *path[1:]): place
            for path, place in document.places.items()
            if path and path[0] in paths
        }
        return replace(document, value=value, places={**document.places, **moved}), problems


PLAIN = TaskForm()
"""The form of a task file."""


def columns_of(words: Iterable[str]) -> Mapping[str, str] | None:
    """Parse `--map`: `FIELD=COLUMN`, or several, separated by commas.

    Returns:
        The fields by column; None without any mapping.

    Raises:
        InputError: A mapping is malformed, or a field or a column occurs twice.
    """
    columns: dict[str, str] = {}
    pairs = [pair for word in words for pair in word.split(",")]
    for pair in pairs:
        field, _, column = (part.strip() for part in pair.partition("="))
        if not field or not column:
            raise InputError(f"--map {pair}: write FIELD=COLUMN, as in query=subject.")
        name = field if field in FIELDS else _identifier(field)
        if name in columns.values() or column in columns:
            twice = column if column in columns else name
            raise InputError(f"--map: {quoted(twice)} occurs twice. Leave one out.")
        columns[column] = name
    return columns if pairs else None


def task_form(options: Mapping[str, Any], catalogue: Catalogue, *, scorer: Any = None) -> TaskForm:
    """Return the form of tasks that a command's options describe.

    Args:
        options: All options; `scorer` and `columns` are read.
        scorer: The scorer of tasks that name none, unless an option sets it.

    Raises:
        InputError: There is no such scorer, or a mapping is malformed.
    """
    if (named := options.get("scorer")) is not None:
        scorer = named_scorer(named)
        if scorer not in catalogue.scorers:
            raise InputError(
                f"--scorer: no scorer {quoted(scorer)}.{scorer_hint(scorer, catalogue)}"
            )
    return TaskForm(scorer=scorer or EXACT, columns=columns_of(options["columns"]))


def _identifier(name: str) -> str:
    """Return a column's name as an identifier for prompts: `Customer tier` is `customer_tier`."""
    word = re.sub(r"\W+", "_", name.strip().lower()).strip("_") or "column"
    return f"_{word}" if word[0].isdigit() else word

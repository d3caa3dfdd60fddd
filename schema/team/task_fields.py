"""The fields of a task that prompts insert by name: `{{ task.priority }}`.

Nothing else is replaced: a prompt is no template, so the braces of code and formulas stay
unchanged, and inserted text is never expanded again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..values.json_text import dumps

if TYPE_CHECKING:
    from .task import Task

_FIELD = re.compile(r"\{\{-? *task\.([^\W\d]\w*) *-?\}\}")
_OWN = ("id", "query", "context", "niche")
"""The fields of every task, without the reference answer."""


def filled(text: str, task: Task) -> str:
    """Return a prompt with the task's fields inserted; unknown fields stay unchanged."""
    return _FIELD.sub(lambda match: _text(task, match[1], match[0]), text)


def names_fields(text: str) -> bool:
    """Return whether a prompt refers to a field of the task."""
    return _FIELD.search(text) is not None


def missing_fields(text: str, task: Task) -> list[str]:
    """Return the fields that a prompt refers to and the task does not have."""
    names = dict.fromkeys(match[1] for match in _FIELD.finditer(text))
    return [name for name in names if name not in (*_OWN, *task.fields)]


def _text(task: Task, name: str, otherwise: str) -> str:
    value = getattr(task, name) or "" if name in _OWN else task.fields.get(name, otherwise)
    return value if isinstance(value, str) else dumps(value, ensure_ascii=False)

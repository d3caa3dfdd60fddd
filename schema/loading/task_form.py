"""How the tasks of a file are read: what holds where they leave a field out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..values.errors import InputError
from ..values.problems import quoted
from ..values.values import is_mapping
from .scorers import EXACT, named_scorer, scorer_hint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..host.catalogue import Catalogue
    from ..values.document import Document

__all__ = ["PLAIN", "TaskForm", "task_form"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskForm:
    """How tasks are read.

    Attributes:
        scorer: Scores the tasks that name no scorer: a name, or an object as tasks have it.
        id: The id of a task that has none; None: each must have one.
    """

    scorer: Any = EXACT
    id: str | None = None

    def called(self, name: str) -> TaskForm:
        """Return the form of a task that may leave out its id."""
        return replace(self, id=name)

    def read(self, document: Document) -> Document:
        """Return a task file with the fields that it leaves out."""
        if not is_mapping(document.value):
            return document
        unsaid = {"scorer": self.scorer} | ({"id": self.id} if self.id else {})
        return replace(document, value={**unsaid, **document.value})


def task_form(options: Mapping[str, Any], known: Catalogue, *, scorer: Any = None) -> TaskForm:
    """Return how tasks are read as the options of a command say.

    Args:
        options: All of them; `scorer` is the one that is read.
        known: What names are known.
        scorer: Scores tasks that name no scorer, where no option says so.

    Raises:
        InputError: There is no such scorer.
    """
    if (named := options.get("scorer")) is not None:
        scorer = named_scorer(named)
        if scorer not in known.scorers:
            raise InputError(f"--scorer: no scorer {quoted(scorer)}.{scorer_hint(scorer, known)}")
    return TaskForm(scorer=scorer or EXACT)


PLAIN = TaskForm()
"""The form of a task file."""

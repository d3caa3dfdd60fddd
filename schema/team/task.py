"""A task as a value: its query, and how an answer is scored.

Prompts insert its fields by name: `{{ task.priority }}`. Nothing else is replaced: a prompt is no
template, so the braces of code and formulas stay unchanged, and inserted text is never expanded
again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..values.json_text import dumps
from ..values.values import Json, nothing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..host.python_scorer import PythonScorer
    from ..values.attachments import Attachment

ATTACHED = "files"
"""The folder beside a written task file that holds its images and PDFs."""
_NAMED_FIELD = re.compile(r"\{\{-? *task\.([^\W\d]\w*) *-?\}\}")
_COMMON = ("id", "query", "context", "niche")
"""The fields of every task, without the reference answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScorerChoice:
    """A scorer, as a task chooses it.

    Attributes:
        python: A scoring function of this host; None: an installed package provides the scorer.
    """

    name: str = "exact"
    options: Mapping[str, Json] = field(default_factory=nothing)
    python: PythonScorer | None = None

    @property
    def identity(self) -> tuple[Any, ...]:
        """A key that only equal scorers share; a host's function adds the hash of its file."""
        own = () if self.python is None else (self.python.sha256,)
        return (self.name, dict(self.options), *own)


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """A task. The fields are those of the task file; `mas dev explain task` shows them.

    Attributes:
        briefs: Instructions for single agents, by agent id. Ids that a team does not have are
            ignored, because a task is written for many teams.
        fields: JSON values that prompts insert by name, as in `{{ task.priority }}`.
        files: The text of the files given to the agents, by relative path.
        attachments: The images and PDFs given to the agents, by relative path.
        repo: The git repository that coding agents get a copy of.
        commit: The commit that the copy checks out; empty: the working copy, unchanged. The copy
            has no other branches and no later commits.
        history: Whether the copy includes the commits before it.
        answer: The reference answer, or None. No agent ever sees it.
        origin: The file that the task was read from. It is in no copy of the repository.
    """

    id: str
    query: str
    context: str = ""
    briefs: Mapping[str, str] = field(default_factory=nothing)
    niche: str | None = None
    fields: Mapping[str, Json] = field(default_factory=nothing)
    files: Mapping[str, str] = field(default_factory=nothing)
    attachments: Mapping[str, Attachment] = field(default_factory=nothing)
    repo: Path | None = None
    commit: str = ""
    history: bool = False
    answer: Json = None
    scorer: ScorerChoice = ScorerChoice()
    origin: Path | None = field(default=None, compare=False)

    def seen_by(self, agent_id: str) -> Task:
        """Return the task as one agent may see it: with its own brief and no answer."""
        if self.answer is None and self.briefs.keys() <= {agent_id}:
            return self
        briefs = {brief: text for brief, text in self.briefs.items() if brief == agent_id}
        return replace(self, briefs=MappingProxyType(briefs), answer=None)

    @property
    def is_scored(self) -> bool:
        """Whether its scorer can score answers: most scorers need a reference answer."""
        own = self.scorer.python
        return self.answer is not None or (own is not None and not own.needs_reference)

    @property
    def text(self) -> str:
        """The query and its context, by which tasks are compared for similarity."""
        return "\n\n".join(part for part in (self.query, self.context) if part)

    @property
    def attached(self) -> dict[str, str]:
        """The digests of its images and PDFs, by name."""
        return {name: attachment.sha256 for name, attachment in self.attachments.items()}

    def value(self) -> dict[str, Any]:
        """Return the task as plain values of a task file, without empty fields.

        Images and PDFs are in the folder `ATTACHED` beside that file.
        """
        attached = {name: {"path": f"{ATTACHED}/{name}"} for name in self.attachments}
        value = {
            "id": self.id,
            "query": self.query,
            "context": self.context,
            "briefs": dict(self.briefs),
            "niche": self.niche,
            "fields": dict(self.fields),
            "files": {**self.files, **attached},
            "repo": str(self.repo.resolve()) if self.repo else None,
            "commit": self.commit,
            "history": self.history or None,
            "answer": self.answer,
            "scorer": {"name": self.scorer.name, **self.scorer.options},
        }
        return {key: item for key, item in value.items() if item not in (None, "", {})}


def filled(text: str, task: Task) -> str:
    """Return a prompt with the task's fields inserted; unknown fields stay unchanged."""
    return _NAMED_FIELD.sub(lambda match: _text(task, match[1], match[0]), text)


def names_fields(text: str) -> bool:
    """Return whether a prompt refers to a field of the task."""
    return _NAMED_FIELD.search(text) is not None


def missing_fields(text: str, task: Task) -> list[str]:
    """Return the fields that a prompt refers to and the task does not have."""
    names = dict.fromkeys(match[1] for match in _NAMED_FIELD.finditer(text))
    return [name for name in names if name not in (*_COMMON, *task.fields)]


def _text(task: Task, name: str, otherwise: str) -> str:
    value = getattr(task, name) or "" if name in _COMMON else task.fields.get(name, otherwise)
    return value if isinstance(value, str) else dumps(value, ensure_ascii=False)

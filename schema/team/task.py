"""A task as a value: what is asked, and how an answer is scored."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..values.values import Json, nothing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..host.python_scorer import PythonScorer
    from ..values.attachments import Attachment

ATTACHED = "files"
"""The folder beside a task file that we write, in which its images and PDFs are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScorerChoice:
    """A scorer.

    Attributes:
        options: What the task gives it.
        python: The function of this host that it is; None: an installed package gives it.
    """

    name: str = "exact"
    options: Mapping[str, Json] = field(default_factory=nothing)
    python: PythonScorer | None = None

    @property
    def identity(self) -> tuple[Any, ...]:
        """What tells it from every other scorer; of a function of this host, its file too."""
        own = () if self.python is None else (self.python.sha256,)
        return (self.name, dict(self.options), *own)


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """A task. The fields are those of the task file; `mas dev explain task` tells them.

    Attributes:
        briefs: What only one agent is told, by its id in the team. Ids that a team does not have
            are passed over: a task is written for many teams.
        fields: What prompts take from it by name, as in `{{ task.priority }}`: JSON values.
        files: The text of the files given to the agents, by relative path.
        attachments: The files given to them that are images or PDFs, by relative path.
        repo: The git repository that coding agents get a copy of.
        commit: The commit of it that the copy stands at; empty: the working copy as it is. No copy
            has other branches, or what came later.
        history: Whether the copy has the commits before it, too.
        answer: The reference answer, or None. No agent ever sees it.
        origin: The file that it was read from. It is in no copy of the repository.
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
        """Return the task as one agent may know it: with its own brief and no answer."""
        if self.answer is None and self.briefs.keys() <= {agent_id}:
            return self
        briefs = {brief: text for brief, text in self.briefs.items() if brief == agent_id}
        return replace(self, briefs=MappingProxyType(briefs), answer=None)

    @property
    def is_scored(self) -> bool:
        """Whether its scorer can score answers: most need a reference answer to do so."""
        own = self.scorer.python
        return self.answer is not None or (own is not None and not own.needs_reference)

    @property
    def text(self) -> str:
        """What is asked, with its context: what makes tasks like or unlike each other."""
        return "\n\n".join(part for part in (self.query, self.context) if part)

    @property
    def attached(self) -> dict[str, str]:
        """The digests of its images and PDFs, by name."""
        return {name: attachment.sha256 for name, attachment in self.attachments.items()}

    def value(self) -> dict[str, Any]:
        """Return the task as a task file has it, without what it leaves open.

        Its images and PDFs lie in a folder beside that file: `ATTACHED`.
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

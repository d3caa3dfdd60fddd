"""Reads the published traces: who said what, and whom people hold responsible for which step.

Two revisions of the data are known. They differ in two labels, which the first one spells
`Websurfer` where the agent is `WebSurfer`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from coterie.operators.blame import FailedRun, RunStep
from coterie.runtime.record.journal import digest
from coterie.schema.values.errors import InputError
from coterie.schema.values.json_text import loads
from coterie.schema.values.problems import reason_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

Source = Literal["algorithm-generated", "hand-crafted"]

SOURCES: Mapping[Source, str] = MappingProxyType(
    {"algorithm-generated": "Algorithm-Generated", "hand-crafted": "Hand-Crafted"}
)
"""What we call each source, and its folder: teams that an algorithm built (CaptainAgent), and one
that people built (Magentic-One)."""
REVISIONS: Mapping[str, str] = MappingProxyType(
    {
        "f238efdba54c8d22feb120a6de0b21b17d6ca6bd32d9ca5c6f3864bbf95529ca": "of July 2025",
        "ff3474c8edb70325df296d2b9ff68ceb411cd68663fc0611b1f42ff03bdac357": "of November 2025",
    }
)
"""The digests of what is read of all traces, and which revision has it."""
HOW_TO_GET = (
    "clone https://github.com/ag2ai/Agents_Failure_Attribution and name the clone with --data; its"
    " folder Who&When/ is all that is used"
)
PERSON = "human"
"""Who asks in hand-crafted traces. It is no agent of the team, and never labelled."""
_ROLE = re.compile(r"(?P<agent>.*?)(?: \((?P<where>.*)\))?", re.DOTALL)
"""A speaker of a hand-crafted trace: `Orchestrator (-> WebSurfer)` is the orchestrator's step."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One entry of a trace's history, which is one step.

    Attributes:
        speaker: Who speaks, as the file has it.
        agent: Whose step it is.
        where: What else the file says of it: `thought`, `-> WebSurfer`; mostly nothing.
        text: What is said.
    """

    speaker: str
    agent: str
    where: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """A trace with its label.

    Attributes:
        id: Such as `hand-crafted/3`.
        source: Where it comes from.
        question: What the team was asked.
        answer: The right answer.
        history: Its steps, numbered from 0.
        agent: Whom people hold responsible, as they wrote it.
        step: For which step: the text of its number, as they wrote it.
        why: Their reason.
        level: How hard the question is, as its benchmark says; empty where the file does not.
        silent: Agents that the file names and that never speak.
    """

    id: str
    source: Source
    question: str
    answer: str
    history: tuple[Entry, ...]
    agent: str
    step: str
    why: str
    level: str
    silent: tuple[str, ...]

    @cached_property
    def agents(self) -> tuple[str, ...]:
        """Who speaks, in order of appearance, but for the person who asks."""
        return tuple(dict.fromkeys(entry.agent for entry in self.history if entry.agent != PERSON))

    @property
    def characters(self) -> int:
        """How long its steps' texts are together."""
        return sum(len(entry.text) for entry in self.history)

    def trace(self, *, with_answer: bool) -> FailedRun:
        """Return it as methods read it, without its label.

        Args:
            with_answer: Whether they are shown the right answer.
        """
        steps = (
            RunStep(number=number, agent=entry.agent, text=entry.text, where=entry.where)
            for number, entry in enumerate(self.history)
        )
        return FailedRun(
            question=self.question,
            agents=self.agents,
            steps=tuple(steps),
            expected=self.answer if with_answer else "",
        )

    def value(self) -> dict[str, Any]:
        """Return what it holds as JSON."""
        history = [(entry.speaker, entry.text) for entry in self.history]
        said = [self.question, self.answer, history, self.agent, self.step]
        return {"id": self.id, "said": said}


def read_folder(folder: Path | None) -> tuple[Labelled, ...]:
    """Read all traces of a folder: by source, then by number.

    Args:
        folder: Has the two sources' folders, or `Who&When` with them in it.

    Raises:
        InputError: They are not there, or a file is not as expected.
    """
    if folder is None:
        raise InputError(f"Who & When needs its traces, and no folder is named: {HOW_TO_GET}.")
    for root in (folder, folder / "Who&When"):
        pairs: list[tuple[Source, Path]] = [
            (source, path) for source, name in SOURCES.items() for path in _files(root / name)
        ]
        if pairs:
            return tuple(_read(source, path) for source, path in pairs)
    raise InputError(
        f"{str(folder)!r} holds no traces of Who & When: there is no"
        f" {' or '.join(SOURCES.values())} with JSON files in it. To get them, {HOW_TO_GET}."
    )


def revision_of(traces: Sequence[Labelled]) -> str | None:
    """Return which published revision traces are; None where they are something else."""
    return REVISIONS.get(digest_of(traces))


def digest_of(traces: Sequence[Labelled]) -> str:
    """Return the digest of what is read of traces, with their labels."""
    return digest(*(trace.value() for trace in traces))


def spread(labels: Sequence[Labelled], most: int | None) -> Sequence[Labelled]:
    """Take so many traces, at even distances, so that each source has its share."""
    if most is None or most >= len(labels):
        return labels
    return [labels[number * len(labels) // most] for number in range(most)]


def _files(folder: Path) -> list[Path]:
    """List a source's files, by number."""
    if not folder.is_dir():
        return []
    return sorted(folder.glob("*.json"), key=lambda path: (len(path.stem), path.stem))


def _read(source: Source, path: Path) -> Labelled:
    try:
        content: Mapping[str, Any] = loads(path.read_bytes())
        return _labelled(source, path.stem, content)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason_of(error)}.") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path} is no trace of Who & When: {type(error).__name__}: {error}."
            f" To get them, {HOW_TO_GET}."
        ) from None


def _labelled(source: Source, name: str, content: Mapping[str, Any]) -> Labelled:
    history = tuple(_entry(item) for item in content["history"])
    speakers = {entry.agent for entry in history}
    return Labelled(
        id=f"{source}/{name}",
        source=source,
        question=content["question"],
        answer=content["ground_truth"],
        history=history,
        agent=content["mistake_agent"],
        step=str(content["mistake_step"]),
        why=content["mistake_reason"],
        level=str(content.get("level", "")),
        silent=tuple(item for item in content.get("system_prompt", {}) if item not in speakers),
    )


def _entry(fields: Mapping[str, Any]) -> Entry:
    """Read a step. Its speaker is under `name`; where there is no name, under `role`."""
    speaker = fields.get("name") or fields["role"]
    role = _ROLE.fullmatch(speaker)
    assert role is not None  # noqa: S101 - it fits any text
    return Entry(
        speaker=speaker,
        agent=role["agent"],
        where=role["where"] or "",
        text=fields["content"],
    )

"""The tasks that a pool has learnt from, so that none of them is used for testing.

A task is identified by its id, and by its words: white space, case, invisible characters and
punctuation between words do not count.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from ...runtime.record.journal import digest
from ...runtime.runs.record import read_value
from ...schema.team.task import Task
from ...schema.values.errors import InputError
from ...schema.values.problems import quoted
from ...schema.values.secrets import scrubbed
from ...schema.values.terminal import counted, speakable
from ...schema.values.values import is_mapping
from ..folder.own_files import refuse_links
from ..ledger.learnt import LONGEST_TASK
from ..ledger.ledger import Ledger
from ..values.layout import EVOLUTIONS, LEDGER, MANIFEST
from ..values.statistics import EVOLVE

DIGITS = 16
"""Digits of the digest by which manifests identify a question."""
MOST_NAMED = 5
_APOSTROPHE = re.compile("(?<=[^\\W\\d_])['`\u2018\u2019](?=[^\\W\\d_])")
_PLAIN = str.maketrans({**dict.fromkeys("\u2010\u2011\u2212", "-"), "\u02bc": "'"})
_MARK = re.compile(
    r"""
    [?"'`\u2018-\u201f\xab\xbb\xbf\xa1\u3001\u3002\u300c\u300d\u2013\u2014] | \*\*+ | __+
    | (?<!\d)! | [.,;:](?!\d) | (?<=[^\W\d_])-(?=\w)
    """,
    re.VERBOSE,
)
"""Punctuation without meaning: no operator, no bracket, no part of a number (`1.5`, `3!`, `x
- 1`)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownTask:
    """A task that occurred before.

    Attributes:
        before: The earlier occurrence: `ledger.jsonl:LINE`, a manifest, or a line of a stream.
        by: The common part: `id` or `words`.
    """

    task: Task
    place: str
    before: str
    by: str

    def __str__(self) -> str:
        return f"{self.place} is {self.before} by its {self.by}"


@dataclass(frozen=True, kw_only=True, slots=True)
class LearntTasks:
    """Tasks that were learnt from, each with the place that proves it.

    Attributes:
        words: Places by the words of the first `LONGEST_TASK` characters of the tasks.
        digests: Places by `text_digest`.
    """

    ids: Mapping[str, str] = field(default_factory=dict[str, str])
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    digests: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def by(cls, pool: Path) -> Self:
        """Return the tasks that a pool has learnt from; empty if there is no pool."""
        if not os.path.lexists(pool / LEDGER):
            return cls()
        refuse_links(pool)
        ids, words = dict[str, str](), dict[str, str]()
        for entry in Ledger(pool / LEDGER).read():
            place = f"{pool / LEDGER}:{entry.end.line}"
            for task_id in _ids(entry.value):
                ids.setdefault(task_id, place)
            if entry.value["kind"] == "learnt":
                words.setdefault(_words(entry.value["entry"]["task"]), place)
        return cls(ids=ids, words=words, digests=dict(_manifested(pool)))

    @classmethod
    def of(cls, tasks: Sequence[Task], places: Mapping[str, str] | None = None) -> Self:
        """Treat these tasks as known, with their places by id."""
        placed = [(task, _place(task, places)) for task in reversed(tasks)]
        return cls(
            ids={task.id: place for task, place in placed},
            words={_words(_stored_text(task.text)): place for task, place in placed},
        )

    def __or__(self, other: LearntTasks) -> LearntTasks:
        """Return the tasks of both; the places of the first win."""
        return LearntTasks(
            ids={**other.ids, **self.ids},
            words={**other.words, **self.words},
            digests={**other.digests, **self.digests},
        )

    def meetings(
        self, tasks: Sequence[Task], places: Mapping[str, str] | None = None
    ) -> Iterator[KnownTask]:
        """Yield the tasks that are among these, with both places."""
        for task in tasks:
            before, by = self.ids.get(task.id), "id"
            if before is None:
                before, by = self.words.get(_words(_stored_text(task.text))), "words"
            if before is None:
                before = self.digests.get(text_digest(task))
            if before is not None:
                yield KnownTask(task=task, place=_place(task, places), before=before, by=by)

    def refuse(
        self,
        tasks: Sequence[Task],
        advice: str,
        *,
        places: Mapping[str, str] | None = None,
        noun: str = "held-out task",
    ) -> None:
        """Check that none of some tasks is among these.

        Args:
            places: Their places, by id.

        Raises:
            InputError: Some are; the message names both places of each.
        """
        again = list(self.meetings(tasks, places))
        if again:
            verb = "is" if len(again) == 1 else "are"
            more = f"; and {len(again) - MOST_NAMED} more" if len(again) > MOST_NAMED else ""
            raise InputError(
                f"{counted(len(again), noun)} of {len(tasks)} {verb} learnt from:"
                f" {'; '.join(map(str, again[:MOST_NAMED]))}{more}. Scores on such tasks say"
                f" nothing about unseen tasks. {advice}"
            )


def text_digest(task: Task) -> str:
    """Return a digest of a task's text that ignores its spacing."""
    return digest(f"{task.query} {task.context}".split())[:DIGITS]


def _ids(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the ids of tasks that a ledger line was learnt from."""
    if value.get("split", EVOLVE) == EVOLVE and value.get("task"):
        yield value["task"]
    # An entry's, or that of an event in which a task was told: its numbers decide what is kept.
    case = value.get("entry", value.get("about", {})).get("case")
    if isinstance(case, str):
        yield case


def _manifested(pool: Path) -> Iterator[tuple[str, str]]:
    """Yield the digests of evolutions' tasks, each with its manifest."""
    for path in sorted((pool / EVOLUTIONS).glob(f"*/{MANIFEST}")):
        tasks = read_value(path).get("tasks")
        for report in tasks.values() if is_mapping(tasks) else ():
            yield str(report).partition(".")[0], str(path)


def _place(task: Task, places: Mapping[str, str] | None) -> str:
    named = f"task {quoted(task.id)}"
    place = (places or {}).get(task.id)
    return f"{named} ({place})" if place else named


def _stored_text(text: str) -> str:
    """Return a task's text as the ledger has it."""
    return scrubbed(text[:LONGEST_TASK].encode("utf-8", "replace").decode())


def _words(text: str) -> str:
    """Return the compared form of a task: without case, spacing and punctuation."""
    text = unicodedata.normalize("NFKC", text[:LONGEST_TASK]).casefold().translate(_PLAIN)
    text = _APOSTROPHE.sub("", speakable(" ".join(text.split())))
    return " ".join(_MARK.sub(" ", text).split()) or text

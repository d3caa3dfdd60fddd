"""The result of a race, stored in race.json, and its report for people."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Self

from ....runtime.values.caps import Caps
from ....runtime.values.operator_answers import (
    OperatorAnswers,
    answer_warnings,
    useless_answers,
)
from ....runtime.values.usage import Usage
from ....schema.values.codec import Misfit, from_value, stored, to_value
from ....schema.values.errors import StorageError
from ....schema.values.files import write_atomically
from ....schema.values.json_text import dumps, loads
from ....schema.values.terminal import counted, on_one_line
from ...core.material import clip

RACE_FILE = "race.json"
USUAL = 0.95
"""The level of an interval that a report does not name."""
BOUND = 1.96
"""The bound of a 95 % interval, in standard errors from its middle."""
SHOWN = BOUND + 0.84
"""The gain in standard errors at which a 95 % interval lies above 0 with a probability of 80 %."""
LONGEST_CONFLICT = 300
LONGEST_EDIT = 160
"""Characters of an edit in the report; `mas-diff` shows all of it."""


@stored(omit=True)
class Entrant:
    """A candidate in the record of a race.

    Attributes:
        number: Its number in the order of entry; 0 is the original.
        parent: The number of the candidate that it changes; None for the original.
        partner: The number of the candidate that a merge takes edits from.
        kind: The kind of proposal that made it.
        edits: Its changes to its parent, in words.
        scores: Its score in each slot; None if it could not be scored.
        mean: The expected mean score, in [0, 1].
        spread: The standard deviation of that belief.
        gain: The interval of its gain over the original on the tasks that were raced on,
            valid at any moment; None if it did not run.
        state: `open`, `ahead` or `behind`.
    """

    number: int
    parent: int | None = None
    partner: int | None = None
    kind: str = ""
    reason: str = ""
    edits: tuple[str, ...] = ()
    scores: tuple[float | None, ...] = ()
    mean: float = 0.0
    spread: float = 0.0
    gain: tuple[float, float] | None = None
    state: str = "open"
    usage: Usage = field(default_factory=Usage)
    member: str = ""


@stored(omit=True)
class LastWord:
    """The winner beside the original, on tasks held back until then.

    Attributes:
        original: The original's score on each, in [0, 1].
        low: The lower end of the interval of the mean gain.
        level: The level of the interval.
        is_whole: Whether a larger budget adds no run: every held-back task has all its runs.
        corrected: If only some tasks have a reference answer: the gain by the judge's scores,
            corrected by the reference answers; the scores are then the judge's.
    """

    tasks: tuple[str, ...]
    original: tuple[float, ...]
    winner: tuple[float, ...]
    low: float
    high: float
    level: float = USUAL
    is_whole: bool = False
    usage: Usage = field(default_factory=Usage)
    corrected: float | None = None
    answers: int = 0

    @property
    def means(self) -> tuple[float, float]:
        """The mean scores of the original and of the winner, in [0, 1]."""
        return sum(self.original) / len(self.tasks), sum(self.winner) / len(self.tasks)

    @property
    def gain(self) -> float:
        """The mean gain of the winner over the original."""
        plain = (sum(self.winner) - sum(self.original)) / len(self.tasks)
        return plain if self.corrected is None else self.corrected

    def value(self) -> dict[str, Any]:
        """Return the gain as a JSON object."""
        return {"mean": self.gain, "interval": [self.low, self.high], "level": self.level}

    def __str__(self) -> str:
        """Write the gain with its interval; its level only if that is not the usual 95 %."""
        level = "" if self.level == USUAL else f", a {self.level:.0%} interval"
        return f"gain {self.gain:+.3f} [{self.low:+.3f}, {self.high:+.3f}]{level}"

    @property
    def tasks_to_show(self) -> int:
        """The number of held-back tasks that show a gain of this size with a chance of 80 %."""
        error = (self.high - self.low) / 2 / BOUND
        return math.ceil(len(self.tasks) * (SHOWN * error / self.gain) ** 2)


@stored(omit=True)
class RaceResult:
    """The result of a race.

    Attributes:
        entrants: All candidates, in the order in which they entered.
        leader: The number of the candidate with the highest expected score, without needless steps.
        slots: The candidate's number of each run, in order.
        last_word: The last word; None if there is none (yet).
        ended: Why the search ended; empty while it runs.
        spent: All usage, operators and judges included.
        operators: The usage of operators and judges.
        dropped: The number of invalid proposals.
        conflicts: Merges that failed: the candidates, and what both decide.
        asked: The outcomes of the operators' questions, by operator.
    """

    entrants: tuple[Entrant, ...] = ()
    tasks: tuple[str, ...] = ()
    leader: int = 0
    slots: tuple[int, ...] = ()
    last_word: LastWord | None = None
    ended: str = ""
    caps: Caps = field(default_factory=Caps)
    spent: Usage = field(default_factory=Usage)
    operators: Usage = field(default_factory=Usage)
    dropped: int = 0
    conflicts: tuple[str, ...] = ()
    asked: Mapping[str, OperatorAnswers] = field(default_factory=dict[str, OperatorAnswers])

    @property
    def is_better(self) -> bool:
        """Whether the data show that the leader is better than the original."""
        return self.last_word is not None and self.last_word.low > 0

    @property
    def is_over(self) -> bool:
        """Whether the race is complete."""
        return bool(self.ended) and (self.leader == 0 or self.last_word is not None)

    @property
    def spending(self) -> dict[str, Usage]:
        """The usage by purpose."""
        word = self.last_word.usage if self.last_word else Usage()
        search = self.spent - self.operators - word
        return {"search": search, "operators": self.operators, "last word": word}

    @property
    def winner(self) -> Entrant:
        """The candidate that is handed over: the leader if it is better, else the original."""
        return self.entrants[self.leader if self.is_better else 0]

    @property
    def deployed(self) -> str:
        """The pool's name of the winner; empty until it is stored."""
        return self.winner.member

    def path_to(self, number: int) -> Sequence[Entrant]:
        """Return the steps from the original to a candidate, in order."""
        steps: list[Entrant] = []
        while (parent := self.entrants[number].parent) is not None:
            steps.append(self.entrants[number])
            number = parent
        return steps[::-1]

    def steps_to(self, number: int) -> Iterator[tuple[Entrant, str]]:
        """Yield those steps, and why each was made: of a merge, what it has of its partner."""
        seen: set[int] = set()
        for step in self.path_to(number):
            yield step, " ".join(self._reasons(step, seen))

    def _reasons(self, step: Entrant, seen: set[int]) -> list[str]:
        """Return why a step and those that led to it were made, of those that were not seen yet."""
        pending, reasons = [step.number], list[str]()
        while pending:
            entrant = self.entrants[pending.pop()]
            if entrant.parent is not None and entrant.number not in seen:
                seen.add(entrant.number)
                reasons += [entrant.reason] if entrant.partner is None else []
                pending += [entrant.parent, *([entrant.partner] if entrant.partner else [])]
        return reasons[::-1]

    def write(self, folder: Path) -> None:
        """Write it to the evolution's folder."""
        write_atomically(folder / RACE_FILE, dumps(to_value(self), ensure_ascii=False) + "\n")

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Read the current result of a race; None if none has begun.

        Raises:
            StorageError: The file is damaged.
        """
        path = folder / RACE_FILE
        try:
            result = from_value(cls, loads(path.read_text(encoding="utf-8")))
            _check(result)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, Misfit) as error:
            raise StorageError(f"{path}: not what a race wrote there: {error}.") from None
        return result

    def value(self) -> dict[str, Any]:
        """Return the value that --json prints: the last word first."""
        word = self.last_word
        return {
            "is_better": self.is_better,
            "winner": self.winner.member or self.winner.number,
            "gain": word and word.value(),
            "held_back": len(word.tasks) if word else 0,
            **to_value(self),
        }

    def __str__(self) -> str:
        """Write it for people."""
        warnings = [f"warning: {warning}" for warning in answer_warnings(self.asked)]
        return "\n".join([*_lines(self), *useless_answers(self.asked), *warnings])


def _check(result: RaceResult) -> None:
    """Refuse invalid candidate numbers: the file may be foreign."""
    word, scores = result.last_word, [entrant.scores for entrant in result.entrants]
    for place, entrant in enumerate(result.entrants):
        parents = range(place) if place else (None,)
        partners = (None, *range(1, place))
        has_parents = entrant.parent in parents and entrant.partner in partners
        if entrant.number != place or not has_parents:
            raise Misfit("not its place, or no parent before it", ("entrants", place))
    if not {result.leader, *result.slots} <= {*range(len(scores))}:
        raise Misfit("a number that no entrant has", ("leader or slots",))
    if word is not None:
        if not 0 < len(word.tasks) == len(word.original) == len(word.winner):
            raise Misfit("not one score for each task", ("last_word",))
        scores += [word.original, word.winner]
    if not all(0 <= score <= 1 for own in scores for score in own if score is not None):
        raise Misfit("a score outside of [0, 1]", ("entrants or last_word",))
    if any(scores) and not result.tasks:
        raise Misfit("no tasks, but scores", ("tasks",))


def _edit_line(edit: str) -> str:
    return f"    {clip(on_one_line(edit), LONGEST_EDIT)}"


def _lines(result: RaceResult) -> list[str]:
    word, spent = result.last_word, result.spent
    proposals = counted(len(result.entrants) - 1, "proposal")
    ended = f"; {result.ended}" if result.ended else ""
    raced = [f"{proposals} raced, {counted(spent.calls, 'call')}, {spent.cost}{ended}"]
    if result.conflicts:
        first = clip(on_one_line(result.conflicts[0]), LONGEST_CONFLICT)
        raced.append(f"{counted(len(result.conflicts), 'merge')} conflicted: {first}")
    if word is None:
        state = "No proposal leads the original" if result.ended else "The race goes on"
        return [f"{state}. The original stays as it is.", *raced]
    scores = "original {:.3f}, candidate {:.3f}".format(*word.means)
    head = "A better team" if result.is_better else "No improvement that the data can show"
    steps = [
        line
        for step, reason in result.steps_to(result.leader)
        for line in (f"  {step.kind}: {reason}", *map(_edit_line, step.edits))
        if result.is_better
    ]
    judged = f", judged and corrected by {word.answers} reference answers"
    on = f"on {counted(len(word.tasks), 'held-back task')}{judged if word.answers else ''}"
    lines = [f"{head}: {scores}, {word}, {on}."]
    if word.gain > 0 and not result.is_better:
        lines.append(_how_to_show(result, word))
    return [*lines, *steps, *raced]


def _how_to_show(result: RaceResult, word: LastWord) -> str:
    """Return how to show a gain that the last word was too short for, and where its team is."""
    needed = word.tasks_to_show
    about = round(needed, 2 - len(str(needed)))
    how = "add tasks" if word.is_whole else "add tasks, or raise --budget"
    return (
        f"Such a gain takes about {about:,} held-back tasks to show: {how}."
        f" The candidate is in the pool: {result.entrants[result.leader].member}."
    )

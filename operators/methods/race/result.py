"""The result of a race, as race.json keeps it and people read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Self

from ....runtime.values.caps import Caps
from ....runtime.values.operator_answers import (
    OperatorAnswers,
    answer_warnings,
    useless_answers,
)
from ....runtime.values.terminal import counted
from ....runtime.values.usage import Usage
from ....schema.values.codec import Misfit, from_value, kept, to_value
from ....schema.values.errors import StorageError
from ....schema.values.files import write_atomically
from ....schema.values.json_text import dumps, loads
from ....schema.values.terminal import on_one_line
from ...core.material import clip

RACE_FILE = "race.json"
LONGEST_CONFLICT = 300
LONGEST_EDIT = 160
"""Characters of an edit that people read in the report; `mas-diff` shows all."""


@kept(omit=True)
class Entrant:
    """A candidate of a race, as its record has it.

    Attributes:
        number: Its place among those that entered; 0 is the original.
        parent: Whom it changes; None: nobody.
        partner: Whose edits a merge has, too.
        kind: The kind of proposal that made it.
        edits: What it changes about its parent, in words.
        first: The slot of its first run.
        scores: Its score in each slot from that on; None where nobody could score it.
        mean: The mean score that is believed of it, in [0, 1].
        spread: The standard deviation of that belief.
        gain: The interval of what it gains over the original on the tasks that were raced on,
            valid at any moment; None: it did not run.
        state: `open`, `ahead` or `behind`.
    """

    number: int
    parent: int | None = None
    partner: int | None = None
    kind: str = ""
    reason: str = ""
    edits: tuple[str, ...] = ()
    first: int = 0
    scores: tuple[float | None, ...] = ()
    mean: float = 0.0
    spread: float = 0.0
    gain: tuple[float, float] | None = None
    state: str = "open"
    usage: Usage = field(default_factory=Usage)
    member: str = ""


@kept(omit=True)
class LastWord:
    """The winner beside the original, on tasks held back until then.

    Attributes:
        original: The original's score on each, in [0, 1].
        low: The lower end of the 95 % interval of the mean gain.
        corrected: The gain by the judge's scores as reference answers correct it, where only some
            tasks have one; the scores are the judge's then.
    """

    tasks: tuple[str, ...]
    original: tuple[float, ...]
    winner: tuple[float, ...]
    low: float
    high: float
    usage: Usage = field(default_factory=Usage)
    corrected: float | None = None
    answers: int = 0

    @property
    def means(self) -> tuple[float, float]:
        """The mean scores of the original and of the winner, in [0, 1]."""
        return sum(self.original) / len(self.tasks), sum(self.winner) / len(self.tasks)

    @property
    def gain(self) -> float:
        """What the winner scores more than the original, on the mean."""
        plain = (sum(self.winner) - sum(self.original)) / len(self.tasks)
        return plain if self.corrected is None else self.corrected


@kept(omit=True)
class RaceResult:
    """The result of a race.

    Attributes:
        entrants: All candidates, in the order in which they entered.
        leader: The number of the candidate that is expected to score most, without needless steps.
        slots: In which order runs were made: the candidate's number of each.
        last_word: The last word; None: there is none (yet).
        ended: Why the search ended; empty: it is under way.
        spent: What all of it consumed, operators and judges too.
        operators: The part of it that operators and judges consumed.
        dropped: How many proposals were of no use.
        conflicts: Merges that were not made: of whom, and what both decide.
        asked: The outcome of the questions of operators, by their names.
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
        """Whether nothing is left to do."""
        return bool(self.ended) and (self.leader == 0 or self.last_word is not None)

    @property
    def spending(self) -> dict[str, Usage]:
        """What was consumed, by purpose."""
        word = self.last_word.usage if self.last_word else Usage()
        search = self.spent - self.operators - word
        return {"search": search, "operators": self.operators, "last word": word}

    @property
    def winner(self) -> Entrant:
        """Who is handed over: the leader where it is better, else the original."""
        return self.entrants[self.leader if self.is_better else 0]

    @property
    def deployed(self) -> str:
        """The pool's name of the winner; empty until the pool has it."""
        return self.winner.member

    def path_to(self, number: int) -> Sequence[Entrant]:
        """Return the steps that led from the original to a candidate, the first one first."""
        steps: list[Entrant] = []
        while (parent := self.entrants[number].parent) is not None:
            steps.append(self.entrants[number])
            number = parent
        return steps[::-1]

    def write(self, folder: Path) -> None:
        """Keep it in the evolution's folder."""
        write_atomically(folder / RACE_FILE, dumps(to_value(self), ensure_ascii=False) + "\n")

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Read the result of a race until now; None where none began.

        Raises:
            StorageError: The file is damaged.
        """
        path = folder / RACE_FILE
        try:
            result = from_value(cls, loads(path.read_text(encoding="utf-8")))
            _check(result)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, Misfit) as error:
            raise StorageError(f"{path}: not what a race wrote there: {error}.") from None
        return result

    def value(self) -> dict[str, Any]:
        """Return what --json prints: the last word first."""
        word = self.last_word
        return {
            "is_better": self.is_better,
            "winner": self.winner.member or self.winner.number,
            "gain": word and {"mean": word.gain, "interval": [word.low, word.high]},
            "held_back": len(word.tasks) if word else 0,
            **to_value(self),
        }

    def __str__(self) -> str:
        """Write it for people."""
        warnings = [f"warning: {warning}" for warning in answer_warnings(self.asked)]
        return "\n".join([*_lines(self), *useless_answers(self.asked), *warnings])


def _check(result: RaceResult) -> None:
    """Refuse numbers that lead nowhere: the file may come from others."""
    word, scores = result.last_word, [entrant.scores for entrant in result.entrants]
    for place, entrant in enumerate(result.entrants):
        parents = range(place) if place else (None,)
        partners = (None, *range(1, place))
        has_parents = entrant.parent in parents and entrant.partner in partners
        if entrant.number != place or not has_parents:
            raise Misfit("not its place, or no parent before it", ("entrants", place))
        if entrant.first < 0:
            raise Misfit("no slot", ("entrants", place, "first"))
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
    raced = [f"{proposals} raced, {counted(spent.calls, 'call')}, {spent.cost}; {result.ended}"]
    if result.conflicts:
        first = clip(on_one_line(result.conflicts[0]), LONGEST_CONFLICT)
        raced.append(f"{counted(len(result.conflicts), 'merge')} conflicted: {first}")
    if word is None:
        ended = "No proposal leads the original" if result.ended else "The race goes on"
        return [f"{ended}. The original stays as it is.", *raced]
    scores = "original {:.3f}, candidate {:.3f}".format(*word.means)
    gain = f"gain {word.gain:+.3f} [{word.low:+.3f}, {word.high:+.3f}]"
    head = "A better team" if result.is_better else "No improvement that the data can show"
    steps = [
        line
        for step in result.path_to(result.leader)
        for line in (f"  {step.kind}: {step.reason}", *map(_edit_line, step.edits))
        if result.is_better
    ]
    judged = f", judged and corrected by {word.answers} reference answers"
    on = f"on {len(word.tasks)} held-back tasks{judged if word.answers else ''}"
    return [f"{head}: {scores}, {gain}, {on}.", *steps, *raced]

"""The union of two ledgers of one pool: each operation once, each after the lines it refers to.

Both copies evolved independently. Lines are in the order of their logical clocks. So the order of
either side is kept, and a line whose writer had seen more comes later: if both sides revised an
agent, the last revision counts. The union depends only on the set of lines, not on the order of
merging.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from ...schema.values.errors import InputError, StorageError
from ...schema.values.problems import quoted
from ...schema.values.terminal import counted
from ..ledger.ledger import START, LedgerEntry, entry_of
from ..ledger.scaffold import HEAD
from ..ledger.state import State, in_order

LONGEST_TASK = 60
"""Maximum characters of a task or a text in the description of a line."""
MEMBERS = ("team", "agent")


class Contradiction(InputError):
    """Two copies of a pool contradict each other, so they have no union."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UnionLine:
    """A line of a ledger.

    Attributes:
        text: The whole line, including its line break.
    """

    text: bytes
    entry: LedgerEntry

    @property
    def op(self) -> str:
        """The operation that the line records."""
        return self.entry.op

    def __str__(self) -> str:
        return f"line {self.entry.end.line}, {_describe(self.entry.value)}"


@dataclass(frozen=True, kw_only=True, slots=True)
class UnionSide:
    """One of two copies.

    Attributes:
        name: Its name in messages.
        lines: The lines of its ledger, each once.
    """

    name: str
    lines: tuple[UnionLine, ...]

    @classmethod
    def of(cls, name: str, content: bytes) -> UnionSide:
        """Read the content of a ledger, without an unfinished last line of a crash.

        Args:
            name: Its name in messages.

        Raises:
            StorageError: A line is damaged.
            Contradiction: A line repeats an operation with other content.
        """
        fields, after = dict[str, UnionLine](), START
        for text in BytesIO(content):
            if not text.endswith(b"\n"):
                break
            try:
                entry = entry_of(text, after.line + 1, after.offset)
            except ValueError as error:
                raise _damage(name, after.line + 1, str(error)) from None
            if entry is None:
                raise _damage(name, after.line + 1, "does not match its checksum")
            line, after = UnionLine(text=text, entry=entry), entry.end
            before = fields.setdefault(line.op, line)
            if not before.entry.agrees(entry):
                raise _other_of(line.op, (name, before), (name, line))
            fields[line.op] = min(before, line, key=_rank)
        return cls(name=name, lines=tuple(fields.values()))


def union_of(
    first: UnionSide, second: UnionSide, folder: Path
) -> tuple[Sequence[UnionLine], Sequence[str]]:
    """Unite the ledgers of two copies of a pool.

    Args:
        folder: The pool's folder, for messages and paths.

    Returns:
        The lines, and notes for the user, such as agents that both sides revised.

    Raises:
        Contradiction: An operation has other content on each side, or each side has another member
            of one name.
        StorageError: One of them cannot be read on its own.
    """
    lines = ordered(united(first, second), folder)
    state, births = State(folder), dict[str, UnionLine]()
    for line in lines:
        try:
            state.take(line.entry)
        except ValueError as error:
            _expect_whole(first, folder)
            _expect_whole(second, folder)
            raise _misfit(line, births, (first, second), error) from None
        for name in _added_names(line.entry.value):
            births[name] = line
    return lines, tuple(_notes(first, second, lines))


def united(first: UnionSide, second: UnionSide) -> list[UnionLine]:
    """Unite two files whose lines have operations, in the order of their clocks."""
    _expect_equal(first, second)
    fields = dict[str, UnionLine]()
    for line in (*first.lines, *second.lines):
        fields[line.op] = min(fields.get(line.op, line), line, key=_rank)
    return sorted(fields.values(), key=lambda line: line.entry.order)


def ordered(lines: Sequence[UnionLine], folder: Path) -> Sequence[UnionLine]:
    """Return lines in a readable order, as far as there is one."""
    of = {id(line.entry): line for line in lines}
    return [of[id(entry)] for entry in in_order([line.entry for line in lines], folder)]


def _rank(line: UnionLine) -> tuple[bool, bool, int, bytes]:
    return line.entry.rank


def _expect_equal(first: UnionSide, second: UnionSide) -> None:
    there = {line.op: line for line in second.lines}
    unequal = [
        (line, there[line.op])
        for line in first.lines
        if line.op in there and not line.entry.agrees(there[line.op].entry)
    ]
    if unequal:
        (mine, theirs), *more = unequal
        raise _other_of(mine.op, (first.name, mine), (second.name, theirs), more=len(more))


def _added_names(value: Mapping[str, Any]) -> Iterator[str]:
    if value.get("kind") == "born":
        yield from (value[of] for of in MEMBERS if of in value)


def _expect_whole(side: UnionSide, folder: Path) -> None:
    """Raise an error if one side alone is damaged."""
    state = State(folder)
    for line in ordered(side.lines, folder):
        try:
            state.take(line.entry)
        except ValueError as error:
            raise _damage(side.name, line.entry.end.line, str(error)) from None


def _damage(name: str, line: int, problem: str) -> StorageError:
    return StorageError(
        f"{name}: line {line}: {problem}. Nothing was merged. To see all problems of that copy:"
        " mas-pool verify."
    )


def _other_of(
    op: str, mine: tuple[str, UnionLine], theirs: tuple[str, UnionLine], *, more: int = 0
) -> Contradiction:
    further = f" So do {counted(more, 'more operation')}." if more else ""
    return Contradiction(
        f"the operation {quoted(op)} differs between {mine[0]} ({mine[1]}) and {theirs[0]}"
        f" ({theirs[1]}): both continued the same evolution, or they are not copies of one"
        f" pool.{further} Nothing was merged. Keep one of the two, and import the teams of the"
        " other one: mas-pool import."
    )


def _misfit(
    line: UnionLine, births: Mapping[str, UnionLine], sides: Sequence[UnionSide], error: ValueError
) -> Contradiction | StorageError:
    for name in _added_names(line.entry.value):
        if (earlier := births.get(name)) is not None:
            text = " and ".join(
                f"by {quoted(item.op)} in {_side_of(item, sides)} ({item})"
                for item in (earlier, line)
            )
            return Contradiction(
                f"two members are called {quoted(name)}: born {text}. In pools that mas-pool init"
                " created as shared, names do not collide. Nothing was merged. Import the teams of"
                " one into the other, which renames them: mas-pool import."
            )
    return Contradiction(
        f"the operation {quoted(line.op)} of {_side_of(line, sides)} ({line}) conflicts with the"
        f" other side: {error}. Nothing was merged."
    )


def _side_of(line: UnionLine, sides: Sequence[UnionSide]) -> str:
    return next(side.name for side in sides if any(each.op == line.op for each in side.lines))


def _notes(first: UnionSide, second: UnionSide, lines: Sequence[UnionLine]) -> Iterator[str]:
    """Yield notes on changes of both sides, with the change that counts now."""
    ops = [{line.op for line in side.lines} for side in (second, first)]
    changed = [
        {subject: line for line in side.lines if line.op not in there and (subject := _of(line))}
        for side, there in zip((first, second), ops, strict=True)
    ]
    last = {subject: line for line in lines if (subject := _of(line))}
    for subject in sorted(changed[0].keys() & changed[1].keys()):
        line = last[subject]
        side = _side_of(line, (first, second))
        yield (
            f"both sides {subject}. The operation {quoted(line.op)} of {side} now applies; the"
            " ledger has both."
        )


def _of(line: UnionLine) -> str:
    """Describe a change that only the last line decides; empty for other lines."""
    value = line.entry.value
    match value.get("kind"):
        case "revised":
            return f"revised the agent {quoted(value['agent'])}"
        case "told" if value.get("what") == HEAD:
            return "chose the head"
        case _:
            return ""


def _describe(value: Mapping[str, Any]) -> str:
    who = next((value[of] for of in MEMBERS if of in value), value.get("what", ""))
    task = value.get("task", "")
    text = " ".join(str(word) for word in (value.get("kind", "a line"), who) if word)
    score = f" with {value['score']}" if "score" in value else ""
    return f"{text}{f' on {quoted(str(task)[:LONGEST_TASK])}' if task else ''}{score}"

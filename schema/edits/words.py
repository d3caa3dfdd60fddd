"""The differences between two teams, in plain words."""

from __future__ import annotations

import difflib
import json
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, Protocol

from ..team.building import recruit_of, roster_of, rounds_of, when_of
from ..team.conditions import Each
from ..team.team import Team
from ..team.words import chooses, one_line, repeats, span, within
from ..team.writing import write_yaml
from ..values.problems import Path
from .changes import ORDER, OUTPUT, SINGLE_FIELDS, FieldChange, changes

Tone = Literal["name", "old", "new", "place"]
"""The kind of a piece of text, which decides its colour."""

TONES: Mapping[str, Tone] = {"-": "old", "+": "new", "@": "place"}
"""The tone of a line, by its first character."""

SHORT = 40
"""Maximum characters of a short text. Longer texts are compared line by line."""

NOUNS: Mapping[str, str] = {
    "patches": "patch",
    "teammates": "note on",
    "pairs": "work with",
    "skills": "skill",
}
"""The word before the name of a note."""

CONTEXT = 2
"""The number of lines shown around a change."""


class Paint(Protocol):
    """Colours a piece of text."""

    def __call__(self, text: str, tone: Tone, /) -> str:
        """Return the text in its colour."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sentence:
    """The differences about one subject, and the lines that show them in full."""

    subject: str
    text: str
    lines: Sequence[str] = ()


def plainly(text: str, tone: Tone, /) -> str:
    """Return a piece of text without colour."""
    del tone
    return text


def words(before: Team, after: Team, paint: Paint = plainly) -> Iterator[str]:
    """Yield the differences between two teams, line by line; nothing for equal teams."""
    for sentence in _sentences(changes(before, after), paint):
        yield f"{paint(sentence.subject, 'name')}: {sentence.text}".rstrip()
        yield from (f"    {line}".rstrip() for line in sentence.lines)


def summary(before: Team, after: Team) -> tuple[str, ...]:
    """Return the differences between two teams, one sentence per subject, for a team's lineage."""
    sentences = _sentences(changes(before, after), plainly)
    return tuple(f"{sentence.subject}: {sentence.text}" for sentence in sentences)


def unified(before: str, after: str, paint: Paint = plainly) -> list[str]:
    """Compare two texts line by line; terminal control characters are shown as codes."""
    old, new = (text.removesuffix("\n").split("\n") if text else [] for text in (before, after))
    if old == new:  # only the line break at the end differs
        old, new = before.split("\n"), after.split("\n")
    lines = difflib.unified_diff(old, new, n=CONTEXT, lineterm="")
    shown = (_visible(line) for line in list(lines)[2:])
    return [paint(line, TONES[line[0]]) if line[0] in TONES else line for line in shown]


def _sentences(field_changes: Sequence[FieldChange], paint: Paint) -> Iterator[_Sentence]:
    roster = [change for change in field_changes if change.component == "roster"]
    fields = [change for change in field_changes if change.path[0] == "agents"]
    fields = [change for change in fields if change.component != "roster"]
    if roster:
        yield _roster(roster, paint)
    yield from _agents([change for change in fields if not _is_long(change)], paint)
    if topology := [change for change in field_changes if change.component == "topology"]:
        yield _topology(topology, paint)
    for subject in ("execution", "team"):
        single = [change for change in field_changes if _subject(change) == subject]
        if texts := [_phrase(change, paint) for change in single if not _is_long(change)]:
            yield _Sentence(subject=subject, text=", ".join(texts))
    yield from _texts([change for change in field_changes if _is_long(change)], paint)


def _subject(change: FieldChange) -> str:
    return "team" if change.path[0] in SINGLE_FIELDS else str(change.path[0])


def _roster(field_changes: Sequence[FieldChange], paint: Paint) -> _Sentence:
    """Describe removed, added and renamed agents; new agents are shown as in a team file."""
    removed = [str(change.path[1]) for change in field_changes if change.after is None]
    new: dict[str, list[str]] = {}
    others: list[str] = []
    for change in field_changes:
        if change.path == ORDER:
            others.append("another order")
        elif change.path[-1] == "id" and len(change.path) == 3:
            others.append(_arrow(change, paint))
        elif change.after is not None:
            new.setdefault(write_yaml(change.after), []).append(str(change.path[1]))
    come = [agent for agents in new.values() for agent in agents]
    texts = [paint(f"-{name}", "old") for name in _spans(removed)]
    texts += [paint(f"+{name}", "new") for name in _spans(come)]
    lines = [
        paint(f"+ {_visible(line)}", "new")
        for text, agents in new.items()
        for line in (f"{span(agents)}:", *(f"  {line}" for line in text.splitlines()))
    ]
    return _Sentence(subject="agents", text=", ".join([*texts, *others]), lines=lines)


def _spans(names: Iterable[str]) -> list[str]:
    return span(names).split(", ") if names else []


def _agents(field_changes: Sequence[FieldChange], paint: Paint) -> Iterator[_Sentence]:
    """Describe the differences between agents; agents with equal differences share a sentence."""
    phrases: dict[str, list[str]] = {}
    for change in field_changes:
        phrases.setdefault(str(change.path[1]), []).append(_phrase(change, paint))
    for name, agents in _grouped(phrases, ", ".join).items():
        yield _Sentence(subject=span(agents), text=name)


def _topology(field_changes: Sequence[FieldChange], paint: Paint) -> _Sentence:
    texts: list[str] = []
    lines: list[str] = []
    for change in field_changes:
        if change.path == OUTPUT:
            texts.append(f"output {_arrow(change, paint)}")
            continue
        counts = [*_count(change.before, "-", "edge"), *_count(change.after, "+", "edge")]
        texts += [paint(count, TONES[count[0]]) for count in counts] or ["edges in another order"]
        for sign, edges in (("-", change.before), ("+", change.after)):
            lines += [paint(f"{sign} {flow}", TONES[sign]) for flow in _flows(edges)]
    return _Sentence(subject="topology", text=", ".join(texts), lines=lines)


def _count(items: Sequence[object], sign: str, noun: str) -> Iterator[str]:
    """Yield a count such as `-30 edges`, unless it is 0."""
    if items:
        yield f"{sign}{len(items)} {noun}{'' if len(items) == 1 else 's'}"


def _flows(edges: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield edges in short form, grouping agents with the same receivers."""
    receivers: dict[str, list[str]] = {}
    for sender, receiver in edges:
        receivers.setdefault(sender, []).append(receiver)
    for shared, senders in _grouped(receivers, span).items():
        yield f"{span(senders)} -> {shared}"


def _texts(field_changes: Sequence[FieldChange], paint: Paint) -> Iterator[_Sentence]:
    """Compare long texts; agents with the same change of the same text share one comparison."""
    subjects: dict[tuple[str, str, str, str], list[str]] = {}
    for change in field_changes:
        agent = [str(change.path[1])] if change.path[0] == "agents" else []
        key = (_field(change), _text(change.before), _text(change.after), _lesson(change))
        subjects.setdefault(key, []).extend(agent)
    for (field, before, after, lesson), agents in subjects.items():
        signs = [line[:1] for line in unified(before, after)]
        counts = (_count([name for name in signs if name == sign], sign, "line") for sign in "-+")
        yield _Sentence(
            subject=f"{field} of {span(agents)}" if agents else field,
            text=", ".join(chain(*counts)) + lesson,
            lines=unified(before, after, paint),
        )


def _is_long(change: FieldChange) -> bool:
    """Return whether a change is shown line by line."""
    texts = [item for item in (change.before, change.after) if isinstance(item, str)]
    nested = change.path[-1] in {"output_schema", "reads", "recall", "successful_tasks"}
    nested = nested or "skills" in change.path[2:-1]
    return nested or any(len(text) > SHORT or "\n" in text for text in texts)


def _phrase(change: FieldChange, paint: Paint) -> str:
    """Describe the difference of one field: `model haiku -> sonnet`, `tools +read_file`."""
    if change.path[-1] == "tools":
        return f"tools {_tools(change.before, change.after, paint)}"
    if (write := _EXECUTION.get(change.path)) is not None:
        before, after = write(change.before), write(change.after)
        return f"{change.path[-1]} {paint(before, 'old')} -> {paint(after, 'new')}"
    if change.path[-1] in {"when", "each"} and len(change.path) == 3:
        before, after = (_terms(change.path[-1], item) for item in (change.before, change.after))
        return f"{paint(before, 'old')} -> {paint(after, 'new')}"
    return f"{_field(change)} {_arrow(change, paint)}{_lesson(change)}"


def _terms(field: str | int, value: dict[str, Any] | None) -> str:
    """Describe when an agent works, or on which list: `when triage.kind is bug`."""
    if value is None:
        return "always" if field == "when" else "once"
    return str(when_of(value) if field == "when" else Each(**value))


def _lesson(change: FieldChange) -> str:
    """Name the task that taught a note: ` (taught by apples_1)`."""
    return f" (taught by {change.taught})" if change.taught else ""


def _field(change: FieldChange) -> str:
    """Name a field, or a note by its kind and name, such as `patch units`."""
    match change.path[2:]:
        case ("notes", str(kind), str(name)):
            return f"{NOUNS[kind]} {name}"
        case ("model_id",):
            return "model"
        case _:
            return str(change.path[-1])


def _rounds(value: dict[str, Any] | None) -> str:
    """Describe how often agents work: `at most 3 rounds until unchanged, then editor`."""
    if value is None:
        return "none"
    rounds = rounds_of(value)
    opening = f"{span(rounds.opening)} first" if rounds.opening else ""
    often = (
        f"{repeats(rounds)} with meetings of {rounds.meeting}"
        if rounds.meeting
        else repeats(rounds)
    )
    return ", then ".join(filter(None, (opening, often, span(rounds.closing))))


def _open_roster(value: dict[str, Any] | None) -> str:
    """Describe an open roster: `open, led by planner, at most 4 at a time`."""
    return "none" if value is None else within(roster_of(value))


def _recruit(value: dict[str, Any] | None) -> str:
    """Describe recruiting: `coordinator chooses at most 3 of cardiology, neurology`."""
    return "none" if value is None else chooses(recruit_of(value))


_EXECUTION: Mapping[Path, Callable[[dict[str, Any] | None], str]] = {
    ("execution", "rounds"): _rounds,
    ("execution", "recruit"): _recruit,
    ("execution", "roster"): _open_roster,
}


def _tools(before: Sequence[str], after: Sequence[str], paint: Paint) -> str:
    removed = [paint(f"-{tool}", "old") for tool in before if tool not in after]
    come = [paint(f"+{tool}", "new") for tool in after if tool not in before]
    return " ".join([*removed, *come]) or "in another order"


def _arrow(change: FieldChange, paint: Paint) -> str:
    before, after = (_value(item) for item in (change.before, change.after))
    return f"{paint(before, 'old')} -> {paint(after, 'new')}"


def _value(item: Any) -> str:
    if item is None or item == "":
        return "none"
    return one_line(_visible(item)) if isinstance(item, str) else json.dumps(item)


def _text(item: Any) -> str:
    """Return a text for comparison by line: the text itself, or a value as YAML."""
    if not item or isinstance(item, str):
        return item or ""
    if isinstance(item, list):
        return textwrap.dedent(write_yaml({"items": item}).partition("\n")[2])
    return write_yaml(item)


def _grouped(
    items: Mapping[str, list[str]], describe: Callable[[list[str]], str]
) -> Mapping[str, list[str]]:
    """Group the names of items with the same description."""
    groups: dict[str, list[str]] = {}
    for name, item in items.items():
        groups.setdefault(describe(item), []).append(name)
    return groups


def _visible(text: str) -> str:
    """Show control and invisible characters as codes, so that a diff hides nothing."""
    return "".join(
        char if char.isprintable() or char in "\n\t" else f"\\u{ord(char):04x}" for char in text
    )

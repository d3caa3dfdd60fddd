"""The view of a trace for a model: as many steps as fit, and a note on the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from ..core.bounds import Bounds
from ..core.material import clip, fenced, material
from .trace import RunStep

SHORTEST = 80
"""The fewest characters of a shown step: rather than cut further, steps are left out."""
SHARE_OF_STEP = 1 / 10
"""The default share of the whole room for a single step."""
ROOM_OF_READ = 1 / 3
"""The share of a step's room for its input, if its text needs the rest."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TextBudget:
    """The most characters of steps' texts to show."""

    whole: int
    step: int

    @classmethod
    def of(cls, bounds: Bounds) -> Self:
        """Return the budget for a model's bounds."""
        whole = bounds.trace_characters
        return cls(whole=whole, step=round(whole * SHARE_OF_STEP))


@dataclass(frozen=True, kw_only=True, slots=True)
class StepView:
    """The view of some steps.

    Attributes:
        text: The steps, each in its fence, and a note on the omitted ones.
        shortened: The numbers of the steps that are cut.
        left_out: The numbers of the omitted steps.
    """

    text: str
    shown: tuple[int, ...]
    shortened: tuple[int, ...]
    left_out: tuple[int, ...]


def view(
    steps: Sequence[RunStep], room: TextBudget, *, focus: int | None = None, own: bool = False
) -> StepView:
    """Return steps as shown to a model, as far as there is room.

    If they are too long together, the longest are cut first, all to the same length. If that is not
    enough, steps in the middle are omitted.

    Args:
        focus: The number of a step that must be shown, at the full length of one step.
        own: Whether to show the steps' inputs, too.
    """
    sizes = {step.number: _size(step, own=own) for step in steps}
    focused = min(sizes.get(focus, 0), room.step) if focus is not None else 0
    others = {number: min(size, room.step) for number, size in sizes.items() if number != focus}
    rooms = _rooms(others, room.whole - focused)
    if focus in sizes:
        rooms[focus] = room.step
    shown = [step for step in steps if step.number in rooms]
    left_out = tuple(number for number in sizes if number not in rooms)
    return StepView(
        text=material(
            *(_shown(step, rooms[step.number], own=own) for step in shown), _omission(left_out)
        ),
        shown=tuple(step.number for step in shown),
        shortened=tuple(step.number for step in shown if rooms[step.number] < sizes[step.number]),
        left_out=left_out,
    )


def _size(step: RunStep, *, own: bool) -> int:
    return len(step.text) + (len(step.read) if own else 0)


def _rooms(sizes: Mapping[int, int], whole: int) -> dict[int, int]:
    """Return each step's room: its length, up to a limit that is the same for all."""
    if sum(sizes.values()) <= whole:
        return dict(sizes)
    most = max(whole // SHORTEST, 0)
    numbers = [*sizes]
    if len(numbers) > most:
        numbers = numbers[: (most + 1) // 2] + numbers[len(numbers) - most // 2 :]
    length = _length(sorted(sizes[number] for number in numbers), whole)
    return {number: min(sizes[number], length) for number in numbers}


def _length(sizes: Sequence[int], whole: int) -> int:
    """Return the length to which the longest are cut, so that all fit; sizes are sorted."""
    left = whole
    for place, size in enumerate(sizes):
        share = left // (len(sizes) - place)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)


def _shown(step: RunStep, most: int, *, own: bool) -> str:
    """Return a step and its input as shown to a model, within a number of characters."""
    room = max(round(most * ROOM_OF_READ), most - len(step.text))
    read = clip(step.read, room) if own else ""
    parts = (str(step.number), step.agent, step.kind, step.where)
    title = ", ".join(part for part in parts if part)
    text = clip(step.text, most - len(read)) if step.text.strip() else "(nothing)"
    return material(
        fenced("had_read", read, str(step.number)), fenced("step", text or "(cut)", title)
    )


def _omission(left_out: Sequence[int]) -> str:
    if not left_out:
        return ""
    if len(left_out) == 1:
        return f"For want of room, step {left_out[0]} is left out."
    span = f"from {left_out[0]} to {left_out[-1]}"
    return f"For want of room, {len(left_out)} steps {span} are left out."

"""What an operator is to those that only know its name: strategies, and `mas op`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..schema.catalogue import installed, load_named
from ..schema.errors import InputError
from ..schema.hints import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    import click

__all__ = ["Operator", "Scale", "operator_of"]

Scale = Literal["agent", "pair", "team", "roster"]
"""What an operator works on: one agent, two that work together, a team, or who is in one: agents of
a pool, or roles of a catalogue."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Operator:
    """An operator, by its name in the entry-point group `coterie.operators`.

    Attributes:
        name: What strategies and `mas op` call it.
        scale: What it works on.
        act: Does it. It **must** ask through the `Respondent` that it is given first, under the
            path that it is given second, change nothing that it is given, and come to a value
            whose parents are as they were, or to a `Dropped`. By default a command gives it, after
            these two, the task and `teams` parents; of scale `agent` or `pair` also the ids of one
            agent or two of the first team; and by name the `memories` of similar tasks. Then it
            **must** come to a `Proposal` or a `Dropped`.
        about: What it does, in a line.
        teams: How many teams it is given by that command.
        command: Gives a command of its own, for an operator that is given or gives anything else.
    """

    name: str
    scale: Scale
    act: Callable[..., Coroutine[Any, Any, Any]]
    about: str
    teams: int = 1
    command: Callable[[], click.Command] | None = None


def operator_of(name: str) -> Operator:
    """Find an operator by its name.

    Raises:
        InputError: No installed package gives it, it cannot be imported, or it is none.
    """
    known = installed("operators")
    if name not in known:
        hint = did_you_mean(name, known) or f" Known: {', '.join(sorted(known))}."
        raise InputError(f"no operator {name!r}.{hint}")
    found = load_named("operators", name)
    if not isinstance(found, Operator):
        kind = type(found).__name__
        raise InputError(f"{name!r} of coterie.operators leads to no Operator, but to a {kind}.")
    return found

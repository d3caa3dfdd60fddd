"""What an operator is to those that only know its name: strategies, and `mas dev op`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ...schema.host.catalogue import load_installed
from ...schema.host.conforming import PluginValue
from ...schema.values.errors import InputError

Scale = Literal["agent", "pair", "team", "roster"]
"""What an operator works on: one agent, two that work together, a team, or who is in one: agents of
a pool, or roles of a catalogue."""
Asks = Literal["model", "maybe", "nobody"]
"""Whether an operator asks a model. `maybe`: it takes None in the place of one. `nobody`: a command
gives it a `Chance`."""
Gives = Literal["child", "changes", "entry", "words"]
"""What an operator returns: a `Proposal`, or one with notes; changes of a pool; an entry of a
pool's memory; or anything else, which is printed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OperatorSetting(PluginValue):
    """A parameter of an operator that a person may set: a number, a text, a switch, or a choice.

    Its type and its default are those of the parameter.

    Attributes:
        about: What it does, in a sentence.
        least: The smallest number.
        most: The largest number.
        choices: What there is to choose from.
        several: Whether it may be given several times.
        option: What the option is called. By default as the parameter.
    """

    about: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    several: bool = False
    option: str = ""


Inputs = Mapping[str, "str | OperatorSetting"]
"""How parameters are filled in: as a setting, or by the name of an input that they are not called
by themselves."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Operator(PluginValue):
    """An operator, by its name in the entry-point group `coterie.operators`.

    `mas dev op NAME` needs nothing else: it fills in the parameters by their names, of which
    `mas dev op`'s inputs say how each is read: `task`, `parent`, `agent`, `memories`, …

    Attributes:
        name: What strategies and `mas dev op` call it.
        act: Does it. It **must** ask through the `OperatorModel` that it is given first, under the
            path that it is given second (which question of the evolution it is, such as `task
            12/select`), show no task's reference answer, change nothing that it is given, and
            return a value whose parents are as they were, or a `RejectedProposal`. It raises what
            `OperatorModel.ask` raises.
        about: What it does. The first sentence is what lists show.
        alone: Does it for a person who has it act once, where that is more than `act`: asks for
            what another operator has to say first, or returns a child. By default `act`.
        inputs: How a person fills in the parameters of that, beside those that are called as an
            input is.
    """

    name: str
    scale: Scale
    act: Callable[..., Coroutine[Any, Any, Any]]
    about: str
    alone: Callable[..., Coroutine[Any, Any, Any]] | None = None
    inputs: Inputs = field(default_factory=dict[str, "str | OperatorSetting"])
    asks: Asks = "model"
    gives: Gives = "child"


def operator_of(name: str) -> Operator:
    """Return an operator by its name.

    Raises:
        InputError: No installed package gives it, it cannot be imported, or it is none.
    """
    result = load_installed("operators", "operator", name)
    if not isinstance(result, Operator):
        kind = type(result).__name__
        raise InputError(f"{name!r} of coterie.operators leads to no Operator, but to a {kind}.")
    return result

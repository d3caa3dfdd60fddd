"""The interface of an operator to code that only knows its name: strategies and `mas dev op`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ...schema.host.catalogue import load_installed
from ...schema.host.conforming import PluginValue
from ...schema.values.errors import InputError

Scale = Literal["agent", "pair", "team", "roster"]
"""What an operator works on: an agent, a pair of agents that work together, a team, or a roster. A
roster is the agents of a pool or the roles of a catalogue."""
Asks = Literal["model", "maybe", "nobody"]
"""Whether an operator calls a model. `maybe`: it also accepts None instead of one. `nobody`: a
command gives it a `Chance`."""
Gives = Literal["child", "changes", "entry", "words"]
"""What an operator returns. `child`: a `Proposal`, with or without notes. `changes`: changes of a
pool. `entry`: an entry of a pool's memory. `words`: any other value, which is printed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OperatorSetting(PluginValue):
    """A parameter of an operator that a user may set: a number, a text, a switch, or a choice.

    Type and default are those of the parameter.

    Attributes:
        about: Its effect, in a sentence.
        least: The smallest number.
        most: The largest number.
        choices: The allowed values.
        several: Whether it may be given several times.
        option: The name of the option. By default, the name of the parameter.
    """

    about: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    several: bool = False
    option: str = ""


Inputs = Mapping[str, "str | OperatorSetting"]
"""The source of each parameter: a setting, or the name of the input that fills it. A parameter with
the name of an input needs no entry."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Operator(PluginValue):
    """An operator, by its name in the entry-point group `coterie.operators`.

    `mas dev op NAME` needs nothing else. It fills in the parameters by name, from its inputs:
    `task`, `parent`, `agent`, `memories`, …

    Attributes:
        name: The name by which strategies and `mas dev op` refer to it.
        act: The operator itself. Its first argument is the `OperatorModel` that it **must** ask
            through. Its second is the path to ask under, such as `task 12/select`, which identifies
            the question in the evolution. It **must not** show a task's reference answer or change
            its arguments. It **must** return a value whose parents are unchanged, or a
            `RejectedProposal`. It raises what `OperatorModel.ask` raises.
        about: Its effect. Lists show the first sentence.
        alone: The variant for a user who runs the operator once, if that takes more than `act`. It
            first runs another operator that this one depends on, or returns a child. By default
            `act`.
        inputs: The sources of the parameters of `alone`, except those that have the name of an
            input.
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
        InputError: No installed package provides it, its import fails, or it is not an `Operator`.
    """
    result = load_installed("operators", "operator", name)
    if not isinstance(result, Operator):
        kind = type(result).__name__
        raise InputError(f"{name!r} of coterie.operators leads to no Operator, but to a {kind}.")
    return result

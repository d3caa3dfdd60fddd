"""When an attribution is right: by the original's rule, and exactly.

The original (its `evaluate.py`) reads of a name what its first characters are that a word may have,
and takes a label as met that is contained in it; a step's label as met that is contained in the
number's text. So `1` is met by 12, and `Blu-Ray_Expert` by no answer: of it `Blu` is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .published import Labelled

_READ = re.compile(r"\w*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """Whom a method blames.

    Attributes:
        agent: Who failed.
        step: At which step.
    """

    agent: str
    step: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What an attribution is worth.

    Attributes:
        agent: Whether it blames the right agent.
        step: Whether it blames the right step.
    """

    agent: bool
    step: bool


def original(label: Labelled, prediction: Told | None) -> Verdict:
    """Judge as the original does; who blames nobody is wrong."""
    if prediction is None:
        return Verdict(agent=False, step=False)
    return Verdict(
        agent=names_as_original(label.agent, prediction.agent),
        step=label.step in str(prediction.step),
    )


def exact(label: Labelled, prediction: Told | None) -> Verdict:
    """Judge exactly: the same agent, however its name is capitalised, and the same number."""
    if prediction is None:
        return Verdict(agent=False, step=False)
    return Verdict(
        agent=names(label.agent, prediction.agent), step=label.step == str(prediction.step)
    )


def names_as_original(label: str, agent: str) -> bool:
    """Return whether a label names an agent, as the original has it."""
    read = _READ.match(agent)
    return read is not None and label in read[0]


def names(label: str, agent: str) -> bool:
    """Tell whether a label names an agent; one revision of the data writes two in other letters."""
    return label.casefold() == agent.casefold()

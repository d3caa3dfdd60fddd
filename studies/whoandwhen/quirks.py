"""What is odd in the traces and their labels, counted: it bounds what any method can reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .published import PERSON
from .verdicts import names, names_as_original

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .published import Labelled


def _is_unknown(label: Labelled) -> bool:
    return not any(names(label.agent, agent) for agent in label.agents)


def _is_spelt_otherwise(label: Labelled) -> bool:
    return not _is_unknown(label) and label.agent not in label.agents


def _is_out_of_reach(label: Labelled) -> bool:
    return not any(names_as_original(label.agent, agent) for agent in label.agents)


def _is_beyond(label: Labelled) -> bool:
    return not (label.step.isdecimal() and int(label.step) < len(label.history))


def _is_of_another(label: Labelled) -> bool:
    return not _is_beyond(label) and not names(label.agent, label.history[int(label.step)].agent)


def _has_lookalike(label: Labelled) -> bool:
    numbers = map(str, range(len(label.history)))
    return any(label.step in number and number != label.step for number in numbers)


def _has_contained_name(label: Labelled) -> bool:
    others = (agent for agent in label.agents if not names(label.agent, agent))
    return any(names_as_original(label.agent, other) for other in others)


def _has_one_agent(label: Labelled) -> bool:
    return len(label.agents) == 1


def _has_empty_step(label: Labelled) -> bool:
    return not all(entry.text.strip() for entry in label.history)


def _has_silent(label: Labelled) -> bool:
    return bool(label.silent)


def _has_person(label: Labelled) -> bool:
    return any(entry.agent == PERSON for entry in label.history)


QUIRKS: Mapping[str, Callable[[Labelled], bool]] = {
    "the labelled agent never speaks, however its name is written": _is_unknown,
    "the labelled agent's name is capitalised otherwise where it speaks": _is_spelt_otherwise,
    "the original's verdict on the agent can never be right": _is_out_of_reach,
    "the original takes a wrong agent for the labelled one": _has_contained_name,
    "the labelled step is beyond the trace, or no number": _is_beyond,
    "the labelled step is another agent's than the labelled one": _is_of_another,
    "the original takes a wrong step for the labelled one": _has_lookalike,
    "a single agent speaks": _has_one_agent,
    "an agent is named in the file and never speaks": _has_silent,
    "a step is empty": _has_empty_step,
    "a person speaks, who is never labelled": _has_person,
}
"""What can be odd about a trace, in words."""


def having(labels: Sequence[Labelled], quirk: str) -> list[Labelled]:
    """Return the traces that have a quirk."""
    return [label for label in labels if QUIRKS[quirk](label)]

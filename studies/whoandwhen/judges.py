"""Models that answer from a script, for any method: they know the traces and their labels.

* `labels` blames whom the label blames. Where the label's step is another agent's, a method that
  asks for an agent and one of its own steps gets that agent's step which is nearest.
* `lookalike` blames a step whose number only looks like the label's: 14 where the label is 4.
* `first` blames the first agent and the first step, whatever happened.
"""

from __future__ import annotations

import re
from collections import defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from coterie.operators.core.material import fenced
from coterie.runtime.doubles import Reply, message_text

from .baselines import HALVES
from .verdicts import names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .published import Labelled

    Pair = tuple[str, int]

_ASKED = re.compile(r"<(?:problem|task) (?P<mark>\S+)>")
_STEP = re.compile(r'<step \S+ "(?P<number>\d+), (?P<agent>[^,"]+)')
_NEWEST = re.compile(r"The newest step is (\d+)\.")
_MIDDLE = re.compile(r"Upper half: steps \d+ to (\d+)\.")
_OWN = re.compile(r"You speak for the agent called (?P<agent>.+?)\. You see")


class Judge:
    """A scripted model that blames a pair in each trace.

    Args:
        labels: The traces that it knows.
        blames: Whom it blames in one.
    """

    def __init__(self, labels: Sequence[Labelled], blames: Callable[[Labelled], Pair]) -> None:
        self._blames = blames
        self._by_mark: dict[str, list[Labelled]] = defaultdict(list)
        for label in labels:
            self._by_mark[_mark(fenced("problem", label.question))].append(label)

    def __call__(self, request: Mapping[str, Any]) -> Reply:
        """Answer as the question wants it, which is told by the fields that it asks for."""
        text = message_text(dict(request))
        label = self._asked(text)
        if label is None:
            return Reply.error(404, message="this is no trace of those that are served")
        fields: Mapping[str, Any] = _schema(request)["properties"]
        agent, step = self._blames(label)
        record: dict[str, Any] = {
            "reason": "It stands in the script.",
            "confidence": 1,
            "evidence": [],
        }
        record |= {"agent": agent, "step": step if "confidence" not in fields else None}
        if newest := _NEWEST.search(text):
            record["mistake"] = int(newest[1]) == step
        if middle := _MIDDLE.search(text):
            record["half"] = HALVES[step > int(middle[1])]
        if own := _OWN.search(text):
            record["erred"] = own["agent"] == agent
        if record["step"] is None:
            accused = own["agent"] if own and "erred" in fields else agent
            record["step"] = _nearest(label, accused, step)
        record["accused"] = {"agent": agent, "step": record["step"]}
        return Reply.json({name: record[name] for name in fields})

    def _asked(self, text: str) -> Labelled | None:
        """Find the trace by its question; of two with the same one, that which has the steps."""
        shown = [(int(item["number"]), item["agent"]) for item in _STEP.finditer(text)]

        def has(label: Labelled) -> int:
            steps = {number: entry.agent for number, entry in enumerate(label.history)}
            return sum(steps.get(number) == agent for number, agent in shown)

        return max(self._by_mark.get(_mark(text), ()), key=has, default=None)


def _mark(text: str) -> str:
    """Return the digest that the fence of a question carries."""
    asked = _ASKED.search(text)
    return asked["mark"] if asked else ""


def _schema(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema that the answer is to fit."""
    form: Mapping[str, Any] = request["response_format"]["json_schema"]
    return form["schema"]


def _nearest(label: Labelled, agent: str, step: int) -> int:
    own = [number for number, entry in enumerate(label.history) if entry.agent == agent]
    return min(own, key=lambda number: (abs(number - step), number))


def _labelled(label: Labelled) -> Pair:
    agents = [agent for agent in label.agents if names(label.agent, agent)]
    return agents[0], int(label.step)


def _lookalike(label: Labelled) -> Pair:
    agent, step = _labelled(label)
    numbers = range(len(label.history))
    alike = (number for number in numbers if number != step and label.step in str(number))
    return agent, next(alike, step)


def _first(label: Labelled) -> Pair:
    return label.agents[0], 0


JUDGES: Mapping[str, Callable[[Labelled], Pair]] = MappingProxyType(
    {"labels": _labelled, "lookalike": _lookalike, "first": _first}
)
"""Whom each judge blames."""

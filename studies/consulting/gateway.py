"""The consultation in the place of models: who is asked answers as `world` says.

Everything is a function of the questions and their seeds.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coterie.operators.core.judge import LEVELS
from coterie.runtime.gateway import ChatAnswer, Gateway
from coterie.runtime.values.score import Score
from coterie.runtime.values.usage import Usage
from coterie.schema.host.scorer_form import ScorerForm, takes
from coterie.schema.team.task import ScorerChoice, Task
from coterie.schema.values.problems import quoted

from ..plugin import register
from ..simulated import usage_of
from .landscapes import AGENTS
from .names import META, catalogue
from .texts import (
    NOTHING_SEEN,
    answered,
    answers_in,
    fenced_texts,
    niche_in,
    posed,
    readings_in,
    recognised,
    role_in,
    said,
    title_in,
    way_in,
    way_said,
)
from .world import case_of, decided, effect, reading, right_in, shown, title, way_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from coterie.runtime.gateway import ChatRequest
    from coterie.schema.values.problems import Path

    from .landscapes import Landscape, Seat
    from .world import Case, Reading

__all__ = ["A_ROUND", "Simulated", "graded", "tasks"]

register()  # the scorer below is found by name

A_ROUND = 2
"""How many readings a specialist says in a round, at most."""
MIDDLE = 0.5


def tasks(seed: int, numbers: Iterable[int]) -> list[Task]:
    """Make the tasks of a stream.

    Args:
        seed: Which stream.
        numbers: Which cases of it.
    """
    return [_task(case_of(title(seed, number)), number) for number in numbers]


def _task(case: Case, number: int) -> Task:
    return Task(
        id=f"c{number}",
        query=posed(case),
        niche=case.niche,
        answer=answered(case.findings),
        scorer=ScorerChoice(name="consulting_case"),
    )


def _without_a_finding(_options: Mapping[str, Any], reference: Any) -> Mapping[Path, str]:
    if reference is None or answers_in(reference):
        return {}
    return {("answer",): f"{quoted(reference)} says nothing of a finding."}


@takes(ScorerForm(reference={"type": "string"}, check=_without_a_finding))
def graded(answer: str, reference: Any, options: Mapping[str, Any]) -> Score:
    """Give the share of findings that are right."""
    del options
    given, wanted = answers_in(answer), answers_in(str(reference))
    right = sum(given.get(at) == it for at, it in wanted.items())
    return Score(value=right / len(wanted), reason=f"{right} of {len(wanted)}")


class Simulated(Gateway):
    """A gateway that asks nobody.

    Args:
        landscape: Where.
    """

    def __init__(self, landscape: Landscape) -> None:
        super().__init__(catalogue().models, environment={})
        self._landscape = landscape
        self.paid: dict[str, Usage] = {}
        """What was asked for, by the alias of the model."""
        self.added: dict[str, float] = {}
        """What experience added to the log odds of a right reading, by the title of the case."""

    def check(self, aliases: Iterable[str], *, priced: bool = False) -> None:
        """Find nothing to object to."""

    async def prepare(self, aliases: Iterable[str], *, priced: bool = False) -> None:
        """Need nothing."""

    async def chat(self, request: ChatRequest, *_: Any, **__: Any) -> ChatAnswer:
        """Answer an agent's or an operator's question."""
        instructions, shown_text = (str(one["content"]) for one in request.messages[:2])
        named = title_in(shown_text)
        if named is None:
            raise ValueError(f"this is no case of the landscape: {shown_text!r}")
        asked = _Asked(landscape=self._landscape, case=case_of(named), text=shown_text)
        if request.model == META:
            text = asked.of_meta(request)
        else:
            role = role_in(instructions)
            if role in AGENTS:
                self.added[named] = asked.added
            text = asked.of_agent(role)
        usage = usage_of(request, text)
        self.paid[request.model] = self.paid.get(request.model, Usage()) + usage
        return ChatAnswer(text=text, usage=usage, model=request.model, alias=request.model)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """A question."""

    landscape: Landscape
    case: Case
    text: str

    @property
    def entries(self) -> list[str]:
        """What was learnt that is shown."""
        return [text for _, text in fenced_texts(self.text, "learnt")]

    @property
    def added(self) -> float:
        """What these entries add to the log odds of a right reading."""
        return effect(self.landscape, self.case.niche, _ways_in(self.entries))

    def of_agent(self, role: str) -> str:
        """Answer as an agent does."""
        match role:
            case "reporter":
                return "\n".join(f"- {said(one)}" for one in self._reported()) or NOTHING_SEEN
            case "chief":
                [(_, report)] = fenced_texts(self.text, "report")
                read = readings_in(report)
                return answered(decided(self.landscape, self.case, read, report))
            case _:
                return self._consulted(self.landscape.seat(role))

    def _reported(self) -> list[Reading]:
        """Find what all read, each reading once."""
        texts = (text for _, text in fenced_texts(self.text, "report"))
        return readings_in("\n".join(texts))

    def _consulted(self, seat: Seat) -> str:
        """Say what a specialist still has to say."""
        own = [text for _, text in fenced_texts(self.text, "own")]
        before = readings_in("\n".join(own))
        new = self._new(seat, {one.finding for one in before})
        increment = [said(one) for one in new]
        if not (own or new):
            increment = [NOTHING_SEEN]
        if increment:
            who = seat.slide if seat.slide and new else seat.agent
            increment.append(way_said(way_of(self.landscape, self.case, new, who)))
        opinion = "; ".join([said(one) for one in (*before, *new)] or [NOTHING_SEEN])
        sure = f"I am {100 * seat.loudness:.0f} % sure: {opinion}."
        return json.dumps({"opinion": sure, "increment": increment})

    def _new(self, seat: Seat, known: set[int]) -> list[Reading]:
        bulletins = [text for _, text in fenced_texts(self.text, "bulletin")]
        left = [one for one in shown(self.landscape, seat, self.case) if one not in known]
        heard = "\n".join([*self.entries, *bulletins])
        return [
            reading(self.landscape, seat, self.case, one, effect=self.added, heard=heard)
            for one in left[:A_ROUND]
        ]

    def of_meta(self, request: ChatRequest) -> str:
        """Answer what an operator asks."""
        schema: Any = request.schema
        source = random.Random(f"{request.seed}/meta")  # noqa: S311 - guards nothing
        match schema["properties"]:
            case {"agents": {"properties": agents}}:
                scores = {one: self._scored(one, source) for one in sorted(agents)}
                return json.dumps({"reason": "", "agents": {one: scores[one] for one in agents}})
            case {"context": _, "action": _, "rationale": _}:
                return json.dumps(self._distilled())
            case _:
                raise ValueError(f"nobody asks for {schema!r} here.")

    def _scored(self, agent: str, source: random.Random) -> dict[str, Any]:
        """Score an utterance: by what is right in it, by how sure it sounds, and by chance."""
        world = self.landscape
        text = next(it for name, it in fenced_texts(self.text, "utterance") if name == agent)
        marks = [1 if right_in(self.case, one) else -1 for one in _increment_in(text)]
        value = MIDDLE + world.sight * sum(marks) / (2 * A_ROUND)
        value += world.taste * (world.seat(agent).loudness - MIDDLE)
        value += source.uniform(-world.noise, world.noise)
        return {"reason": "", "score": min(LEVELS, key=lambda one: abs(one - value))}

    def _distilled(self) -> dict[str, str]:
        """Tell in which way of working an utterance was read."""
        [(_, text)] = fenced_texts(self.text, "utterance")
        way = way_in(text)
        return {
            "context": recognised(self.case),
            "action": way_said(way) if way else NOTHING_SEEN,
            "rationale": "It was worth a lot.",
        }


def _increment_in(utterance: str) -> list[Reading]:
    """Find what is new in an utterance."""
    said_all: Mapping[str, Sequence[str]] = json.loads(utterance)
    return readings_in("\n".join(said_all["increment"]))


def _ways_in(entries: Iterable[str]) -> list[tuple[str, str]]:
    """Find the niche and the way of working of entries; those without one tell nothing."""
    found = ((niche_in(text), way_in(text)) for text in entries)
    return [(niche, way) for niche, way in found if niche and way]

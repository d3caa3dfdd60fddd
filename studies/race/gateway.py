"""A world in the place of models: agents and the judge answer by its rules."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from coterie.runtime.agents.outcomes import Score
from coterie.schema.host.scorer_form import ScorerForm, takes

from ..gateways import SimulatedGateway
from ..plugin import register
from ..world.forms import filled
from .proposing import Proposer
from .worlds import AGENT, LETTERS, catalogue, right_letters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coterie.runtime.gateway import ChatRequest
    from coterie.runtime.values.usage import Usage

    from .worlds import World

register()  # the scorer below is found by name

ASKED = re.compile(r"Sheet \d+/\d+: which letters are right\?")
REPORT = re.compile(r"<report.*?</report", re.DOTALL)
MARKS = re.compile(r"\((\d+(?:, \d+)*)\)")
UNCHANGED = {"temperature": None, "top_p": None, "effort": None, "schema": None, "max_tokens": 4096}
"""What the original's requests say besides its prompt."""


@takes(ScorerForm(reference={"type": "string", "minLength": 1}))
def letters(answer: str, reference: Any, options: Mapping[str, Any]) -> Score:
    """Return the share of letters that are right, of a plain answer or of one in an object."""
    del options
    if answer.startswith("{"):
        answer = str(next(iter(json.loads(answer).values()), ""))
    right = sum(name == wanted for name, wanted in zip(answer, str(reference), strict=False))
    return Score(value=right / len(reference), reason=f"{right} of {len(reference)}")


class Simulated(SimulatedGateway):
    """A gateway that asks nobody. Everything is a function of the request and its seed."""

    def __init__(self, world: World) -> None:
        super().__init__(catalogue().models, environment={})
        self.world = world
        self.proposer = Proposer(world)
        self.calls = Counter[str]()
        """How many calls each model has answered."""

    def answered(self, request: ChatRequest) -> str:
        """Answer as an agent, as the judge, or as the operator model."""
        fields: Mapping[str, Any] = (request.schema or {}).get("properties", {})
        if request.model == AGENT:
            return self._solved(request)
        return self._judged(request) if "score" in fields else self.proposer.answer(request)

    def count(self, request: ChatRequest, usage: Usage) -> None:
        """Count the calls of each model."""
        del usage
        self.calls[request.model] += 1

    def _solved(self, request: ChatRequest) -> str:
        """Answer with as many right letters as the score has that is drawn."""
        system, *_, user = (str(each["content"]) for each in request.messages)
        reports = "".join(REPORT.findall(user))
        marks = {int(each) for group in MARKS.findall(reports) for each in group.split(", ")}
        effective = marks | self.world.effective(system, hears=bool(reports))
        worth = self.world.worth(effective, changed=self._is_changed(request))
        query = ASKED.findall(user.replace(reports, ""))[-1]
        right = right_letters(query, self.world.graded)
        score = round(self.world.score(worth, effective, query, request.seed) * len(right))
        answer = "".join((*right[:score], *map(_wrong, right[score:])))
        if request.schema is not None:
            chance = random.Random(request.seed)  # noqa: S311 - guards nothing
            return json.dumps(filled(request.schema, answer, chance))
        passed_on = f" ({', '.join(map(str, sorted(effective)))})" if effective else ""
        return answer + (passed_on if self.world.most_agents > 1 else "")

    def _is_changed(self, request: ChatRequest) -> bool:
        """Return whether a request differs from those of the original team of one agent."""
        plain = all(getattr(request, field) == value for field, value in UNCHANGED.items())
        return not plain or request.messages[0]["content"] not in self.world.prompts.values()

    def _judged(self, request: ChatRequest) -> str:
        """Pass half of all answers."""
        chance = random.Random(f"judge/{self.world.seed}/{request.seed}")  # noqa: S311
        return json.dumps({"reason": "", "score": float(chance.random() < 0.5)})


def _wrong(letter: str) -> str:
    return LETTERS[(LETTERS.index(letter) + 1) % len(LETTERS)]

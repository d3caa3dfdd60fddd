"""The operator model: whatever it is asked, it answers with a hypothesis that it does not see.

It looks in the question for texts that were tried, and in the schema for what an answer can carry.
Fields that carry no hypothesis are filled by chance.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coterie.operators.core.meta import Question

from ..world.forms import filled, variants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coterie.runtime.gateway import ChatRequest
    from coterie.schema.team.team import Team

    from .worlds import Hypothesis, World

EDITS = {"prompt": "set_prompt", "after": "add_agent", "before": "add_agent"}
COMPONENTS = {"prompt": "prompts", "after": "roster", "before": "roster"}
Json = Any


@dataclass(frozen=True, slots=True)
class Proposer:
    """Answers operators in a world."""

    world: World

    def answer(self, request: ChatRequest) -> str:
        """Return an answer that follows the schema of a question."""
        shown = "\n".join(str(each["content"]) for each in request.messages)
        key = f"{self.world.name}/{self.world.seed}/{request.seed}/{len(request.messages)}"
        chance = random.Random(key)  # noqa: S311 - guards nothing
        schema: Json = request.schema or {"type": "string"}
        team = request.source.team if isinstance(request.source, Question) else None
        answer = {
            name: self._edits(field, shown, chance, team)
            if name == "edits" and team is not None
            else self._field(name, field, shown, chance)
            for name, field in schema.get("properties", {}).items()
        }
        return json.dumps(answer)

    def _field(self, name: str, field: Json, shown: str, chance: random.Random) -> Json:
        if name in {"component", "change"} and "enum" in field:
            hypothesis = self.drawn(self.world.hypotheses, shown, chance)
            component = COMPONENTS[hypothesis.place]
            return component if component in field["enum"] else chance.choice(field["enum"])
        return filled(field, self.drawn(self.world.hypotheses, shown, chance).text, chance)

    def _edits(self, field: Json, shown: str, chance: random.Random, team: Team) -> list[Json]:
        """Return the edit of a hypothesis that is offered, or else any edit."""
        kinds: dict[str, list[Json]] = {}
        for kind in variants(field["items"]):
            [(name, schema)] = kind["properties"].items()
            kinds.setdefault(name, []).append(schema)
        offered = [
            each
            for each in self.world.hypotheses
            if EDITS[each.place] in kinds and each.agent in team.agents
        ]
        if not offered:
            return [filled(field["items"], "", chance)] if field.get("minItems") else []
        hypothesis = self.drawn(offered, shown, chance)
        name = EDITS[hypothesis.place]
        text = hypothesis.text
        if hypothesis.place == "prompt":
            before = (team.agents[hypothesis.agent].prompt or "").strip()
            edit = {"agent": hypothesis.agent, "prompt": f"{before}\n{text}"}
        else:
            edit = filled(kinds[name][0], text, chance) | _place(kinds[name][0], hypothesis)
        return [{name: edit}]

    def drawn(
        self, hypotheses: Sequence[Hypothesis], shown: str, chance: random.Random
    ) -> Hypothesis:
        """Draw a hypothesis that a question does not show; where it shows all, any."""
        untried = [each for each in hypotheses if each.text not in shown]
        return chance.choice(untried or [*hypotheses])


def _place(schema: Json, hypothesis: Hypothesis) -> dict[str, Json]:
    """Return where a new agent stands: after an agent as the team's output, or before it."""
    is_last = hypothesis.place == "after"
    place = {"is_output": True} if is_last else {"reports_to": [hypothesis.agent]}
    return {"place": place} if "place" in schema["properties"] else place

"""The operator model: whatever it is asked, it answers with a hypothesis that it does not see.

It reads the question for texts that were tried and the schema for what an answer can carry. Fields
that carry no hypothesis are filled by chance.
"""

from __future__ import annotations

import functools
import json
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coterie.schema.loading.loading import parse_team

from .worlds import catalogue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coterie.runtime.gateway import ChatRequest
    from coterie.schema.team.team import Team

    from .worlds import Hypothesis, World

__all__ = ["Proposer", "filled"]

TEAM = re.compile(r'<(?:team|first|parent) (\w+)(?: "[^"]*")?>\n(.*?)\n</', re.DOTALL)
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
        answer = {
            name: self._field(name, field, shown, chance)
            for name, field in schema.get("properties", {}).items()
        }
        return json.dumps(answer)

    def _field(self, name: str, field: Json, shown: str, chance: random.Random) -> Json:
        if name == "edits":
            return self._edits(field, shown, chance)
        if name in {"component", "change"} and "enum" in field:
            hypothesis = self.drawn(self.world.hypotheses, shown, chance)
            component = COMPONENTS[hypothesis.place]
            return component if component in field["enum"] else chance.choice(field["enum"])
        return filled(field, self.drawn(self.world.hypotheses, shown, chance).text, chance)

    def _edits(self, field: Json, shown: str, chance: random.Random) -> list[Json]:
        """Return the edit of a hypothesis that is offered, or else any edit."""
        kinds: dict[str, list[Json]] = {}
        for kind in variants(field["items"]):
            [(name, schema)] = kind["properties"].items()
            kinds.setdefault(name, []).append(schema)
        offered = [each for each in self.world.hypotheses if EDITS[each.place] in kinds]
        if not offered:
            return [filled(field["items"], "", chance)] if field.get("minItems") else []
        hypothesis = self.drawn(offered, shown, chance)
        name = EDITS[hypothesis.place]
        text = hypothesis.text
        if hypothesis.place == "prompt":
            agent = hypothesis.agent
            edit = {"agent": agent, "prompt": f"{_prompt(shown, agent)}\n{text}"}
        else:
            edit = filled(kinds[name][0], text, chance) | _place(kinds[name][0], hypothesis)
        return [{name: edit}]

    def drawn(
        self, hypotheses: Sequence[Hypothesis], shown: str, chance: random.Random
    ) -> Hypothesis:
        """Draw a hypothesis that a question does not show; where it shows all, any."""
        untried = [each for each in hypotheses if each.text not in shown]
        return chance.choice(untried or [*hypotheses])


def variants(schema: Json) -> list[Json]:
    """Return the kinds of value that a schema lets through."""
    return schema.get("anyOf", [schema])


def filled(schema: Json, text: str, chance: random.Random) -> Json:
    """Return a value that a schema lets through; its free strings are a text."""
    schema = chance.choice(variants(schema))
    if choices := schema.get("enum", [False] if schema.get("type") == "boolean" else None):
        return text if text in choices else chance.choice(choices)
    match schema.get("type"):
        case "object":
            fields = schema.get("properties", {})
            needed = schema.get("required", [*fields])
            return {name: filled(fields[name], text, chance) for name in needed}
        case "array":
            return _several(schema["items"], schema.get("minItems", 0), text, chance)
        case "integer" | "number":
            return schema.get("maximum", schema.get("minimum", 1))
        case _:
            return text[: schema.get("maxLength")] or "None"


def _several(items: Json, count: int, text: str, chance: random.Random) -> list[Json]:
    """Return as few items as may be, but a text where there is room for texts."""
    if "enum" in items:
        return chance.sample(items["enum"], count)
    count = max(count, items.get("type") == "string")
    return [filled(items, text, chance) for _ in range(count)]


@functools.lru_cache(maxsize=2_000)
def _shown_team(text: str) -> Team:
    return parse_team(text.partition("\n\n# ")[0].encode(), "team.yaml", catalogue())


def _prompt(shown: str, agent: str) -> str:
    """Return the present prompt of an agent, from the first team that a question shows."""
    match = TEAM.search(shown)
    if match is None:
        raise ValueError(f"this question shows no team: {shown!r}")
    return (_shown_team(match[2]).agents[agent].prompt or "").strip()


def _place(schema: Json, hypothesis: Hypothesis) -> dict[str, Json]:
    """Return where a new agent stands: after an agent as the team's output, or before it."""
    is_last = hypothesis.place == "after"
    place = {"is_output": True} if is_last else {"reports_to": [hypothesis.agent]}
    return {"place": place} if "place" in schema["properties"] else place

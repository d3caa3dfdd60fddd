"""A meta-model of known skill: it answers what operators ask, rightly so often and no oftener.

Right is the single change of the component asked that is worth most on the task's niche, and in a
crossover the choice of agents that is; else it answers with a valid change drawn blindly, as
`operators: chance` does. It never proposes a child that works as one of the parents does. It sees
what any meta-model sees: teams are read from the question. Prompts change by sentences of the same
stock for both.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from ...operators.chance import STOCK, chance
from ...operators.positions import counterparts
from ...operators.proposal import Dropped
from ...schema.edits import (
    AddAgent,
    AddEdge,
    RemoveEdge,
    SetModel,
    SetPrompt,
    apply,
    edits_to_values,
)
from ...schema.loading import parse_team
from ...schema.team import Agent, Team
from .world import MODELS, Mind, Shape, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ...runtime.gateway import ChatRequest
    from ...schema.catalogue import Catalogue
    from ...schema.ceiling import Ceiling
    from ...schema.edits import Component, Edit

__all__ = ["MetaModel"]

SHOWN = re.compile(r'<(team|first|second) (\w+) "[^"]*">\n(.*?)\n</\1 \2>', re.DOTALL)
BEGUN: Mapping[str, Component] = {
    "set_prompt": "prompts",
    "set_model": "model_id",
    "add_edge": "topology",
    "remove_edge": "topology",
    "add_agent": "roster",
}
NEWCOMER = "Solve the task."


@dataclass(frozen=True, kw_only=True, slots=True)
class MetaModel:
    """Answers operators.

    Attributes:
        skill: How often it gives the right answer, in [0, 1].
        catalogue: What names are known.
        ceiling: What it is asked to stay below.
    """

    skill: float
    catalogue: Catalogue
    ceiling: Ceiling

    def answer(self, request: ChatRequest, niche: str) -> str:
        """Answer a question; the same for the same request and seed."""
        shown = "\n".join(str(one["content"]) for one in request.messages)
        source = random.Random(f"{request.seed}/{len(request.messages)}/meta")  # noqa: S311
        # What was refused once would be refused again: a repair is drawn.
        knows = source.random() < self.skill and len(request.messages) == 2
        teams = {kind: self._team(text) for kind, _, text in SHOWN.findall(shown)}
        schema: Any = request.schema
        match schema["properties"]:
            case {"selected": selected}:
                names, most = selected["items"]["enum"], selected["maxItems"]
                said = {"selected": names[:most] if knows else source.sample(names, most)}
            case {"edits": edits}:
                named = {one for one in _kinds(edits["items"]) if one in BEGUN}
                kinds: set[Component] = {BEGUN[one] for one in named}
                made = self._edits(teams["team"], sorted(kinds), niche, knows, source)
                said = {"edits": edits_to_values(made)}
            case {"topology": _}:
                worth = {side: self._value(teams[side], niche) for side in ("first", "second")}
                best = max(worth, key=lambda side: worth[side])
                said = {"topology": best if knows else source.choice(["first", "second"])}
            case {"positions": positions}:
                own = "first" if "topology of the first team" in shown else "second"
                options = {one: each["enum"] for one, each in positions["properties"].items()}
                crossed = _Crossed(teams, own, self.catalogue)
                children = crossed.children(options)
                best = max(children, key=lambda one: crossed.made(one).value(niche))
                said = {"positions": best if knows else source.choice(children)}
            case _:
                return json.dumps({"summary": "Nothing that statistics do not have."})
        return json.dumps({"reason": "Known." if knows else "Drawn.", **said})

    def _team(self, text: str) -> Team:
        return parse_team(text.partition("\n\n# ")[0].encode(), "team.yaml", self.catalogue)

    def _value(self, team: Team, niche: str) -> float:
        return Shape.of(team, self.catalogue).value(niche)

    def _edits(
        self,
        team: Team,
        components: list[Component],
        niche: str,
        knows: bool,
        source: random.Random,
    ) -> tuple[Edit, ...]:
        """Give the best single edit of the components, or one drawn blindly."""
        if knows:
            shape, offered = Shape.of(team, self.catalogue), []
            for edit in (edit for one in components for edit in self._offered(team, one)):
                if (changed := _changed(shape, edit)) is not None:
                    offered.append((changed.value(niche), edit))
            for _, edit in sorted(offered, key=lambda one: -one[0]):
                if isinstance(apply(team, (edit,), self.catalogue, self.ceiling), Team):
                    return (edit,)
        drawn: list[Component] = [one for one in components if one != "roster"]
        blind = source.choice(drawn)
        path = str(source.random())
        made = chance(team, blind, self.catalogue, self.ceiling, path=path)
        return () if isinstance(made, Dropped) else tuple(made.edits)

    def _offered(self, team: Team, component: Component) -> Iterator[Edit]:
        agents = list(team.agents.values())
        pairs = [(one.id, other.id) for one in agents for other in agents if one != other]
        match component:
            case "prompts":
                for one in agents:
                    for sentence in STOCK:
                        yield SetPrompt(agent=one.id, prompt=_turned(one.prompt, sentence))
            case "model_id":
                for one in agents:
                    others = (model for model in MODELS if model != one.model_id)
                    yield from (SetModel(agent=one.id, model_id=model) for model in others)
            case "topology":
                for sender, receiver in pairs:
                    known = (sender, receiver) in team.edges
                    yield (RemoveEdge if known else AddEdge)(sender=sender, receiver=receiver)
            case _:
                name = f"newcomer_{len(agents)}"
                for model in MODELS:
                    newcomer = Agent(id=name, model_id=model, prompt=NEWCOMER)
                    yield AddAgent(agent=newcomer, reports_to=(team.output,))


def _changed(shape: Shape, edit: Edit) -> Shape | None:
    """Give what an edit makes of a team, without the cost of loading it; None where nothing."""
    minds, heard = dict(shape.minds), dict(shape.heard)
    match edit:
        case SetPrompt():
            minds[edit.agent] = replace(minds[edit.agent], sentences=sentences(edit.prompt))
        case SetModel():
            minds[edit.agent] = replace(minds[edit.agent], model=edit.model_id)
        case AddEdge():
            heard[edit.receiver] = (*heard[edit.receiver], edit.sender)
        case RemoveEdge():
            heard[edit.receiver] = tuple(one for one in heard[edit.receiver] if one != edit.sender)
        case AddAgent():
            minds[edit.agent.id], heard[edit.agent.id] = Mind(edit.agent.model_id), ()
            heard[shape.output] = (*heard[shape.output], edit.agent.id)
        case _:
            raise TypeError(f"nobody offers {edit!r} here.")
    return Shape.made(minds, heard)


def _turned(prompt: str, sentence: str) -> str:
    """Take a sentence out of a prompt, or in where it is missing."""
    lines = [line for line in prompt.splitlines() if line != sentence]
    return "\n".join(lines if sentence in prompt.splitlines() else [*lines, sentence])


def _kinds(items: Mapping[str, Any]) -> Iterator[str]:
    for one in items.get("anyOf", [items]):
        yield from one["properties"]


@dataclass(frozen=True, slots=True)
class _Crossed:
    """Two teams at a crossover, one of which gives the topology."""

    teams: Mapping[str, Team]
    own: str
    catalogue: Catalogue

    def children(self, options: Mapping[str, list[str]]) -> list[dict[str, str]]:
        """Give the choices of agents that make a team which works as neither parent does.

        Where there is none, as the parents differ in words without an effect: all choices.
        """
        every = [dict(zip(options, chosen, strict=True)) for chosen in product(*options.values())]
        parents = {Shape.of(team, self.catalogue).core for team in self.teams.values()}
        return [one for one in every if self.made(one).core not in parents] or every

    def made(self, chosen: Mapping[str, str]) -> Shape:
        """Give the child of a choice."""
        own, other = self.teams[self.own], self.teams[_opposite(self.own)]
        there, shape = counterparts(own, other), Shape.of(own, self.catalogue)
        minds = dict(shape.minds)
        for one, option in chosen.items():
            sides = {self.own: minds[one]}
            sides[_opposite(self.own)] = Mind.of(other.agents[there[one]], self.catalogue)
            spoken = sides["first" if option.split()[2].startswith("first") else "second"]
            rest = spoken if option.startswith("agent") else sides[_rest(option)]
            minds[one] = replace(rest, sentences=spoken.sentences)
        return replace(shape, minds=minds)


def _opposite(side: str) -> str:
    return "second" if side == "first" else "first"


def _rest(option: str) -> str:
    return option.rsplit(" ", 1)[1]

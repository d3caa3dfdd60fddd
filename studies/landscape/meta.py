"""A meta-model of known skill: it answers what operators ask, rightly so often and no oftener.

It has one skill for each child, however many questions the child takes: it knows what is best, on
the puzzles that it knows, or it draws. It knows less of a team of which it sees no run. Where it
draws among kinds of change, it prefers the kind that paid most in the memories that it is shown.
As a judge it passes and refuses letters with a known sensitivity and specificity. What it may
answer it reads from the question: teams, runs, memories, and the schema of the answer.
"""

from __future__ import annotations

import json
import random
import re
import statistics
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coterie.operators.core.judge import LEVELS
from coterie.schema.edits import component_schema

from .names import CEILING, catalogue, shown_team
from .search import by_chance, crossings, known_best, offered
from .world import Shape, puzzles

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coterie.runtime.gateway import ChatRequest
    from coterie.schema.edits import Component
    from coterie.schema.team.team import Team

    from .landscapes import Landscape
    from .search import Change, Found

__all__ = ["MetaModel", "judged", "paid", "summed_up"]

SHOWN = re.compile(r'<(team|first|second|partner) (\w+) "[^"]*">\n(.*?)\n</\1 \2>', re.DOTALL)
RAN = re.compile(r"^run: ", re.MULTILINE)
TOLD = re.compile(
    r"^\d+\. (?P<operator>\w+)(?: \((?P<component>\w+)\))? .*?"
    r"reward -?\d[\d.e-]*, (?P<gain>[+-]\d+(?:\.\d+)?(?:e[+-]?\d+)?)",
    re.MULTILINE,
)
MEMORY = re.compile(r"<memory (\w+)>\n(.*?)\n</memory \1>", re.DOTALL)
PAID = re.compile(r"(\w+) ([+-]\d\.\d{3})")
SIDES = ("first", "second")


def summed_up(told: str) -> str:
    """Say what each kind of change gained, from an evolution as `tell_steps` tells it."""
    gains: dict[str, list[float]] = {}
    for one in TOLD.finditer(told):
        gains.setdefault(one["component"] or one["operator"], []).append(float(one["gain"]))
    said = (f"{kind} {statistics.fmean(each):+.3f}" for kind, each in sorted(gains.items()))
    return "; ".join(said) or "Nothing was gained or lost."


def paid(shown: str, kinds: Sequence[str]) -> str | None:
    """Find the kind of change that gained most in the memories shown; None where none did."""
    gains: dict[str, list[float]] = {}
    for _, memory in MEMORY.findall(shown):
        for kind, gain in PAID.findall(memory):
            gains.setdefault(kind, []).append(float(gain))
    means = {kind: statistics.fmean(gains[kind]) for kind in kinds if kind in gains}
    best = max(means, key=lambda kind: means[kind], default=None)
    return best if best is not None and means[best] > 0 else None


def judged(right: Sequence[bool], landscape: Landscape, source: random.Random) -> float:
    """Score letters as a judge: the share that passes, to the nearest score that it may give."""
    chances = (landscape.sensitivity if one else 1 - landscape.specificity for one in right)
    share = sum(source.random() < chance for chance in chances) / max(len(right), 1)
    return LEVELS[round(share * (len(LEVELS) - 1))]  # halves go to the even one, so to either side


@dataclass(frozen=True, kw_only=True, slots=True)
class MetaModel:
    """Answers operators.

    Attributes:
        landscape: Where.
        skill: How often it knows what is best, in [0, 1].
        everywhere: Whether its edits may touch every agent, or one only.
        asked: How many questions each operator had; a decision is one of what it decides for.
    """

    landscape: Landscape
    skill: float
    everywhere: bool
    asked: Counter[str] = field(default_factory=Counter[str])
    _knows: dict[str, bool] = field(default_factory=dict[str, bool])

    def answer(self, request: ChatRequest, task: str, niche: str) -> str:
        """Answer a question about teams; the same for the same questions in the same order.

        Args:
            request: The question.
            task: Which task it is about. The questions about a child follow each other.
            niche: The task's niche.
        """
        shown = "\n".join(str(one["content"]) for one in request.messages)
        source = random.Random(f"{request.seed}/{len(request.messages)}/meta")  # noqa: S311
        asked = _Asked(
            meta=self,
            shown=shown,
            niche=niche,
            teams={kind: shown_team(text) for kind, _, text in SHOWN.findall(shown)},
            source=source,
        )
        schema: Any = request.schema
        # What was refused once would be refused again: a repair is drawn.
        is_repair = len(request.messages) > 2
        match schema["properties"]:
            case {"summary": _}:
                return json.dumps({"summary": summed_up(shown)})
            case {"selected": selected}:
                knows = source.random() < self.skill
                said = {"selected": asked.selected(selected, knows=knows)}
            case {"change": change}:
                chosen = asked.kind(change["enum"], knows=self._begin(task, asked))
                self.asked["crossover" if chosen == "crossover" else "mutate"] += 1
                said = {"change": chosen}
            case {"component": component}:
                said = {"component": asked.kind(component["enum"], knows=self._begin(task, asked))}
            case {"topology": topology}:
                self.asked["crossover"] += 1
                knows = self._knows.get(task)
                if knows is None:
                    knows = self._begin(task, asked)
                said = {"topology": asked.side(topology["enum"], knows=knows)}
            case {"positions": positions}:
                self.asked["crossover"] += 1
                knows = self._end(task, asked) and not is_repair
                said = {"positions": asked.positions(positions["properties"], knows=knows)}
            case {"edits": edits} if edits.get("minItems"):
                self.asked["mutate"] += 1
                knows = self._end(task, asked) and not is_repair
                said = {"edits": asked.edits(edits["items"], knows=knows)}
            case {"edits": edits}:
                self.asked["instantiate"] += 1
                knows = asked.knows() and not is_repair
                said = {"edits": asked.adapted(edits["items"], knows=knows)}
            case _:
                raise ValueError(f"nobody asks for {schema!r} here.")
        return json.dumps({"reason": "", **said})

    def _begin(self, task: str, asked: _Asked) -> bool:
        """Draw once for a child whether it is known what is best for it."""
        self._knows[task] = asked.knows()
        return self._knows[task]

    def _end(self, task: str, asked: _Asked) -> bool:
        """Give what was drawn for a child at its first question, which may be this one."""
        return self._knows.pop(task) if task in self._knows else asked.knows()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """A question, with the teams that it shows."""

    meta: MetaModel
    shown: str
    niche: str
    teams: Mapping[str, Team]
    source: random.Random

    def knows(self) -> bool:
        """Draw whether it is known what is best; less often where no run is shown."""
        landscape = self.meta.landscape
        share = 1 if RAN.search(self.shown) else landscape.untraced
        return self.source.random() < self.meta.skill * share

    def selected(self, selected: Mapping[str, Any], *, knows: bool) -> list[str]:
        """Follow the statistics, by which teams are listed, or draw."""
        names, most = selected["items"]["enum"], selected["maxItems"]
        return names[:most] if knows else self.source.sample(names, most)

    def kind(self, kinds: Sequence[str], *, knows: bool) -> str:
        """Choose a component, or a crossover: the one whose best child is worth most, or any."""
        if not knows:
            return paid(self.shown, kinds) or self.source.choice(kinds)
        found = {one: self._best_of(one) for one in kinds}
        return max(kinds, key=lambda one: self._worth_of(found[one]))

    def side(self, sides: Sequence[str], *, knows: bool) -> str:
        """Choose whose topology a child has: the one with which it can be worth more, or any."""
        if not knows:
            return self.source.choice(sides)
        return max(sides, key=lambda one: self._worth_of(self._crossed(one)))

    def positions(self, positions: Mapping[str, Any], *, knows: bool) -> dict[str, str]:
        """Choose who takes each position."""
        side = "first" if "topology of the first team" in self.shown else "second"
        found = self._crossed(side, knows=knows)
        chosen = dict.fromkeys(positions, f"agent of {side}")
        for change in found.changes if found else ():
            if change.value in positions.get(change.place, {}).get("enum", ()):
                chosen[change.place] = change.value
        return chosen

    def edits(self, items: Mapping[str, Any], *, knows: bool) -> list[Any]:
        """Choose edits of what is offered."""
        found = self._edited(items, knows=knows)
        return [one.value for one in found.changes] if found else []

    def adapted(self, items: Mapping[str, Any], *, knows: bool) -> list[Any]:
        """Choose edits of any component, and none where the team fits as it is."""
        kinds: dict[str, list[Mapping[str, Any]]] = {}
        for kind in items.get("anyOf", [items]):
            kinds.setdefault(_component(kind), []).append(kind)
        if knows:
            found = self._edited(items)
            better = self._worth_of(found) > self._worth(_shape(self.teams["team"]))
            return [one.value for one in found.changes] if found and better else []
        chosen = paid(self.shown, [*kinds]) or self.source.choice([*kinds])
        found = self._edited({"anyOf": kinds[chosen]}, knows=False)
        return [one.value for one in found.changes] if found else []

    def _best_of(self, kind: str) -> Found | None:
        """Find the best child that a kind of change makes of what is shown."""
        if kind == "crossover":
            return max(map(self._crossed, SIDES), key=self._worth_of)
        component: Any = kind
        team = self.teams["team"]
        schema = component_schema(component, team, catalogue(), CEILING, most=80)
        if schema is None:
            return None
        return self._edited(schema["properties"]["edits"]["items"])

    def _crossed(
        self, side: str, positions: Mapping[str, Any] | None = None, *, knows: bool = True
    ) -> Found | None:
        """Find a child with the topology of one of two teams, and agents of both, as offered."""
        first, second = (self.teams.get(one) for one in SIDES)
        if first is None or second is None:
            first, second = self.teams["team"], self.teams["partner"]
        own, other = (first, second) if side == "first" else (second, first)
        parents = [_shape(one) for one in (own, other)]
        changes = [
            one
            for one in crossings(own, other, side, catalogue())
            if positions is None or one.value in positions.get(one.place, {}).get("enum", ())
        ]
        return self._found(parents, changes, knows=knows, everywhere=True)

    def _edited(self, items: Mapping[str, Any], *, knows: bool = True) -> Found | None:
        """Find a child of the team by edits that are offered."""
        team = self.teams["team"]
        changes = list(offered(items, team))
        everywhere = self.meta.everywhere
        return self._found([_shape(team)], changes, knows=knows, everywhere=everywhere)

    def _found(
        self, parents: Sequence[Shape], changes: list[Change], *, knows: bool, everywhere: bool
    ) -> Found | None:
        """Find a child of the first parent that works as none of the parents does."""
        known = puzzles(self.meta.landscape, "known")
        cores = {known.core(one) for one in parents}

        def is_parent(shape: Shape) -> bool:
            return known.core(shape) in cores

        choices: dict[str, Any] = {"everywhere": everywhere, "is_parent": is_parent}
        if knows:
            return known_best(parents[0], changes, self._worth, **choices)
        return by_chance(parents[0], changes, self.source, **choices)

    def _worth(self, shape: Shape) -> float:
        return puzzles(self.meta.landscape, "known").value(shape, self.niche)

    def _worth_of(self, found: Found | None) -> float:
        return self._worth(found.shape) if found else -1.0


KINDS: Mapping[str, Component] = {
    "set_prompt": "prompts",
    "set_model": "model_id",
    "add_edge": "topology",
    "remove_edge": "topology",
}


def _shape(team: Team) -> Shape:
    return Shape.of(team, catalogue())


def _component(kind: Mapping[str, Any]) -> str:
    return next((KINDS[one] for one in kind["properties"] if one in KINDS), "roster")

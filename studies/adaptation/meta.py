"""A meta-model of known skill: it answers what operators ask, rightly so often and no oftener.

It knows what is best, or it draws. What it may answer it reads from the question: the team, what
an agent was told before, and the schema of the answer. As a judge it is off by a known error.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, Any

from coterie.operators.core.judge import LEVELS

from .search import by_chance, known_best, offered
from .sheets import ASPECTS
from .texts import fenced_texts, lessons_in, outlined, taught
from .world import Lesson, Member, Told, contributions, said_by_all, told, worth

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping, Sequence

    from .landscapes import Landscape
    from .sheets import Sheet
    from .world import Crew

__all__ = ["Asked", "luck"]

NOTHING = "Go on."
"""What a coach says that has no room for more."""


def luck(said: Sequence[Told], sheet: Sheet) -> list[float]:
    """Give the share of letters of each part that came out right."""
    return [
        fmean(letter == it for letter, it in zip(one.letters, part.right, strict=True))
        for one, part in zip(said, sheet.parts, strict=True)
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A question of an operator.

    Attributes:
        landscape: Where.
        skill: How often it is known what is best.
        sheet: The task.
        shown: What the question shows.
        fields: The fields of the answer, each with its schema.
        source: The chance in the answer.
        is_repair: Whether an answer was refused; what was refused once would be again.
    """

    landscape: Landscape
    skill: float
    sheet: Sheet
    shown: str
    fields: Mapping[str, Any]
    source: random.Random
    is_repair: bool = False

    @property
    def crew(self) -> Crew:
        """The team that is shown.

        Raises:
            ValueError: None is.
        """
        found = outlined(self.shown)
        if found is None:
            raise ValueError(f"no team is shown: {self.shown!r}")
        return found

    def knows(self, share: float = 1.0) -> bool:
        """Draw whether it is known what is best."""
        return self.source.random() < self.skill * share and not self.is_repair

    def enlisted(self) -> dict[str, Any]:
        """Choose roles and edges for a team to begin with, of which no round is shown."""
        known = functools.partial(self.knows, self.landscape.untraced)
        agents = self.fields["agents"]
        roles: list[str] = agents["items"]["enum"]
        chosen: list[str] = []
        for _ in range(self.source.randint(agents["minItems"], agents["maxItems"])):
            left = [one for one in roles if one not in chosen]
            needed = [part.craft for part in self.sheet.parts if part.craft in left]
            chosen.append(needed[0] if known() and needed else self.source.choice(left))
        needs = {
            (self.sheet.parts[need].craft, part.craft)
            for part in self.sheet.parts
            for need in part.needs
        }
        edges = [
            {"sender": one, "receiver": other}
            for one, other in combinations(chosen, 2)
            if ((one, other) in needs if known() else self.source.random() < 0.5)
        ]
        return {"agents": chosen, "edges": edges}

    def coached(self) -> dict[str, str]:
        """Tell an agent one thing more, or one thing anew, beside what it was told before."""
        [agent] = fenced_texts(self.shown, "agent")
        before = lessons_in(fenced_texts(self.shown, "told_before").get("", ""))
        crew, room = self.crew, self.fields["plan"]["maxLength"]
        present = frozenset(crew.heard[agent])
        if self.knows():
            value = self._value(crew, agent)
            lessons = _best_told(before, present, value)
            while len(taught(lessons)) > room:
                lessons = max(_but_one(lessons), key=value)
        else:
            aspect = self.source.choice(ASPECTS)
            lessons = _with(before, Lesson(aspect, present))
            while len(taught(lessons)) > room:
                lessons = lessons[1:]
        wrong = "Not all is right."[: self.fields["wrong"]["maxLength"]]
        return {"wrong": wrong, "plan": taught(lessons) or NOTHING}

    def _value(self, crew: Crew, agent: str) -> Callable[[Sequence[Lesson]], float]:
        """Give what lessons of an agent are worth: how right it is in what the team answers."""
        said = said_by_all(crew, self.sheet, self.landscape)
        own = [at for at, one in enumerate(said[crew.output]) if (one.by or crew.output) == agent]
        heard = {name: said[name] for name in crew.heard[agent]}

        def value(lessons: Sequence[Lesson]) -> float:
            member = Member(crew.members[agent].craft, tuple(lessons))
            says = told(member, heard, self.sheet, self.landscape)
            return sum(says[at].odds for at in own)

        return value

    def restructured(self) -> dict[str, list[Any]]:
        """Change who works in a team and who reports to whom, or leave it as it is."""
        lists = {name: self.fields[name] for name in ("agents", "edges") if name in self.fields}
        if not self.knows():
            return by_chance(lists, self.source)
        crew = self.crew
        bounds = {name: schema["maxItems"] for name, schema in lists.items()}
        changes = [*offered(lists, crew, self.sheet)]
        chosen = known_best(crew, changes, self._worth, bounds)
        return {name: [one.value for one in chosen if one.kind == name] for name in lists}

    def _worth(self, crew: Crew) -> float:
        return worth(crew, self.sheet, self.landscape)

    def judged(
        self, meaning: Callable[[str], tuple[Told, ...]], *, converged: bool
    ) -> dict[str, Any]:
        """Estimate what each agent contributed, and how good the whole is.

        Args:
            meaning: Gives what a report says.
            converged: What to say of that.
        """
        output = self.crew.output
        said = {
            name: meaning(shown.partition("output: ")[2])
            for name, shown in fenced_texts(self.shown, "agent").items()
        }
        came = luck(said[output], self.sheet)
        sight = self.landscape.sight
        seen = [
            Told(one.craft, sight * it + (1 - sight) * one.odds, one.by)
            for one, it in zip(said[output], came, strict=True)
        ]
        of = contributions({**said, output: tuple(seen)}, output)
        agents = {
            name: {"reason": "", "contribution": self._estimate(of[name])}
            for name in self.fields["agents"]["properties"]
        }
        whole = self._estimate(fmean(one.odds for one in seen))
        return {"agents": agents, "score": whole, "converged": converged}

    def _estimate(self, true: float) -> float:
        """Give one of the values that may be said, near a true one."""
        noise = self.landscape.noise
        given = min(1.0, max(0.0, true + self.source.uniform(-noise, noise)))
        return min(LEVELS, key=lambda one: abs(one - given))


def _with(lessons: Sequence[Lesson], one: Lesson) -> tuple[Lesson, ...]:
    """Add a lesson; what was told of the same before is said anew."""
    return (*(other for other in lessons if other.aspect != one.aspect), one)


def _but_one(lessons: Sequence[Lesson]) -> list[tuple[Lesson, ...]]:
    return [(*lessons[:at], *lessons[at + 1 :]) for at in range(len(lessons))]


def _best_told(
    before: Sequence[Lesson], present: frozenset[str], value: Callable[[Sequence[Lesson]], float]
) -> tuple[Lesson, ...]:
    """Leave out what does harm, then add what helps most, or say it anew."""
    kept = (*before,)
    for one in before:
        without = tuple(other for other in kept if other != one)
        kept = without if value(without) > value(kept) else kept
    return max((_with(kept, Lesson(aspect, present)) for aspect in ASPECTS), key=value)

"""The landscape in the place of models: agents answer as `world` says, operators' questions go on.

Everything is a function of the questions, their order and their seeds.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

from coterie.runtime.gateway import ChatAnswer, Gateway
from coterie.runtime.values.score import Score
from coterie.runtime.values.usage import Usage
from coterie.schema.host.scorer_form import ScorerForm, takes
from coterie.schema.team.task import ScorerChoice, Task

from ..plugin import register
from .meta import Asked
from .names import META, catalogue
from .sheets import LETTERS, sheet, title
from .texts import fenced_texts, lessons_in, letters_in, reported, role_in, title_in
from .world import Member, told

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from coterie.runtime.gateway import ChatRequest

    from .landscapes import Landscape
    from .sheets import Part, Sheet
    from .world import Told

__all__ = ["Round", "Simulated", "graded", "tasks"]

register()  # the scorer below is found by name

USAGE = Usage(calls=1, prompt_tokens=100, completion_tokens=1)


def tasks(landscape: Landscape, seed: int, count: int) -> list[Task]:
    """Make a stream of tasks.

    Args:
        landscape: Where.
        seed: Which stream.
        count: How many tasks.
    """
    return [_task(_sheet(landscape, title(seed, number)), number) for number in range(count)]


def _sheet(landscape: Landscape, named: str) -> Sheet:
    return sheet(named, landscape.coupling, landscape.alike)


def _task(of: Sheet, number: int) -> Task:
    query = f"{of.title}: which letters are right?"
    scorer = ScorerChoice(name="adaptation_sheet")
    return Task(id=f"t{number}", query=query, answer=of.answer, scorer=scorer)


@takes(ScorerForm(reference={"type": "string", "minLength": 1}))
def graded(answer: str, reference: Any, options: Mapping[str, Any]) -> Score:
    """Give the share of letters that are right."""
    del options
    right = sum(one == it for one, it in zip(letters_in(answer), str(reference), strict=False))
    return Score(value=right / len(reference), reason=f"{right} of {len(reference)}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Round:
    """What the landscape knows of a round that was judged.

    Attributes:
        worth: What the team could be expected to score in it.
        agents: How many there were.
        edges: How many edges.
        calls: How many calls the task had taken by then.
    """

    worth: float
    agents: int
    edges: int
    calls: int


class Simulated(Gateway):
    """A gateway that asks nobody.

    Args:
        landscape: Where.
        skill: How often the meta-model knows what is best.
        calls: After how many calls a task is over.
    """

    def __init__(self, landscape: Landscape, skill: float, calls: int) -> None:
        super().__init__(catalogue().models, environment={})
        self._landscape, self._skill, self._most = landscape, skill, calls
        self._meaning: dict[str, tuple[Told, ...]] = {}
        self.calls: Counter[str] = Counter()
        """How many calls were made, by the title of the sheet."""
        self.asked: Counter[str] = Counter()
        """How many questions operators had, by what they ask for."""
        self.repairs = 0
        """How many answers of operators were handed back."""
        self.rounds: dict[str, list[Round]] = {}
        """What was judged, by the title of the sheet."""

    def check(self, aliases: Iterable[str], *, priced: bool = False) -> None:
        """Find nothing to object to."""

    async def prepare(self, aliases: Iterable[str], *, priced: bool = False) -> None:
        """Need nothing."""

    async def chat(self, request: ChatRequest, *_: Any, **__: Any) -> ChatAnswer:
        """Answer an agent's or an operator's question."""
        shown = str(request.messages[1]["content"])
        named = title_in(shown)
        if named is None:
            raise ValueError(f"this is no task of the landscape: {shown!r}")
        self.calls[named] += 1
        if request.model == META:
            text = self._of_meta(request, shown, named)
        else:
            text = self._of_agent(request, shown, named)
        return ChatAnswer(text=text, usage=USAGE, model=request.model, alias=request.model)

    def _of_agent(self, request: ChatRequest, shown: str, named: str) -> str:
        instructions = str(request.messages[0]["content"])
        member = Member(role_in(instructions), lessons_in(instructions))
        heard = {name: self._meaning[it] for name, it in fenced_texts(shown, "report").items()}
        again = bool(fenced_texts(shown, "own"))
        of = _sheet(self._landscape, named)
        said = told(member, heard, of, self._landscape, again=again)
        source = random.Random(f"{request.seed}/{named}")  # noqa: S311 - guards nothing
        answered = tuple(
            one if one.by else _worked_out(one, part, source)
            for one, part in zip(said, of.parts, strict=True)
        )
        text = reported(answered)
        self._meaning[text] = answered
        return text

    def _of_meta(self, request: ChatRequest, shown: str, named: str) -> str:
        schema: Any = request.schema
        asked = Asked(
            landscape=self._landscape,
            skill=self._skill,
            sheet=_sheet(self._landscape, named),
            shown=shown,
            fields=schema["properties"],
            source=random.Random(f"{request.seed}/meta"),  # noqa: S311 - guards nothing
            is_repair=len(request.messages) > 2,
        )
        self.repairs += asked.is_repair
        match asked.fields:
            case {"plan": _}:
                operator, said = "coach", asked.coached()
            case {"score": _}:
                operator, said = "judge", self._judged(asked)
            case {"agents": {"items": {"enum": _}}}:
                operator, said = "enlist", {"reason": "", **asked.enlisted()}
            case {"agents": _} | {"edges": _}:
                operator, said = "restructure", {"reason": "", **asked.restructured()}
            case _:
                raise ValueError(f"nobody asks for {schema!r} here.")
        self.asked[operator] += 1
        return json.dumps(said)

    def _judged(self, asked: Asked) -> dict[str, Any]:
        """Judge a round; the last one is that after which one more takes more than all calls."""
        named, crew = asked.sheet.title, asked.crew
        rounds = self.rounds.setdefault(named, [])
        calls = self.calls[named]
        more = calls - (rounds[-1].calls if rounds else 0)
        answer = self._meaning[fenced_texts(asked.shown, "answer")[""]]
        rounds.append(
            Round(
                worth=fmean(one.odds for one in answer),
                agents=len(crew.members),
                edges=sum(map(len, crew.heard.values())),
                calls=calls,
            )
        )
        is_over = calls + more > self._most
        return {"reason": "", **asked.judged(self._meaning.__getitem__, converged=is_over)}

    def worth(self, answer: str) -> float:
        """Give what the team could be expected to score that last gave this answer."""
        return fmean(one.odds for one in self._meaning[answer])


def _worked_out(said: Told, part: Part, source: random.Random) -> Told:
    """Draw the letters of a part that an agent answers."""
    letters: list[str] = []
    for right, fixed in zip(part.right, part.fixed, strict=True):
        new = source.random(), source.randrange(1, len(LETTERS))
        chance, off = new if fixed is None else fixed
        place = LETTERS.index(right) + (0 if chance < said.odds else off)
        letters.append(LETTERS[place % len(LETTERS)])
    return replace(said, letters="".join(letters))

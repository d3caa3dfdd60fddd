"""The landscape in the place of models: agents answer as `world` says, operators' questions go on.

Everything is a function of the requests and their seeds.
"""

from __future__ import annotations

import functools
import random
import re
from typing import TYPE_CHECKING, Any

from coterie.runtime.gateway import ChatAnswer, Gateway
from coterie.runtime.values.score import Score
from coterie.runtime.values.usage import Usage
from coterie.schema.host.scorer_form import ScorerForm, takes
from coterie.schema.team.task import ScorerChoice, Task

from ..plugin import register
from .landscapes import NICHES
from .meta import judged
from .names import META, catalogue
from .world import OPTIONS, Draws, Mind, sentences, think

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from coterie.runtime.gateway import ChatRequest

    from .landscapes import Landscape
    from .meta import MetaModel

__all__ = ["Simulated", "sheet", "tasks"]

register()  # the scorer below is found by name

LETTERS = "ABCDE"
REPORTED = re.compile(rf"^([{LETTERS}]+)$", re.MULTILINE)
ASKED = re.compile(r"Sheet \d+/\d+: (?P<puzzles>\d+) puzzles of (?P<niche>\w+)\.")
USAGE = Usage(calls=1, prompt_tokens=100, completion_tokens=1)


def tasks(seed: int, count: int, puzzles: int) -> list[Task]:
    """Make a stream of tasks: each niche once among the first four, the next four, and so on.

    Args:
        seed: Which stream; in which order the niches come depends on it.
        count: How many tasks.
        puzzles: How many puzzles a task has; its score is the share that is right.
    """
    source = random.Random(f"stream {seed}")  # noqa: S311 - guards nothing
    niches: list[str] = []
    while len(niches) < count:
        niches += source.sample(NICHES, len(NICHES))
    return [_task(seed, number, puzzles, niches[number]) for number in range(count)]


@takes(ScorerForm(reference={"type": "string", "minLength": 1}))
def sheet(answer: str, reference: Any, options: Mapping[str, Any]) -> Score:
    """Give the share of letters that are right."""
    del options
    right = sum(one == wanted for one, wanted in zip(answer, str(reference), strict=False))
    return Score(value=right / len(reference), reason=f"{right} of {len(reference)}")


def _task(seed: int, number: int, puzzles: int, niche: str) -> Task:
    title = f"Sheet {seed}/{number}: {puzzles} puzzles of {niche}."
    answer = "".join(LETTERS[one] for one in _right(title, puzzles))
    scorer = ScorerChoice(name="landscape_sheet")
    query = f"{title} Which letters are right?"
    return Task(id=f"t{number}", query=query, niche=niche, answer=answer, scorer=scorer)


@functools.lru_cache(maxsize=1_000)
def _right(title: str, puzzles: int) -> tuple[int, ...]:
    source = random.Random(title)  # noqa: S311 - guards nothing
    return tuple(source.randrange(OPTIONS) for _ in range(puzzles))


class Simulated(Gateway):
    """A gateway that asks nobody.

    Args:
        landscape: Where.
        meta: Answers operators.
    """

    def __init__(self, landscape: Landscape, meta: MetaModel) -> None:
        super().__init__(catalogue().models, environment={})
        self._landscape, self._meta = landscape, meta
        self.calls = 0
        """How many calls were made."""

    def check(self, aliases: Iterable[str], *, priced: bool = False) -> None:
        """Find nothing to object to."""

    async def prepare(self, aliases: Iterable[str], *, priced: bool = False) -> None:
        """Need nothing."""

    async def chat(self, request: ChatRequest, *_: Any, **__: Any) -> ChatAnswer:
        """Answer an agent's or an operator's question."""
        asked = ASKED.search(str(request.messages[1]["content"]))
        if asked is None:
            raise ValueError(f"this is no task of the landscape: {request.messages[1]!r}")
        if request.model != META:
            text = self._letters(request, asked)
        elif "score" in (request.schema or {})["properties"]:
            text = self._score(request, asked)
        else:
            text = self._meta.answer(request, asked[0], asked["niche"])
        self.calls += 1
        return ChatAnswer(text=text, usage=USAGE, model=request.model, alias=request.model)

    def _letters(self, request: ChatRequest, asked: re.Match[str]) -> str:
        """Answer as an agent; options are numbered from the right letter on."""
        import numpy as np

        system, user = (str(one["content"]) for one in request.messages)
        mind = Mind(request.model, sentences(system))
        puzzles, niche = int(asked["puzzles"]), asked["niche"]
        right = np.array(_right(asked[0], puzzles), dtype="i1")
        heard = (np.array([LETTERS.index(one) for one in said]) for said in REPORTED.findall(user))
        reports = tuple(((one - right) % OPTIONS).astype("i1") for one in heard)
        world = self._landscape
        common = f"{world.name}/{asked[0]}/{request.model}"
        draws = Draws(f"{request.seed}/{common}", common, puzzles, world.shared)
        chosen = (think(mind, world, niche, draws, reports) + right) % OPTIONS
        return "".join(LETTERS[one] for one in chosen)

    def _score(self, request: ChatRequest, asked: re.Match[str]) -> str:
        """Score an answer as a judge."""
        said = REPORTED.findall(str(request.messages[1]["content"]))
        right = _right(asked[0], int(asked["puzzles"]))
        letters = zip(said[-1] if said else "", right, strict=False)
        source = random.Random(f"{request.seed}/judge")  # noqa: S311 - guards nothing
        passed = judged([LETTERS.index(one) == it for one, it in letters], self._landscape, source)
        return f'{{"reason": "", "score": {passed}}}'

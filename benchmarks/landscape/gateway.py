"""The landscape in the place of models: agents answer as `world` says, operators' questions go on.

Everything is a function of the request and its seed.
"""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

from ...runtime.gateway import ChatAnswer, Gateway
from ...runtime.scorers import Score
from ...runtime.usage import Usage
from ...schema.models import Model
from ...schema.task import ScorerChoice, Task
from .world import MODELS, NICHES, OPTIONS, Draws, Mind, sentences, think

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...runtime.gateway import ChatRequest
    from .meta import MetaModel

__all__ = ["META", "Simulated", "catalogue_models", "sheet", "tasks"]

META = "meta"
LETTERS = "ABCDE"
REPORTED = re.compile(rf"^([{LETTERS}]+)$", re.MULTILINE)
ASKED = re.compile(r"Sheet \d+/\d+: (?P<puzzles>\d+) puzzles of (?P<niche>\w+)\.")


def catalogue_models() -> dict[str, Model]:
    """Give the models of the landscape by alias."""
    return {alias: Model(alias=alias, model=f"simulated/{alias}") for alias in (*MODELS, META)}


def tasks(seed: int, count: int, puzzles: int, order: int = 0) -> list[Task]:
    """Make a stream of tasks, all niches in turn; another `order` is another shuffle of them.

    Args:
        seed: Which stream.
        count: How many tasks.
        puzzles: How many puzzles a task has; its score is the share that is right.
        order: Which shuffle; 0 for none.
    """
    made = [_task(seed, number, puzzles) for number in range(count)]
    if order:
        random.Random(order).shuffle(made)  # noqa: S311 - guards nothing
    return made


def sheet(answer: str, reference: Any, options: Mapping[str, Any]) -> Score:
    """Give the share of letters that are right."""
    del options
    right = sum(one == wanted for one, wanted in zip(answer, str(reference), strict=False))
    return Score(value=right / len(reference), reason=f"{right} of {len(reference)}")


def _task(seed: int, number: int, puzzles: int) -> Task:
    niche = list(NICHES)[number % len(NICHES)]
    title = f"Sheet {seed}/{number}: {puzzles} puzzles of {niche}."
    answer = "".join(LETTERS[one] for one in _right(title, puzzles))
    scorer = ScorerChoice(name="landscape_sheet")
    query = f"{title} Which letters are right?"
    return Task(id=f"t{number}", query=query, niche=niche, answer=answer, scorer=scorer)


def _right(title: str, puzzles: int) -> list[int]:
    source = random.Random(title)  # noqa: S311 - guards nothing
    return [source.randrange(OPTIONS) for _ in range(puzzles)]


class Simulated(Gateway):
    """A gateway that asks nobody.

    Args:
        meta: Answers operators.
    """

    def __init__(self, meta: MetaModel) -> None:
        super().__init__(catalogue_models(), environment={})
        self._meta = meta

    def check(self, aliases: Iterable[str], *, priced: bool = False) -> None:
        """Find nothing to object to."""

    async def prepare(self, aliases: Iterable[str], *, priced: bool = False) -> None:
        """Need nothing."""

    async def chat(self, request: ChatRequest, *_: Any, **__: Any) -> ChatAnswer:
        """Answer an agent's or an operator's question."""
        asked = ASKED.search(str(request.messages[-1]["content"])) or ASKED.search(
            str(request.messages[1]["content"])
        )
        if asked is None:
            raise ValueError(f"this is no task of the landscape: {request.messages[-1]!r}")
        if request.model == META:
            text = self._meta.answer(request, asked["niche"])
        else:
            text = _letters(request, asked)
        usage = Usage(calls=1, prompt_tokens=100, completion_tokens=1)
        return ChatAnswer(text=text, usage=usage, model=request.model, alias=request.model)


def _letters(request: ChatRequest, asked: re.Match[str]) -> str:
    """Answer as an agent; options are numbered from the right letter on."""
    import numpy as np

    system, user = (str(one["content"]) for one in request.messages)
    mind = Mind(request.model, sentences(system))
    puzzles = int(asked["puzzles"])
    right = np.array(_right(asked[0], puzzles))
    heard = (np.array([LETTERS.index(one) for one in said]) for said in REPORTED.findall(user))
    draws = Draws(f"{request.seed}", f"{asked[0]}/{request.model}", puzzles)
    reports = tuple((one - right) % OPTIONS for one in heard)
    chosen = (think(mind, asked["niche"], draws, reports) + right) % OPTIONS
    return "".join(LETTERS[one] for one in chosen)

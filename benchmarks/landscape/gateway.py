"""The landscape in the place of models: agents answer as `world` says, operators' questions go on.

Everything is a function of the request and its seed.
"""

from __future__ import annotations

import hashlib
import random
import re
from typing import TYPE_CHECKING, Any

from ...runtime.gateway import ChatAnswer, Gateway
from ...runtime.usage import Usage
from ...schema.models import Model
from ...schema.task import Task
from .world import MODELS, NICHES, OPTIONS, Draws, Mind, sentences, think

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...runtime.gateway import ChatRequest
    from .meta import MetaModel

__all__ = ["META", "Simulated", "catalogue_models", "tasks"]

META = "meta"
LETTERS = "ABCDE"
REPORTED = re.compile(rf"^([{LETTERS}])$", re.MULTILINE)
ASKED = re.compile(r"Puzzle (\d+)/(\d+) of (\w+)")


def catalogue_models() -> dict[str, Model]:
    """Give the models of the landscape by alias."""
    return {alias: Model(alias=alias, model=f"simulated/{alias}") for alias in (*MODELS, META)}


def tasks(seed: int, count: int, order: int = 0) -> list[Task]:
    """Make a stream of tasks, all niches in turn; another `order` is another shuffle of them."""
    made = [_task(seed, number) for number in range(count)]
    if order:
        random.Random(order).shuffle(made)  # noqa: S311 - guards nothing
    return made


def _task(seed: int, number: int) -> Task:
    niche = list(NICHES)[number % len(NICHES)]
    query = f"Puzzle {seed}/{number} of {niche}: which letter is right?"
    return Task(id=f"t{number}", query=query, niche=niche, answer=LETTERS[_right(query)])


def _right(query: str) -> int:
    return hashlib.sha256(query.encode()).digest()[0] % OPTIONS


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
            text = self._meta.answer(request, asked[3])
        else:
            text = _letter(request, f"{asked[0]}: which letter is right?", asked[3])
        usage = Usage(calls=1, prompt_tokens=100, completion_tokens=1)
        return ChatAnswer(text=text, usage=usage, model=request.model, alias=request.model)


def _letter(request: ChatRequest, query: str, niche: str) -> str:
    """Answer as an agent; options are numbered from the right letter on."""
    import numpy as np

    system, user = (str(one["content"]) for one in request.messages)
    mind = Mind(request.model, sentences(system))
    right = _right(query)
    heard = [(LETTERS.index(one) - right) % OPTIONS for one in REPORTED.findall(user)]
    draws = Draws(f"{request.seed}", f"{query}/{request.model}", 1)
    chosen = think(mind, niche, draws, tuple(np.array([one]) for one in heard))
    return LETTERS[(int(chosen[0]) + right) % OPTIONS]

"""Chance in a model's place: whatever is drawn makes whole values."""

from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest

from coterie.operators import Chance, RejectedProposal
from coterie.operators.methods.evochamber.dream.contrast import dream_contrast
from coterie.operators.methods.evochamber.dream.crystallize import dream_crystallize
from coterie.operators.methods.evochamber.dream.debate import dream_debate
from coterie.operators.methods.evochamber.dream.imagine import dream_imagine
from coterie.operators.methods.evochamber.dream.reflect import dream_reflect
from coterie.operators.methods.evochamber.lifecycle.fusing import fuse
from coterie.operators.methods.evochamber.reflecting import reflect
from coterie.schema import Catalogue
from coterie.schema.loading.ceiling import CapabilityPolicy

from ...asking import TASK
from .test_reflecting import WORK
from .test_reflecting_hostile import DIFFERENCES, IDEAS, NICHES

QUESTIONS: dict[str, Callable[[Chance], Coroutine[Any, Any, Any]]] = {
    "reflect": lambda item: reflect(item, "p", TASK, WORK, reward=0.5),
    "fuse": lambda item: fuse(item, "p", "Carry.", "Carry on."),
    "dream_reflect": lambda item: dream_reflect(item, "p", TASK, WORK),
    "dream_contrast": lambda item: dream_contrast(
        item, "p", TASK, WORK, replace(WORK, agent="ben")
    ),
    "dream_imagine": lambda item: dream_imagine(
        item, "p", TASK, DIFFERENCES, niches=NICHES, most=4
    ),
    "dream_debate": lambda item: dream_debate(item, "p", TASK, WORK, IDEAS),
    "dream_crystallize": lambda item: dream_crystallize(
        item, "p", TASK, IDEAS, niches=NICHES, most=3
    ),
}


@pytest.mark.parametrize("operator", QUESTIONS)
async def test_every_operator_takes_what_was_drawn(operator: str) -> None:
    known = Catalogue.of_host()
    for seed in range(10):
        chance = Chance(catalogue=known, ceiling=CapabilityPolicy(), seed=seed)
        assert not isinstance(await QUESTIONS[operator](chance), RejectedProposal)

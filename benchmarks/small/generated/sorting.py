"""The benchmark `sorting`: words or numbers to sort."""

from __future__ import annotations

import random
from collections.abc import Sequence

from ....schema.team.task import ScorerChoice
from .generated import GeneratedQuestion, generated

SIZES = (2, 4, 8, 16, 32)
"""The number of items to sort, by level."""

LARGEST = (100, 100, 1000, 10_000, 10_000)
WORDS = (
    "anchor", "apple", "apron", "arrow", "barrel", "basket", "beacon", "bottle", "bridge",
    "brush", "button", "cabin", "candle", "canvas", "carpet", "castle", "cellar", "chain",
    "chair", "cherry", "clock", "cloud", "copper", "corner", "cotton", "curtain", "desk",
    "door", "drawer", "engine", "fabric", "feather", "fence", "flower", "forest", "fork",
    "garden", "glove", "hammer", "harbour", "helmet", "honey", "island", "jacket", "kettle",
    "kitchen", "ladder", "lamp", "lantern", "leaf", "lemon", "letter", "lock", "marble",
    "market", "meadow", "mirror", "needle", "orange", "oven", "paper", "pebble", "pencil",
    "pepper", "pillow", "planet", "pocket", "rabbit", "ribbon", "river", "saddle", "shelf",
    "shovel", "silver", "spoon", "stable", "stone", "street", "sugar", "table", "tower",
    "tunnel", "valley", "velvet", "village", "violin", "wagon", "wallet", "window", "winter",
)  # fmt: skip


def _words(chance: random.Random, level: int) -> GeneratedQuestion:
    shown = chance.sample(WORDS, SIZES[level - 1])
    return _item("words", "in alphabetical order", shown, sorted(shown))


def _numbers(chance: random.Random, level: int) -> GeneratedQuestion:
    shown = chance.sample(range(LARGEST[level - 1]), SIZES[level - 1])
    downward = chance.random() < 1 / 2
    how = "from the largest to the smallest" if downward else "from the smallest to the largest"
    return _item("numbers", how, shown, sorted(shown, reverse=downward))


def _item(
    kind: str, how: str, shown: Sequence[object], order: Sequence[object]
) -> GeneratedQuestion:
    listed = ", ".join(map(str, shown))
    return GeneratedQuestion(
        kind=kind,
        query=f"Write these {kind} {how}, in one line and with commas between them: {listed}",
        answer=list(map(str, order)),
        scorer=ScorerChoice(name="sequence"),
    )


def _write(chance: random.Random, level: int) -> GeneratedQuestion:
    return chance.choice((_words, _numbers))(chance, level)


SORTING = generated(
    "sorting",
    "Sorting",
    "Words or numbers to put in order: 2, 4, 8, 16 or 32 of them. The last line of the answer has"
    " to be the whole list. The niches are `words` and `numbers`.",
    _write,
)

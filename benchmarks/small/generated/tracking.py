"""The benchmark `tracking`: who holds what after several swaps."""

from __future__ import annotations

import random

from .generated import GeneratedQuestion, generated, last_of

PEOPLE = (2, 3, 4, 6, 8)
"""The number of people, by level."""

SWAPS = (1, 3, 6, 12, 24)
"""The number of swaps, by level."""

NAMES = (
    "Ada", "Ben", "Cora", "Dan", "Ella", "Finn", "Gina", "Hugo", "Iris", "Jack",
    "Kate", "Liam", "Maya", "Nils", "Olga", "Paul", "Rosa", "Sam", "Tina", "Vera",
)  # fmt: skip
THINGS = (
    "book", "cup", "hat", "key", "lamp", "coin", "ring", "shell", "ball", "kite",
    "drum", "flag", "comb", "map", "pen", "scarf", "watch", "whistle", "candle", "stone",
)  # fmt: skip


def _write(chance: random.Random, level: int) -> GeneratedQuestion:
    names = chance.sample(NAMES, PEOPLE[level - 1])
    things = chance.sample(THINGS, len(names))
    begins = [f"{name} has the {thing}." for name, thing in zip(names, things, strict=True)]
    holds = dict(zip(names, things, strict=True))
    swaps: list[str] = []
    for _ in range(SWAPS[level - 1]):
        name, peer = chance.sample(names, 2)
        holds[name], holds[peer] = holds[peer], holds[name]
        swaps.append(f"{name} and {peer} swap what they have.")
    story = " ".join((*begins, *swaps))
    name = chance.choice(names)
    if chance.random() < 1 / 2:
        query = f"{story} What does {name} have now? End with the thing."
        return GeneratedQuestion(
            kind="what", query=query, answer=holds[name], scorer=last_of(things)
        )
    query = f"{story} Who has the {holds[name]} now? End with the name."
    return GeneratedQuestion(kind="who", query=query, answer=name, scorer=last_of(names))


TRACKING = generated(
    "tracking",
    "Tracking",
    "2, 3, 4, 6 or 8 people swap things 1, 3, 6, 12 or 24 times. Whichever of the names or things"
    " the answer has last counts. The niches are `who` and `what`.",
    _write,
)

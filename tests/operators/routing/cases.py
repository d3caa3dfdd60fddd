"""Cases for tests of routing: who is right by what a case looks like."""

import random
from collections.abc import Callable
from dataclasses import replace

from coterie.operators.routing import Case, CaseSpending, RoutingOutcome

SINGLE, TEAM = (
    CaseSpending(calls=1, tokens=500, cost=0.005),
    CaseSpending(calls=9, tokens=6000, cost=0.06),
)


def case(task: str, single: float, team: float, **features: float) -> Case:
    return Case(
        task=task,
        features=features,
        single=RoutingOutcome(score=single, spent=SINGLE),
        team=RoutingOutcome(score=team, spent=TEAM),
    )


def world(
    number: int, odds: Callable[[float], tuple[float, float]], *, seed: int = 0
) -> list[Case]:
    """Cases with the feature `words`, on which the odds of being right depend, and one more."""
    chance = random.Random(seed)
    result: list[Case] = []
    for place in range(number):
        words, noise = chance.random() * 200, float(chance.randint(0, 12))
        single, team = (float(chance.random() < odd) for odd in odds(words))
        result.append(case(f"{seed}-{place}", single, team, words=words, numbers=noise))
    return result


def by_length(words: float) -> tuple[float, float]:
    """A team is worth its calls where there are many words."""
    return (0.1, 0.9) if words > 100 else (0.9, 0.1)


def gauged(item: Case, **features: float) -> Case:
    """The same case, of which a model judged features, in a call."""
    price = CaseSpending(calls=1, tokens=800, cost=0.1)
    return replace(item, features={**item.features, **features}, gauging=price)

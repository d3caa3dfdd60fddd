"""Generated tasks: seeded, with one right answer each, in two splits that share no item.

The vocabulary of a stream, be it words, numbers or years, is dealt alternately to the splits. So no
test item can have occurred during evolution, whatever the seeds are.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from itertools import combinations_with_replacement, product
from types import MappingProxyType
from typing import Literal, TypeVar

from ...schema.team.task import ScorerChoice, Task
from ...schema.values.errors import InputError
from ..small.generated.generated import NUMBER, GeneratedQuestion, drawn_tasks

Split = Literal["evolve", "test"]
SPLITS: tuple[Split, ...] = ("evolve", "test")

T = TypeVar("T")

NAMES = (
    "Ada", "Ben", "Cora", "Dan", "Ella", "Finn", "Gina", "Hugo", "Iris", "Jack",
    "Kate", "Liam", "Maya", "Nils", "Olga", "Paul", "Rosa", "Sam", "Tina", "Vera",
)  # fmt: skip
FACTORS = tuple(combinations_with_replacement(range(2, 10), 2))
TIMES = ("What is {} times {}?", "What is {} x {}?", "Multiply {} by {}.", "How much is {} * {}?")
AMOUNTS = tuple(product(range(12, 40), range(2, 10)))
COINS = (
    ("{name} has {a} coins and finds {b} more. How many coins does {name} have now?", int.__add__),
    ("{name} has {a} coins and spends {b}. How many coins are left?", int.__sub__),
    ("{name} has {b} jars with {a} coins each. How many coins are there?", int.__mul__),
)
THINGS = (
    "film", "meal", "hotel", "book", "concert", "train ride", "lecture", "soup",
    "garden", "museum", "phone", "chair", "play", "bakery", "beach", "song",
)  # fmt: skip
GOOD = ("great", "lovely", "superb", "pleasant", "brilliant", "charming", "excellent", "wonderful")
BAD = ("awful", "boring", "terrible", "dull", "horrible", "poor", "dreadful", "disappointing")
PLAIN = ("The {thing} was {word}.", "I found the {thing} {word}.", "What a {word} {thing}.")
NEGATED = ("The {thing} was not {word}.", "I did not find the {thing} {word}.")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


def _half(pool: Sequence[T], split: Split) -> Sequence[T]:
    """Shuffle a vocabulary with a fixed seed, and deal it alternately to the splits."""
    shuffled = random.Random(0).sample(pool, len(pool))  # noqa: S311 - the same deal every time
    return shuffled[SPLITS.index(split) :: len(SPLITS)]


def _product(chance: random.Random, split: Split) -> GeneratedQuestion:
    pair = chance.choice(_half(FACTORS, split))
    factors = chance.sample(pair, 2)
    query = chance.choice(TIMES).format(*factors)
    return _numeric("products", query, pair[0] * pair[1])


def _coins(chance: random.Random, split: Split) -> GeneratedQuestion:
    name, (a, b) = chance.choice(_half(NAMES, split)), chance.choice(_half(AMOUNTS, split))
    text, operation = chance.choice(COINS)
    return _numeric("coins", text.format(name=name, a=a, b=b), operation(a, b))


def _numeric(kind: str, query: str, answer: int) -> GeneratedQuestion:
    return GeneratedQuestion(kind=kind, query=query, answer=str(answer), scorer=NUMBER)


def _sentiment(chance: random.Random, split: Split) -> GeneratedQuestion:
    """Write a judgement; one in three denies its opposite."""
    label, negated = chance.choice(("positive", "negative")), chance.random() < 1 / 3
    words = GOOD if (label == "positive") != negated else BAD
    word, thing = chance.choice(_half(words, split)), chance.choice(_half(THINGS, split))
    text = chance.choice(NEGATED if negated else PLAIN).format(thing=thing, word=word)
    query = f"Is this review positive or negative? Answer with one word. {text}"
    options = MappingProxyType({"pattern": rf"(?i)^\W*{label}\W*$"})  # the label alone
    scorer = ScorerChoice(name="regex", options=options)
    return GeneratedQuestion(kind="sentiment", query=query, answer=label, scorer=scorer)


def _date(chance: random.Random, split: Split) -> GeneratedQuestion:
    year = chance.choice(_half(range(1900, 2030), split))
    day = date(year, chance.randint(1, 12), chance.randint(1, 28))
    written = f"{MONTHS[day.month - 1]} {day.day}, {day.year}"
    return GeneratedQuestion(
        kind="dates",
        query=f"Write this date as YYYY-MM-DD: {written}",
        answer=day.isoformat(),
        scorer=ScorerChoice(name="contains"),
    )


def _age(chance: random.Random, split: Split) -> GeneratedQuestion:
    people = chance.sample(_half(NAMES, split), 2)
    ages = chance.sample(range(5, 90), 2)
    index = chance.randrange(2)
    facts = " ".join(
        f"{person} is {age} years old." for person, age in zip(people, ages, strict=True)
    )
    return _numeric("ages", f"{facts} How old is {people[index]}?", ages[index])


STREAMS: Mapping[str, Callable[[random.Random, Split], GeneratedQuestion]] = MappingProxyType(
    {
        "products": _product,
        "coins": _coins,
        "sentiment": _sentiment,
        "dates": _date,
        "ages": _age,
    }
)


def stream(name: str, split: Split, *, count: int, seed: int = 0) -> list[Task]:
    """Return the first tasks of a stream. A longer one begins with the shorter one.

    Raises:
        InputError: There is no such stream, or it has fewer tasks.
    """
    if name not in STREAMS:
        raise InputError(f"no stream {name!r}. Known: {', '.join(STREAMS)}.")
    chance = random.Random(f"{name}/{split}/{seed}")  # noqa: S311 - the same tasks every time
    return drawn_tasks(f"{name}-{split}-{seed}", lambda: STREAMS[name](chance, split), count)

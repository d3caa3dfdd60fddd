"""Generated tasks: seeded, with one right answer each, in two splits that share no item.

The vocabulary of a stream, be it words, numbers or years, is dealt alternately to the splits. So no
test item can have occurred during evolution, whatever the seeds are.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import combinations_with_replacement, product
from types import MappingProxyType
from typing import Literal, TypeVar

from ...schema.team.task import ScorerChoice, Task
from ...schema.values.errors import InputError

Split = Literal["evolve", "test"]
SPLITS: tuple[Split, ...] = ("evolve", "test")
PATIENCE = 1000
"""The number of consecutive draws without a new item after which a stream is exhausted."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class StreamItem:
    """One question of a stream."""

    query: str
    answer: str


def _half(pool: Sequence[T], split: Split) -> Sequence[T]:
    """Shuffle a vocabulary with a fixed seed, and deal it alternately to the splits."""
    shuffled = random.Random(0).sample(pool, len(pool))  # noqa: S311 - the same deal every time
    return shuffled[SPLITS.index(split) :: len(SPLITS)]


def _product(chance: random.Random, split: Split) -> StreamItem:
    pair = chance.choice(_half(FACTORS, split))
    factors = chance.sample(pair, 2)
    return StreamItem(query=chance.choice(TIMES).format(*factors), answer=str(pair[0] * pair[1]))


def _coins(chance: random.Random, split: Split) -> StreamItem:
    name, (a, b) = chance.choice(_half(NAMES, split)), chance.choice(_half(AMOUNTS, split))
    text, operation = chance.choice(COINS)
    return StreamItem(query=text.format(name=name, a=a, b=b), answer=str(operation(a, b)))


def _sentiment(chance: random.Random, split: Split) -> StreamItem:
    """Write a judgement; one in three denies its opposite."""
    label, negated = chance.choice(("positive", "negative")), chance.random() < 1 / 3
    words = GOOD if (label == "positive") != negated else BAD
    word, thing = chance.choice(_half(words, split)), chance.choice(_half(THINGS, split))
    text = chance.choice(NEGATED if negated else PLAIN).format(thing=thing, word=word)
    query = f"Is this review positive or negative? Answer with one word. {text}"
    return StreamItem(query=query, answer=label)


def _date(chance: random.Random, split: Split) -> StreamItem:
    year = chance.choice(_half(range(1900, 2030), split))
    day = date(year, chance.randint(1, 12), chance.randint(1, 28))
    written = f"{MONTHS[day.month - 1]} {day.day}, {day.year}"
    return StreamItem(query=f"Write this date as YYYY-MM-DD: {written}", answer=day.isoformat())


def _age(chance: random.Random, split: Split) -> StreamItem:
    people = chance.sample(_half(NAMES, split), 2)
    ages = chance.sample(range(5, 90), 2)
    index = chance.randrange(2)
    facts = " ".join(
        f"{person} is {age} years old." for person, age in zip(people, ages, strict=True)
    )
    return StreamItem(query=f"{facts} How old is {people[index]}?", answer=str(ages[index]))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Stream:
    """The generator and the scorer of a stream's tasks.

    Attributes:
        scorer: Compares an answer with the right one.
    """

    write: Callable[[random.Random, Split], StreamItem]
    scorer: Callable[[StreamItem], ScorerChoice]


def _number(item: StreamItem) -> ScorerChoice:
    del item
    return ScorerChoice(name="number")


def _label(item: StreamItem) -> ScorerChoice:
    """Compare only the label that the query asks for, in any case and punctuation."""
    pattern = rf"(?i)^\W*{item.answer}\W*$"
    return ScorerChoice(name="regex", options=MappingProxyType({"pattern": pattern}))


def _contained(item: StreamItem) -> ScorerChoice:
    del item
    return ScorerChoice(name="contains")


STREAMS: Mapping[str, _Stream] = MappingProxyType(
    {
        "products": _Stream(write=_product, scorer=_number),
        "coins": _Stream(write=_coins, scorer=_number),
        "sentiment": _Stream(write=_sentiment, scorer=_label),
        "dates": _Stream(write=_date, scorer=_contained),
        "ages": _Stream(write=_age, scorer=_number),
    }
)


def items(name: str, split: Split, seed: int = 0) -> Iterator[StreamItem]:
    """Yield items without end or repetition, the same ones for the same seed.

    Raises:
        InputError: There is no such stream, or all of its items were written.
    """
    if name not in STREAMS:
        raise InputError(f"no stream {name!r}. There are: {', '.join(STREAMS)}.")
    chance = random.Random(f"{name}/{split}/{seed}")  # noqa: S311 - the same tasks every time
    queries: set[str] = set()
    while True:
        for _ in range(PATIENCE):
            item = STREAMS[name].write(chance, split)
            if item.query not in queries:
                break
        else:
            raise InputError(f"the stream {name} has {len(queries)} {split} tasks. Ask for fewer.")
        queries.add(item.query)
        yield item


def stream(name: str, split: Split, *, count: int, seed: int = 0) -> list[Task]:
    """Return the first tasks of a stream. A longer one begins with the shorter one.

    Raises:
        InputError: There is no such stream, or it has fewer tasks.
    """
    return [
        Task(
            id=f"{name}-{split}-{seed}-{number:04}",
            query=item.query,
            niche=name,
            answer=item.answer,
            scorer=STREAMS[name].scorer(item),
        )
        for number, item in zip(range(count), items(name, split, seed), strict=False)
    ]

"""Solved examples: which of them are chosen, and how a prompt shows them."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from .....schema.team.task import Task
from .....schema.team.team import natural

COUNTS = (4, 2, 8)
"""The numbers of examples to try, the most promising number first."""
DRAWS = 4
"""How often examples are redrawn for each number of them."""
LEAST_SHOWN = 3
"""The fewest examples that can show a way to answer."""
MOST_LABELS = 12
LONGEST_EXAMPLE = 1_500
"""Characters of one example."""
LONGEST = 6_000
"""Characters of all examples together: about 1,500 tokens."""
HEADER = "Answer like this."


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """A question with its right answer.

    Attributes:
        label: Its class, to spread examples over classes: its answer, or the kind of its answer.
    """

    query: str
    answer: str
    niche: str = ""
    label: str = ""

    @property
    def text(self) -> str:
        """The example as a prompt shows it."""
        return f"Q: {self.query}\nA: {self.answer}"


def can_be_shown(task: Task) -> bool:
    """Return whether a task consists of a short text and nothing else."""
    is_text = not (task.files or task.attachments or task.repo or task.briefs)
    return is_text and len(task.text) <= LONGEST_EXAMPLE


def choose(examples: Sequence[Example], count: int, chance: random.Random) -> Sequence[Example]:
    """Choose examples in proportion to niches, and within each spread over its labels."""
    by_niche: defaultdict[str, list[Example]] = defaultdict(list)
    for example in chance.sample(examples, len(examples)):
        by_niche[example.niche].append(example)
    chosen = [
        example
        for niche, room in _shares(by_niche, count).items()
        for example in _spread(by_niche[niche], room, chance)
    ]
    return list(_within(LONGEST, chance.sample(chosen, len(chosen))))


def choices(examples: Sequence[Example], chance: random.Random) -> Iterator[Sequence[Example]]:
    """Yield choices of examples, several for each number of examples."""
    for _, count in product(range(DRAWS), COUNTS):
        yield choose(examples, count, chance)


def _shares(by_niche: Mapping[str, Sequence[Example]], count: int) -> Mapping[str, int]:
    """Return the number of examples for each niche."""
    places = sorted(
        ((place + 0.5) / len(those), niche)
        for niche, those in by_niche.items()
        for place in range(len(those))
    )
    return Counter(niche for _, niche in places[:count])


def _spread(examples: Sequence[Example], room: int, chance: random.Random) -> Sequence[Example]:
    """Choose examples label by label; if labels hardly recur, from the least to the greatest.

    A small model that is shown dates of one decade writes dates of that decade.
    """
    if len({example.label for example in examples}) <= min(MOST_LABELS, len(examples) / 2):
        return _label_by_label(examples)[:room]
    ordered = sorted(examples, key=lambda example: natural(example.label))
    ends = [place * len(ordered) // room for place in range(room + 1)]
    return [chance.choice(ordered[start:end]) for start, end in pairwise(ends)]


def _label_by_label(examples: Sequence[Example]) -> Sequence[Example]:
    """Return the first example of each label, then the second of each, and so on."""
    counts = Counter[str]()
    ranked: list[tuple[int, Example]] = []
    for example in examples:
        ranked.append((counts[example.label], example))
        counts[example.label] += 1
    return [example for _, example in sorted(ranked, key=lambda item: item[0])]


def _within(characters: int, examples: Sequence[Example]) -> Iterator[Example]:
    for example in examples:
        characters -= len(example.text)
        if characters >= 0:
            yield example


def with_examples(prompt: str, examples: Sequence[Example]) -> str:
    """Return a prompt that ends in these examples, in place of any that it had."""
    shown = "\n\n".join(example.text for example in examples)
    return "\n\n".join(filter(None, (without_examples(prompt), HEADER, shown)))


def without_examples(prompt: str) -> str:
    """Return a prompt without its examples."""
    return prompt.partition(f"{HEADER}\n")[0].strip()

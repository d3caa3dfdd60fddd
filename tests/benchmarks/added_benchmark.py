"""Change: a benchmark in one file. How few coins make up an amount?"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from coterie.benchmarks.evaluation.benchmark import Benchmark, Source
from coterie.runtime.agents.outcomes import Score
from coterie.schema import ScorerChoice, Task

COINS = (50, 20, 10, 5, 2, 1)


def tasks(source: Source) -> Sequence[Task]:
    """Ask for amounts, larger ones at a higher level."""
    chance, most = Random(source.seed), 10 ** (source.level + 1)
    names = [f"change-{source.seed}-{number}" for number in range(source.count or 20)]
    return [task(name, chance.randrange(1, most)) for name in names]


def task(name: str, amount: int) -> Task:
    """Ask for one amount; the reference answer is the number of coins."""
    query = f"How few coins of {COINS} make up {amount}? Let the last word be their number."
    left, answer = amount, 0
    for coin in COINS:
        answer, left = answer + left // coin, left % coin
    return Task(id=name, query=query, answer=answer, scorer=ScorerChoice(name="change"))


def change(answer: str, reference: Any, _options: Mapping[str, Any]) -> Score:
    """Take the last word of an answer; also measure by how many coins it is off."""
    last = answer.strip().rstrip(".").rpartition(" ")[2]
    off = abs(int(last) - reference) if last.isdecimal() else reference
    return Score(value=float(off == 0), reason=f"{reference} coins", measures={"off": float(off)})


CHANGE = Benchmark(
    name="change", title="Change 1", about="Counting coins.", tasks=tasks,
    licence="Apache-2.0", citation="This page.", source="Made by --seed, --level and --count.",
)  # fmt: skip

"""Tasks are split into disjoint parts, with the niches in proportion."""

import random
from collections import Counter

import pytest

from coterie.operators.methods.race.split import FEWEST, split
from coterie.schema import InputError, Task


def tasks(count: int, niches: int = 1) -> list[Task]:
    return [Task(id=f"t{n}", query=f"{n}?", niche=f"n{n % niches}") for n in range(count)]


@pytest.mark.parametrize("count", [FEWEST, 37, 200])
def test_every_task_is_in_one_part(count: int) -> None:
    parts = split(tasks(count, 3), random.Random(1))
    ids = [task.id for part in (parts.propose, parts.race, parts.held) for task in part]
    assert sorted(ids) == sorted(task.id for task in tasks(count))
    assert min(len(parts.propose), len(parts.race), len(parts.held)) >= 2


def test_niches_are_in_proportion() -> None:
    parts = split(tasks(120, 3), random.Random(1))
    for part in (parts.race, parts.held):
        counts = Counter(task.niche for task in part)
        assert max(counts.values()) - min(counts.values()) <= 2


def test_what_is_held_out_is_the_last_word() -> None:
    held_out = [Task(id=f"h{n}", query="?") for n in range(5)]
    parts = split(tasks(20), random.Random(1), held_out)
    assert {task.id for task in parts.held} == {task.id for task in held_out}
    assert len(parts.propose) + len(parts.race) == 20


def test_too_few_tasks_are_refused() -> None:
    with pytest.raises(InputError, match=f"at least {FEWEST}"):
        split(tasks(FEWEST - 1), random.Random(1))

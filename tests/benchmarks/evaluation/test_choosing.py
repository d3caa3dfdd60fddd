"""Which tasks are used: splits that share nothing, samples of every niche, a seeded order."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.benchmarks.evaluation.choosing import TaskChoice
from coterie.schema import InputError, Task

SEEDS = st.integers(0, 5)


def tasks_of(*questions: tuple[str, str]) -> list[Task]:
    """Make a task of each niche and question."""
    return [
        Task(id=f"t{number}", query=query, niche=niche or None)
        for number, (niche, query) in enumerate(questions)
    ]


def ids(tasks: Sequence[Task]) -> list[str]:
    return [task.id for task in tasks]


# Few words, so that questions come again, in one niche and in several.
ANY_TASKS = st.lists(
    st.tuples(st.sampled_from(["", "a", "b"]), st.sampled_from("vwxyz")), min_size=1, max_size=30
).map(lambda questions: tasks_of(*questions))
SOME = tasks_of(*((niche, f"{niche}{n}") for n in range(6) for niche in ("sums", "words")))


def split(tasks: Sequence[Task], name: str, **more: object) -> list[Task]:
    try:
        return TaskChoice(split=name, **more).of(tasks)  # type: ignore[arg-type]
    except InputError:
        return []


@given(tasks=ANY_TASKS, seed=SEEDS, share=st.floats(0.01, 0.99))
def test_splits_have_no_question_in_common_and_leave_none_out(tasks, seed, share) -> None:
    evolve = split(tasks, "evolve", seed=seed, evolve_share=share)
    test = split(tasks, "test", seed=seed, evolve_share=share)
    assert not set(ids(evolve)) & set(ids(test))
    assert not {task.query for task in evolve} & {task.query for task in test}
    assert sorted(ids([*evolve, *test])) == sorted(ids(tasks))
    order = ids(tasks)
    assert all(ids(part) == sorted(ids(part), key=order.index) for part in (evolve, test))


def test_the_same_question_with_another_context_is_another_question() -> None:
    tasks = [Task(id=str(n), query="What is it about?", context=f"text {n}") for n in range(10)]
    assert len(split(tasks, "evolve")) == len(split(tasks, "test")) == 5


def test_each_niche_has_its_share_of_the_split() -> None:
    assert Counter(task.niche for task in split(SOME, "evolve")) == {"sums": 3, "words": 3}
    few = split(SOME, "evolve", evolve_share=0.34)
    assert Counter(task.niche for task in few) == {"sums": 2, "words": 2}


def test_the_seed_decides_the_split_and_nothing_else_does() -> None:
    evolve = {seed: tuple(ids(split(SOME, "evolve", seed=seed))) for seed in range(8)}
    assert evolve[3] == tuple(ids(split(SOME, "evolve", seed=3)))
    assert len(set(evolve.values())) > 4
    assert set(ids(split(SOME, "evolve", shuffle=9))) == set(evolve[0])
    backwards = split(list(reversed(SOME)), "evolve")
    assert set(ids(backwards)) == set(evolve[0])


@given(tasks=ANY_TASKS, limit=st.integers(1, 40), seed=SEEDS)
def test_a_limit_gives_every_niche_its_share_and_keeps_the_order(tasks, limit, seed) -> None:
    chosen = TaskChoice(limit=limit, seed=seed).of(tasks)
    assert len(chosen) == min(limit, len(tasks))
    order = ids(tasks)
    assert ids(chosen) == sorted(ids(chosen), key=order.index)
    kept, all_of = (Counter(task.niche for task in some) for some in (chosen, tasks))
    for niche, count in all_of.items():
        assert abs(kept[niche] - len(chosen) * count / len(tasks)) < 1


def test_another_seed_leaves_other_tasks() -> None:
    left = {tuple(ids(TaskChoice(limit=4, seed=seed).of(SOME))) for seed in range(8)}
    assert len(left) > 4


def test_a_limit_cuts_the_split_not_the_whole() -> None:
    limited = split(SOME, "test", limit=4)
    assert len(limited) == 4
    assert set(ids(limited)) <= set(ids(split(SOME, "test")))


def test_shuffling_is_seeded_and_loses_nothing() -> None:
    shuffled = TaskChoice(shuffle=1).of(SOME)
    assert ids(shuffled) == ids(TaskChoice(shuffle=1).of(SOME))
    assert ids(shuffled) != ids(SOME)
    assert ids(TaskChoice(shuffle=2).of(SOME)) != ids(shuffled)
    assert sorted(ids(shuffled)) == sorted(ids(SOME))
    assert ids(SOME) == ids(TaskChoice().of(SOME))


@pytest.mark.parametrize(
    ("choice", "tasks", "message"),
    [
        (TaskChoice(), [], "'all' has no tasks; there are 0 in total"),
        (TaskChoice(split="evolve"), SOME[:1], "'evolve' has no tasks; there are 1 in total"),
        (TaskChoice(split="test", evolve_share=0.99), SOME, "'test' has no task"),
    ],
)
def test_no_task_at_all_is_said(choice: TaskChoice, tasks: list[Task], message: str) -> None:
    with pytest.raises(InputError, match=message):
        choice.of(tasks)


def test_only_tasks_whose_id_fits_a_pattern_are_taken() -> None:
    assert ids(TaskChoice(instances=["t1", "t[34]"]).of(SOME)) == ["t1", "t3", "t4"]
    assert len(TaskChoice(instances=["t1*"], limit=2).of(SOME)) == 2
    assert TaskChoice(instances=["t1"]) == TaskChoice(instances=("t1",))
    with pytest.raises(
        InputError, match=r"--instances 'x\*' matches none of the 12 ids, such as t0"
    ):
        TaskChoice(instances=["t1", "x*"]).of(SOME)

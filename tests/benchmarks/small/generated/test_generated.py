"""Generated tasks: repeatable, of growing difficulty, with answers that another way confirms."""

import json
import random
import re
from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest

from coterie.benchmarks.evaluation.benchmark import Source, find_benchmark
from coterie.benchmarks.small.generated.generated import NUMBER, GeneratedQuestion, generated
from coterie.schema import Catalogue, InputError, Task, load_task

from ....scoring import found

NAMES = ("arithmetic", "dates", "logic", "sorting", "tracking")
LEVELS = range(1, 6)


def tasks(name: str, level: int = 1, seed: int = 0, count: int | None = 40) -> list[Task]:
    return list(find_benchmark(name).tasks(Source(level=level, seed=seed, count=count)))


def value(task: Task, answer: str) -> float:
    return found(task, answer).value


def said(task: Task) -> str:
    return ", ".join(task.answer) if isinstance(task.answer, list) else task.answer


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_tasks_and_a_longer_list_begins_alike(name: str) -> None:
    assert len(tasks(name, count=None)) == 200
    assert tasks(name) == tasks(name)
    assert tasks(name, count=10) == tasks(name)[:10]
    assert tasks(name, count=0) == []


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", NAMES)
def test_no_question_comes_twice_and_other_seeds_hardly_share_any(name: str, level: int) -> None:
    some, others = (tasks(name, level, seed, count=None) for seed in (0, 1))
    queries = [{task.query for task in item} for item in (some, others)]
    assert [len(query) for query in queries] == [200, 200]
    assert len(queries[0] & queries[1]) <= 20
    assert not {task.id for task in some} & {task.id for task in others}


@pytest.mark.parametrize("name", NAMES)
def test_questions_grow_with_the_level(name: str) -> None:
    means = [sum(len(task.query) for task in tasks(name, level)) for level in LEVELS]
    if name != "dates":  # whose numbers grow instead
        assert means == sorted(means)
    assert means[0] < means[-1]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", NAMES)
def test_only_the_right_answer_scores(name: str, level: int, tmp_path: Path) -> None:
    drawn = tasks(name, level, count=10)
    for task in drawn:
        assert value(task, said(task)) == 1
        assert value(task, f"I think so.\n{said(task)}.") == 1
        assert value(task, "I do not know") == 0
        assert value(task, "") == 0
        others = [other for other in drawn if other.scorer == task.scorer]
        assert all(value(task, said(other)) == (other.answer == task.answer) for other in others)
    task, file = drawn[0], tmp_path / "task.json"
    fields = {"id": task.id, "query": task.query, "niche": task.niche, "answer": task.answer}
    scorer = {"name": task.scorer.name, **task.scorer.options}
    file.write_text(json.dumps({**fields, "scorer": scorer}))
    assert load_task(file, Catalogue.of_host()) == task


def test_what_was_considered_before_the_answer_does_not_count() -> None:
    for task in tasks("logic"):
        other = "False" if task.answer == "True" else "True"
        assert value(task, f"{other} and {other} is {task.answer.lower()}") == 1
        assert value(task, f"Not {task.answer}, but {other}") == 0
    dated = next(task for task in tasks("dates") if task.niche == "after")
    assert value(dated, f"1999-12-31 is not it. It is {dated.answer}.") == 1
    assert value(dated, f"{dated.answer} is not it. It is 1999-12-31.") == 0


KINDS = {
    "arithmetic": {"sum", "difference", "product"},
    "dates": {"after", "before", "between", "weekday"},
    "logic": {"comparison", "not"},
    "sorting": {"words", "numbers"},
    "tracking": {"who", "what"},
}


@pytest.mark.parametrize("name", NAMES)
def test_niches_are_the_kinds_of_question(name: str) -> None:
    assert {task.niche for task in tasks(name, count=None)} == KINDS[name]


def test_statements_are_true_as_often_as_false() -> None:
    for level in LEVELS:
        true = Counter(task.answer for task in tasks("logic", level, count=None))["True"]
        assert 70 <= true <= 130


def _arithmetic(query: str) -> str:
    result = re.fullmatch(r"How much is ([-+*() \d]+)\? End with the number\.", query)
    assert result
    return str(eval(result[1]))  # noqa: S307 - digits, brackets and operators only


WORDS = {
    "is less than": "<",
    "is greater than": ">",
    "is at most": "<=",
    "is at least": ">=",
}


def _logic(query: str) -> str:
    result = re.fullmatch(r"True or False\? (.+)\. End with True or False\.", query)
    assert result
    text = result[1].lower()
    for words, sign in WORDS.items():
        text = text.replace(words, sign)
    assert re.fullmatch(r"(?:[<>=() \d]|and|or|not)+", text)
    return str(eval(text))  # noqa: S307 - as the line above makes sure


def _sorting(query: str) -> list[str]:
    shown = query.partition(": ")[2].split(", ")
    if "alphabetical" in query:
        return sorted(shown)
    return sorted(shown, key=int, reverse="from the largest" in query)


def _tracking(query: str) -> str:
    has = dict(re.findall(r"(\w+) has the (\w+)\.", query))
    for item, other in re.findall(r"(\w+) and (\w+) swap", query):
        has[item], has[other] = has[other], has[item]
    who = re.search(r"Who has the (\w+) now", query)
    if who:
        return {thing: name for name, thing in has.items()}[who[1]]
    what = re.search(r"What does (\w+) have", query)
    assert what
    return has[what[1]]


def _dates(query: str) -> str:
    days = [date.fromisoformat(text) for text in re.findall(r"\d{4}-\d\d-\d\d", query)]
    if "How many days" in query:
        return str((days[1] - days[0]).days)
    if "weekday" in query:
        assert f"{days[0]} is a {days[0]:%A}." in query
        return f"{days[1]:%A}"
    result = re.search(r"is (\d+) days? (after|before)", query)
    assert result
    shift = timedelta(int(result[1]))
    return str(days[0] + shift if result[2] == "after" else days[0] - shift)


SOLVERS: dict[str, Callable[[str], object]] = {
    "arithmetic": _arithmetic,
    "dates": _dates,
    "logic": _logic,
    "sorting": _sorting,
    "tracking": _tracking,
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", NAMES)
def test_answers_follow_from_the_questions(name: str, level: int) -> None:
    for task in tasks(name, level, seed=7, count=100):
        assert SOLVERS[name](task.query) == task.answer, task.query


def test_no_result_of_arithmetic_is_negative() -> None:
    assert all(int(task.answer) >= 0 for level in LEVELS for task in tasks("arithmetic", level))


@pytest.mark.parametrize("level", [0, 6, -1])
def test_a_level_that_there_is_not_is_refused(level: int) -> None:
    with pytest.raises(InputError, match=f"sorting: level {level} is out of range"):
        tasks("sorting", level)


def test_a_stream_that_runs_dry_says_so() -> None:
    def write(chance: random.Random, level: int) -> GeneratedQuestion:
        return GeneratedQuestion(
            kind="die", query=str(chance.randint(1, 6)), answer="1", scorer=NUMBER
        )

    die = generated("die", "Die", "Six questions.", write)
    assert len(die.tasks(Source(count=6))) == 6
    with pytest.raises(InputError, match="has only 6 tasks"):
        die.tasks(Source(count=7))

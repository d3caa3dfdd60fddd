"""`differential` and `teaching`: what is known to whom, what can be had, and what chance gives."""

import asyncio
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from coterie.benchmarks.command import main as bench
from coterie.benchmarks.evaluation.benchmark import Source, find_benchmark
from coterie.benchmarks.evaluation.choosing import TaskChoice
from coterie.benchmarks.small.differential import DEPARTMENTS, CaseWorld
from coterie.benchmarks.small.teaching import STUDENT_BEFORE, TEACHERS, Language
from coterie.runtime import Evidence, Score
from coterie.runtime.doubles import ScriptedModel
from coterie.runtime.jail import Jails
from coterie.runtime.scoring.ranked import ranked
from coterie.runtime.scoring.scorers import score as scored
from coterie.schema import InputError, Task
from coterie.schema.loading.loading import read_team, team_path
from studies.differential import (
    by_chance,
    by_department,
    likeliest,
    main,
    read_brief,
    with_all_briefs,
)

from ...support.commands import ran

NAMES = ("differential", "teaching")


def tasks(name: str, level: int = 1, seed: int = 0, count: int = 40) -> list[Task]:
    return list(find_benchmark(name).tasks(Source(level=level, seed=seed, count=count)))


def question(task: Task) -> tuple[str, str]:
    return task.query, task.context


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_cases_and_a_longer_list_begins_alike(name: str) -> None:
    assert tasks(name) == tasks(name)
    assert tasks(name, count=10) == tasks(name)[:10]
    assert not {*map(question, tasks(name))} & {*map(question, tasks(name, seed=1))}
    with pytest.raises(InputError, match="out of range"):
        tasks(name, level=6)


@pytest.mark.parametrize("level", [1, 3, 5])
@pytest.mark.parametrize("name", NAMES)
def test_the_splits_of_a_seed_share_no_case_but_the_world(name: str, level: int) -> None:
    cases = tasks(name, level, count=160)
    train, test = (TaskChoice(split=split).of(cases) for split in ("evolve", "test"))
    assert len(train) + len(test) == len({*map(question, cases)}) == 160
    assert not {*map(question, train)} & {*map(question, test)}
    if name == "differential":
        assert train[0].briefs == test[0].briefs
        assert {task.answer for task in test} & {task.answer for task in train}


@pytest.mark.parametrize("level", range(1, 6))
def test_no_department_knows_all_and_all_of_them_do(level: int) -> None:
    world, cases = CaseWorld.of(0, level), tasks("differential", level)
    known = {name: read_brief(brief) for name, brief in cases[0].briefs.items()}
    assert known == {name: list(result) for name, result in world.by_department.items()}
    names = [item.name for result in known.values() for item in result]
    assert sorted(names) == sorted(by_chance(cases[0]))
    for name, hits in known.items():
        others = " ".join(brief for item, brief in cases[0].briefs.items() if item != name)
        assert not any(item.name in others for item in hits)
    assert {task.answer for task in cases} <= set(names)
    assert not any(task.answer in task.query for task in cases)


def test_a_record_makes_likely_what_bayes_says() -> None:
    item, other, *_ = CaseWorld.of(0, 1).conditions
    assert likeliest(item.frequent, CaseWorld.of(0, 1).conditions)[0] == item.name
    # By hand: two findings that only `one` has, each 0.9 against 0.02.
    first = replace(item, frequent=("a", "b"), occasional=("c",))
    second = replace(other, frequent=("d",), occasional=("c",))
    assert likeliest(["a", "d"], [first, second]) == [second.name, first.name]
    assert likeliest(["a", "b"], [first, second]) == [first.name, second.name]


@pytest.mark.parametrize("level", [1, 3])
def test_the_ceiling_lies_above_one_department_and_that_above_chance(level: int) -> None:
    cases = tasks("differential", level, count=200)

    def mrr(solve: object) -> float:
        lists = ("\n".join(solve(task)) for task in cases)  # type: ignore[operator]
        result = [
            ranked(name, task.answer, {}).value for name, task in zip(lists, cases, strict=True)
        ]
        return sum(result) / len(result)

    ceiling, alone, floor = mrr(with_all_briefs), mrr(by_department), mrr(by_chance)
    assert ceiling > 0.9 > alone + 0.1 > floor + 0.1
    count = len(by_chance(cases[0]))
    expected = sum(1 / place for place in range(1, min(10, count) + 1)) / count
    assert floor == pytest.approx(expected, abs=0.08)


def test_what_can_be_had_is_printed_with_intervals() -> None:
    shown = ran(main, "--count", "20")
    rows = [line for line in shown.output.splitlines() if line.startswith("| 5 ")]
    assert [row.split("|")[2].strip() for row in rows] == [
        "all briefs, Bayes", "one department", "chance",
    ]  # fmt: skip
    assert all(row.count("[") == 5 for row in rows)


@pytest.mark.parametrize("level", range(1, 6))
def test_a_lesson_says_the_key_and_every_word(level: int) -> None:
    language = Language.of(0, level)
    for task in tasks("teaching", level, count=20):
        (brief,) = {*task.briefs.values()}
        assert tuple(task.briefs) == TEACHERS
        phrase = re.findall('"(.*?)"', task.query)[0]
        assert len(phrase.split()) == len(language.order) == level
        assert all(f'"{word}" is' in brief for word in phrase.split())
        choices = re.findall(r"^\((.)\) (.*)$", task.query, re.MULTILINE)
        assert f"({task.answer}): {dict(choices)[task.answer]}." in brief
        assert len({text for _, text in choices}) == 4


@pytest.mark.parametrize("level", [1, 2, 5])
def test_nothing_but_the_language_tells_the_right_choice(level: int) -> None:
    """Were wrong choices made from the right one, it would be the one that is most like them."""
    cases = tasks("teaching", level, count=400)
    letters = Counter(task.answer for task in cases)
    assert all(60 < letters[letter] < 140 for letter in "ABCD")
    middle = 0
    for task in cases:
        choices = dict(re.findall(r"^\((.)\) (.*)$", task.query, re.MULTILINE))
        words = Counter(word for text in choices.values() for word in text.split())
        alike = {item: sum(words[word] for word in text.split()) for item, text in choices.items()}
        middle += max(alike, key=lambda item: alike[item]) == task.answer
    assert middle / len(cases) < 0.33


def judged(answer: str, **answers: str) -> Score:
    task = replace(tasks("teaching")[0], answer="B")
    options = {**task.scorer.options, "choices": ["a boat", "red river", "lamp", "stone"]}
    task = replace(task, scorer=replace(task.scorer, options=options))
    result = asyncio.run(scored(Evidence(task=task, answer=answer, answers=answers, jails=Jails())))
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("answer", "value"),
    [("B", 1), ("(B)", 1), ("It is B.", 1), ("Red  river", 0), ("Red river.", 1), ("lamp", 0),
     ("a boat", 0), ("", 0), ("none of them", 0)],
)  # fmt: skip
def test_a_choice_is_a_letter_or_its_text(answer: str, value: float) -> None:
    assert judged(answer).value == value
    assert judged(answer).measures == {"after": value}


@pytest.mark.parametrize(("first", "last", "gain"), [("A", "B", 1), ("B", "B", 0), ("B", "C", -1)])
def test_a_gain_is_what_is_right_after_less_before(first: str, last: str, gain: float) -> None:
    result = judged(last, **{STUDENT_BEFORE: first, "other": "B"})
    assert result.measures == {"before": first == "B", "after": last == "B", "gain": gain}


def test_whoever_is_told_something_is_in_the_seeds() -> None:
    consulting, lesson = (
        read_team(team_path(f"seed:{word}")) for word in ("consultation", "teaching")
    )
    assert consulting.execution.recruit is not None
    assert {*DEPARTMENTS} <= {*consulting.execution.recruit.among}
    assert {*TEACHERS, STUDENT_BEFORE} <= lesson.agents.keys()
    assert lesson.execution.rounds is not None
    assert STUDENT_BEFORE in lesson.execution.rounds.opening
    assert lesson.output == "student_after"


def test_a_gain_is_reported_of_a_whole_run(tmp_path: Path) -> None:
    agents = {item: {"prompt": "Answer."} for item in (STUDENT_BEFORE, "student_after")}
    team = {
        "name": "lesson",
        "agents": agents,
        "topology": {"reports_to": {STUDENT_BEFORE: ["student_after"]}, "output": "student_after"},
    }
    (tmp_path / "lesson.yaml").write_text(json.dumps(team))
    with ScriptedModel("A") as model:
        done = ran(
            bench, "run", "teaching", "--team", tmp_path / "lesson.yaml", "--count", "8",
            "--trials", "1", "--model", f"scripted@{model.api_base}", "--json",
            "--results", tmp_path / "results",
        )  # fmt: skip
    assert done.exit_code == 0, done.output
    (results,) = (tmp_path / "results").glob("*/results.json")
    report = json.loads(results.read_text())["measures"]
    right = sum(task.answer == "A" for task in tasks("teaching", count=8)) / 8
    assert report["before"]["mean"] == report["after"]["mean"] == right
    assert report["gain"]["mean"] == 0
    low, high = report["gain"]["interval"]
    assert low < 0 < high
    assert report["gain"]["n"] == 8

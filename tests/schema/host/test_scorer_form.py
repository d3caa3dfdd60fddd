"""What a task's scorer takes: options and reference answers are checked where they are written."""

from pathlib import Path

import pytest

from coterie.schema import load_task
from coterie.schema.host.scorer_form import form_of
from coterie.schema.loading.scorers import EXACT

from ...support.problems import problems_of

TASK = '{"id": "t", "query": "Which?"'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def told(fields: str) -> list[str]:
    """The problems of a task with these fields, which begin at 1:33."""
    Path("task.json").write_text(f"{TASK}, {fields}}}")
    return [problem.removeprefix("task.json:") for problem in problems_of(load_task, "task.json")]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (
            '"scorer": {"name": "ranked", "dept": 3}',
            "1:61: error: scorer.dept: unknown field. Did you mean 'depth'?",
        ),
        (
            '"scorer": {"name": "ranked", "hit": "3"}',
            "1:68: error: scorer.hit: '3' is not an integer (places, 1 to 1000). Write it"
            " without quotes: 3.",
        ),
        (
            '"scorer": {"name": "ranked", "hit": 0}',
            "1:68: error: scorer.hit: 0 is out of range (places, 1 to 1000).",
        ),
        (
            '"scorer": {"name": "ranked", "hit": 5, "depth": 3}',
            "1:68: error: scorer.hit: Hit@5 looks at more places than depth, 3.",
        ),
        ('"answer": 7, "scorer": "ranked"', "1:42: error: answer: 7 is not text, a mapp"),
        ('"answer": [], "scorer": "ranked"', "1:42: error: answer: 0 items are too few"),
        ('"answer": "-", "scorer": "ranked"', "1:42: error: answer: '-' is not a name"),
        (
            '"answer": ["a", {"nam": "b"}], "scorer": "ranked"',
            "1:48: error: answer[1]: name is missing. What it is called.",
        ),
        (
            '"answer": {"name": "a", "synonyms": ["b", 1]}, "scorer": "ranked"',
            "1:74: error: answer.synonyms[1]: 1 is not text.",
        ),
        ('"scorer": {"name": "exact", "case": true}', "1:60: error: scorer.case: unknown"),
        ('"scorer": {"name": "contains", "case": 1}', "1:71: error: scorer.case: 1 is not"),
        ('"scorer": {"name": "number", "tolerance": -1}', "1:74: error: scorer.tolerance"),
        ('"scorer": {"name": "regex", "pattern": 1}', "1:71: error: scorer.pattern: 1 is"),
        ('"scorer": {"name": "json", "strict": 1}', "1:59: error: scorer.strict: unknown"),
        (
            '"scorer": {"name": "number", "tolerence": 1}',
            "1:61: error: scorer.tolerence: unknown field. Did you mean 'tolerance'?",
        ),
        ('"scorer": {"name": "number", "tolerance": "abc"}', "1:74: error: scorer.tolerance"),
        ('"scorer": {"name": "number", "tolerance": null}', "1:74: error: scorer.tolerance"),
        ('"answer": "many", "scorer": "number"', "1:42: error: answer: 'many' is not a number"),
        ('"answer": "42", "scorer": "choice"', "1:42: error: answer: '42' is not a text with a"),
        ('"answer": "{a", "scorer": "json"', "1:42: error: answer: '{a' is not JSON"),
        (f'"answer": "{"[" * 101}{"]" * 101}", "scorer": "json"', "1:42: error: answer: it is nes"),
        (f'"answer": "{"[" * 9999}", "scorer": "json"', "1:42: error: answer: '[[[["),
        ('"answer": "NaN", "scorer": "json"', "1:42: error: answer: 'NaN' is not JSON: NaN is no"),
        ('"answer": "(", "scorer": "regex"', "1:42: error: answer: '(' is not a regular expressi"),
        ('"answer": {}, "scorer": "regex"', "1:42: error: answer: {} is not a pattern"),
        (
            '"scorer": {"name": "regex", "pattern": "(((a{100}){100}){100}){100}"}',
            "1:71: error: scorer.pattern: '(((a{100}){100}){100}){100}' is too large",
        ),
        ('"answer": "A", "scorer": "letter"', "1:57: error: scorer: letters is missing. Which"),
        ('"scorer": {"name": "letter", "letters": "]["}', "1:72: error: scorer.letters: ']['"),
        (
            '"answer": "D", "scorer": {"name": "letter", "letters": "AB"}',
            "1:42: error: answer: 'D' is not one of the letters AB.",
        ),
        ('"scorer": {"name": "mention", "among": "da"}', "1:71: error: scorer.among: 'da' is not"),
        ('"answer": "x", "scorer": "sequence"', "1:42: error: answer: 'x' is not a list"),
        ('"answer": "x", "scorer": "humaneval"', "1:42: error: answer: 'x' is not a mapping"),
        (
            '"answer": {"prompt": "", "test": "", "entry_point": "a b"}, "scorer": "humaneval"',
            "1:84: error: answer.entry_point: 'a b' is not the name of a function.",
        ),
        ('"answer": {}, "scorer": "repair"', "1:1: error: repo is missing."),
        ('"scorer": {"name": "workbench", "folder": "x"}', "1:74: error: scorer.folder: x/"),
        ('"scorer": "plancraft"', "1:42: error: scorer: target is missing. The item to be made."),
    ],
)
def test_what_a_scorer_does_not_take_is_told_with_its_place(fields: str, problem: str) -> None:
    texts = told(fields)
    assert any(line.startswith(problem) for line in texts), texts


@pytest.mark.parametrize(
    "fields",
    [
        '"answer": "a", "scorer": "ranked"',
        '"answer": ["a", {"name": "b", "synonyms": ["c"]}], "scorer": {"name": "ranked", "hit": 3}',
        '"answer": {"name": "a"}, "scorer": {"name": "ranked", "hit": 20}',
        '"answer": 1, "scorer": {"name": "number", "tolerance": 0.5}',
        '"scorer": {"name": "humaneval", "seconds": 10}',
        '"answer": "{\\"a\\": 1}", "scorer": "json"',
        '"answer": {"a": [1]}, "scorer": "json"',
        '"answer": "the (b)", "scorer": "choice"',
        '"answer": "costs 1,200", "scorer": "number"',
        '"answer": "red", "scorer": {"name": "mention", "among": ["red", "blue"]}',
        '"answer": "2020-01-01", "scorer": {"name": "mention", "among": "dates"}',
        '"answer": {"a": 1}, "scorer": {"name": "regex", "pattern": "a+"}',
    ],
)
def test_what_a_scorer_takes_loads(fields: str) -> None:
    Path("task.json").write_text(f"{TASK}, {fields}}}")
    assert load_task("task.json").id == "t"


def test_the_scorer_of_tasks_that_name_none_accepts_every_answer() -> None:
    form = form_of(EXACT)
    assert (form.reference, form.required, form.needs) == ({}, (), ())
    assert form.check({}, [{"any": None}]) == {}

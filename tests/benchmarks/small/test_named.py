"""Benchmarks of files that a user names, on small files of ours in the forms of the published."""

import gzip
import hashlib
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.benchmarks.evaluation.benchmark import Source, find_benchmark
from coterie.benchmarks.small import humaneval
from coterie.schema import InputError, Task

from ...scoring import found
from .problems import problem

WORDS: Mapping[str, Any] = {
    "question": "Ida has 1,000 pins and buys 234 more. How many has she?",
    "answer": "She had 1000.\n1000 + 234 = <<1000+234=1234>>1234\n#### 1,234",
}
MATHS: Mapping[str, Any] = {
    "problem": "What is $1 + 1$?", "answer": "2", "subject": "Counting & Probability", "level": 4,
}  # fmt: skip
CODE: Mapping[str, Any] = {
    "prompt": "Write a function to tell whether a number is even.",
    "code": "def half(n):\n    return n // 2\ndef check(n):\n    return half(n) * 2 == n",
    "test_imports": ["import math"],
    "test_list": ["assert check(4) == True", "assert check(3) == False"],
}
FILES: Mapping[str, str] = {
    "gsm8k": "gsm8k_test.jsonl",
    "hard-math": "math500.jsonl",
    "hard-math-by-subject": "math500.jsonl",
    "mbpp": "mbpp_sanitized_test.jsonl",
}


def written(folder: Path, name: str, *lines: Mapping[str, Any] | str) -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (folder / FILES[name]).write_text("\n".join(texts) + "\n", encoding="utf-8")
    return folder


def tasks(name: str, folder: Path | None) -> Sequence[Task]:
    return find_benchmark(name).tasks(Source(data=folder))


def test_a_word_problem_of_the_whole_split_is_as_in_the_selection(tmp_path: Path) -> None:
    item, other = tasks("gsm8k", written(tmp_path, "gsm8k", WORDS, {**WORDS, "answer": "#### -3"}))
    assert (item.id, item.niche, item.answer) == ("gsm8k-test-0000", "steps_2", "1234")
    assert (other.id, other.niche, other.answer) == ("gsm8k-test-0001", "steps_0", "-3")
    for answer, value in ((WORDS["answer"], 1), ("$1,234", 1), ("1235", 0), ("", 0), ("####", 0)):
        assert found(item, answer).value == value


def test_a_line_ends_where_the_file_says_so(tmp_path: Path) -> None:
    line = json.dumps({**WORDS, "question": "One\u2028two?"}, ensure_ascii=False)
    (task,) = tasks("gsm8k", written(tmp_path, "gsm8k", line))
    assert task.query.startswith("One\u2028two?")


def test_hard_problems_are_those_of_the_upper_levels_in_their_order(tmp_path: Path) -> None:
    levels = (5, 3, 4, 1)
    written(tmp_path, "hard-math", *({**MATHS, "level": level} for level in levels))
    for name, niche in (
        ("hard-math", "math_hard"),
        ("hard-math-by-subject", "counting_probability"),
    ):
        result = tasks(name, tmp_path)
        assert [(task.id, task.niche) for task in result] == [
            ("math500-001", niche),
            ("math500-003", niche),
        ]


def test_a_function_to_write_shows_its_tests_and_nothing_of_the_solution(tmp_path: Path) -> None:
    (task,) = tasks("mbpp", written(tmp_path, "mbpp", CODE))
    assert task.id == "mbpp-001"
    assert CODE["prompt"] in task.query
    assert "import math\nassert check(4) == True\nassert check(3) == False\n" in task.query
    assert "half" not in task.query + task.answer["test"]
    for answer, value in (
        (CODE["code"], 1),
        (f"So:\n```python\n{CODE['code']}\n```", 1),
        ("```python\ndef check(n):\n    return True\n```", 0),
        ("def other(n):\n    return n % 2 == 0", 0),
        ("```python\ndef check(", 0),
        ("", 0),
    ):
        result = found(task, answer)
        assert result.value == value, (answer, result.reason)


@pytest.mark.parametrize(
    ("name", "line", "why"),
    [
        ("gsm8k", "{", "not JSON"),
        ("gsm8k", {**WORDS, "question": ""}, "question is '', not str"),
        ("gsm8k", {**WORDS, "answer": "7"}, "answer ends with '7', not with #### and a number"),
        ("hard-math", {**MATHS, "level": True}, "level is True, not int"),
        ("mbpp", {**CODE, "test_list": []}, r"test_list is \[\], not list"),
        ("mbpp", {**CODE, "test_list": [7]}, "test_list is not a list of lines of code"),
        ("mbpp", {**CODE, "test_imports": "import math"}, "test_imports is not a list of lines"),
        ("mbpp", {**CODE, "test_list": ["assert check("]}, "test_list is not Python"),
        ("mbpp", {**CODE, "code": "def check("}, "code is not Python"),
        ("mbpp", {**CODE, "code": "x = 1"}, "the tests must call exactly one function of code"),
        (
            "mbpp",
            {**CODE, "test_list": ["assert check(half(4))"]},
            "must call exactly one function",
        ),
    ],
)
def test_a_line_of_another_form_is_told_with_its_place_and_what_to_give(
    tmp_path: Path, name: str, line: Mapping[str, Any] | str, why: str
) -> None:
    good = {"gsm8k": WORDS, "hard-math": MATHS, "mbpp": CODE}[name]
    with pytest.raises(InputError, match=rf"{FILES[name]}:2: .*{why}.*Name the folder that has"):
        tasks(name, written(tmp_path, name, good, line))


@pytest.mark.parametrize("name", FILES)
def test_without_its_file_a_benchmark_says_which_it_needs(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"{name}: its file is not part of coterie"):
        tasks(name, None)
    with pytest.raises(InputError, match=rf"{name}: .*{FILES[name]}' cannot be read.*--data"):
        tasks(name, tmp_path)


def test_domains_are_blocks_and_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = "".join(json.dumps(problem(task_id=f"Invented/{n}")) + "\n" for n in range(105))
    packed = gzip.compress(content.encode(), mtime=0)
    pinned = replace(humaneval.FILE.packaged, sha256=hashlib.sha256(packed).hexdigest())
    monkeypatch.setattr(humaneval, "FILE", replace(humaneval.FILE, packaged=pinned))
    (tmp_path / humaneval.FILE.name).write_bytes(packed)
    written(tmp_path, "gsm8k", *[WORDS] * 103)
    written(tmp_path, "hard-math", *[MATHS] * 101)
    written(tmp_path, "mbpp", *[CODE] * 102)
    result = tasks("domains", tmp_path)
    assert [task.niche for task in result[::100]] == ["gsm8k", "math", "mbpp", "humaneval"]
    assert Counter(task.niche for task in result) == Counter(
        {"gsm8k": 100, "math": 100, "mbpp": 100, "humaneval": 100}
    )
    assert result == find_benchmark("domains").tasks(Source(data=tmp_path, seed=7))
    assert len({task.id for task in result}) == 400
    left_out = {f"gsm8k-test-{n:04}" for n in range(103)} - {task.id for task in result}
    assert sorted(left_out) == ["gsm8k-test-0031", "gsm8k-test-0070", "gsm8k-test-0074"]
    (tmp_path / FILES["mbpp"]).unlink()
    with pytest.raises(InputError, match=r"domains: .*mbpp_sanitized_test"):
        tasks("domains", tmp_path)


@pytest.mark.parametrize(
    ("name", "count"),
    [("gsm8k", 1319), ("hard-math", 262), ("mbpp", 257), ("domains", 400)],
)
def test_the_published_files_have_all_items(name: str, count: int) -> None:
    folder = Path(os.environ.get("MAS_BENCHMARK_DATA", "nowhere")) / "streams"
    if not folder.is_dir():
        pytest.skip("MAS_BENCHMARK_DATA names no folder with `streams`, the published files")
    assert len(tasks(name, folder)) == count

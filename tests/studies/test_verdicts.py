"""Published answers are right in any form, and what is none is wrong."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from coterie.benchmarks.evaluation.benchmark import Source
from coterie.runtime.jail.detect import detect
from studies.verdicts.__main__ import main
from studies.verdicts.agreement import others, own
from studies.verdicts.answers import math_answers
from studies.verdicts.forms import FORMS

from ..benchmarks.small.test_named import CODE, MATHS, WORDS, written

ANSWERS = ("36", "\\$36", "\\frac{1}{2}", "x - 2")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    written(tmp_path, "gsm8k", WORDS)
    written(tmp_path, "hard-math", *({**MATHS, "answer": answer} for answer in ANSWERS))
    return written(tmp_path, "mbpp", CODE)


@pytest.mark.parametrize(
    ("form", "answer", "text"),
    [
        ("bare", "7", "The final answer is 7."),
        ("boxed", "7", "So it is $\\boxed{7}$."),
        ("decimals", "7", "So it is $\\boxed{7.0}$."),
        ("decimals", "-\\dfrac{24}{25}", "So it is $\\boxed{-0.96}$."),
        ("decimals", "-.15", "So it is $\\boxed{-\\frac{3}{20}}$."),
        ("decimals", "\\frac{1}{3}", "So it is $\\boxed{\\frac{1}{3}}$."),
        ("decimals", "\\frac{1}{2}x", "So it is $\\boxed{\\frac{1}{2}x}$."),
        ("dfrac", "\\frac43 + \\dfrac{1}{2}", "So it is $\\boxed{\\dfrac43 + \\frac{1}{2}}$."),
        ("displayed", "7", "Hence\n\\[ 7 \\]"),
        ("dollars", "7", "Hence it is $7$"),
        ("reordered", "x^2 - 3x + 1", "So it is $\\boxed{1-3x+x^2}$."),
        ("reordered", "6 - 5i", "So it is $\\boxed{-5i+6}$."),
        ("reordered", "2\\sqrt{3}", "So it is $\\boxed{2\\sqrt{3}}$."),
        ("reordered", "x^{a+1} + 1", "So it is $\\boxed{x^{a+1} + 1}$."),
        ("reordered", "(1,-2)", "So it is $\\boxed{(1,-2)}$."),
        ("sized", "(3,4]", "So it is $\\boxed{\\left(3,4\\right]}$."),
        ("sized", "\\left( 3, 4 \\right)", "So it is $\\boxed{( 3, 4 )}$."),
        ("sized", "\\text{(C)}", "So it is $\\boxed{\\text{(C)}}$."),
        ("spaced", "(a+5)", "So it is $\\boxed{ ( a + 5 ) }$."),
        ("with_units", "-7", "So it is $\\boxed{-7 \\text{ units}}$."),
        ("with_units", "\\text{east}", "So it is $\\boxed{\\textbf{east}}$."),
    ],
)
def test_a_form_writes_the_same_otherwise(form: str, answer: str, text: str) -> None:
    assert FORMS[form](answer) == text


def test_pairs_are_of_each_form_and_of_different_answers(data: Path) -> None:
    source = Source(data=data)
    mine = own(source)
    assert len(mine) == len(FORMS) * len(ANSWERS)
    assert {pair.form for pair in mine} == set(FORMS)
    assert own(source, sample=2) == own(source, sample=2)
    most = len(FORMS) * len(ANSWERS) * (len(ANSWERS) - 1)
    pairs = others(source, most)
    assert len({(pair.form, pair.task.id, pair.text) for pair in pairs}) == most
    assert others(source, 3) == pairs[:3]
    for pair in pairs:
        assert pair.text != FORMS[pair.form](str(pair.task.answer))


def test_the_wrong_answer_has_other_numbers(data: Path) -> None:
    wrong = [item.answers["wrong"] for item in math_answers(Source(data=data))]
    assert wrong == ["$\\frac{1}{2}$", "$\\frac{1}{2}$", "$x - 2$", "$36$"]


def test_the_command_judges_every_kind_and_tells_what_is_not_as_it_should_be(data: Path) -> None:
    if detect().tier is None:
        pytest.skip(str(detect()))
    (data / "gsm8k_test.jsonl").write_text(json.dumps({**WORDS, "answer": "#### 3\n#### 4"}) + "\n")
    words = ["--data", str(data), "--only", "gsm8k", "--only", "mbpp", "--sample", "7"]
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == 0
    rows = [line.strip("| ").split() for line in done.stdout.splitlines() if "000" in line]
    assert [(row[0], row[2], *row[6::2]) for row in rows] == [
        ("gsm8k", "1", "1.000", "0.000", "0.000", "0.000"),
        ("mbpp", "1", "1.000", "0.000", "0.000", "0.000"),
    ]
    assert done.stderr == ""


def test_published_answers_get_the_verdicts_that_are_known(nightly: bool) -> None:
    folder = Path(os.environ.get("MAS_BENCHMARK_DATA", "nowhere")) / "streams"
    if not folder.is_dir():
        pytest.skip("MAS_BENCHMARK_DATA names no folder with `streams`, the published files")
    size = [] if nightly else ["--sample", "3", "--pairs", "20"]
    done = CliRunner().invoke(main, ["--data", str(folder), *size], catch_exceptions=False)
    assert done.exit_code == 0
    lines = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if "|" in line]
    cells = [[cell.strip() for cell in line] for line in lines]
    assert [line[3:] for line in cells if line[0] in ("gsm8k", "math500", "mbpp", "humaneval")] == [
        ["1.000", "0.000", "0.000", "0.000"]
    ] * 4
    assert [line[-1] for line in cells if line[0] in FORMS] == ["0"] * len(FORMS)

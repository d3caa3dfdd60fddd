"""`math500` and `rarebench`, on small files of ours in the forms in which theirs are published."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from coterie.benchmarks.evaluation.benchmark import Source, find_benchmark
from coterie.schema import InputError, Task

from ...scoring import found

PROBLEMS = [
    {"problem": "What is $\\frac{1}{4} + \\frac{1}{4}$?",
     "solution": "They are $\\boxed{\\frac{1}{2}}$.",
     "answer": "\\frac{1}{2}", "subject": "Prealgebra", "level": 1},
    {"problem": "In how many ways do two of four fit?", "solution": "", "answer": "6",
     "subject": "Counting & Probability", "level": 3},
]  # fmt: skip


def written(folder: Path, *problems: Mapping[str, Any] | str) -> Path:
    lines = [problem if isinstance(problem, str) else json.dumps(problem) for problem in problems]
    (folder / "math500.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def tasks(name: str, folder: Path | None) -> list[Task]:
    return list(find_benchmark(name).tasks(Source(data=folder)))


def test_problems_are_tasks_with_subject_and_level_for_a_niche(tmp_path: Path) -> None:
    result = tasks("math500", written(tmp_path, *PROBLEMS))
    assert [task.id for task in result] == ["math500-001", "math500-002"]
    assert [task.niche for task in result] == ["prealgebra_1", "counting_probability_3"]
    assert result[0].answer == "\\frac{1}{2}"
    assert "\\boxed{}" in result[0].query
    assert "They are" not in result[0].query


@pytest.mark.parametrize(
    ("problem", "why"),
    [
        ("{", r"math500\.jsonl:2: not JSON"),
        ("[]", r"math500\.jsonl:2: problem is None, not str"),
        ({**PROBLEMS[0], "level": "Level 1"}, r"math500\.jsonl:2: level is 'Level 1', not int"),
        ({**PROBLEMS[0], "answer": ""}, r"math500\.jsonl:2: answer is '', not str"),
    ],
)
def test_a_line_of_another_form_is_told_with_its_place(
    tmp_path: Path, problem: Mapping[str, Any] | str, why: str
) -> None:
    with pytest.raises(InputError, match=why):
        tasks("math500", written(tmp_path, PROBLEMS[0], problem))


@pytest.mark.parametrize("name", ["math500", "rarebench"])
def test_without_its_files_a_benchmark_says_which_it_needs(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"not part of coterie\. Name (the|a) folder"):
        tasks(name, None)
    with pytest.raises(InputError, match="--data"):
        tasks(name, tmp_path)


FINDINGS = {"HP:0000001": "Long fingers", "HP:0000002": "Lens out of place"}
DISEASES = {
    "OMIM:1": "Long hand syndrome/Velmar disease",
    "ORPHA:1": "Long hand syndrome/Velmar disease",
    "OMIM:2": "Skin dysplasia, hair/tooth type",
}
CASES = [
    {"Phenotype": ["HP:0000001", "HP:0000009"], "RareDisease": ["OMIM:1", "ORPHA:1"]},
    {"Phenotype": ["HP:0000002"], "RareDisease": ["OMIM:2", "CCRD:7"], "Department": "Skin"},
]


def rare(folder: Path, *cases: Mapping[str, Any], place: str = "data") -> Path:
    for name, names in (("phenotype", FINDINGS), ("disease", DISEASES)):
        path = folder / "mapping" / f"{name}_mapping.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(names), encoding="utf-8-sig")
    (folder / place).mkdir(exist_ok=True)
    lines = "\n".join(map(json.dumps, cases))
    (folder / place / "RAMEDIS.jsonl").write_text(lines, encoding="utf-8")
    return folder


@pytest.mark.parametrize("place", ["data", "."])
def test_cases_have_names_and_any_name_of_a_disease_counts(tmp_path: Path, place: str) -> None:
    item, other = tasks("rarebench", rare(tmp_path, *CASES, place=place))
    assert (item.id, item.niche) == ("RAMEDIS-0001", "RAMEDIS")
    assert "Findings: Long fingers; HP:0000009." in item.query
    assert item.answer == [
        {
            "name": "Long hand syndrome/Velmar disease",
            "synonyms": ["Long hand syndrome", "Velmar disease"],
        }
    ]
    assert [named["name"] for named in other.answer] == [DISEASES["OMIM:2"], "CCRD:7"]
    assert other.answer[0]["synonyms"] == []
    for task, answer, value in (
        (item, "1. Something\n2. velmar disease", 0.5),
        (item, "1. Long hand syndrome / Velmar disease", 1),
        (other, "1. Tooth type", 0),
    ):
        assert found(task, answer).value == value


@pytest.mark.parametrize(
    ("case", "why"),
    [
        ({"Phenotype": ["HP:0000001"]}, r"RAMEDIS\.jsonl:1: RareDisease is not a list of codes"),
        (
            {"Phenotype": "HP:0000001", "RareDisease": ["OMIM:1"]},
            "Phenotype is not a list of codes",
        ),
        ({"Phenotype": [], "RareDisease": ["OMIM:1"]}, "Phenotype is not a list of codes"),
    ],
)
def test_wrong_cases_are_told_by_place(tmp_path: Path, case: Mapping[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        tasks("rarebench", rare(tmp_path, case))


def test_mappings_of_another_form_are_told(tmp_path: Path) -> None:
    folder = rare(tmp_path, *CASES)
    (folder / "mapping" / "disease_mapping.json").write_text('{"OMIM:1": 7}')
    with pytest.raises(InputError, match=r"disease_mapping\.json: not an object of names by code"):
        tasks("rarebench", folder)

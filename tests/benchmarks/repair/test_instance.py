"""Instances are read as SWE-bench writes them; what is wrong is told with its line."""

import json
from pathlib import Path
from typing import Any

import pytest

from coterie.benchmarks.repair.instance import Instance, parse_instance, read_instances, touched
from coterie.schema.values.errors import InputError

FIELDS: dict[str, Any] = {
    "instance_id": "owner__name-12",
    "repo": "owner/name",
    "base_commit": "0123456789abcdef" * 2 + "01234567",
    "problem_statement": "It breaks.",
    "hints_text": "Look there.",
    "test_patch": "",
    "patch": "diff",
    "FAIL_TO_PASS": '["tests/test_a.py::test_b[x y]"]',
    "PASS_TO_PASS": ["tests/test_a.py::test_c", "tests/test_d.py::test_e"],
    "version": "1.2",
    "environment_setup_commit": "fedcba",
    "created_at": "2020-01-01",
}


def written(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def check(instance: Instance) -> None:
    assert instance.instance_id == "owner__name-12"
    assert instance.fail_to_pass == ("tests/test_a.py::test_b[x y]",)
    assert instance.pass_to_pass == ("tests/test_a.py::test_c", "tests/test_d.py::test_e")
    assert instance.directives == ("tests/test_a.py", "tests/test_d.py")


def test_lists_of_tests_may_be_lists_or_json_text(tmp_path: Path) -> None:
    other = FIELDS | {"instance_id": "owner__name-13"}
    lines = f"{json.dumps(FIELDS)}\n\n{json.dumps(other)}\n"
    first, second = read_instances(written(tmp_path, "a.jsonl", lines))
    check(first)
    assert second.instance_id == "owner__name-13"
    for text in (json.dumps([FIELDS], indent=1), json.dumps({"any": FIELDS})):
        (item,) = read_instances(written(tmp_path, "a.json", text))
        check(item)


def test_the_reference_says_what_the_scorer_needs_and_no_more() -> None:
    item = parse_instance(FIELDS, "here")
    again = parse_instance(json.loads(json.dumps(item.reference())), "there")
    assert (again.fail_to_pass, again.pass_to_pass) == (item.fail_to_pass, item.pass_to_pass)
    assert (again.patch, again.problem_statement) == ("", "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"instance_id": None}, "a.json:3: the field 'instance_id' must be text"),
        ({"instance_id": "../up"}, "letters, digits"),
        ({"base_commit": "main"}, "a full commit id"),
        ({"base_commit": "--exec=x"}, "a full commit id"),
        ({"FAIL_TO_PASS": "test_a"}, "a.json:3: 'FAIL_TO_PASS' must be a list"),
        ({"PASS_TO_PASS": [1]}, "'PASS_TO_PASS' must be a list"),
        ({"eval_type": "fail_some"}, "one of pass_and_fail, fail_only"),
        ({"test_patch": 7}, "'test_patch' must be text; here it is 7"),
    ],
)
def test_faults_are_told_by_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    text = f"[\n{json.dumps(FIELDS)},\n{json.dumps(FIELDS | {'instance_id': 'b'} | change)}]"
    with pytest.raises(InputError, match=r"a\.json:3") as caught:
        read_instances(written(tmp_path, "a.json", text))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.jsonl", f"{json.dumps(FIELDS)}\n{{nothing", "a.jsonl:2: this is not JSON"),
        ("a.jsonl", f"{json.dumps(FIELDS)}\n[1]\n", "a.jsonl:2: an object is expected"),
        ("a.jsonl", f"{json.dumps(FIELDS)}\n" * 2, "a.jsonl:2: the instance .* occurs twice"),
        ("a.json", '[\n{"a": 1},\n{"b" 2}]', "a.json:3: this is not JSON"),
        ("a.json", "[" * 100_000, "a.json:1: this is not JSON"),
        ("a.json", "3", "a.json:1: a list of objects is expected, not 3"),
        ("a.parquet", "PAR1", r"must end in .json or .jsonl.*read_parquet"),
    ],
)
def test_a_file_without_instances(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_instances(written(tmp_path, name, text))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.json: it cannot be read"):
        read_instances(tmp_path / "none.json")


def test_files_that_a_patch_touches() -> None:
    patch = (
        "diff --git a/one.py b/one.py\n--- a/one.py\n+++ b/one.py\n@@ -1 +1 @@\n-a\n+b\n"
        "diff --git a/old name.py b/new.py\r\nsimilarity index 100%\r\n"
    )
    assert touched(patch) == ("one.py", "old name.py", "new.py")
    assert touched("no patch at all") == ()

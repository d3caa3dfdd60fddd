"""Predictions are written and read in the forms that the official harness takes."""

import json
from pathlib import Path

import pytest

from coterie.benchmarks.repair.predictions import Prediction, export_predictions, read_predictions
from coterie.schema.values.errors import InputError

PATCH = "diff --git a/a b/a\r\n\\ No newline at end of file"
ROWS = [("a__a-1", PATCH), ("a__a-2", None), ("a__a-3", "")]


@pytest.mark.parametrize("name", ["preds.json", "preds.jsonl"])
def test_what_is_written_is_read_to_the_last_byte(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    result = export_predictions(iter(ROWS), path, "team/a b")
    assert read_predictions(path) == result
    assert [item.patch for item in result] == [PATCH, "", ""]


def test_the_files_are_as_the_harness_documents_them(tmp_path: Path) -> None:
    export_predictions(ROWS, tmp_path / "p.json", "me")
    by_id = json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))
    assert list(by_id) == ["a__a-1", "a__a-2", "a__a-3"]
    assert by_id["a__a-1"] == {
        "instance_id": "a__a-1", "model_name_or_path": "me", "model_patch": PATCH,
    }  # fmt: skip
    export_predictions(ROWS, tmp_path / "p.jsonl", "me")
    lines = (tmp_path / "p.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == list(by_id.values())


def test_a_list_is_read_and_null_is_no_patch(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    fields = {"instance_id": "a", "model_name_or_path": "m", "model_patch": None, "cost": 3}
    path.write_text(json.dumps([fields]), encoding="utf-8")
    assert read_predictions(path) == [Prediction(instance_id="a", model="m", patch="")]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("p.jsonl", '{"instance_id": "a", "model_name_or_path": "m"}\n{"model_patch": ""}',
         "p.jsonl:2: the field 'instance_id' must be text; here it is missing"),
        ("p.json", '{"a":\n {"instance_id": "a", "model_patch": ""}}',
         "p.json:2: the field 'model_name_or_path'"),
        ("p.jsonl", '{"instance_id": "a", "model_name_or_path": "m", "model_patch": 3}',
         "p.jsonl:1: the field 'model_patch' must be text; here it is 3"),
        ("p.jsonl", '{"instance_id": "a", "model_name_or_path": "m"}\n' * 2,
         "p.jsonl:2: 'a' occurs twice"),
        ("p.txt", "", "must end in .json or .jsonl"),
    ],
)  # fmt: skip
def test_other_files_are_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_predictions(tmp_path / name)


def test_what_the_harness_would_not_take_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one file for each trial"):
        export_predictions([("a", "1"), ("a", "2")], tmp_path / "p.json", "m")
    with pytest.raises(InputError, match=r"\.json and \.jsonl, not '\.csv'"):
        export_predictions(ROWS, tmp_path / "p.csv", "m")
    with pytest.raises(InputError, match="model name"):
        export_predictions(ROWS, tmp_path / "p.json", "")
    assert list(tmp_path.iterdir()) == []

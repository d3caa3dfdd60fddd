"""The command that judges recorded predictions."""

import csv
from pathlib import Path

import pytest
from click.testing import CliRunner

from studies.workbench.__main__ import main

from ...benchmarks.workbench.conftest import QUESTIONS, write

COLUMNS = ("query", "function_calls", "full_response", "error")
LUNCH, ON = QUESTIONS["calendar"][0], QUESTIONS["email"][0]
ROWS = [
    (LUNCH[0], LUNCH[1], "x" * 200_000, ""),
    (LUNCH[0], LUNCH[1], "", "Agent stopped"),
    (ON[0], """['email.delete_email.func(email_id="00000003")']""", "", "nan"),
    ("Cancel nothing.", "[]", "", ""),
]


def test_verdicts_of_recorded_predictions(tmp_path: Path, folder: Path) -> None:
    write(tmp_path / "predictions.csv", [COLUMNS, *ROWS])
    arguments = [str(tmp_path / "predictions.csv"), "--data", str(folder)]
    done = CliRunner().invoke(main, [*arguments, "--rows", str(tmp_path / "rows.csv")])
    assert done.exit_code == 0, done.output
    assert "4 predictions, 2 correct (50.0%), 1 with side effects, 3 exact matches" in done.output
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    marks = [(row["correct"], row["side_effects"], row["exact_match"]) for row in rows]
    assert marks == [("1", "0", "1"), ("0", "0", "1"), ("0", "1", "0"), ("1", "0", "1")]


def test_several_files_are_summed(tmp_path: Path, folder: Path) -> None:
    paths = [tmp_path / name for name in ("a.csv", "b.csv")]
    for path in paths:
        write(path, [COLUMNS, *ROWS])
    done = CliRunner().invoke(main, [*map(str, paths), "--data", str(folder)])
    assert "all: 8 predictions, 4 correct" in done.output


@pytest.mark.parametrize(
    "rows",
    [
        [COLUMNS, ("Something else", "[]", "", "")],
        [COLUMNS, (LUNCH[0], "oops(", "", "")],
        [COLUMNS, (LUNCH[0], "'x'", "", "")],
        [("query", "error"), (LUNCH[0], "")],
    ],
)
def test_unfit_files_are_refused(tmp_path: Path, folder: Path, rows: list[tuple[str, ...]]) -> None:
    write(tmp_path / "p.csv", rows)
    done = CliRunner().invoke(main, [str(tmp_path / "p.csv"), "--data", str(folder)])
    assert done.exit_code == 2

"""Tables of tasks: a CSV file becomes tasks, and all that is wrong with it is told by its line."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.schema import Catalogue
from coterie.schema.loading.lines import Lines
from coterie.schema.loading.task_form import TaskForm
from coterie.schema.loading.task_table import read_table
from coterie.schema.loading.tasks import load_tasks
from coterie.schema.values.errors import ConfigError
from coterie.schema.values.problems import Problem


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("my tasks.csv")


def test_a_row_is_a_task_called_by_its_line(table: Path) -> None:
    table.write_bytes(b'\xef\xbb\xbfQuery,reference,niche\n"1, or\n2?",2,sums\n\nWhy?,,\n')
    first, second = load_tasks(table, Catalogue.of_host())
    assert (first.id, first.query, first.answer, first.niche) == (
        "my_tasks-2", "1, or\n2?", "2", "sums",
    )  # fmt: skip
    assert (second.id, second.answer, second.niche) == ("my_tasks-5", None, None)


def test_scorers_are_those_of_the_rows_else_the_one_for_all(table: Path) -> None:
    table.write_text("query,answer,scorer\na,1,\nb,2,exact\n")
    tasks = load_tasks(table, Catalogue.of_host(), TaskForm(scorer="number"))
    assert [task.scorer.name for task in tasks] == ["number", "exact"]


def test_all_bad_rows_are_told_at_once_with_their_lines(table: Path) -> None:
    table.write_text("query,answer,scorer\n,1,\na\nb,x,number\nc,1,nunber\n")
    with pytest.raises(ConfigError) as failed:
        load_tasks(table, Catalogue.of_host())
    told = str(failed.value).splitlines()
    assert [line.partition(": error: ")[0] for line in told] == [
        f"my tasks.csv:{line}:1" for line in (2, 3, 4, 5)
    ]
    assert "query is missing" in told[0]
    assert "1 cells, and the first row has 3" in told[1]
    assert "Did you mean 'number'?" in told[3]


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("qery,answer", "no column is called 'qery'. Did you mean 'query'?"),
        ("query,answer,reference", "two columns are the answer."),
        ("answer", "there is no column query."),
        ("query;answer", "no column is called 'query;answer'."),
        ("", "there is no column query."),
    ],
)
def test_a_header_that_is_wrong_is_told(table: Path, header: str, said: str) -> None:
    table.write_text(f"{header}\na,b\n")
    with pytest.raises(ConfigError) as failed:
        load_tasks(table, Catalogue.of_host())
    assert f"my tasks.csv:1:1: error: {said}" in str(failed.value)


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_rows_or_problems(content: bytes) -> None:
    for place, found in read_table(Lines(io.BytesIO(content)), "t.csv"):
        assert place.line >= 1
        assert isinstance(found, Problem | bytes)

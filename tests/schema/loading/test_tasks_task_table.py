"""Tables of tasks: a CSV file becomes tasks, and all that is wrong with it is told by its line."""

import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.schema import Catalogue, ConfigError, InputError, Problem
from coterie.schema.loading.lines import Lines
from coterie.schema.loading.task_form import TaskForm, columns_of
from coterie.schema.loading.tasks import load_tasks, read_table

from ...support.problems import problems_of


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
    texts = problems_of(load_tasks, table, Catalogue.of_host())
    assert [line.partition(": error: ")[0] for line in texts] == [
        f"my tasks.csv:{line}:1" for line in (2, 3, 4, 5)
    ]
    assert "query is missing" in texts[0]
    assert "1 cells, and the first row has 3" in texts[1]
    assert "Did you mean 'number'?" in texts[3]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("qery,answer", "no column is called 'qery'. Did you mean 'query'?"),
        ("query,answer,reference", "two columns hold the answer."),
        ("answer", "there is no column query, only 'answer'."),
        ("query;answer", "there is no column query, only 'query;answer'. The first row must name"),
        ("", "there is no column query, only none."),
    ],
)
def test_a_header_that_is_wrong_is_told(table: Path, header: str, message: str) -> None:
    table.write_text(f"{header}\na,b\n")
    with pytest.raises(ConfigError, match=re.escape(f"my tasks.csv:1:1: error: {message}")):
        load_tasks(table, Catalogue.of_host())


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_rows_or_problems(content: bytes) -> None:
    for place, result in read_table(Lines(io.BytesIO(content)), "t.csv", TaskForm()):
        assert place.line >= 1
        assert isinstance(result, Problem | bytes)


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_files_of_others_are_read_by_a_map(tmp_path: Path, suffix: str) -> None:
    rows = [
        {
            "TicketId": "T 1",
            "subject": "Broken",
            "label": "high",
            "Customer tier": "gold",
            "expected": "",
        },
        {"TicketId": "T-2", "subject": "2", "label": "low", "Customer tier": "", "expected": "x"},
    ]
    lines = [json.dumps(row) for row in rows]
    if suffix == "csv":
        lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
    path = tmp_path / f"tickets.{suffix}"
    path.write_text("\n".join(lines))
    form = TaskForm(columns=columns_of(["query=subject,answer=label", "id=TicketId"]))
    first, second = load_tasks(path, Catalogue.of_host(), form)
    assert (first.id, first.query, first.answer) == ("T_1", "Broken", "high")
    assert dict(first.fields) == {"customer_tier": "gold", "expected": ""}
    assert (second.id, second.fields["expected"]) == ("T-2", "x")


def test_numbers_of_others_are_texts_where_tasks_have_texts(tmp_path: Path) -> None:
    path = tmp_path / "tickets.jsonl"
    path.write_text('{"n": 17, "q": {"de": "Wie?"}, "niche": null, "files": 3}\n{"n": true}\n')
    form = TaskForm(columns=columns_of(["id=n", "query=q"]))
    with pytest.raises(ConfigError, match=r"tickets\.jsonl:2:1: error: query is missing"):
        load_tasks(path, Catalogue.of_host(), form)
    path.write_text('{"n": 1, "query": "Why?"}\n')
    with pytest.raises(ConfigError, match=r"jsonl:1:10: error: query: no key is called 'q'\."):
        load_tasks(path, Catalogue.of_host(), form)
    path.write_text('{"n": 17, "q": {"de": "Wie?"}, "niche": null, "files": 3}\n')
    (task,) = load_tasks(path, Catalogue.of_host(), form)
    assert (task.id, task.query, task.niche) == ("17", '{"de": "Wie?"}', None)
    assert dict(task.fields) == {"files": 3}


@pytest.mark.parametrize(
    ("words", "header", "message"),
    [
        ("query=subjekt", "subject", "no column is called 'subjekt'. Did you mean 'subject'?"),
        ("query=subject", "query,subject", "two columns hold the query. Leave one out."),
        ("tier=A,answer=B", "A,B,Tier,query", "two columns hold the tier. Leave one out."),
        ("", "subject,label", "there is no column query, only 'subject', 'label'. The first"),
        ("", "query,refernce", "Did you mean 'reference'? Or map the columns with --map."),
    ],
)
def test_unfit_maps_are_refused(table: Path, words: str, header: str, message: str) -> None:
    table.write_text(f"{header}\n")
    form = TaskForm(columns=columns_of([words] if words else ()))
    with pytest.raises(ConfigError, match=re.escape(message)):
        load_tasks(table, Catalogue.of_host(), form)


@pytest.mark.parametrize("word", ["query", "query=", "=a", "query=a,query=b", "a=x,b=x"])
def test_maps_that_cannot_be_read_are_refused(word: str) -> None:
    with pytest.raises(InputError, match="--map"):
        columns_of([word])

"""Data sets of any size: every row is read, or one line says what is larger than may be."""

import csv
import io
import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.schema import Catalogue, ConfigError, InputError
from coterie.schema.loading import lines, tasks
from coterie.schema.loading.lines import Lines
from coterie.schema.loading.loading import TASK_LIMITS
from coterie.schema.loading.tasks import TaskFile, load_tasks, open_tasks
from coterie.schema.values.document import DocumentLimits

KNOWN = Catalogue.of_host()
ENDS = ("\n", "\r\n", "\r")
WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"]) | st.sampled_from(' \n",é𝄞'),
    min_size=1,
).filter(str.strip)
ROWS = st.lists(st.tuples(WORDS, st.sampled_from(["", "a", "b"])), min_size=1, max_size=4)


@pytest.fixture
def keep_nothing(monkeypatch: pytest.MonkeyPatch) -> Catalogue:
    """Have every file be too large for memory."""
    monkeypatch.setattr(tasks, "LARGEST_IN_MEMORY", 0)
    return Catalogue.of_host()


def as_csv(rows: list[tuple[str, str]], end: str) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(
        [("query", "niche"), *rows]
    )
    return text.getvalue().encode()


def as_jsonl(rows: list[tuple[str, str]], end: str) -> bytes:
    records = [{"query": query, **({"niche": niche} if niche else {})} for query, niche in rows]
    return end.join([*(json.dumps(row, ensure_ascii=False) for row in records), ""]).encode()


@settings(max_examples=10 * settings().max_examples)
@given(
    rows=ROWS,
    end=st.sampled_from(ENDS),
    form=st.sampled_from([(".csv", as_csv), (".jsonl", as_jsonl)]),
)
def test_a_large_file_has_the_tasks_that_a_small_one_has(
    rows, end: str, form, tmp_path_factory: pytest.TempPathFactory
) -> None:
    suffix, write = form
    path = tmp_path_factory.getbasetemp() / f"any{suffix}"
    path.write_bytes(write(rows, end))
    small = load_tasks(path, KNOWN)
    assert [(task.query, task.niche or "") for task in small] == rows
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tasks, "LARGEST_IN_MEMORY", 0)
        large = open_tasks(path, KNOWN)
    assert isinstance(large, TaskFile)
    assert [*large] == small
    assert [large[at] for at in reversed(range(len(large)))] == small[::-1]
    assert large[1:] == small[1:]
    assert large.niches == [task.niche for task in small]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_no_late_row_is_lost(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = DocumentLimits(bytes=1000, nodes=50_000, scalar=500)
    for module in (lines, tasks):
        monkeypatch.setattr(module, "TASK_LIMITS", limits, raising=False)
    path = tmp_path / f"many{suffix}"
    rows = [(f"question {n} {'pad ' * 20} end of {n}", "") for n in range(200)]
    path.write_bytes((as_csv if suffix == ".csv" else as_jsonl)(rows, "\n"))
    assert [task.query for task in load_tasks(path, Catalogue.of_host())] == [
        row[0] for row in rows
    ]


def test_a_cell_may_be_as_long_as_a_query(tmp_path: Path) -> None:
    path = tmp_path / "big.csv"
    path.write_text(f"query,reference\n{'x' * TASK_LIMITS.scalar},1\n")
    assert [len(task.query) for task in load_tasks(path, Catalogue.of_host())] == [
        TASK_LIMITS.scalar
    ]
    path.write_text(f'query,reference\n"{"x" * TASK_LIMITS.scalar}x,1\n')
    with pytest.raises(ConfigError, match=r"big.csv:2:1: .*larger than 1000000 characters"):
        load_tasks(path, Catalogue.of_host())


@pytest.mark.parametrize(
    ("name", "begin"), [("a.jsonl", '{"query": "'), ("a.csv", "query,reference\n")]
)
def test_an_endless_line_says_its_limit(name: str, begin: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(begin + "x" * (TASK_LIMITS.bytes + 1))
    with pytest.raises(ConfigError, match=f"a line larger than {TASK_LIMITS.bytes} bytes"):
        load_tasks(path, Catalogue.of_host())


def test_a_large_file_is_never_in_memory(keep_nothing: Catalogue, tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    path.write_bytes(as_jsonl([("x" * 50_000, "")] * 40, "\n"))
    tracemalloc.start()
    try:
        large = open_tasks(path, keep_nothing)
        assert len(large[35].query) == 50_000
        assert tracemalloc.get_traced_memory()[1] < path.stat().st_size / 3
    finally:
        tracemalloc.stop()


def test_equal_ids_far_apart_and_problems_are_told(keep_nothing: Catalogue, tmp_path: Path) -> None:
    path = tmp_path / "ids.jsonl"
    path.write_text("".join(f'{{"id": "t{n % 299}", "query": "?"}}\n' for n in range(300)))
    with pytest.raises(ConfigError) as failed:
        open_tasks(path, keep_nothing)
    assert [str(problem) for problem in failed.value.problems] == [
        f"{path}:300:1: error: id: two tasks have the id 't0', this and {path}:1."
        " Each needs its own."
    ]
    path.write_text('{"id": 5}\n' * 300)
    with pytest.raises(ConfigError, match="there are more problems"):
        open_tasks(path, keep_nothing)


def test_a_file_changed_meanwhile_is_no_task(keep_nothing: Catalogue, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"query": "first"}\n{"query": "second"}\n')
    large = open_tasks(path, keep_nothing)
    path.write_text('{"query": "other"}\n')
    with pytest.raises(InputError, match="it changed while it was read"):
        large[1]


def test_lines_know_where_they_begin() -> None:
    read = Lines(io.BytesIO(b"a\r\nb\rc\n\nd"))
    places = [read.place, *(read.place for _ in read)]
    parts = [b"a\r\n", b"b\r", b"c\n", b"\n", b"d"]
    for place, line in reversed([*zip(places, parts, strict=False)]):
        read.seek(place)
        assert next(read) == line

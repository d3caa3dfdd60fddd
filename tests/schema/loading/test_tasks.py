"""Streams of tasks: each line by its place, and every problem of a file at its own line."""

import json
import os
from pathlib import Path

import pytest

from coterie.schema import Catalogue
from coterie.schema.command import validate
from coterie.schema.loading.tasks import load_tasks, placed_tasks

from ...support.commands import ran, refused

GOOD = {"id": "a", "query": "Why?", "briefs": {"teacher": "Ben guesses."}}


@pytest.fixture
def stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("tasks.jsonl")


def test_tasks_have_the_places_that_they_were_read_from(stream: Path) -> None:
    stream.write_text(f"{json.dumps(GOOD)}\n\n{json.dumps({**GOOD, 'id': 'b'})}\n")
    known = Catalogue.of_host()
    placed = placed_tasks(stream, known)
    assert {place: task.id for place, task in placed.items()} == {
        "tasks.jsonl:1": "a",
        "tasks.jsonl:3": "b",
    }
    assert load_tasks(stream, known) == [*placed.values()]


def test_validate_takes_a_stream_and_tells_problems_by_line_and_column(stream: Path) -> None:
    stream.write_text(json.dumps(GOOD))
    assert ran(validate.main, "tasks.jsonl").stdout == "1 file: no problems.\n"
    stream.write_text('{"id": "a", "query": "?"}\n{"id": "b", "query": "?", "briefs": {"x": 5}}\n')
    err = refused(ran(validate.main, "tasks.jsonl"))
    text = err.splitlines()[0]
    assert text.startswith("tasks.jsonl:2:43: error: briefs.x: 5 is not text.")


def test_a_stream_in_another_encoding_is_one_problem(stream: Path) -> None:
    stream.write_text(f"{json.dumps(GOOD)}\n" * 3, encoding="utf-16")
    err = refused(ran(validate.main, "tasks.jsonl"))
    assert err == "tasks.jsonl:1:1: error: the file is UTF-16. Save it as UTF-8.\n"


def test_a_pipe_that_was_read_before_is_not_called_an_empty_file() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading), os.fdopen(writing, "w") as pipe:
        pipe.write("name: a\nagents: {one: {prompt: Do it.}}\n")
        pipe.close()
        err = refused(ran(validate.main, f"/dev/fd/{reading}"))
    assert "nothing is left in this pipe. Files are read more than once: save it." in err

"""The files of a task: texts, and what is seen: images and PDFs, told by their content."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.schema import Task, load_task
from coterie.schema.values.attachments import MOST_BYTES, Attachment
from studies.providers.shown import PDF, PNG

from ...support.problems import problems_of


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def loaded(files: Any) -> Task:
    Path("task.json").write_text(json.dumps({"id": "t", "query": "What is it?", "files": files}))
    return load_task("task.json")


def told(files: Any) -> str:
    return "\n".join(problems_of(loaded, files))


@pytest.mark.parametrize(
    ("content", "media_type", "kind"),
    [
        (PNG, "image/png", "image"),
        (b"\xff\xd8\xff\xe0 and so on", "image/jpeg", "image"),
        (b"GIF89a and so on", "image/gif", "image"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp", "image"),
        (PDF, "application/pdf", "pdf"),
    ],
)
def test_a_files_content_says_what_it_is(content: bytes, media_type: str, kind: str) -> None:
    Path("notes.txt").write_bytes(content)
    task = loaded(["notes.txt"])
    assert task.files == {}
    seen = task.attachments["notes.txt"]
    assert (seen.media_type, seen.kind, seen.content) == (media_type, kind, content)


def test_a_name_makes_no_image_of_a_text() -> None:
    Path("chart.png").write_text("a chart")
    assert loaded(["chart.png"]).files == {"chart.png": "a chart"}
    assert loaded({"chart.png": "%PDF-1.4"}).attachments == {}


def test_what_is_neither_is_refused() -> None:
    Path("sheet.xlsx").write_bytes(b"PK\x03\x04\xff\xfe")
    why = "it is not UTF-8 text, and none of PNG, JPEG, GIF, WebP, PDF."
    assert f"'sheet.xlsx' cannot be read: {why}" in told(["sheet.xlsx"])


def test_a_file_may_have_another_name_than_where_it_lies() -> None:
    Path("scans").mkdir()
    Path("scans/1.png").write_bytes(PNG)
    Path("scans/1.txt").write_text("a pixel")
    task = loaded({"a.png": {"path": "scans/1.png"}, "a.txt": {"path": "scans/1.txt"}, "b": "text"})
    assert task.files == {"a.txt": "a pixel", "b": "text"}
    assert [*task.attachments] == ["a.png"]
    assert "files.a.path: 'none.png' cannot be read" in told({"a": {"path": "none.png"}})
    assert "files.a.path" in told({"a": {"path": "../a.png"}})
    assert "path" in told({"a": {}})


def test_how_large_they_may_be() -> None:
    Path("large.png").write_bytes(PNG + bytes(MOST_BYTES))
    assert f"it is larger than {MOST_BYTES} bytes" in told(["large.png"])
    for name in "abc":
        Path(name).write_bytes(PNG + bytes(7 << 20))
    assert [*loaded(["a", "b"]).attachments] == ["a", "b"]
    assert "files[2]: 'c' cannot be read: the task's images and PDFs are larger than" in told(
        ["a", "b", "c"]
    )


@given(st.binary(max_size=40))
def test_any_content_is_text_or_seen_or_refused(content: bytes) -> None:
    seen = Attachment.of(content)
    if seen is not None:
        assert seen.content == content
        assert seen.kind in {"image", "pdf"}

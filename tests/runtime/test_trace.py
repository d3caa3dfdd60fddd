"""Traces and run folders: everything is there, no secret is."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.scrubber import Scrubber
from coterie.runtime.terminal import speakable
from coterie.runtime.trace import RunFolder, Trace

KEY = 'k3y/with+odd"signs='


def test_events_are_numbered_lines_of_json(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, "team", "task", Scrubber())
    trace = Trace(folder)
    trace.emit("run_started", team="team")
    trace.emit("agent_started", "w1", level=0)
    lines = [json.loads(line) for line in (folder.path / "events.jsonl").read_text().splitlines()]
    folder.close()
    assert [line["n"] for line in lines] == [1, 2]
    assert [line["type"] for line in lines] == ["run_started", "agent_started"]
    assert lines[1]["agent"] == "w1"
    assert lines[1]["v"] == 1
    assert 0 <= lines[0]["t"] <= lines[1]["t"]


def test_two_runs_of_one_second_have_two_folders(tmp_path: Path) -> None:
    folders = {RunFolder.create(tmp_path, "team", "task", Scrubber()).path for _ in range(3)}
    assert len(folders) == 3
    assert all(folder.name.partition("Z-")[2].startswith("team-task") for folder in folders)


@pytest.mark.parametrize(
    "shown",
    [KEY, json.dumps(KEY), quote(KEY, safe=""), base64.b64encode(KEY.encode()).decode()],
)
def test_a_known_secret_is_scrubbed_in_every_form(shown: str) -> None:
    text = Scrubber([KEY])(f"before {shown} after")
    assert "[secret]" in text
    assert "odd" not in text
    assert text.startswith("before ")


def test_what_looks_like_a_key_is_scrubbed_unknown() -> None:
    assert Scrubber()("use sk-proj-4bC8dE2fG6hJ0kL3mN7p") == "use [secret]"


@given(st.text(alphabet='abcKEY-._/+=%"\\é', min_size=8, max_size=40), st.text(max_size=40))
def test_no_secret_survives(secret: str, around: str) -> None:
    assert secret not in Scrubber([secret])(around + secret + around).replace("[secret]", "")


def test_nobody_listens_and_nothing_happens() -> None:
    Trace().emit("run_started")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\nhere", "plain\ttext\nhere"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]52;c;aGk=\x07clip", "clip"),
        ("over\rwritten", "overwritten"),
        ("a\x00b\x9b31mc", "ab31mc"),
        ("abc\u202edef", "abcdef"),
        ("unfinished \x1b", "unfinished "),
    ],
)
def test_text_for_terminals_commands_nothing(text: str, shown: str) -> None:
    assert speakable(text) == shown

"""`mas-op` of what agents learn from a task: on a team's file and the folder of its run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coterie.runtime.doubles import Reply

from .test_readers import TEAMWORK, folder, mas

__all__ = ["folder"]

SAID = {"lesson": "Count.", "insight": "Überlege."}


def test_reflect_gives_a_lesson_and_an_insight_of_one_agent() -> None:
    done = mas("reflect", "trio.yaml", "solver", *TEAMWORK[1:], replies=Reply.json(SAID))
    assert done.code == 0, done.err
    assert json.loads(done.out) == SAID
    assert "Überlege." in done.out
    [call] = done.calls
    for shown in ("What is 3 + 4?", "You are [solver].", "maybe 8", "the team's answer: 0\n"):
        assert shown in call.text
    assert "first count" not in call.text
    assert "sevenish" not in call.text


def test_a_person_can_say_what_the_answer_was_worth() -> None:
    arguments = ("trio.yaml", "solver", *TEAMWORK[1:], "--reward", "0.75")
    done = mas("reflect", *arguments, replies=Reply.json(SAID))
    assert "the team's answer: 0.75\n" in done.calls[0].text


def test_a_run_without_a_score_needs_one_to_be_told(folder: Path) -> None:
    result = json.loads((folder / "run" / "result.json").read_text())
    (folder / "run" / "result.json").write_text(json.dumps({**result, "score": None}))
    done = mas("reflect", "trio.yaml", "solver", *TEAMWORK[1:])
    assert done.code == 2
    assert "--reward 0.5" in done.err


def test_fuse_gives_one_text() -> None:
    done = mas("fuse", "Count.", "Count twice.", replies=Reply.json({"text": "Count, twice."}))
    assert (done.code, done.out) == (0, "Count, twice.\n"), done.err


@pytest.mark.parametrize(
    "arguments", [("reflect", "trio.yaml", "solver", *TEAMWORK[1:]), ("fuse", "a", "b")]
)
def test_what_is_of_no_use_ends_with_one(arguments: tuple[str, ...]) -> None:
    done = mas(*arguments, replies=Reply.json({"nonsense": 1}))
    assert done.code == 1
    assert "also after one repair" in done.err
    assert mas("reflect", "trio.yaml", "sovler", *TEAMWORK[1:]).code == 2

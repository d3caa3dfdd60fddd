"""An evolution whose operators ask a program through files."""

from pathlib import Path

import pytest

from coterie.runtime.doubles import ScriptedModel
from coterie.runtime.gateway import inbox_client

from ...inbox import Question, answer, answering
from ...support.processes import KILLED
from ...waiting import wait_for
from ..evolving import RECIPE, evolve, evolving, kept, oracle, write_world

WORDS = ("--model", "boss=inbox:questions")


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox_client, "SECONDS_BETWEEN_LOOKS", 0.01)


def world(folder: Path) -> Path:
    folder.mkdir()
    write_world(folder, tasks=1)
    (folder / "recipe.yaml").write_text(f"meta_model: boss\n{RECIPE}")
    return folder


def written(question: Question) -> str:
    """Answer as the scripted model answers operators."""
    form = {"json_schema": {"schema": question["schema"]}}
    return str(oracle({**question, "response_format": form}).text)


def test_killed_while_a_question_is_pending_it_resumes_to_the_same_pool(tmp_path: Path) -> None:
    whole, killed = world(tmp_path / "whole"), world(tmp_path / "killed")
    with answering(whole / "questions", written) as asked:
        result = evolve(whole, "pool", *WORDS).ended(0)
    assert result.err.count(": waiting for an answer: questions/") == len(asked) > 1

    inbox = killed / "questions"
    with ScriptedModel(oracle) as model:
        begun = evolving(killed, "pool", model.api_base, *WORDS)
        wait_for(lambda: begun.has_ended() or [*inbox.glob("*.question.md")], "nothing is asked")
        begun.kill()
        assert begun.wait() == KILLED
    between = answer(inbox, written)
    assert between
    with answering(inbox, written) as later:
        evolve(killed, "pool", *WORDS).ended(0)
    assert kept(killed / "pool") == kept(whole / "pool")
    assert sorted(between + later) == sorted(asked)

"""`mas chat`, `mas-run --continue`, and questions from standard input."""

import json
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.command.chat import main as mas_chat
from coterie.runtime.command.run import main as mas_run
from coterie.runtime.doubles import ScriptedModel
from coterie.runtime.doubles.script import Request

from ...support.commands import CommandResult, invoked_in, mas

TEAM = 'name: solo\nagents:\n  one: {prompt: "You are alone."}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "team.yaml").write_text(TEAM)
    return tmp_path


def remembering(request: Request) -> str:
    """Answer with every word in capitals that was ever said."""
    words = str(request["messages"][-1]["content"]).split()
    return " ".join(dict.fromkeys(word for word in words if word.isupper()))


def call(folder: Path, command: Any, *words: str, typed: str = "") -> CommandResult:
    with ScriptedModel(remembering) as model:
        chosen = ["--model", f"m@{model.api_base}"]
        done = invoked_in(folder, command, [*words, *chosen], "mas", typed=typed)
    done.calls = len(model.calls)
    return done


def told(run: Path) -> Any:
    """What a run says that it continues."""
    file = run / "conversation.json"
    return json.loads(file.read_text()) if file.exists() else {"turns": []}


def runs(folder: Path) -> list[Path]:
    """The runs of a conversation, in order."""
    return sorted((folder / "runs").iterdir(), key=lambda run: len(told(run)["turns"]))


def test_each_line_is_a_run_that_knows_what_was_said(folder: Path) -> None:
    (folder / "notes.txt").write_text("Bring GLUE.")
    typed = "say RED\n\nsay BLUE\n/exit\nMORE\n"
    done = call(folder, mas_chat, "team.yaml", "--file", "notes.txt", typed=typed)
    assert (done.code, done.out) == (0, "RED GLUE.\nBLUE RED GLUE.\n"), done.err
    first, second = runs(folder)
    assert told(second) == {
        "continues": first.name,
        "turns": [{"asked": "say RED", "answered": "RED GLUE."}],
        "asked": "say BLUE",
    }
    again = call(folder, mas_run, "--continue", str(second), "-q", "say GREEN")
    assert set(again.out.split()) == {"GREEN", "BLUE", "GLUE.", "RED"}
    third = runs(folder)[-1]
    assert len(told(third)["turns"]) == 2
    same = call(folder, mas_run, "--replay", str(third), "--verify")
    assert "no difference" in same.out


def test_a_chat_keeps_to_its_budget(folder: Path) -> None:
    words = ("team.yaml", "--budget", "calls=2", "--quiet")
    done = call(folder, mas_chat, *words, typed="A\nB\nC\n")
    assert (done.code, done.calls, done.out) == (3, 2, "A\nB A\n")
    assert "the chat has spent its budget" in done.err


def test_only_what_was_answered_can_be_continued(folder: Path) -> None:
    assert call(folder, mas_run, "team.yaml", "-q", "say RED", "--budget", "tokens=1").code == 3
    (run,) = runs(folder)
    done = call(folder, mas_run, "--continue", str(run), "-q", "say BLUE")
    assert (done.code, done.calls) == (2, 0)
    assert f"Finish it first: mas-run --resume {run}" in done.err
    assert "give the next question" in call(folder, mas_run, "--continue", str(run)).err


@pytest.mark.parametrize("words", [("-q", "-"), ("-",)])
def test_a_question_comes_from_standard_input(folder: Path, words: tuple[str, ...]) -> None:
    done = call(folder, mas_run, "team.yaml", *words, "--quiet", typed="\ufeffsay RED\nand BLUE\n")
    assert (done.code, done.out) == (0, "RED BLUE\n"), done.err
    empty = call(folder, mas_run, "team.yaml", *words, typed=" \n")
    assert (empty.code, empty.calls) == (2, 0)
    assert "standard input is empty" in empty.err


def test_its_help_names_no_option_that_it_lacks() -> None:
    text = mas("chat", "--help-all").output
    assert "--query" not in text
    assert "A file for the agents. May be repeated." in text

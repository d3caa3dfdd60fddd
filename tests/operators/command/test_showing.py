"""`mas-view EVOLUTION TASK`: what was tried on a task, what of, and what it answered."""

import pytest

from coterie.runtime.command.view import main

from ...support.commands import CommandResult, invoked
from .conftest import Lab

EVOLUTION = "pool/evolutions/recipe"


def shown(*words: str) -> CommandResult:
    return invoked(main, ["--text", *words], "mas-view")


def test_all_candidates_of_a_turn_are_shown_with_edits_and_answers(lab: Lab) -> None:
    lab.evolved(1)
    result = shown(EVOLUTION, "t0").ended(0)
    tried, *_ = result.out.partition("\nnext: ")
    heads = [line for line in tried.splitlines() if line.startswith("candidate ")]
    assert [line.split()[1] for line in heads] == ["0", "1", "2"]
    assert "mutate prompts of candidate" in heads[2]
    assert ", the best; score 1, reward 1" in heads[2]
    assert "  why: it did not think" in tried
    assert "  edit: " in tried
    assert tried.count("  answer: 8") == 2
    assert tried.count("  answer: 7") == 1


def test_json_has_what_each_agent_said(lab: Lab) -> None:
    lab.evolved(1)
    report = shown(EVOLUTION, "t0", "--json").json
    agents = [set(candidate["runs"][0]["agents"]) for candidate in report["candidates"]]
    assert sorted(map(len, agents[:2])) == [1, 2]
    assert report["candidates"][report["best"]]["runs"][0]["answer"] == "7"


def test_without_its_journal_it_says_so(lab: Lab) -> None:
    lab.evolved(1)
    (lab.folder / EVOLUTION / "journal.log").unlink()
    result = shown(EVOLUTION, "t0").ended(0)
    assert "their journal is not here" in result.out


def test_the_folder_is_named_from_anywhere(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.evolved(1)
    monkeypatch.chdir(lab.folder / EVOLUTION)
    result = shown(".", "t0").ended(0)
    assert "candidate 2  mutate prompts of candidate" in result.out

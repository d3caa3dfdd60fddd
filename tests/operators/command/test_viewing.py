"""`mas-view --text` of an evolution: candidates, questions of operators, a candidate's run."""

import shlex

from coterie.runtime.command.view import main

from ...support.commands import CommandResult, invoked
from .conftest import Lab

EVOLUTION = "pool/evolutions/recipe"


def shown(*words: str) -> CommandResult:
    return invoked(main, ["--text", EVOLUTION, *words], "mas-view")


def test_an_evolution_lists_its_tasks(lab: Lab) -> None:
    lab.evolved(2)
    head, first, second, hint = shown().out.splitlines()
    assert head == f"{EVOLUTION}: 2 of 2 tasks done"
    assert first == "  t0: 1 by solo_1, 3 tried"
    assert second.startswith("  t1: 1 by ")
    assert hint == f"next: mas-view --text {EVOLUTION} TASK"


def test_a_task_shows_what_operators_were_asked_and_answered(lab: Lab) -> None:
    lab.evolved(1)
    result = shown("t0").ended(0)
    assert "candidate 2  mutate prompts of candidate" in result.out
    _, asked = result.out.split("CONVERSATION of mutate\n")
    assert "What is 0 + 7?" in asked
    assert "it did not think" in asked
    assert [item["operator"] for item in shown("t0", "--json").json["asked"]] == ["mutate"]


def test_every_candidate_is_shown_as_a_run_is_those_that_lost_too(lab: Lab) -> None:
    lab.evolved(1)
    hints = [line for line in shown("t0").out.splitlines() if line.startswith("next: ")]
    assert len(hints) == 3
    for number, hint in enumerate(hints):
        words = shlex.split(hint.removeprefix("next: "))
        text = invoked(main, ["--text", *words[2:]], "mas-view").out
        assert f"run      {EVOLUTION} candidate {number}\n" in text
        assert "  | What is 0 + 7?\n" in text
        assert "status   done\nscore    " in text
        assert "★ the answer   done" in text
        assert "CONVERSATION of one\n" in text


def test_a_candidate_that_was_not_tried_is_told(lab: Lab) -> None:
    lab.evolved(1)
    result = shown("t0", "7").ended(2)
    assert "no 'candidate 7' was logged for this task. Known: 0, 1, 2." in result.err
    assert "Did you mean 't0'?" in shown("t00").err


def test_what_is_for_no_git_stays_out_of_it_and_holds_no_key(lab: Lab) -> None:
    lab.evolved(1)
    folder = lab.folder / EVOLUTION
    assert "episodes/*/events.jsonl" in (folder / ".gitignore").read_text().splitlines()
    (log,) = (folder / "episodes").glob("*/events.jsonl")
    assert log.stat().st_size < 1_000_000

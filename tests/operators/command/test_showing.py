"""`mas-evolve show`: what was tried on a task, of what it was made, and what it answered."""

from __future__ import annotations

from .conftest import Lab


def test_all_candidates_of_a_turn_are_shown_with_edits_and_answers(lab: Lab) -> None:
    assert lab.evolve("--limit", "1").code == 0
    came = lab.command("show", "pool", "t0")
    assert came.code == 0, came.err
    heads = [line for line in came.out.splitlines() if line.startswith("candidate ")]
    assert [line.split()[1] for line in heads] == ["0", "1", "2"]
    assert "mutate prompts of candidate" in heads[2]
    assert ", the best; score 1, reward 1" in heads[2]
    assert "  why: it did not think" in came.out
    assert "  edit: " in came.out
    assert came.out.count("  answer: 8") == 2
    assert came.out.count("  answer: 7") == 1


def test_json_has_what_each_agent_said(lab: Lab) -> None:
    assert lab.evolve("--limit", "1").code == 0
    told = lab.command("show", "pool", "t0", "--json").json
    agents = [set(one["runs"][0]["agents"]) for one in told["candidates"]]
    assert sorted(map(len, agents[:2])) == [1, 2]
    assert told["candidates"][told["best"]]["runs"][0]["answer"] == "7"


def test_without_its_journal_it_says_so(lab: Lab) -> None:
    assert lab.evolve("--limit", "1").code == 0
    (lab.folder / "pool/evolutions/recipe/journal.sqlite").unlink()
    came = lab.command("show", "pool", "t0")
    assert came.code == 0
    assert "the journal that has them is not here" in came.out


def test_another_task_is_asked_back(lab: Lab) -> None:
    assert lab.evolve("--limit", "1").code == 0
    came = lab.command("show", "pool", "t")
    assert came.code == 2
    assert "no task 't' among the 1 of pool/evolutions/recipe" in came.err

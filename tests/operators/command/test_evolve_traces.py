"""`mas-evolve --otel`: a span for each task, candidate, operator and trial."""

from __future__ import annotations

from coterie.runtime.record.journal import Journal

from ...traces import nested, spans_in, tree
from .conftest import Lab


def test_an_evolution_is_a_tree_of_turns_candidates_and_operators(lab: Lab) -> None:
    words = ("--limit", "2", "--test", "test.jsonl", "--repeats", "1", "--otel", "t.jsonl")
    came = lab.evolve(*words)
    assert came.code == 0, came.err
    assert "note:" not in came.err
    spans = spans_in(lab.folder / "t.jsonl")
    assert nested(spans)
    written = (lab.folder / "t.jsonl").read_text()
    assert not any(words in written for words in ("You are", "What is", "Think.", "did not think"))
    (root,) = tree(spans).values()
    turns = [one for one in spans if one.name == "turn"]
    assert [one.told["coterie.task"] for one in turns] == ["t0", "t1"]
    assert [one.told["coterie.turn"] for one in turns] == [0, 1]
    assert [one.told["coterie.score"] for one in turns] == [one["score"] for one in lab.turns()]
    within = root["turn"]
    assert "chat m" in within["operator mutate"]
    assert within["invoke_workflow pair"] == {
        "invoke_agent one": {"chat m": {}},
        "invoke_agent two": {"chat m": {}},
    }
    candidates = {one.told.get("coterie.candidate") for one in spans} - {None}
    assert {"candidate 0", "candidate 1"} <= candidates
    trials = {one.told["coterie.subject"] for one in spans if one.name == "trial"}
    assert len(trials) >= 2
    with Journal.open(lab.folder / "pool/evolutions/recipe") as journal:
        assert sum(one.tokens for one in spans) == journal.spent().tokens
    assert sum("gen_ai.usage.input_tokens" in one.told for one in spans) == came.calls
    assert lab.evolve(*words[:-1], "u.jsonl").calls == 0
    again = spans_in(lab.folder / "u.jsonl")
    assert sum(one.tokens for one in again) == 0

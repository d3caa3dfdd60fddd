"""`mas-evolve --otel`: a span for each task, candidate, operator and trial."""

from coterie.runtime.record.journal import Journal

from ...traces import nested, spans_in, tree
from .conftest import Lab


def test_an_evolution_is_a_tree_of_turns_candidates_and_operators(lab: Lab) -> None:
    words = ("--limit", "2", "--test", "test.jsonl", "--repeats", "1", "--otel", "t.jsonl")
    result = lab.evolve(*words).ended(0)
    assert "note:" not in result.err
    spans = spans_in(lab.folder / "t.jsonl")
    assert nested(spans)
    written = (lab.folder / "t.jsonl").read_text()
    assert not any(words in written for words in ("You are", "What is", "Think.", "did not think"))
    (root,) = tree(spans).values()
    turns = [span for span in spans if span.name == "turn"]
    assert [turn.fields["coterie.task"] for turn in turns] == ["t0", "t1"]
    assert [turn.fields["coterie.turn"] for turn in turns] == [0, 1]
    assert [turn.fields["coterie.score"] for turn in turns] == [
        turn["score"] for turn in lab.turns()
    ]
    within = root["turn"]
    assert "chat m" in within["operator mutate"]
    assert within["invoke_workflow pair"] == {
        "invoke_agent one": {"chat m": {}},
        "invoke_agent two": {"chat m": {}},
    }
    candidates = {span.fields.get("coterie.candidate") for span in spans} - {None}
    assert {"candidate 0", "candidate 1"} <= candidates
    trials = {span.fields["coterie.subject"] for span in spans if span.name == "trial"}
    assert len(trials) >= 2
    with Journal.open(lab.folder / "pool/evolutions/recipe") as journal:
        assert sum(span.tokens for span in spans) == journal.spent().tokens
    assert sum("gen_ai.usage.input_tokens" in span.fields for span in spans) == result.calls
    assert lab.evolve(*words[:-1], "u.jsonl").calls == 0
    again = spans_in(lab.folder / "u.jsonl")
    assert sum(span.tokens for span in again) == 0

"""MATTRL from end to end: what was worth most on a stream of cases becomes experience."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.evolution.context import EvolutionContext
from coterie.operators.report.heldout import HeldOut, Learned
from coterie.pool.ledger.ledger import Ledger
from coterie.runtime.doubles import Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request
from coterie.runtime.values.budget import Caps
from coterie.schema.team.task import Task

from ...building import MATTRL, TASKS, Built, Killed, dying, learnt, recipe
from ...consulting import doctors

UNSEEN = [Task(id="new", query="What is 3 + 4 again?", answer="7")]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """An evolution with the settings as they are by default."""
    return learnt(tmp_path_factory.mktemp("built"), recipe())


def test_every_entry_says_its_case_agent_turn_and_credit(built: Built) -> None:
    entries, lines = built.entries, built.lines
    assert entries
    numbers = {
        (line["task"], utterance["agent"], utterance["round"]): utterance
        for line, event in zip(lines, built.utterance_events, strict=True)
        for utterance in event["utterances"]
    }
    scores = {line["task"]: line["score"] for line in lines}
    for entry in entries:
        assert entry.kind == "experience"
        assert entry.text == f"When: Two numbers, {entry.owner}.\nDo: Add.\nWhy: It was right."
        assert entry.task == f"Two numbers, {entry.owner}."
        assert numbers[str(entry.case), str(entry.owner), entry.turn or 0]["reward"] == entry.credit
        assert scores[str(entry.case)] == entry.reward
        case = int(str(entry.case)[-1])
        assert entry.id == f"evolution/000003/{case:06d}/{entry.owner}/{entry.turn}"


def test_exactly_the_best_quarter_of_the_whole_split_is_kept(built: Built) -> None:
    """Sixteen utterances, of which four are kept, whatever case they are of."""
    pairs = [
        (utterance["reward"], (line["task"], utterance["agent"], utterance["round"]))
        for line, event in zip(built.lines, built.utterance_events, strict=True)
        for utterance in event["utterances"]
    ]
    kept = {(entry.case, entry.owner, entry.turn) for entry in built.entries}
    assert (len(pairs), len(kept)) == (16, 4)
    rewards = {turn: reward for reward, turn in pairs}
    least = min(rewards[turn] for turn in kept)
    assert all(reward <= least for reward, turn in pairs if turn not in kept)
    assert [line["told"].get("entries") for line in built.lines] == [None, None, None, 4]
    event = built.lines[-1]["story"][-1]
    assert (event["event"], event["of"], event["entries"]) == ("selected", 16, 4)
    table = {
        (utterance["case"], utterance["agent"], utterance["round"]): utterance["came"]
        for utterance in event["utterances"]
    }
    assert {turn for turn, what in table.items() if what == "kept"} == kept
    assert {*table.values()} == {"kept", "not in the top 0.25 of 16"}


def test_a_batch_is_selected_from_when_it_is_complete(tmp_path: Path) -> None:
    """Of four cases in batches of three, the last batch is one case; nobody asks twice."""
    built = learnt(tmp_path, recipe(batch=3, workers=2))
    assert [line["told"].get("entries") for line in built.lines] == [None, None, 3, 1]
    assert [entry.id.split("/")[1] for entry in built.entries] == ["000002"] * 3 + ["000003"]
    cases = [f"What is {n} + {7 - n}?" for n in range(4)]
    asked = [call.text for call in built.model.calls if "[chief]" in call.text]
    assert [sum(case in text for text in asked) for case in cases] == [1] * 4


@pytest.mark.parametrize(
    ("calls", "workers", "kept"),
    [
        (8, 1, [1]),
        (15, 1, [1]),
        (16, 1, [None, 2]),
        (24, 1, [None, None, 3]),
        (24, 2, [None, None, 3]),
    ],
)
def test_a_budget_that_nobody_raises_ends_the_batch_while_it_can_be_distilled(
    tmp_path: Path, calls: int, workers: int, kept: list[int | None]
) -> None:
    """A case takes seven calls, and one of its four utterances is distilled."""
    built = learnt(tmp_path, recipe(workers=workers), budget=Caps(calls=calls))
    assert [line["told"].get("entries") for line in built.lines] == kept
    assert len(built.entries) == kept[-1]
    assert len(built.model.calls) == 8 * len(kept) <= calls


def test_what_such_a_budget_has_no_call_for_is_left_out_and_counted(tmp_path: Path) -> None:
    built = learnt(tmp_path, recipe(share=0.5), budget=Caps(calls=8))
    [line] = built.lines
    assert (len(built.entries), line["told"]["entries"]) == (1, 1)
    [lost] = line["dropped"]
    assert (lost["operator"], "calls=8" in lost["reason"]) == ("distil", True)


@pytest.mark.parametrize("writes", [5, 20, 35, 45])
def test_it_ends_there_after_the_end_at_any_moment(tmp_path: Path, writes: int) -> None:
    """The room beyond 24 calls is for those that a killed process may have paid for."""
    of, budget = recipe(), Caps(calls=30)
    clean = learnt(tmp_path / "clean", of, budget=budget)
    assert len(clean.lines) == len(clean.entries) == 3
    with pytest.raises((Killed, BaseExceptionGroup)), dying(writes):
        learnt(tmp_path / "killed", of, budget=budget)
    learnt(tmp_path / "killed", of, budget=budget)
    for file in ("pool/ledger.jsonl", "evolution/turns.jsonl"):
        assert (tmp_path / "killed" / file).read_bytes() == (clean.folder / file).read_bytes()


def test_a_stream_that_grows_begins_a_new_batch_and_keeps_what_it_had(tmp_path: Path) -> None:
    first = learnt(tmp_path, recipe(), cases=2).entries
    both = learnt(tmp_path, recipe()).entries
    assert both[: len(first)] == first
    assert [len(first), len(both)] == [2, 4]
    assert {item.case for item in both[2:]} <= {"case-2", "case-3"}


def test_a_run_that_failed_teaches_nothing_where_success_alone_may(tmp_path: Path) -> None:
    built = learnt(tmp_path, recipe(successful_only=True))
    scores = {line["task"]: line["score"] for line in built.lines}
    assert 0 < (right := sum(scores.values())) < len(scores)
    assert {scores[str(entry.case)] for entry in built.entries} == {1}
    assert len(built.entries) == right  # a quarter of four utterances each


def test_every_utterance_s_numbers_are_told(built: Built) -> None:
    lines = built.lines
    for line, event in zip(lines, built.utterance_events, strict=True):
        turns = [(utterance["agent"], utterance["round"]) for utterance in event["utterances"]]
        assert turns == [("heart", 1), ("brain", 1), ("heart", 2), ("brain", 2)]
        assert event["outcome"] == line["score"]
        for number in (1, 2):
            spoken = [
                utterance for utterance in event["utterances"] if utterance["round"] == number
            ]
            assert sum(item["ratio"] for item in spoken) == pytest.approx(1)
            assert [item["weight"] for item in spoken] == pytest.approx(
                [[0.8, 1][number - 1] / 1.8] * 2
            )
            for part in spoken:
                share = event["outcome"] * part["weight"] * part["ratio"]
                assert part["reward"] == pytest.approx(0.4 * part["score"] + 0.6 * share)
    ledger = [entry.value for entry in Ledger(built.folder / "pool/ledger.jsonl").read()]
    about = [item["about"] for item in ledger if item.get("what") == "utterances"]
    assert [item["case"] for item in about] == [line["task"] for line in lines]
    assert [item["utterances"] for item in about] == [
        fields["utterances"] for fields in built.utterance_events
    ]


def reminders(model: ScriptedModel) -> int:
    return sum("When: Two numbers" in call.text and "[heart]" in call.text for call in model.calls)


def test_it_is_built_without_experience_and_then_used_frozen(tmp_path: Path) -> None:
    async def test(context: EvolutionContext) -> list[dict[str, Any]]:
        before = (context.pool.folder / "ledger.jsonl").read_bytes()
        subject = Learned(strategy=MATTRL, view=context.view(), after=len(TASKS))
        trials = await HeldOut(
            context=context, subjects=[subject], tasks=UNSEEN, repeats=1, workers=1
        ).to_the_end()
        assert (context.pool.folder / "ledger.jsonl").read_bytes() == before
        return trials

    result = learnt(tmp_path, recipe(), after=test)
    assert reminders(result.model) == 2  # the two rounds of the test
    [trial] = result.result
    assert trial["usage"]["calls"] == 5


def test_agents_recall_while_it_is_built_only_if_they_are_to(tmp_path: Path) -> None:
    assert reminders(learnt(tmp_path, recipe(recalls=True, batch=1)).model) > 2


def test_what_is_kept_depends_on_no_speed_and_no_workers(built: Built, tmp_path: Path) -> None:
    def slow_first(request: Request) -> Reply:
        slow = "What is 0 + 7?" in message_text(request)
        return replace(doctors(request), latency=0.01 if slow else 0)

    item = learnt(tmp_path / "one", recipe(workers=3))
    two = learnt(tmp_path / "two", recipe(workers=3), script=slow_first)
    assert item.entries == two.entries == built.entries
    assert item.lines == two.lines

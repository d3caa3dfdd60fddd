"""An open roster at work: who reads what, how a run ends, and what a run that goes on repeats."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime import Budget, Caps
from coterie.runtime.agents.acts import Finalize, Terminate
from coterie.runtime.record.trace import Event

from ..rosters import Does, crew, obeys, played, scripted, start, to

WAITS = Does(says="")
ADDS = scripted(
    lead=[
        Does([start("a", "add 1 and 2"), start("b", "check it")]),
        WAITS,
        Does([Finalize(answer="3")]),
    ],
    a=[Does([to("b", "it is 3")], says="told b")],
    b=[WAITS, Does([to("lead", "3 is right")])],
)


def test_agents_start_each_other_and_one_hands_in() -> None:
    events: list[Event] = []
    team = crew("a", "b", "c")
    run = played(team, ADDS, events=events)
    obeys(team, run, events)
    assert (run.status, run.answer, run.answered_by, run.error) == ("done", "3", "lead", None)
    assert run.ending is not None
    assert (run.ending.why, run.ending.by, dict(run.ending.turns)) == (
        "finalized", "lead", {"lead": 3, "a": 1, "b": 2},
    )  # fmt: skip
    assert [(item.kind, item.sender, item.to, item.text) for item in run.bus] == [
        ("task", "", "lead", ""),
        ("start", "lead", "a", "add 1 and 2"),
        ("start", "lead", "b", "check it"),
        ("message", "a", "b", "it is 3"),
        ("answer", "a", "lead", "told b"),
        ("message", "b", "lead", "3 is right"),
        ("finalize", "lead", "", "3"),
    ]
    assert {name: agent.status for name, agent in run.agents.items()} == {
        "lead": "done", "a": "done", "b": "done", "c": "skipped",
    }  # fmt: skip
    assert run.usage.calls == 6


def broken(*_: object) -> Does:
    return Does(says="out of order")


def test_silence_of_all_has_the_lead_hand_in() -> None:
    mind = scripted(lead=[Does([start("a")]), WAITS, Does(says="what I have")], a=[Does(says="no")])
    run = played(crew("a"), mind)
    assert (run.status, run.answer, run.answered_by) == ("done", "what I have", "lead")
    assert run.ending is not None
    assert (run.ending.why, run.ending.turns["lead"]) == ("silence", 3)
    assert (run.bus[-1].kind, run.bus[-1].text) == ("finalize", "what I have")


def test_giving_up_is_no_answer() -> None:
    run = played(crew("a"), scripted(lead=[Does([Terminate(reason="no numbers")])]))
    assert (run.status, run.answer) == ("failed", None)
    assert run.error == "lead gave up: no numbers"


CHAT = scripted(lead=[Does([start("a")]), Does([to("a")])], a=[Does([to("lead")])])


@pytest.mark.parametrize(
    ("limits", "why", "sent", "turns"),
    [
        ({"messages": 5}, "messages", 5, {"lead": 4, "a": 3}),
        ({"turns": 4}, "turns", 8, {"lead": 5, "a": 4}),
    ],
)
def test_a_limit_has_the_lead_hand_in(
    limits: dict[str, int], why: str, sent: int, turns: dict[str, int]
) -> None:
    events: list[Event] = []
    team = crew("a", **limits)
    run = played(team, CHAT, events=events)
    assert run.ending is not None
    obeys(team, run, events)
    assert (run.status, run.ending.why, run.ending.sent) == ("done", why, sent)
    assert dict(run.ending.turns) == turns


def test_time_is_up_and_who_is_at_work_is_cut_off() -> None:
    mind = scripted(
        lead=[Does([start("slow")]), Does(says="what I have")],
        slow=[Does(hangs=True)],
    )
    run = played(crew("slow", timeout=0.2), mind)
    assert run.ending is not None
    assert (run.status, run.answer, run.ending.why) == ("done", "what I have", "seconds")
    assert run.agents["slow"].status == "cancelled"


def test_who_does_not_hand_in_in_time_has_no_answer() -> None:
    mind = scripted(lead=[WAITS, Does(hangs=True)])
    run = played(crew("a", wrap_up=0.1), mind)
    assert (run.status, run.answer, run.over_budget) == ("stopped", None, False)
    assert run.error is not None
    assert run.error.startswith("nobody had any mail left, and lead handed nothing in: the run")


def test_money_is_a_limit_of_the_whole_run(tmp_path: Path) -> None:
    def limited(calls: int) -> Any:
        budget = Budget(Caps(calls=calls))
        return played(crew("a", turns=5), CHAT, folder=tmp_path, budget=budget)

    stopped = limited(4)
    assert (stopped.status, stopped.over_budget, stopped.ending.why) == ("stopped", True, "cost")
    assert stopped.error.startswith("the run has reached its budget calls=4")
    done = limited(99)
    assert (done.status, done.ending.why, done.usage.calls) == ("done", "turns", 11)


def test_what_is_left_of_the_money_is_for_handing_in(tmp_path: Path) -> None:
    """A dear call does not fit any more, and a cheap one does."""
    budget, team = Budget(Caps(tokens=5_000)), crew("dear")
    dear = replace(team.agents["dear"], max_tokens=8_000)
    team = replace(team, agents={**team.agents, "dear": dear})
    mind = scripted(lead=[Does([start("dear")]), Does(says="what I have")], dear=[Does(says="x")])
    run = played(team, mind, folder=tmp_path, budget=budget)
    assert run.ending is not None
    assert (run.status, run.answer, run.ending.why) == ("done", "what I have", "cost")
    again = played(team, broken, folder=tmp_path, replaying=True)
    assert (again.answer, again.bus, again.ending) == (run.answer, run.bus, run.ending)


def fails_once(policy: str) -> tuple[Any, list[Event]]:
    events: list[Event] = []
    mind = scripted(
        lead=[Does([start("a"), start("b")]), Does(says="on"), Does([Finalize(answer="ok")])],
        a=[Does([to("b", "never said")], fails=True)],
        b=[Does(delay=50, says="mine")],
    )
    return played(crew("a", "b", on_error=policy), mind, events=events), events


def test_who_fails_is_lost_and_colleagues_hear_of_it() -> None:
    run, events = fails_once("degrade")
    assert (run.status, run.answer) == ("done", "ok")
    assert [(item.to, item.text) for item in run.bus if item.kind == "failed"] == [
        ("lead", "it is lost.")
    ]
    assert not [item for item in run.bus if item.sender == "a" and item.kind == "message"]
    assert [event.agent for event in events if event.type == "agent_left"] == ["a"]
    assert run.agents["a"].status == "failed"


def test_who_fails_is_lost_and_nobody_hears_of_it() -> None:
    run, _ = fails_once("skip")
    assert run.ending is not None
    assert not [item for item in run.bus if item.kind == "failed"]
    assert (run.status, run.ending.why) == ("done", "silence")


def test_a_failure_fails_the_run() -> None:
    run, _ = fails_once("fail")
    assert (run.status, run.error) == ("failed", "agent a, in its turn 1: it is lost.")
    assert run.agents["a"].status == "failed"


def test_a_run_that_failed_goes_on_where_it_was(tmp_path: Path) -> None:
    team = crew("a", "b")
    mends = [True]

    def mind(agent: str, now: str, ever: str) -> Does:
        if agent == "b" and mends:
            mends.pop()
            return Does(says="out of order")
        return ADDS(agent, now, ever)

    failed = played(team, mind, folder=tmp_path)
    assert (failed.status, failed.infrastructure_failures) == ("failed", 1)
    done = played(team, mind, folder=tmp_path)
    assert (done.status, done.answer, done.usage.calls) == ("done", "3", 6)


def test_one_place_to_work_is_taken_in_turns() -> None:
    team = crew("a", "b", "c")
    team = replace(team, execution=replace(team.execution, parallel_workers=False))
    starts = Does([start(name) for name in "abc"])
    mind = scripted(lead=[starts, Does([Finalize(answer="x")])], **{
        name: [Does(says=f"from {name}", delay=9)] for name in "abc"
    })  # fmt: skip
    events: list[Event] = []
    run = played(team, mind, events=events)
    obeys(team, run, events)
    spans = [event.type for event in events if event.type in {"agent_started", "agent_finished"}]
    assert spans == ["agent_started", "agent_finished"] * (len(spans) // 2)

"""Open rosters under any timing: no deadlock, no message lost or doubled; killed, they go on."""

import asyncio
import hashlib
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.runtime import Run
from coterie.runtime.agents.acts import Act, Finalize, Send, Start, Stop, Terminate
from coterie.runtime.doubles import ScriptedModel
from coterie.runtime.record.trace import Event
from coterie.runtime.roster.bus import Bus
from coterie.schema import Team

from ..runtime.rosters import Does, Mind, Minds, crew, logged, obeys, plan_of, play
from ..virtual_time import run_virtually
from .crashes import CrashingJournal
from .programs import roster

NAMES = ("lead", "a", "b", "c", "d", "e")


def any_mind(seed: int, *, failing: bool) -> Mind:
    """Agents that do anything, by what they read alone; how long each takes is anything, too."""

    def mind(agent: str, now: str, ever: str) -> Does:
        text = f"{seed}{agent}{now}{ever.count('did')}"
        chance = random.Random(hashlib.sha256(text.encode()).digest())
        acts = [_act(chance) for _ in range(chance.choice([0, 1, 1, 2, 3]))]
        fails = failing and chance.random() < 0.1
        says = chance.choice(["", f"{agent} says so"])
        return Does(acts, says=says, delay=chance.randrange(40), fails=fails)

    return mind


def _act(chance: random.Random) -> Act:
    agent, text = chance.choice([*NAMES, "nobody"]), f"text {chance.randrange(9)}"
    match chance.choice(["send"] * 6 + ["start"] * 6 + ["stop", "stop", "finalize", "terminate"]):
        case "send":
            return Send(to=agent, text=text)
        case "start":
            return Start(agent=agent, text=text)
        case "stop":
            return Stop(agent=agent)
        case "finalize" if chance.random() < 0.3:
            return Finalize(answer=text)
        case "terminate" if chance.random() < 0.3:
            return Terminate(reason=text)
        case _:
            return Send(to="lead", text=text)


@st.composite
def crews(draw: st.DrawFn) -> Team:
    """Teams of one to six candidates with any limits."""
    return crew(
        *NAMES[1 : draw(st.integers(1, 6))],
        alive=draw(st.integers(1, 5)),
        messages=draw(st.integers(1, 12)),
        turns=draw(st.integers(1, 6)),
        on_error=draw(st.sampled_from(["fail", "skip", "degrade", "degrade"])),
    )


def test_whatever_agents_do_and_whenever_nothing_is_lost_and_all_ends(nightly: bool) -> None:
    cases, ends, most = 0, set[str](), 10_000 if nightly else 100

    @settings(max_examples=most)
    @given(team=crews(), seed=st.integers(0, 2**32), workers=st.sampled_from([True, 1, 2]))
    def check(team: Team, seed: int, workers: bool | int) -> None:
        nonlocal cases
        events: list[Event] = []
        mind = any_mind(seed, failing=team.execution.on_error != "fail")
        run = run_virtually(play(plan_of(_working(team, workers)), Minds(mind), events=events))
        assert run.ending is not None
        obeys(team, run, events)
        assert run.status in {"done", "failed"}
        assert (run.answer is None) == (run.status == "failed")
        ends.add(run.ending.why)
        cases += 1

    check()
    assert cases >= most
    assert ends >= {"finalized", "terminated", "silence", "messages", "turns", "failed"}


def _working(team: Team, workers: bool | int) -> Team:
    return replace(team, execution=replace(team.execution, parallel_workers=workers))


def run_once(
    team: Team, minds: Minds, folder: Path, *, crash_at: float = 0, after: bool = False,
    replaying: bool = False, events: list[Event] | None = None,
) -> tuple[Run | None, Sequence[Any]]:  # fmt: skip
    """Run a team with the journal of a folder; it may crash. Gives what the journal says, too."""

    async def process() -> Run | None:
        work = play(plan_of(team), minds, journal=journal, events=events)
        journal.process = asyncio.create_task(work)
        await asyncio.wait({journal.process})
        return None if journal.process.cancelled() else journal.process.result()

    with CrashingJournal.open(folder, replaying=replaying) as journal:
        journal.crash_at, journal.after = crash_at or float("inf"), after
        run = asyncio.run(process())
        assert not journal.divergences
        return run, tuple(logged(journal))


def told(run: Run) -> Any:
    agents = {
        name: (
            agent.status,
            agent.result,
            agent.error,
            agent.usage,
            agent.attempts,
            agent.tool_calls,
        )
        for name, agent in run.agents.items()
    }
    return (
        run.status,
        run.answer,
        run.answered_by,
        run.error,
        run.usage,
        run.bus,
        run.ending,
        agents,
    )


def test_killed_at_any_entry_nothing_that_happened_is_undone(nightly: bool, tmp_path: Path) -> None:
    """What a killed run did stands, is paid for once, and a replay comes to it to the byte."""
    cases = crashes = 0
    most = 1_000 if nightly else 12

    @settings(max_examples=most)
    @given(
        team=crews(),
        seed=st.integers(0, 2**32),
        moments=st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=2, max_size=5),
    )
    def check(team: Team, seed: int, moments: list[tuple[int, bool]]) -> None:
        nonlocal cases, crashes
        folder = tmp_path / f"{cases}"
        folder.mkdir(exist_ok=True)
        mind = any_mind(seed, failing=team.execution.on_error != "fail")
        before: Sequence[Any] = ()
        calls = 0
        for moment, after in moments:
            minds = Minds(mind)
            run, happened = run_once(team, minds, folder, crash_at=moment, after=after)
            assert happened[: len(before)] == before
            before, calls = happened, calls + minds.calls
            crashes += run is None
        last, events = Minds(mind), list[Event]()
        resumed, happened = run_once(team, last, folder, events=events)
        assert resumed is not None
        assert happened[: len(before)] == before
        obeys(team, resumed, events)
        assert resumed.usage.calls <= calls + last.calls
        assert [*resumed.bus][: len(_posted(team, happened))] == _posted(team, happened)
        if resumed.ending is not None and resumed.ending.why != "failed":
            silent = Minds(mind)
            replayed, _ = run_once(team, silent, folder, replaying=True)
            assert replayed is not None
            assert told(replayed) == told(resumed)
            assert silent.calls == 0
        cases += 1

    check()
    assert cases >= most
    assert crashes > cases


def _posted(team: Team, happened: Sequence[Any]) -> list[Any]:
    limits = team.execution.roster
    assert limits is not None
    bus = Bus(candidates=tuple(team.agents), roster=limits)
    for event in happened:
        bus.apply(event)
    return bus.posted


@pytest.mark.parametrize(
    ("limits", "why", "message"),
    [
        ({}, "finalized", "6"),
        ({"alive": 3}, "silence", "what there is"),
        ({"messages": 9}, "messages", "what there is"),
        ({"turns": 1}, "turns", "what there is"),
    ],
)
def test_members_of_smolagents_keep_to_order_mailboxes_and_limits(
    limits: dict[str, int], why: str, message: str, tmp_path: Path
) -> None:
    events: list[Event] = []
    team = roster.crew(**limits)
    with ScriptedModel(roster.answer) as model:
        run = roster.run(tmp_path, model, team=team, events=events)
    assert run.ending is not None
    obeys(team, run, events)
    assert (run.status, run.answer, run.ending.why) == ("done", message, why)
    assert {agent.status for agent in run.agents.values()} <= {"done", "skipped", "cancelled"}


def test_killed_at_any_commit_it_comes_to_the_same(nightly: bool, tmp_path: Path) -> None:
    killed = 0
    for resumed, is_alike in roster.kill_and_resume(tmp_path, 1 if nightly else 40):
        assert (resumed.status, resumed.answer) == ("done", "6")
        assert is_alike
        killed += 1
    assert killed >= (100 if nightly else 2)

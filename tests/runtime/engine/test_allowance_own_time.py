"""Whose time it is: a team's limits bound what it does, not what it waits for."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from coterie.runtime.engine.allowance import OwnTime
from coterie.runtime.gateway import CallError
from coterie.runtime.runners import Assignment
from coterie.runtime.values.budget import Caps

from ...provider import answer, in_turn
from ...virtual_time import virtually
from ..conftest import Scripted, llm, team
from ..timed import FOR_EVER, always, run

ASK = [{"role": "user", "content": "What is two and two?"}]
EDGES = {"one": ("last",), "two": ("last",)}


def doing(*steps: float | str) -> Scripted:
    """Work so many seconds, ask the model, or wait for the host, in turn."""

    async def part(assignment: Assignment) -> str:
        for step in steps:
            if step == "ask":
                await assignment.client.chat(ASK)
            elif step == "queue":
                with assignment.waiting():
                    await asyncio.sleep(FOR_EVER)
            else:
                await asyncio.sleep(float(step))
        return "4"

    return Scripted(part)


BUSY = CallError("HTTP 429", kind="busy", retry_after=3.0)


def test_an_agent_whose_model_hangs_is_stopped_at_its_timeout_and_not_to_blame() -> None:
    result, seconds = run(team(llm("solo", timeout=4)), always(FOR_EVER))
    assert (result.status, seconds) == ("failed", 4)
    assert result.agents["solo"].fault == "slow"
    assert "no whole answer within 4 seconds, the agent's timeout" in str(result.error)
    assert result.is_infrastructure_failure


def test_an_agent_may_wait_longer_than_its_timeout_before_a_retry() -> None:
    result, seconds = run(team(llm("solo", timeout=4)), in_turn(BUSY, BUSY, answer()))
    assert (result.status, result.answer) == ("done", "four")
    assert seconds > 6


def test_an_agent_whose_provider_stays_busy_is_not_to_blame() -> None:
    result, _ = run(team(llm("solo", timeout=4)), in_turn(BUSY, BUSY, BUSY))
    assert (result.status, result.agents["solo"].fault) == ("failed", "busy")
    assert result.is_infrastructure_failure


def test_agents_may_queue_for_a_slot_of_their_model_longer_than_their_timeout() -> None:
    voters = [llm(f"w{n}", timeout=4) for n in range(8)]
    edges = {voter.id: ("judge",) for voter in voters}
    result, seconds = run(
        team(*voters, llm("judge", timeout=4), edges=edges), always(3), concurrency=1
    )
    assert (result.status, seconds) == ("done", 27)


def test_an_agent_whose_model_is_slow_each_time_goes_on() -> None:
    """Its calls are bounded by its steps; the time that they take is the model's."""
    steps = doing(*["ask", 0.5] * 6)
    result, seconds = run(team(llm("solo", timeout=4)), always(3.5), {"solo": steps})
    assert (result.status, seconds) == ("done", 24)


def test_an_agent_that_works_beyond_its_timeout_fails_by_itself() -> None:
    steps = doing("ask", 2, "ask", FOR_EVER)
    result, seconds = run(team(llm("solo", timeout=4)), always(3), {"solo": steps})
    assert (result.status, seconds) == ("failed", 10)
    assert result.agents["solo"].fault == "agent"
    assert result.error == "agent solo: it reached its timeout, 4 seconds of work."
    assert not result.is_infrastructure_failure


def test_an_agent_that_waits_for_the_host_is_not_at_work() -> None:
    solo = team(llm("solo", timeout=4), timeout=60)
    result, seconds = run(solo, always(1), {"solo": doing("queue")})
    assert (result.status, seconds, result.fault) == ("stopped", 60, "slow")
    assert result.is_infrastructure_failure


@pytest.mark.parametrize(
    ("item", "two", "blamed"),
    [
        (["ask"], ["ask"], False),
        ([1, "ask"], [50, "ask"], False),  # all wait in the end
        (["ask"], [40, "ask", FOR_EVER], False),  # all wait in the end
        (["ask"], [FOR_EVER], True),
        ([FOR_EVER], [1], True),
    ],
)
def test_a_run_is_to_blame_for_its_work_only(item: list[Any], two: list[Any], blamed: bool) -> None:
    sides = team(*map(llm, ("one", "two", "last")), edges=EDGES, timeout=60)
    scripts = {"one": doing(*item), "two": doing(*two)}
    result, seconds = run(sides, always(FOR_EVER), scripts, timeout=1e6)
    assert (result.status, seconds) == ("stopped", 60)
    assert result.is_infrastructure_failure is not blamed
    assert result.fault == (None if blamed else "slow")
    assert ("waited for its models" in str(result.error)) is not blamed


def test_a_run_that_waited_for_most_of_its_timeout_is_not_to_blame() -> None:
    """What it would have come to with a quicker model, the next try tells."""
    result, seconds = run(
        team(llm("solo"), timeout=60), always(31), {"solo": doing("ask", FOR_EVER)}
    )
    assert (result.status, seconds, result.fault) == ("stopped", 60, "slow")
    quicker, _ = run(team(llm("solo"), timeout=60), always(29), {"solo": doing("ask", FOR_EVER)})
    assert (quicker.status, quicker.fault) == ("stopped", None)


def test_an_answer_counts_though_others_waited_when_the_run_was_stopped() -> None:
    sides = replace(team(llm("one"), llm("two"), timeout=60), declared_output="one")
    scripts = {"one": doing(1), "two": doing("ask")}
    result, _ = run(sides, always(FOR_EVER), scripts)
    assert (result.status, result.answer, result.fault) == ("stopped", "4", None)
    assert not result.is_infrastructure_failure


def test_hurried_callers_say_nothing_of_an_endpoint() -> None:
    """Others get their answers, however often it was too slow for someone."""
    hurried = [llm(f"w{n}", timeout=1) for n in range(10)]
    edges = {item.id: ("judge",) for item in hurried}
    calm = llm("calm")
    edges["calm"] = ("judge",)
    waiting = team(
        *hurried, calm, llm("judge"), edges=edges, on_error="degrade", parallel_workers=1
    )
    result, _ = run(waiting, always(2))
    assert (result.status, result.infrastructure_failures) == ("done", 10)


@virtually
async def test_time_of_the_whole_goes_on_while_some_part_works() -> None:
    whole = OwnTime()
    parts = [OwnTime(whole=whole), OwnTime(whole=whole)]

    async def works(part: OwnTime, before: float, waits: float, after: float) -> None:
        with part.at_work():
            await asyncio.sleep(before)
            with part.waiting():
                await asyncio.sleep(waits)
            await asyncio.sleep(after)

    await asyncio.gather(works(parts[0], 1, 10, 2), works(parts[1], 3, 5, 1))
    assert [whole.spent, parts[0].spent, parts[1].spent] == [6, 3, 4]


@virtually
async def test_time_that_is_going_on_is_spent_too() -> None:
    time = OwnTime()
    with time.at_work():
        await asyncio.sleep(2)
        assert time.spent == 2


@pytest.mark.parametrize(
    ("work", "cap", "seconds", "error"),
    [
        (4, None, 208, "None"),
        (6, None, 210, "the run reached execution.timeout, 10 s"),
        (6, 500, 210, "the run reached execution.timeout, 10 s"),
        (4, 150, 150, "the run reached its budget of seconds"),
    ],
    ids=["short", "long", "long within its budget", "budget"],
)
def test_the_time_of_a_team_leaves_out_what_its_calls_wait_for_batches(
    work: float, cap: float | None, seconds: float, error: str
) -> None:
    steps = {"first": doing("ask", work), "last": doing("ask", work)}
    given = team(llm("first"), llm("last"), edges={"first": ("last",)}, timeout=10)
    caps = Caps(seconds=cap)
    result, took = run(given, always(100), steps, batched=True, caps=caps, timeout=FOR_EVER)
    assert (result.status, took) == ("done" if error == "None" else "stopped", seconds)
    assert error in str(result.error)

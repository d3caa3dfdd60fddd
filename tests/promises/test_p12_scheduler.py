"""P12: the scheduler never deadlocks, never starts an agent early, keeps its bound, and ends."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings

from coterie.runtime import Run, compile
from coterie.schema import Catalogue

from .any_team import RUN_SECONDS, Case, cases, expected, heard, kahn, output_of, said
from .stage import Stage


def each(count: int, check: Callable[[Case], None], **which: Any) -> None:
    """Check so many cases."""
    checked = 0

    @settings(max_examples=count)
    @given(case=cases(**which))
    def checks(case: Case) -> None:
        nonlocal checked
        checked += 1
        check(case)

    checks()
    assert checked >= count


def check_run(case: Case) -> None:
    """A run ends, each agent as the policy declares, and with the answer that is then due."""
    stage = Stage(case)
    run = stage.run()
    check_events(case, stage, run)
    statuses = {name: run.agents[name].status for name in case.behaviour}
    if case.execution.on_error == "fail":
        check_first_failure(case, stage, statuses)
    else:
        assert statuses == {name: status for name, (status, _) in expected(case).items()}
        assert stage.asked == Counter({name: n for name, (_, n) in expected(case).items() if n})
        assert stage.workers > 1 or stage.steps == stage.asked.total()
    fails = case.execution.on_error == "fail" and "failed" in statuses.values()
    done = statuses[output_of(case)] == "done" and not fails
    answer = ("done", said(case, output_of(case))) if done else ("failed", None)
    assert (run.status, run.answer) == answer


def check_events(case: Case, stage: Stage, run: Run) -> None:
    """The run and every agent begin once and end once, and what was answered was counted."""
    assert [stage.events[0].type, stage.events[-1].type] == ["run_started", "run_finished"]
    assert len([event for event in stage.events if event.agent is None]) == 2
    assert sorted(stage.of("agent_finished")) == sorted(case.behaviour)
    started = stage.of("agent_started")
    assert len(started) == len({*started})
    assert {name for name, agent in run.agents.items() if agent.attempts} <= {*started}
    assert {name for name, agent in run.agents.items() if agent.status == "skipped"}.isdisjoint(
        started
    )
    assert not stage.open
    assert run.usage.calls == stage.answered


def check_first_failure(case: Case, stage: Stage, statuses: Mapping[str, str]) -> None:
    """With the first failure everything stops: what was not done then is cancelled."""
    ends = expected(case)
    failed = {name for name, status in statuses.items() if status == "failed"}
    done = {name for name, status in statuses.items() if status == "done"}
    assert {*statuses.values()} <= {"done", "failed", "cancelled"}
    assert bool(failed) == ("failed" in {status for status, _ in ends.values()})
    assert all(ends[name][0] == statuses[name] for name in failed | done)
    assert all(stage.sees[name] <= done for name in failed | done)
    if not failed:
        assert len(done) == len(statuses)
        return
    ended = [(event.type, event.agent in failed) for event in stage.events]
    after = ended[ended.index(("agent_finished", True)) :]
    assert "agent_started" not in {kind for kind, _ in after}


def check_levels(case: Case) -> None:
    """Agents stand in Kahn's levels, each of which is in natural order."""
    team = case.team()
    plan = compile(team, Catalogue.of_host())
    levels = kahn(case.reporters)
    assert [[*level] for level in plan.levels] == levels == [[*level] for level in team.levels]
    graph: nx.DiGraph[str] = nx.DiGraph([(u, v) for v, us in case.reporters.items() for u in us])
    graph.add_nodes_from(case.reporters)
    assert [{*level} for level in levels] == [
        {*generation} for generation in nx.topological_generations(graph)
    ]
    assert [*plan.agents] == [name for level in levels for name in level]
    assert plan.output == output_of(case)
    assert {name: {*planned.sees} for name, planned in plan.agents.items()} == heard(case)


def check_stopped(case: Case) -> None:
    """A run whose models fall silent ends at its timeout; what was done until then stays."""
    stage = Stage(case, stall_at=case.order[0] % 20)
    run = stage.run()
    check_events(case, stage, run)
    assert (run.status == "stopped") == (stage.loop.now >= RUN_SECONDS)
    if run.status == "stopped":
        assert "cancelled" in {agent.status for agent in run.agents.values()}
        done = run.agents[output_of(case)].status == "done"
        assert run.answer == (said(case, output_of(case)) if done else None)


def check_cancelled(case: Case) -> None:
    """A run that its caller cancels at any moment leaves no task and no call behind."""
    stage = Stage(case, cancel_at=case.order[0] % 20)
    assert stage.left_over() == 0
    assert not stage.open
    ended = stage.of("agent_finished")
    assert {*stage.of("agent_started")} <= {*ended}
    assert len(ended) == len({*ended})


@pytest.mark.parametrize("policy", ["fail", "skip", "degrade"])
def test_p12_any_team_ends_as_declared_in_order_and_within_its_bound(
    policy: str, nightly: bool
) -> None:
    each(10_000 if nightly else 30, check_run, policies=(policy,))


def test_p12_levels_are_kahns(nightly: bool) -> None:
    each(10_000 if nightly else 25, check_levels)


def test_p12_a_silent_model_does_not_outlive_the_timeout(nightly: bool) -> None:
    each(10_000 if nightly else 25, check_stopped)


def test_p12_cancelling_leaves_nothing(nightly: bool) -> None:
    each(10_000 if nightly else 25, check_cancelled)

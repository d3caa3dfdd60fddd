"""P2: a run that was interrupted and resumed comes to exactly what it would have come to."""

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.runtime import Run
from coterie.schema import Team

from .crashes import CountingProvider, run_folder, run_once, teams


def outcome(run: Run, team: Team) -> Any:
    """Everything about a run but the time that it took."""
    if ends_with_a_failure(run, team):
        # How far the others got then is a matter of time, and so is which of several came first.
        return run.status, run.answer
    agents = {
        name: (agent.status, agent.result, agent.error, agent.usage, agent.attempts)
        for name, agent in run.agents.items()
    }
    return run.status, run.answer, run.error, run.usage, agents


def ends_with_a_failure(run: Run, team: Team) -> bool:
    return run.status == "failed" and team.execution.on_error == "fail"


def failures(team: Team, broken: frozenset[str]) -> set[str]:
    """Whatever may end a run first: in one that goes on all the same, all of it happens."""
    execution = replace(team.execution, on_error="skip")
    with run_folder() as folder:
        run, _ = run_once(replace(team, execution=execution), CountingProvider(broken), folder)
    assert run is not None
    failed = {name: agent for name, agent in run.agents.items() if agent.status == "failed"}
    return {f"agent {name}: {agent.error}" for name, agent in failed.items()}


def test_p02_interrupted_and_resumed_is_as_uninterrupted(nightly: bool) -> None:
    cases = crashes = 0

    @settings(max_examples=10_000 if nightly else 20)
    @given(
        team=teams(),
        broken=st.frozensets(st.sampled_from(["a0", "a2", "a4"]), max_size=1),
        moments=st.lists(st.tuples(st.integers(1, 12), st.booleans()), min_size=1, max_size=5),
    )
    def check(team: Team, broken: frozenset[str], moments: list[tuple[int, bool]]) -> None:
        nonlocal cases, crashes
        with run_folder() as folder:
            clean, kept = run_once(team, CountingProvider(broken), folder)
        assert clean is not None
        with run_folder() as folder:
            for moment, after in moments:
                provider = CountingProvider(broken)
                run, _ = run_once(team, provider, folder, crash_at=moment, after=after)
                crashes += run is None
            resumed, kept_too = run_once(team, CountingProvider(broken), folder)
        assert resumed is not None
        assert outcome(resumed, team) == outcome(clean, team)
        if ends_with_a_failure(resumed, team):
            assert {clean.error, resumed.error} <= failures(team, broken)
        if clean.status == "done":  # a run that fails may stop before all others are done
            assert kept_too == kept
        cases += 1

    check()
    assert cases >= (10_000 if nightly else 20)
    assert crashes >= cases / 2

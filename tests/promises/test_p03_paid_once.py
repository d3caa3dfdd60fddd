"""P3: no call is paid twice; a crash or a failure costs at most the calls in flight."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from .crashes import CountingProvider, run_folder, run_once, teams


def test_p03_a_crash_costs_at_most_the_calls_in_flight(nightly: bool) -> None:
    cases = saved = 0

    @settings(max_examples=10_000 if nightly else 20)
    @given(
        team=teams(),
        moments=st.lists(st.tuples(st.integers(1, 12), st.booleans()), min_size=1, max_size=5),
    )
    def check(team: Any, moments: list[tuple[int, bool]]) -> None:
        nonlocal cases, saved
        clean = CountingProvider()
        with run_folder() as folder:
            whole, _ = run_once(team, clean, folder)
        provider, cut_off = CountingProvider(), 0
        with run_folder() as folder:
            for moment, after in moments:
                run, _ = run_once(team, provider, folder, crash_at=moment, after=after)
                cut_off += run is None or run.status == "failed"  # a failure cancels the others
            run_once(team, provider, folder)
        bound = team.execution.parallel_workers
        workers = len(team.agents) if bound is True else int(bound)
        assert provider.calls - len(provider.questions) <= cut_off * workers
        if whole is not None and whole.status == "done":
            assert provider.questions == clean.questions
        saved += clean.calls * (len(moments) + 1) - provider.calls
        cases += 1

    check()
    assert cases >= (10_000 if nightly else 20)
    assert saved > cases


def test_p03_a_finished_run_costs_nothing_again(nightly: bool) -> None:
    @settings(max_examples=1_000 if nightly else 12)
    @given(team=teams())
    def check(team: Any) -> None:
        with run_folder() as folder:
            run, _ = run_once(team, CountingProvider(), folder)
            again = CountingProvider()
            assert run_once(team, again, folder)[0] is not None
        assert run is not None
        assert again.calls == 0 or run.status != "done"

    check()

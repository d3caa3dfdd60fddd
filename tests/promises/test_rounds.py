"""P1 to P3 of teams that repeat: ended in any round, nothing is lost and nothing paid twice."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.runtime import Run
from coterie.schema import Team

from ..support.journals import written
from .crashes import (
    SettlingProvider,
    consulting_teams,
    repeating_teams,
    run_folder,
    run_once,
)
from .test_p02_resume import outcome


def kept(folder: Path) -> set[str]:
    """The questions whose answers a journal has."""
    return {entry.asked for entry in written(folder, "model")}


def places(folder: Path) -> set[str]:
    """The kinds of passes in which a journal has answers."""
    return {entry.path.split("/")[0].split(" ")[0] for entry in written(folder, "model")}


def told(run: Run) -> Any:
    return run.status, run.answer, run.usage, run.rounds, run.recruited


@pytest.mark.parametrize("kind", ["repeating", "consulting"])
def test_rounds_go_on_after_any_crash_and_pay_nothing_twice(kind: str, nightly: bool) -> None:
    cases = crashes = settled = 0
    most = 400 if nightly else {"repeating": 12, "consulting": 10}[kind]
    worked: set[str] = set()
    teams = {"repeating": repeating_teams(), "consulting": consulting_teams()}[kind]

    @settings(max_examples=most)
    @given(
        team=teams,
        broken=st.frozensets(st.sampled_from(["a0", "a2", "a4"]), max_size=1),
        moments=st.lists(st.tuples(st.integers(1, 12), st.booleans()), min_size=2, max_size=6),
    )
    def check(team: Team, broken: frozenset[str], moments: list[tuple[int, bool]]) -> None:
        nonlocal cases, crashes, settled
        ledger = SettlingProvider(broken)
        with run_folder() as folder:
            clean, hash_of_clean = run_once(team, ledger, folder)
            worked.update(places(folder))
        assert clean is not None
        rounds = team.execution.rounds
        assert rounds is not None
        assert clean.rounds <= rounds.most
        assert clean.usage.calls == ledger.calls or clean.status == "failed"
        settled += clean.rounds > 2 and ledger.calls < clean.rounds * len(team.agents)
        with run_folder() as folder:
            for moment, after in moments:
                provider, before = SettlingProvider(broken), kept(folder)
                run, _ = run_once(team, provider, folder, crash_at=moment, after=after)
                assert not provider.asked & before
                crashes += run is None
            last, before = SettlingProvider(broken), kept(folder)
            resumed, hash_of_resumed = run_once(team, last, folder)
            assert resumed is not None
            assert not last.asked & before
            if clean.status == "done":
                replayed, _ = run_once(team, SettlingProvider(), folder, replaying=True)
                assert replayed is not None
                assert told(replayed) == told(clean)  # why someone failed is not recorded
        assert (outcome(resumed, team), resumed.rounds) == (outcome(clean, team), clean.rounds)
        if clean.status == "done":
            assert hash_of_resumed == hash_of_clean
        cases += 1

    check()
    assert cases >= most
    assert crashes > cases / 2
    assert settled > cases / 10
    beside = {"repeating": {"closing"}, "consulting": {"opening", "meeting", "closing"}}
    assert worked == {"round", *beside[kind]}

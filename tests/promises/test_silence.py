"""A run in which somebody is silent pays for what really changes, and for nothing else."""

from collections.abc import Iterator
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.runtime import Ablation, compile
from coterie.schema import Team

from ..support.journals import written
from .crashes import (
    KNOWN,
    SettlingProvider,
    consulting_teams,
    repeating_teams,
    run_folder,
    run_once,
    teams,
)
from .test_p02_resume import outcome


def calls(folder: Path) -> set[tuple[str, str]]:
    """Where each model call stands, and what it asked."""
    return {(entry.path, entry.asked) for entry in written(folder, "model")}


def agent_of(path: str) -> str:
    return path.split("/attempt", maxsplit=1)[0].rsplit("/", 1)[-1]


def reached(team: Team, start: frozenset[str]) -> set[str]:
    """Name all whom something said by these agents may reach, by reports and by letters."""
    plan = compile(team, KNOWN)
    hears = {(seen, item) for item, planned in plan.agents.items() for seen in planned.sees}
    letters = {(v, u) for u, v in team.edges} if team.execution.rounds else set()
    consulting = [agent.id for agent in team.agents.values() if agent.consults]
    letters |= {(item, other) for item in consulting for other in consulting}  # by the bulletin
    recruit = team.execution.recruit
    letters |= {(recruit.by, item) for item in recruit.among} if recruit else set()
    texts, waiting = set(start), [*start]
    while waiting:
        here = waiting.pop()
        more = {v for u, v in hears | letters if u == here} - texts
        texts |= more
        waiting += more
    return texts


@st.composite
def silences(draw: st.DrawFn) -> tuple[Team, Ablation]:
    team = draw(st.one_of(teams(), repeating_teams(), consulting_teams()))
    agents = draw(st.frozensets(st.sampled_from([*team.agents]), max_size=3))
    turn = st.tuples(st.sampled_from([*team.agents]), st.integers(1, 3))
    turns = draw(st.frozensets(turn, max_size=0 if agents else 2))
    return team, Ablation(agents=agents, turns=turns)


def before(path: str, silent: Ablation) -> bool:
    """Return whether a call was made before anybody was silent."""
    first = min((number for _, number in silent.turns), default=1)
    rounds: Iterator[str] = (part for part in path.split("/") if part.startswith("round "))
    return any(int(name.removeprefix("round ")) < first for name in rounds)


def test_who_does_not_hear_the_silent_is_asked_the_same(nightly: bool) -> None:
    cases = saved = 0

    @settings(max_examples=600 if nightly else 12)
    @given(silences())
    def check(drawn: tuple[Team, Ablation]) -> None:
        nonlocal cases, saved
        team, silent = drawn
        with run_folder() as folder:
            provider = SettlingProvider()
            factual, whole_hash = run_once(team, provider, folder)
            nobody, nobodys_hash = run_once(team, SettlingProvider(), folder, silent=Ablation())
            asked = calls(folder)
            again = SettlingProvider()
            counterfactual, _ = run_once(team, again, folder, silent=silent)
        with run_folder() as folder:
            fresh, _ = run_once(team, SettlingProvider(), folder, silent=silent)
            alone = calls(folder)
        assert factual is not None
        assert nobody is not None
        assert counterfactual is not None
        assert fresh is not None
        assert whole_hash == nobodys_hash
        assert outcome(factual, team) == outcome(nobody, team)
        assert outcome(counterfactual, team) == outcome(fresh, team)
        assert not {agent_of(path) for path, _ in alone} & silent.agents
        assert not again.asked & {digest for _, digest in asked & alone}
        untouched = {*team.agents} - reached(team, silent.names)
        first = dict(sorted(asked))
        for path, digest in alone:
            if path in first and (agent_of(path) in untouched or before(path, silent)):
                assert digest == first[path]
        if "done" == factual.status == fresh.status and team.execution.rounds is None:
            of = untouched
            assert {pair for pair in asked if agent_of(pair[0]) in of} == {
                pair for pair in alone if agent_of(pair[0]) in of
            }
        if team.output in silent.agents:
            assert (fresh.status, fresh.answer) == ("failed", None)
        cases += 1
        saved += again.calls < len(alone)

    check()
    assert cases >= (600 if nightly else 12)
    assert saved > cases / 5

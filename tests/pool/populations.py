"""Populations for tests: what happened to them, as lines of a ledger."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from coterie.pool.ledger.changes import Change, Evaluated, EventNoted, Restored, Retired
from coterie.pool.ledger.ledger import LedgerEntry
from coterie.pool.population.population import Population, Rates
from coterie.pool.values.statistics import Trial, TrialPart

NICHES = ("algebra", "code", "")
NAMES = tuple("abcdef")
SEATS = ("anchor", "complement", "scout", "scout_2")


def line(value: Mapping[str, Any], op: str = "") -> LedgerEntry:
    return LedgerEntry(op=op, value=value)


def of_agent(change: Retired | Restored) -> LedgerEntry:
    return line(change.value("agent"))


def said(change: Change) -> LedgerEntry:
    assert isinstance(change, Evaluated | EventNoted)
    return line(change.value())


def born(name: str, *parents: str) -> LedgerEntry:
    """An agent that has what its parents had."""
    inherits = {"inherits": list(parents)} if parents else {}
    lineage = {"operator": "fork" if parents else "genesis", "parents": list(parents)}
    return line({"kind": "born", "agent": name, "value": {}, "lineage": lineage, **inherits})


def worked(
    team: Sequence[str], niche: str | None, score: float | None, **fields: Any
) -> LedgerEntry:
    """A trial of a team, the first of whom leads."""
    agents = {seat: TrialPart(member=name) for seat, name in zip(SEATS, team, strict=False)}
    trial = Trial(task="t", niche=niche or None, score=score, agents=agents, **fields)
    return said(Evaluated(member="voting", trial=trial))


def folded(
    lines: Iterable[LedgerEntry], first: Population | None = None, **rates: Any
) -> Population:
    population = Population(rates=Rates(**rates)) if first is None else first
    for item in lines:
        population = population.after(item)
    return population


def town(*names: str) -> list[LedgerEntry]:
    return [born(name) for name in names]


rewards = st.sampled_from([0.0, 1.0]) | st.floats(0, 1)
teams = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True)
happenings = st.lists(
    st.builds(worked, teams, st.sampled_from(NICHES), rewards)
    | st.builds(lambda name: of_agent(Retired(member=name, reason="lags")), st.sampled_from(NAMES))
    | st.builds(lambda name: of_agent(Restored(member=name)), st.sampled_from(NAMES))
    | st.builds(lambda n: said(EventNoted(what="leadership", about={"n": n})), st.integers(0, 9)),
    max_size=30,
)
"""What may happen to a town of all `NAMES`."""

"""Cases as events of a pool."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from coterie.operators.routing import Case, CaseSpending, RoutingOutcome, cases_of
from coterie.pool.ledger.changes import EventNoted

from .cases import case, gauged

SPENDING = st.builds(
    CaseSpending,
    cost=st.floats(0, 10),
    calls=st.integers(0, 99),
    tokens=st.integers(0, 10**6),
)
SIDES = st.builds(RoutingOutcome, score=st.floats(0, 1), spent=SPENDING, name=st.text(max_size=9))
CASES = st.builds(
    Case,
    task=st.text(min_size=1, max_size=9),
    features=st.dictionaries(st.sampled_from(["words", "complexity"]), st.floats(0, 99)),
    single=SIDES,
    team=SIDES,
    gauging=SPENDING,
)


@given(CASES)
def test_a_case_is_read_as_it_was_told(item: Case) -> None:
    assert Case.of(item.event()) == item


def test_of_a_task_that_was_worked_on_twice_the_last_case_counts() -> None:
    first, other, last = case("a", 0, 1), case("b", 1, 1), gauged(case("a", 1, 0), complexity=1)
    events = [
        first.event(),
        EventNoted(what="fork", about={"task": "a"}),
        other.event(),
        last.event(),
    ]
    assert cases_of(events) == (last, other)


def test_cases_of_another_single_agent_are_left_out() -> None:
    item = case("a", 0, 1)
    theirs = replace(item, task="b", single=replace(item.single, name="other"))
    events = [item.event(), theirs.event()]
    assert cases_of(events, single="") == (item,)
    assert cases_of(events, single="other") == (theirs,)
    assert cases_of(events) == (item, theirs)


def test_worth_is_the_score_less_the_price() -> None:
    side = RoutingOutcome(score=0.75, spent=CaseSpending(cost=2))
    assert (side.worth(0), side.worth(0.25)) == (0.75, 0.25)

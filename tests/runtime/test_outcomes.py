"""What came of a run is read as it was written, whoever wrote it."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.outcomes import (
    AgentOutcome,
    Run,
    as_given,
)
from coterie.runtime.runners import AgentResult
from coterie.runtime.scorers import Score
from coterie.runtime.tools import ToolCall
from coterie.runtime.usage import Usage
from coterie.schema.codec import from_value, to_value

TEXTS = st.text(max_size=20)
CALLS = st.builds(ToolCall, tool=TEXTS, arguments=st.none())
STEPS = st.lists(st.fixed_dictionaries({"step": TEXTS}), max_size=2).map(tuple)
RESULTS = st.builds(
    AgentResult, content=TEXTS, answer=st.none() | TEXTS, patch=st.none() | TEXTS, steps=STEPS
)
MESSAGES = st.fixed_dictionaries({"role": TEXTS, "content": TEXTS})
OUTCOMES = st.builds(
    AgentOutcome,
    status=st.sampled_from(["done", "failed", "skipped", "cancelled"]),
    result=st.none() | RESULTS,
    error=st.none() | TEXTS,
    fault=st.none() | TEXTS,
    usage=st.builds(Usage, calls=st.integers(0, 9)),
    seconds=st.integers(0, 9),
    attempts=st.integers(0, 3),
    tool_calls=st.lists(CALLS, max_size=2).map(tuple),
    mishaps=st.lists(TEXTS, max_size=3).map(tuple),
    dialogue=st.lists(MESSAGES, max_size=3).map(tuple),
)
RUNS = st.builds(
    Run,
    status=st.sampled_from(["done", "failed"]),
    answer=st.none() | TEXTS,
    answered_by=st.none() | TEXTS,
    score=st.none() | st.builds(Score, value=st.floats(0, 1), reason=TEXTS),
    agents=st.dictionaries(TEXTS, OUTCOMES, max_size=2),
    over_budget=st.booleans(),
    fault=st.none() | TEXTS,
    rounds=st.integers(1, 20),
)


@given(RUNS)
def test_a_run_is_read_as_it_was_written(run: Run) -> None:
    assert from_value(Run, json.loads(json.dumps(to_value(run)))) == run


@given(OUTCOMES)
def test_an_outcome_is_read_as_it_was_written(outcome: AgentOutcome) -> None:
    assert from_value(AgentOutcome, json.loads(json.dumps(to_value(outcome)))) == outcome


@given(OUTCOMES)
def test_what_is_given_costs_nothing_and_says_the_same(outcome: AgentOutcome) -> None:
    given = as_given(outcome)
    assert (given.usage, given.attempts, given.seconds) == (Usage(), 0, 0.0)
    before, after = to_value(outcome), to_value(given)
    costs = {"usage", "attempts", "seconds"}
    assert {name for name in before if before[name] != after[name]} <= costs

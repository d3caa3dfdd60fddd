"""What came of a run is read from the journal as it was written."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from coterie.operators import digest
from coterie.operators.candidates import run_of, run_value
from coterie.runtime.engine import AgentOutcome, Run
from coterie.runtime.runners.protocol import AgentResult
from coterie.runtime.scorers import Score
from coterie.runtime.tools import ToolCall
from coterie.runtime.usage import Usage

TEXTS = st.text(max_size=20)
CALLS = st.builds(ToolCall, tool=TEXTS, arguments=st.none())
OUTCOMES = st.builds(
    AgentOutcome,
    status=st.sampled_from(["done", "failed", "skipped", "cancelled"]),
    result=st.none() | st.builds(AgentResult, content=TEXTS, answer=st.none() | TEXTS),
    error=st.none() | TEXTS,
    usage=st.builds(Usage, calls=st.integers(0, 9)),
    attempts=st.integers(0, 3),
    tool_calls=st.lists(CALLS, max_size=2).map(tuple),
    mishaps=st.lists(TEXTS, max_size=3).map(tuple),
)
RUNS = st.builds(
    Run,
    status=st.sampled_from(["done", "failed"]),
    answer=st.none() | TEXTS,
    score=st.none() | st.builds(Score, value=st.floats(0, 1), reason=TEXTS),
    agents=st.dictionaries(TEXTS, OUTCOMES, max_size=2),
)


@given(RUNS)
def test_a_run_of_the_journal_is_the_run_that_was(run: Run) -> None:
    assert run_of(json.loads(json.dumps(run_value(run)))) == run


def test_a_run_of_an_earlier_version_is_read_and_tells_of_no_mishaps() -> None:
    worker = AgentOutcome(status="done", result=AgentResult(content="7"), mishaps=("it fell",))
    value: dict[str, Any] = run_value(Run(status="done", agents={"worker": worker}))
    assert "it fell" in digest(run_of(value))
    del value["agents"]["worker"]["mishaps"]
    assert "worker: done\n" in digest(run_of(value))

"""An outcome that is given to a run costs nothing there."""

from coterie.runtime.agents.outcomes import AgentOutcome, Run, ToolCall, without_cost
from coterie.runtime.runners import AgentResult
from coterie.runtime.values.usage import Usage
from coterie.schema.values.codec import to_value


def test_what_is_given_costs_nothing_and_says_the_same() -> None:
    outcome = AgentOutcome(
        status="done",
        result=AgentResult(content="7", patch="+7", steps=({"one": 1},)),
        usage=Usage(calls=3),
        seconds=2.5,
        attempts=2,
        tool_calls=(ToolCall(tool="add", arguments={}),),
        mishaps=("slow",),
        dialogue=({"role": "user", "content": "?"},),
    )
    given = without_cost(outcome)
    assert (given.usage, given.attempts, given.seconds) == (Usage(), 0, 0.0)
    before, after = to_value(outcome), to_value(given)
    costs = {"usage", "attempts", "seconds"}
    assert {name for name in before if before[name] != after[name]} == costs


def test_a_run_says_why_it_has_no_answer() -> None:
    runs = [Run(status="done", answer=""), Run(status="failed", error="no"), Run(status="failed")]
    assert [run.why_unanswered for run in runs] == ["", "no", "it gave no answer."]

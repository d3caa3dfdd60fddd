"""A digest is bounded, begins with what failed, and never holds the reference answer."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from coterie.operators import digest
from coterie.runtime import AgentOutcome, Run, Score
from coterie.runtime.agents.runner import AgentResult
from coterie.runtime.scoring.scorers import exact
from coterie.runtime.values.usage import Usage


def done(content: str, *mishaps: str) -> AgentOutcome:
    return AgentOutcome(status="done", result=AgentResult(content=content), mishaps=mishaps)


def failed(error: str) -> AgentOutcome:
    return AgentOutcome(status="failed", error=error)


def run(status: Any = "done", **fields: Any) -> Run:
    agents = fields.pop("agents", {})
    return Run(status=status, agents=agents, usage=Usage(calls=2, prompt_tokens=30), **fields)


def test_it_says_what_came_of_the_run() -> None:
    report = digest(run(answer="8", seconds=2.5, agents={"solver": done("It is 8.")}))
    assert report == ("run: done; 2 calls, 30 tokens\nanswer: 8\nsolver: done\n  output: It is 8.")


def test_failures_come_first_then_mishaps_then_the_output() -> None:
    agents = {
        "a": done("fine"),
        "b": AgentOutcome(status="skipped", error="it depends on c."),
        "c": failed("the model answered with nothing."),
        "d": done(
            "used a tool", "tool read_file failed: no file x (2 times)", "tried again after: no"
        ),
        "e": done("the answer"),
    }
    report = digest(run("failed", error="agent c: …", agents=agents)).splitlines()
    assert report[1] == "error: agent c: …"
    headings = [line for line in report[2:] if not line.startswith("  ")]
    assert [line.split(":")[0] for line in headings] == ["c", "b", "d", "e", "a"]
    assert "c: failed; the model answered with nothing." in headings
    assert (
        headings[2] == "d: done; tool read_file failed: no file x (2 times); tried again after: no"
    )


def test_of_many_mishaps_the_first_are_told_and_the_rest_counted() -> None:
    report = digest(run(agents={"a": done("x", *"pqrstu")}))
    assert "a: done; p; q; r; and 3 more of such\n" in report


def test_agents_that_came_to_the_same_share_an_entry() -> None:
    workers = {f"worker_{number}": done("6" if number == 4 else "7\n") for number in range(1, 7)}
    report = digest(run(agents={**workers, "judge": done("7, as most say")}))
    assert "worker_1..3, worker_5..6: done\n  output: 7" in report
    assert "worker_4: done\n  output: 6" in report


def test_the_reference_answer_is_not_in_it() -> None:
    score = exact("a parrot", "Paris", {})
    assert "Paris" in score.reason
    result = run(answer="a parrot", score=score, agents={"solver": done("a parrot")})
    assert "score: 0" in digest(result)
    assert "Paris" not in digest(result)
    # Whoever scored it may hand the same score over as a verdict.
    assert "Paris" not in digest(result, verdict=Score(value=0.0, reason=score.reason))


def test_a_judges_reason_is_in_it() -> None:
    report = digest(run(answer="8"), verdict=Score(value=0.3, reason="the sum is off"))
    assert "score: 0.3\njudge: the sum is off" in report
    assert "judge" not in digest(run(answer="8"), verdict=Score(value=0.3, reason=""))


def test_what_does_not_fit_is_counted() -> None:
    agents = {f"agent{letter}": failed(letter * 150) for letter in "abcdefgh"}
    report = digest(run("failed", agents=agents), tokens=120)
    assert len(report) <= 480
    assert report.splitlines()[-1] == "and 6 agents more"


OUTCOMES = st.one_of(st.text().map(done), st.text().map(failed))


@given(
    st.dictionaries(st.from_regex(r"[a-z]{1,4}(_\d)?", fullmatch=True), OUTCOMES, max_size=30),
    st.text(max_size=3_000),
    st.integers(1, 400),
)
def test_it_is_never_too_long(agents: dict[str, AgentOutcome], answer: str, tokens: int) -> None:
    report = digest(run(answer=answer, error=answer, agents=agents), tokens=tokens)
    assert len(report) <= 4 * tokens

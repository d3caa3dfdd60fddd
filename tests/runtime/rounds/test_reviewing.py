"""Work that is reviewed: whose is accepted, who is asked again, and when the rounds end."""

from typing import Any

from coterie.runtime import Ablation
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.schema import Recruit, Rounds, Team

from ...support.models import questions
from ..conftest import Bench, llm, team

REVIEWS = {
    "type": "object",
    "properties": {
        "reviews": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "of": {"type": "string"},
                    "verdict": {"type": "string", "enum": ["accept", "revise", "reject"]},
                    "issues": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["of", "verdict", "issues"],
            },
        }
    },
    "required": ["reviews"],
}
EDGES = {"ann": ("rex", "sue", "end"), "bob": ("rex", "end"), "rex": ("end",), "sue": ("end",)}
"""Ann is reviewed by Rex and Sue, Bob by Rex alone."""


def peers(most: int = 4, **execution: Any) -> Team:
    agents = [
        llm("ann"),
        llm("bob"),
        llm("rex", output_schema=REVIEWS),
        llm("sue", output_schema=REVIEWS),
        llm("end"),
    ]
    rounds = Rounds(most=most, until="accepted", closing=("end",))
    return team(*agents, edges=EDGES, rounds=rounds, **execution)


def verdicts(*, issues: tuple[str, ...] = (), **of: str) -> Reply:
    records = [
        {"of": name, "verdict": verdict, "issues": [*issues]} for name, verdict in of.items()
    ]
    return Reply.json({"reviews": records})


def times(model: ScriptedModel) -> list[int]:
    return [len(questions(model, word)) for word in ("ann", "bob", "rex", "sue", "end")]


def test_whose_work_all_accept_is_not_asked_again(bench: Bench) -> None:
    fields = {
        "[ann]": ["a1", "a2", "a3"],
        "[bob]": "b1",
        "[rex]": [verdicts(ann="revise", bob="accept"), verdicts(ann="accept", bob="reject")],
        "[sue]": verdicts(ann="accept"),
        "[end]": "done",
    }
    with ScriptedModel(fields) as model:
        run = bench.run(peers(), model)
        assert times(model) == [2, 1, 2, 2, 1]
        ann = questions(model, "ann")
        assert "b1" in questions(model, "rex")[1]
    assert (run.status, run.answer, run.rounds) == ("done", "done", 2)
    assert '"verdict": "revise"' in ann[1]


def test_an_issue_is_no_acceptance_whatever_the_verdict(bench: Bench) -> None:
    fields = {
        "[ann]": ["a1", "a2"],
        "[bob]": ["b1", "b2"],
        "[rex]": [verdicts(issues=("a gap",), ann="accept", bob="accept"), *[
            verdicts(ann="accept", bob="accept")]],
        "[sue]": verdicts(ann="accept"),
        "[end]": "done",
    }  # fmt: skip
    with ScriptedModel(fields) as model:
        assert bench.run(peers(), model).rounds == 2


def test_a_reviewer_that_says_nothing_of_somebody_accepts_nothing(bench: Bench) -> None:
    fields = {
        "[ann]": ["a1", "a2"],
        "[bob]": "b1",
        "[rex]": verdicts(ann="accept", bob="accept"),
        "[sue]": [verdicts(nobody="accept"), verdicts(ann="accept")],
        "[end]": "done",
    }
    with ScriptedModel(fields) as model:
        assert bench.run(peers(), model).rounds == 2
        assert times(model) == [2, 1, 2, 2, 1]


def test_who_has_nothing_left_to_review_is_not_asked(bench: Bench) -> None:
    fields = {
        "[ann]": "a1",
        "[bob]": ["b1", "b2", "b3"],
        "[rex]": [verdicts(ann="accept", bob="revise")] * 2
        + [verdicts(ann="accept", bob="accept")],
        "[sue]": verdicts(ann="accept"),
        "[end]": "done",
    }
    with ScriptedModel(fields) as model:
        run = bench.run(peers(), model)
        assert times(model) == [1, 3, 3, 1, 1]
    assert run.rounds == 3


def test_rounds_end_after_the_most_where_nothing_is_accepted(bench: Bench) -> None:
    fields = {
        "[ann]": [*"abcd"], "[bob]": [*"efgh"], "[end]": "done",
        "[rex]": verdicts(ann="revise", bob="reject"), "[sue]": verdicts(ann="accept"),
    }  # fmt: skip
    with ScriptedModel(fields) as model:
        run = bench.run(peers(), model)
    assert (run.status, run.rounds) == ("done", 4)


def test_a_reviewer_whose_authors_are_silent_takes_no_part(bench: Bench) -> None:
    fields = {"[bob]": "b", "[rex]": verdicts(bob="accept"), "": "done"}
    with ScriptedModel(fields) as model:
        run = bench.run(peers(), model, silent=Ablation(agents=frozenset({"ann"})))
        assert times(model) == [0, 1, 1, 0, 1]
    assert (run.status, run.rounds) == ("done", 1)
    with ScriptedModel("done") as model:
        run = bench.run(peers(), model, silent=Ablation(agents=frozenset({"ann", "bob"})))
        assert times(model) == [0, 0, 0, 0, 1]


def test_whoever_opens_is_heard_by_reviewers_and_not_reviewed(bench: Bench) -> None:
    some = peers()
    edges = {**EDGES, "chief": ("ann", "bob", "rex", "end")}
    recruit = Recruit(by="chief", among=("ann", "bob"), most=1)
    recruiting = team(
        llm("chief"), *some.agents.values(), edges=edges, recruit=recruit,
        rounds=some.execution.rounds,
    )  # fmt: skip
    fields = {
        "[chief]": Reply.json({"specialists": ["bob"], "reason": "fits"}),
        "[bob]": ["b1", "b2"],
        "[rex]": [verdicts(bob="revise"), verdicts(bob="accept")],
        "[end]": "done",
    }
    with ScriptedModel(fields) as model:
        run = bench.run(recruiting, model)
        assert times(model) == [0, 2, 2, 0, 1]
        assert "fits" in questions(model, "rex")[0]
    assert (run.status, run.answer, run.rounds) == ("done", "done", 2)

"""Agents that work on a condition: who is asked, what readers are told, and what is counted."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.schema import Rounds, Team, When

from ...support.models import questions
from ..conftest import Bench, llm, team

FAILS = Reply.error(400, message="no")
KIND = {
    "type": "object",
    "properties": {"kind": {"type": "string"}, "score": {"type": "number"}},
    "required": ["kind", "score"],
}


def cli(when: When, **answer: Any) -> Team:
    """Who sorts, who works on a condition, who reads that alone, and the end, which hears all."""
    agents = [
        llm("triage", output_schema=KIND),
        llm("fixer", when=when),
        llm("tester"),
        llm("end"),
    ]
    edges = {"triage": ("fixer", "end"), "fixer": ("tester", "end"), "tester": ("end",)}
    return team(*agents, edges=edges, **answer)


def script(kind: str = "bug", score: float = 0.5) -> dict[str, Any]:
    return {
        "[triage]": Reply.json({"kind": kind, "score": score}),
        "[fixer]": "FIXED",
        "[tester]": "TESTED",
        "[end]": "the end",
    }


IS_BUG = When(agent="triage", field="kind", is_="bug")


def test_a_skipped_agent_asks_nothing_and_its_readers_are_told(bench: Bench) -> None:
    with ScriptedModel(script("question")) as model:
        run = bench.run(cli(IS_BUG), model)
        asked = {word: len(questions(model, word)) for word in ("triage", "fixer", "tester", "end")}
        [read] = questions(model, "end")
    assert (run.status, run.answer) == ("done", "the end")
    assert asked == {"triage": 1, "fixer": 0, "tester": 0, "end": 1}
    skipped = {word: run.agents[word] for word in ("fixer", "tester")}
    assert all((item.status, item.unneeded) == ("skipped", True) for item in skipped.values())
    assert all(item.usage.calls == item.attempts == 0 for item in skipped.values())
    assert skipped["fixer"].error == "it works only when triage.kind is bug."
    assert skipped["tester"].error == "no agent that reports to it was needed."
    assert "fixer was not needed for this task and reports nothing." in read
    assert "could not finish" not in read
    assert [event.fields["status"] for event in bench.of("agent_finished", "fixer")] == ["skipped"]
    assert not bench.of("agent_started", "fixer")


@pytest.mark.parametrize(
    ("when", "works"),
    [
        (IS_BUG, True),
        (When(agent="triage", field="kind", is_=" BUG "), True),
        (When(agent="triage", field="kind", in_=("crash", "bug")), True),
        (When(agent="triage", field="kind", in_=("crash", "typo")), False),
        (When(agent="triage", field="score", at_least=0.5), True),
        (When(agent="triage", field="score", at_least=0.6), False),
        (When(agent="triage", field="score", at_least=0.1, at_most=0.4), False),
        (When(agent="triage", field="score", is_=0.5, at_most=0.5), True),
        (When(agent="triage", field="missing", is_="bug"), False),
        (When(agent="triage", field="kind", at_least=0), False),
    ],
)
def test_all_tests_of_a_condition_must_hold(bench: Bench, when: When, works: bool) -> None:
    with ScriptedModel(script()) as model:
        run = bench.run(cli(when), model)
        assert len(questions(model, "fixer")) == works
    assert run.agents["fixer"].status == ("done" if works else "skipped")
    assert run.agents["tester"].status == ("done" if works else "skipped")


def test_a_label_or_a_number_is_the_whole_answer(bench: Bench) -> None:
    fields = {
        "[triage]": "It crashes.\n**Answer:** Bug\n",
        "[fixer]": "0.8",
        "[tester]": "TESTED",
        "[end]": "the end",
    }
    agents = [
        llm("triage"),
        llm("fixer", when=When(agent="triage", is_="bug")),
        llm("tester", when=When(agent="fixer", at_least=0.9)),
        llm("end"),
    ]
    edges = {"triage": ("fixer",), "fixer": ("tester", "end"), "tester": ("end",)}
    with ScriptedModel(fields) as model:
        run = bench.run(team(*agents, edges=edges), model)
    assert [run.agents[word].status for word in ("fixer", "tester")] == ["done", "skipped"]


def test_whoever_has_a_condition_of_its_own_works_by_that_alone(bench: Bench) -> None:
    agents = {
        **cli(IS_BUG).agents,
        "tester": llm("tester", when=When(agent="triage", field="score", at_most=1)),
    }
    both = team(*agents.values(), edges=dict(cli(IS_BUG).reports_to))
    with ScriptedModel(script("question")) as model:
        run = bench.run(both, model)
        [read] = questions(model, "tester")
    assert run.agents["fixer"].unneeded
    assert "fixer was not needed" in read


def test_who_gives_the_answer_works_where_nobody_whom_it_hears_does(bench: Bench) -> None:
    agents = [llm("triage", output_schema=KIND), llm("fixer", when=IS_BUG), llm("end")]
    with ScriptedModel(script("question")) as model:
        run = bench.run(team(*agents, edges={"triage": ("fixer",), "fixer": ("end",)}), model)
    assert run.answer == "the end"


@pytest.mark.parametrize("on_error", ["skip", "degrade"])
def test_an_answer_that_is_not_there_meets_no_condition(bench: Bench, on_error: str) -> None:
    fields = {**script(), "[triage]": FAILS}
    agents = {**cli(IS_BUG).agents, "other": llm("other")}
    edges = {"triage": ("fixer",), "fixer": ("tester",), "tester": ("end",), "other": ("end",)}
    with ScriptedModel({**fields, "[other]": "other"}) as model:
        run = bench.run(team(*agents.values(), edges=edges, on_error=on_error), model)
        assert questions(model, "fixer") == []
    assert run.agents["fixer"].unneeded
    assert run.answer == "the end"


def test_each_round_asks_anew_whether_the_condition_holds(bench: Bench) -> None:
    fields = script()
    fields["[triage]"] = [Reply.json({"kind": kind, "score": 1}) for kind in ("bug", "question")]
    rounds = Rounds(most=2, until="never", hears="others", closing=("end",))
    with ScriptedModel(fields) as model:
        run = bench.run(cli(IS_BUG, rounds=rounds), model)
        assert len(questions(model, "fixer")) == 1
        assert "fixer was not needed" in questions(model, "end")[0]
    assert (run.status, run.agents["fixer"].status) == ("done", "skipped")
    assert run.agents["fixer"].usage.calls == 1


def test_a_resumed_run_skips_the_same_and_asks_nothing_again(bench: Bench, tmp_path: Any) -> None:
    with ScriptedModel(script("question")) as model:
        first = bench.run(cli(IS_BUG), model, folder=tmp_path)
        again = bench.run(cli(IS_BUG), model, folder=tmp_path)
        assert len(model.calls) == 2
    assert first.agents["fixer"] == again.agents["fixer"]


@pytest.mark.parametrize(("score", "is_read"), [(0.5, True), (0.9, False)])
def test_a_report_may_be_read_conditionally(bench: Bench, score: float, is_read: bool) -> None:
    """The tester reads the fix where triage is unsure, the end triage's own answer only then."""
    unsure = When(agent="triage", field="score", at_most=0.8)
    agents = [
        llm("triage", output_schema=KIND),
        llm("fixer"),
        llm("tester", reads={"fixer": unsure}),
        llm("end", reads={"triage": When(field="score", at_most=0.8)}),
    ]
    edges = {"triage": ("fixer", "end"), "fixer": ("tester", "end"), "tester": ("end",)}
    with ScriptedModel(script(score=score)) as model:
        run = bench.run(team(*agents, edges=edges), model)
        tested, [read] = questions(model, "tester"), questions(model, "end")
    assert run.answer == "the end"
    assert len(tested) == is_read  # who hears nobody else is skipped
    assert ('"kind": "bug"' in read) == is_read
    assert ("triage was not needed" in read) != is_read
    assert "FIXED" in read


KINDS = st.sampled_from(["bug", "question"])


@settings(max_examples=12, deadline=None)
@given(
    message=KINDS,
    asked_for=st.lists(st.none() | KINDS, min_size=3, max_size=3),
    ends=st.lists(st.sampled_from(["a1", "a2", "end"]), min_size=3, max_size=3),
)
def test_whoever_is_skipped_costs_nothing_and_all_else_works(
    message: str, asked_for: list[str | None], ends: list[str]
) -> None:
    """Random chains: skipped is who does not meet its condition, and who hears nobody else."""
    agents = [llm("triage", output_schema=KIND)]
    edges: dict[str, tuple[str, ...]] = {"triage": ("a0",)}
    for at, kind in enumerate(asked_for):
        when = When(agent="triage", field="kind", is_=kind) if kind else None
        agents.append(llm(f"a{at}", when=when))
        later = ends[at] if ends[at] > f"a{at}" else "end"
        edges[f"a{at}"] = tuple(dict.fromkeys((later, "end")))
    needed = {"triage", "end"}
    for at, kind in enumerate(asked_for):
        heard = [name for name, others in edges.items() if f"a{at}" in others]
        if kind == message or (kind is None and (not heard or needed.intersection(heard))):
            needed.add(f"a{at}")
    bench = Bench()
    with ScriptedModel({"[triage]": Reply.json({"kind": message, "score": 1}), "": "ok"}) as model:
        run = bench.run(team(*agents, llm("end"), edges=edges), model)
        calls = len(model.calls)
    assert run.status == "done"
    assert {item for item, outcome in run.agents.items() if outcome.status == "done"} == needed
    assert run.usage.calls == calls == len(needed)

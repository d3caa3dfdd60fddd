"""Agents that consult: who is asked again, what meetings make of it, what those who close read."""

import json
from typing import Any

import pytest

from coterie.runtime import Ablation, AgentOutcome, Run, compile
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.rounds.consulting import (
    LONGEST_BULLETIN,
    bulletin,
    has_converged,
    increments,
    news,
    opinion,
    whole,
)
from coterie.runtime.rounds.rounds import Round
from coterie.runtime.runners import AgentResult
from coterie.schema import Catalogue, Rounds, Team

from ...support.models import questions
from ..conftest import Bench, llm, team

FAILS = Reply.error(400, message="no")
FORM = {
    "type": "object",
    "properties": {
        "increment": {"type": "array", "items": {"type": "string"}},
        "first": {"type": "string"},
    },
    "required": ["increment"],
}


def ward(*, chair: bool = False, most: int = 3, plain: bool = False, **execution: Any) -> Team:
    """Two that consult, maybe a third agent that does not, a chair, and a report at the end."""
    agents = [llm("heart", output_schema=FORM), llm("nerve", output_schema=FORM)]
    agents += [llm("nurse")] if plain else []
    agents += [llm("chair")] if chair else []
    below = ("chair", "report") if chair else ("report",)
    edges = {"heart": below, "nerve": below}
    edges |= {"nurse": ("report",)} if plain else {}
    edges |= {"chair": ("report",)} if chair else {}
    rounds = Rounds(
        most=most, until="converged", meeting="chair" if chair else None, closing=("report",)
    )
    return team(*agents, llm("report"), edges=edges, rounds=rounds, **execution)


def says(*statements: str, **others: str) -> Reply:
    return Reply.json({"increment": [*statements], **others})


def inside(question: str, mark: str) -> str:
    """What stands between the markers of a kind; nothing where there are none."""
    _, _, rest = question.partition(f"\n<{mark} ")
    _, _, rest = rest.partition(">\n")
    return rest.partition(f"\n</{mark} ")[0]


def test_who_has_nothing_new_is_not_asked_again_and_all_read_whole_opinions(bench: Bench) -> None:
    fields = {
        "[heart]": [says("rhythm is off"), says("valve leaks"), says()],
        "[nerve]": [says("no nerve sign", first="syncope"), says()],
        "[report]": "the end",
    }
    with ScriptedModel(fields) as model:
        run = bench.run(ward(), model)
        assert [len(questions(model, word)) for word in ("heart", "nerve")] == [3, 2]
        heart, nerve, [report] = (questions(model, word) for word in ("heart", "nerve", "report"))
    assert (run.status, run.answer, run.rounds, run.usage.calls) == ("done", "the end", 3, 6)
    assert inside(heart[0], "bulletin") == ""
    assert inside(heart[1], "bulletin") == "- rhythm is off (heart)\n- no nerve sign (nerve)"
    assert inside(heart[1], "own") == "- rhythm is off"
    assert "say only what is new" in heart[1]
    assert inside(nerve[1], "own") == '- no nerve sign\n{"first": "syncope"}'
    assert inside(heart[2], "own") == "- rhythm is off\n- valve leaks"
    assert "- valve leaks (heart)" in inside(heart[2], "bulletin")
    assert "In round 1:\n- rhythm is off\nIn round 2:\n- valve leaks" in report
    assert "In round 1:\n- no nerve sign" in report
    assert "increment" not in report
    given = [(item.fields["round"], item.agent) for item in bench.of("agent_given")]
    assert given == [(3, "nerve"), ("closing", "heart"), ("closing", "nerve")]


def test_rounds_end_when_nobody_has_anything_new_or_after_the_most(bench: Bench) -> None:
    with ScriptedModel({"[heart]": says(), "[nerve]": says(), "": "x"}) as model:
        assert bench.run(ward(), model).rounds == 1
    with ScriptedModel({"[heart]": [says(f"{n}") for n in range(3)], "": says()}) as model:
        assert bench.run(ward(), model).rounds == 3


def test_what_was_said_before_is_nothing_new(bench: Bench) -> None:
    fields = {"[heart]": [says("It is  late", "it is late"), says("IT IS LATE ")], "": says()}
    with ScriptedModel(fields) as model:
        run = bench.run(ward(most=9), model)
        assert inside(questions(model, "heart")[1], "own") == "- It is late"
    assert run.rounds == 2


def test_only_those_who_consult_read_the_bulletin_and_others_settle(bench: Bench) -> None:
    fields = {
        "[heart]": [says("a"), says("b"), says()],
        "[nerve]": says(),
        "[nurse]": "same",
        "[report]": "end",
    }
    with ScriptedModel(fields) as model:
        run = bench.run(ward(plain=True), model)
        nurse = questions(model, "nurse")
    assert (run.status, run.rounds, len(nurse)) == ("done", 3, 2)
    assert not [name for name in nurse if "<bulletin" in name]


def test_a_chair_meets_between_rounds_where_there_is_something_new(bench: Bench) -> None:
    fields = {
        "[heart]": [says("a"), says("b"), says()],
        "[nerve]": [says("c"), says()],
        "[chair]": ["a and c", "a, b and c"],
        "[report]": "end",
    }
    with ScriptedModel(fields) as model:
        run = bench.run(ward(chair=True), model)
        chair, heart = questions(model, "chair"), questions(model, "heart")
        [report] = questions(model, "report")
    assert (run.status, run.rounds) == ("done", 3)
    assert [item.fields["round"] for item in bench.of("round_started")] == [
        1, "meeting 1", 2, "meeting 2", 3, "closing",
    ]  # fmt: skip
    paths = {item.fields["path"].split("/")[0] for item in bench.of("model_call", "chair")}
    assert paths == {"meeting 1", "meeting 2"}
    assert [name.count("<report ") for name in chair] == [2, 1]  # who said nothing new is not heard
    assert inside(chair[1], "own") == "a and c"
    assert [inside(name, "bulletin") for name in heart] == ["", "a and c", "a, b and c"]
    assert "a, b and c" in report
    assert run.agents["chair"].usage.calls == 2


def test_nobody_meets_where_no_round_follows(bench: Bench) -> None:
    with ScriptedModel({"[heart]": says("a"), "[nerve]": says("b"), "": "x"}) as model:
        run = bench.run(ward(chair=True, most=2), model)
        assert len(questions(model, "chair")) == 1  # both said the same again in the second round
    assert (run.status, run.rounds) == ("done", 2)
    with ScriptedModel({"[heart]": says(), "[nerve]": says(), "": "x"}) as model:
        assert bench.run(ward(chair=True), model).agents["chair"].status == "skipped"
        assert not questions(model, "chair")


@pytest.mark.parametrize("policy", ["skip", "degrade"])
def test_without_its_chair_a_meeting_goes_by_rule(bench: Bench, policy: str) -> None:
    fields = {"[heart]": [says("a"), says("b")], "[nerve]": says(), "[chair]": FAILS, "": "x"}
    with ScriptedModel(fields) as model:
        bench.run(ward(chair=True, most=2, on_error=policy), model)
        assert inside(questions(model, "heart")[1], "bulletin") == "- a (heart)"
    with ScriptedModel({"[heart]": [says("a"), says("b")], "[nerve]": says(), "": "x"}) as model:
        silent = Ablation(agents=frozenset({"chair"}))
        bench.run(ward(chair=True, most=2), model, silent=silent)
        assert inside(questions(model, "heart")[1], "bulletin") == "- a (heart)"


def test_a_chair_that_fails_ends_the_run_under_fail(bench: Bench) -> None:
    fields = {"[heart]": says("a"), "[nerve]": says(), "[chair]": FAILS, "": "x"}
    with ScriptedModel(fields) as model:
        run = bench.run(ward(chair=True, max_retries=0), model)
    assert str(run.error).startswith("in the meeting after round 1, agent chair: ")
    assert (run.status, run.rounds) == ("failed", 1)


def test_who_failed_has_not_converged_and_what_it_said_before_stands(bench: Bench) -> None:
    fields = {"[heart]": [says("a"), FAILS, FAILS], "[nerve]": [says("b"), says()], "": "end"}
    with ScriptedModel(fields) as model:
        run = bench.run(ward(on_error="degrade", max_retries=0), model)
        assert len(questions(model, "heart")) == 3
        assert "In round 1:\n- a" in questions(model, "report")[0]
    assert (run.status, run.rounds) == ("done", 3)


def test_nobody_reads_what_the_silent_would_have_said(bench: Bench) -> None:
    fields = {"[heart]": [says("a"), says("b"), says()], "[nerve]": says("c"), "": "end"}
    with ScriptedModel(fields) as model:
        run = bench.run(ward(), model, silent=Ablation(agents=frozenset({"nerve"})))
        heard = "".join(questions(model, "heart") + questions(model, "report"))
    assert run.status == "done"
    assert "nerve" not in heard
    turn = Ablation(turns=frozenset({("nerve", 1)}))
    fields = {"[heart]": says(), "[nerve]": [says("late"), says()], "": "end"}
    with ScriptedModel(fields) as model:
        run = bench.run(ward(), model, silent=turn)
        assert len(questions(model, "nerve")) == 2  # the rounds go on until it had nothing new
        assert "In round 2:\n- late" in questions(model, "report")[0]


def test_everybody_who_consults_can_be_silent(bench: Bench) -> None:
    with ScriptedModel("end") as model:
        run = bench.run(
            ward(chair=True), model, silent=Ablation(agents=frozenset({"heart", "nerve"}))
        )
        assert len(model.calls) == 1
    assert (run.status, run.answer, run.rounds) == ("done", "end", 1)


def worked(number: int, **texts: list[str] | None) -> Round:
    """A round in which agents said what is new, or failed."""
    agents = {name: llm(name, output_schema=FORM) for name in texts}
    plan = compile(team(*agents.values(), edges={}), Catalogue.of_host())
    outcomes = {name: did(statements) for name, statements in texts.items()}
    return Round(number=number, plan=plan, run=Run(status="done", agents=outcomes))


def did(statements: list[str] | None) -> AgentOutcome:
    if statements is None:
        return AgentOutcome(status="failed")
    content = json.dumps({"increment": statements})
    return AgentOutcome(status="done", result=AgentResult(content=content))


def test_a_bulletin_has_each_statement_once_with_all_who_made_it() -> None:
    done = [worked(1, a=["One  thing", ""], b=["one thing", "two"]), worked(2, a=["Two"], b=[])]
    assert bulletin(done, ["a", "b"]) == "- One thing (a, b)\n- two (b, a)"
    assert increments(done, "a") == {1: ("One thing",), 2: ("Two",)}
    assert news(done, ["a", "b"]) == ("a",)
    assert (has_converged(done, "a"), has_converged(done, "b")) == (False, True)
    assert opinion(done, "b") == "- one thing\n- two"


def test_a_bulletin_is_bounded_and_says_what_it_left_out() -> None:
    done = [worked(n, a=[f"{n} " + "x" * 390]) for n in range(1, 31)]
    text = bulletin(done, ["a"])
    assert len(text) <= LONGEST_BULLETIN + 50
    assert text.startswith("(20 earlier statements left out.)\n- 21 xx")
    assert text.splitlines()[-1].startswith("- 30 x")
    assert "[…] (a)" in bulletin([worked(1, a=["y" * 500])], ["a"])


def test_an_opinion_that_is_none_is_told_as_none() -> None:
    assert whole([worked(1, a=None)], "a") is None
    empty = whole([worked(1, a=[])], "a")
    assert empty is not None
    assert empty.result is not None
    assert empty.result.content == "Nothing."
    assert not has_converged([worked(1, a=None)], "a")
    assert not has_converged([], "a")

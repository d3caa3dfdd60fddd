"""A team that repeats: who is asked in which round, what each reads, and how the rounds end."""

from typing import Any

import pytest

from coterie.runtime import Run
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.values.usage import Usage
from coterie.schema import Rounds, Task, Team

from ...provider import answer, in_turn
from ...support.models import questions
from .. import timed
from ..conftest import Bench, llm, team

FAILS = Reply.error(400, message="no")
FINAL = {
    "type": "object",
    "properties": {"answer": {"type": "string"}, "final": {"type": "boolean"}},
    "required": ["answer", "final"],
}
EDGES = {
    "writer": ("critic_1", "critic_2", "editor"),
    "critic_1": ("editor",),
    "critic_2": ("editor",),
}
"""The writer reports to two critics, who so answer it in the next round; the editor hears all."""


def revising(closing: tuple[str, ...] = ("editor",), **reply: Any) -> Team:
    rounds = Rounds(
        most=reply.pop("most", 5), until=reply.pop("until", "unchanged"), closing=closing
    )
    agents = [llm(word) for word in ("writer", "critic_1", "critic_2", "editor")]
    return team(*agents, edges=EDGES, rounds=rounds, **reply)


def script(**reply: str | Reply | list[str | Reply]) -> dict[str, Any]:
    """What each agent says: always the same, or one thing after the other."""
    return {f"[{agent}]": answers for agent, answers in reply.items()}


def times(model: ScriptedModel) -> dict[str, int]:
    """How often each agent was asked."""
    return {
        word: len(questions(model, word)) for word in ("writer", "critic_1", "critic_2", "editor")
    }


def test_what_one_reports_to_colleagues_they_answer_in_the_next_round(bench: Bench) -> None:
    fields = script(
        writer=["draft 1", "draft 2", "draft 2"],
        critic_1=["too long", "fine now", "fine now"],
        critic_2=["no verb", "has a verb", "has a verb"],
        editor="the end",
    )
    with ScriptedModel(fields) as model:
        run = bench.run(revising(), model)
        writer, critic, editor = (
            questions(model, word) for word in ("writer", "critic_1", "editor")
        )
    assert (run.status, run.answer, run.answered_by, run.rounds) == ("done", "the end", "editor", 3)
    assert "too long" not in writer[0]
    assert [text in writer[1] for text in ("draft 1", "too long", "no verb")] == [True] * 3
    assert [text in writer[2] for text in ("draft 2", "fine now", "has a verb")] == [True] * 3
    assert "too long" not in writer[2]
    assert "the end" not in "".join(writer)
    assert "draft 2" in critic[1]
    assert "too long" in critic[1]
    assert len(editor) == 1
    assert [text in editor[0] for text in ("draft 2", "fine now", "has a verb")] == [True] * 3
    assert "round" not in "".join(writer + critic + editor)


@pytest.mark.parametrize(
    ("hears", "read"),
    [
        ("reports", {"a": "", "b": "", "c": ""}),
        ("others", {"a": "BC", "b": "AC", "c": "AB"}),
        (("b",), {"a": "B", "b": "", "c": "B"}),
    ],
)
def test_who_hears_whom_is_a_setting(bench: Bench, hears: Any, read: dict[str, str]) -> None:
    """A debate: nobody reports to another debater, and all read each other in the next round."""
    rounds = Rounds(most=2, until="never", hears=hears, closing=("end",))
    edges = dict.fromkeys("abc", ("end",))
    debate = team(*map(llm, "abc"), llm("end"), edges=edges, rounds=rounds)
    fields = script(a="ANSWER A", b="ANSWER B", c="ANSWER C", end="the end")
    with ScriptedModel(fields) as model:
        assert bench.run(debate, model).answer == "the end"
        for name, others in read.items():
            first, again = questions(model, name)
            assert "ANSWER" not in first
            assert {sign for sign in "ABC" if f"ANSWER {sign}" in again} == {name.upper(), *others}


def test_whom_an_agent_sees_anyway_it_does_not_hear_beside(bench: Bench) -> None:
    with ScriptedModel(
        script(writer=["one", "two"], critic_1="no", critic_2="not", editor="end")
    ) as model:
        rounds = Rounds(most=2, until="never", hears="others", closing=("editor",))
        agents = [llm(word) for word in ("writer", "critic_1", "critic_2", "editor")]
        bench.run(team(*agents, edges=EDGES, rounds=rounds), model)
        _, again = questions(model, "critic_1")
    assert "two" in again
    assert "one" not in again
    assert "not" in again


def test_rounds_end_with_one_that_changed_nothing(bench: Bench) -> None:
    with ScriptedModel(script(writer="a", critic_1="b", critic_2="c", editor="d")) as model:
        run = bench.run(revising(), model)
        assert times(model) == {"writer": 2, "critic_1": 2, "critic_2": 2, "editor": 1}
    assert (run.rounds, run.usage.calls) == (2, 7)


def test_white_space_at_the_ends_is_no_change(bench: Bench) -> None:
    form = {"type": "object", "properties": {"answer": {"type": "string"}}}
    agents = [llm("writer"), llm("critic_1", output_schema=form)]
    pair = team(*agents, edges={"writer": ("critic_1",)}, rounds=Rounds(most=4))
    with ScriptedModel(script(writer=["a", " a\n"], critic_1='{"answer": "b"}')) as model:
        assert bench.run(pair, model).rounds == 2


def test_who_would_read_the_same_is_settled_and_costs_nothing(bench: Bench) -> None:
    """The first critic, and with it its answer, changes on; the second has come to rest."""
    agents = [llm(word) for word in ("one", "two", "critic_1", "critic_2", "end")]
    edges = {"one": ("critic_1",), "two": ("critic_2",), "critic_1": ("end",), "critic_2": ("end",)}
    rounds = Rounds(most=4, until="never", closing=("end",))
    fields = script(
        one=["1", "2", "3", "4"], critic_1=["a", "b", "c", "d"], two="x", critic_2="y", end="z"
    )
    with ScriptedModel(fields) as model:
        run = bench.run(team(*agents, edges=edges, rounds=rounds), model)
        counts = [len(questions(model, agent.id)) for agent in agents]
        total = len(model.calls)
    assert counts == [4, 2, 4, 2, 1]
    assert (run.usage.calls, total) == (13, 13)
    assert run.agents["two"].usage.calls == 2
    given = [(item.fields["round"], item.agent) for item in bench.of("agent_given")]
    assert given[:4] == [(3, "two"), (3, "critic_2"), (4, "two"), (4, "critic_2")]
    ends = [item for item in bench.of("round_started") if item.fields["round"] == 3]
    assert ends[0].fields["given"] == ["two", "critic_2"]


def test_a_settled_agent_is_woken_by_an_answer(bench: Bench) -> None:
    """The critic says the same twice, and then something else: the writer is asked again."""
    pair = team(
        llm("writer"), llm("critic_1"), edges={"writer": ("critic_1",)},
        rounds=Rounds(most=6, until="never"),
    )  # fmt: skip
    fields = script(writer=["a", "b", "b", "b"], critic_1=["1", "1", "2", "2"])
    with ScriptedModel(fields) as model:
        run = bench.run(pair, model)
        assert [len(questions(model, word)) for word in ("writer", "critic_1")] == [4, 4]
    assert (run.rounds, run.answer) == (6, "2")


def test_rounds_end_when_all_who_can_say_that_they_are_final(bench: Bench) -> None:
    agents = [llm("writer", output_schema=FINAL), llm("critic_1", output_schema=FINAL)]
    pair = team(*agents, edges={"writer": ("critic_1",)}, rounds=Rounds(most=9, until="finalized"))

    def turns(*final: bool) -> list[str | Reply]:
        return [Reply.json({"answer": f"{n}", "final": holds}) for n, holds in enumerate(final)]

    fields = script(writer=turns(True, False, True), critic_1=turns(False, True, True))
    with ScriptedModel(fields) as model:
        run = bench.run(pair, model)
    assert (run.rounds, run.answer, run.usage.calls) == (3, "2", 6)


def test_never_is_as_often_as_the_team_says(bench: Bench) -> None:
    with ScriptedModel(script(writer="a", critic_1="b", critic_2="c", editor="d")) as model:
        run = bench.run(revising(most=4, until="never"), model)
        assert times(model) == {"writer": 2, "critic_1": 2, "critic_2": 2, "editor": 1}
    assert run.rounds == 4


def test_an_agent_has_its_last_outcome_and_what_it_took_in_all(bench: Bench) -> None:
    fields = script(writer=["a", "b", "c"], critic_1="x", critic_2="y", editor="z")
    with ScriptedModel(fields) as model:
        run = bench.run(revising(most=3), model)
    assert list(run.agents) == ["writer", "critic_1", "critic_2", "editor"]
    writer = run.agents["writer"]
    assert writer.result is not None
    assert (writer.result.content, writer.usage.calls, writer.attempts) == ("c", 3, 3)
    assert sum((agent.usage for agent in run.agents.values()), Usage()) == run.usage
    assert run.agents["editor"].attempts == 1


def test_a_score_comes_once_at_the_end(bench: Bench) -> None:
    fields = script(writer="7", critic_1="b", critic_2="c", editor="8")
    with ScriptedModel(fields) as model:
        run = bench.run(revising(), model, task=Task(id="t", query="3 + 5?", answer="8"))
    assert run.score is not None
    assert run.score.value == 1
    scored = [event.type for event in bench.events if "score" in event.fields]
    assert scored == ["run_finished"]


def failing(on_error: str, *, most: int = 3) -> tuple[Team, dict[str, Any]]:
    """The first critic fails in the second round."""
    fields = script(writer=["a", "b", "c"], critic_1=["x", FAILS, "z"], critic_2="y", editor="end")
    return revising(most=most, on_error=on_error), fields


def test_a_run_fails_with_its_round_and_sells_no_answer_of_an_earlier_one(bench: Bench) -> None:
    solo = team(llm("writer"), rounds=Rounds(most=3), max_retries=0)
    with ScriptedModel(script(writer=["an answer", FAILS])) as model:
        run = bench.run(solo, model)
    assert (run.status, run.answer, run.answered_by, run.rounds) == ("failed", None, None, 2)
    error = str(run.error)
    assert error.startswith("in round 2, agent writer: ")
    assert error.endswith("What round 1 answered is no answer of the run; its events have it.")
    assert run.usage.calls == 1


def test_policy_fail_ends_the_rounds_and_nobody_closes(bench: Bench) -> None:
    some, fields = failing("fail")
    with ScriptedModel(fields) as model:
        run = bench.run(some, model)
        assert times(model)["editor"] == 0
    assert (run.status, run.agents["editor"].status) == ("failed", "cancelled")
    assert str(run.error).startswith("in round 2, agent critic_1: ")


@pytest.mark.parametrize("policy", ["skip", "degrade"])
def test_other_policies_go_on_and_try_the_agent_again(bench: Bench, policy: str) -> None:
    some, fields = failing(policy)
    with ScriptedModel(fields) as model:
        run = bench.run(some, model)
        writer = questions(model, "writer")
        critic = questions(model, "critic_1")
    assert (run.status, run.answer, run.rounds) == ("done", "end", 3)
    assert "x" in critic[2].split("<own")[1]  # what it said last, in the first round
    assert writer[2].count("<answer") == 1  # who failed answered nothing
    assert [agent.status for agent in run.agents.values()] == ["done"] * 4


def test_who_failed_is_never_settled_and_its_last_state_is_told(bench: Bench) -> None:
    fields = script(writer="a", critic_1=[FAILS, FAILS, FAILS], critic_2="y", editor="end")
    with ScriptedModel(fields) as model:
        run = bench.run(revising(most=3, until="never", on_error="degrade"), model)
        assert times(model) == {"writer": 2, "critic_1": 3, "critic_2": 2, "editor": 1}
    assert (run.status, run.answer) == ("done", "end")
    assert run.agents["critic_1"].status == "failed"


def test_a_closing_agent_that_fails_fails_the_run(bench: Bench) -> None:
    fields = script(writer="a", critic_1="b", critic_2="c", editor=FAILS)
    with ScriptedModel(fields) as model:
        run = bench.run(revising(max_retries=0), model)
    assert (run.status, run.answer, run.rounds) == ("failed", None, 2)
    assert str(run.error).startswith("after the rounds, agent editor: ")


def test_the_time_of_a_run_holds_over_all_its_rounds() -> None:
    pair = team(
        llm("writer"), llm("critic_1"), edges={"writer": ("critic_1",)},
        rounds=Rounds(most=3), timeout=5,
    )  # fmt: skip
    behave = in_turn(answer("first"), answer("b"), timed.FOR_EVER)
    run, seconds = timed.run(pair, behave)
    assert (run.status, run.answer, seconds) == ("stopped", None, 5)
    assert "in round 2, the run reached execution.timeout, 5 seconds" in str(run.error)


def test_events_say_in_which_round_they_came(bench: Bench) -> None:
    with ScriptedModel(script(writer="a", critic_1="b", critic_2="c", editor="d")) as model:
        bench.run(revising(), model)
    rounds = [item.fields["round"] for item in bench.of("agent_finished")]
    assert rounds == [1, 1, 1, 2, 2, 2, "closing"]
    assert [item.fields["round"] for item in bench.of("model_call")] == rounds
    assert [item.fields["status"] for item in bench.of("round_finished")] == ["done"] * 3
    assert [bench.events[0].type, bench.events[-1].type] == ["run_started", "run_finished"]


def test_a_team_without_rounds_is_run_as_ever(bench: Bench) -> None:
    with ScriptedModel("x") as model:
        run: Run = bench.run(team(llm("one")), model)
    assert run.rounds == 1
    assert not bench.of("round_started")
    assert not [event for event in bench.events if "round" in event.fields]
    assert {item.fields["path"] for item in bench.of("model_call")} == {"one/attempt 1/call 1"}

"""One pass of a team's agents: what is carried into it, who is given, what is kept of it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from coterie.runtime import AgentOutcome, Caps, Run
from coterie.runtime.agents.round_state import RoundState
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.engine.allowance import Allowance
from coterie.runtime.runners import AgentReport, AgentResult
from coterie.runtime.values.usage import Usage

from ...support.models import questions
from ..conftest import Bench, llm, team

EDGES = {"w0": ("judge",), "w1": ("judge",)}
SPENT = AgentOutcome(
    status="done",
    result=AgentResult(content="settled on 4"),
    usage=Usage(calls=3, prompt_tokens=9),
    seconds=2.0,
    attempts=2,
)


def trio(**execution: Any):
    return team(llm("w0"), llm("w1"), llm("judge"), edges=EDGES, **execution)


def said(agent_id: str, content: str) -> AgentReport:
    return AgentReport(agent_id=agent_id, role="worker", content=content)


def test_who_is_given_is_not_asked_is_heard_and_costs_nothing(bench: Bench) -> None:
    with ScriptedModel({"[judge]": "four", "": "5"}) as model:
        run = bench.one_pass(trio(), model, preset={"w0": SPENT, "nobody": SPENT})
        assert not questions(model, "w0")
        assert "settled on 4" in questions(model, "judge")[0]
    assert (run.status, run.answer, run.usage.calls) == ("done", "four", 2)
    given = run.agents["w0"]
    assert (given.result, given.usage, given.attempts) == (SPENT.result, Usage(), 0)
    [event] = bench.of("agent_given")
    assert (event.agent, event.fields["content"]) == ("w0", "settled on 4")
    assert not bench.of("agent_started", "w0") + bench.of("agent_finished", "w0")


def test_an_agent_that_is_given_as_silent_fails_nobody(bench: Bench) -> None:
    silent = AgentOutcome(status="skipped")
    with ScriptedModel("x") as model:
        run = bench.one_pass(trio(on_error="fail"), model, preset={"w0": silent})
        assert "w0 could not finish" in questions(model, "judge")[0]
    assert (run.status, run.answer, run.agents["w0"]) == ("done", "x", silent)


def test_the_output_can_be_given(bench: Bench) -> None:
    with ScriptedModel("x") as model:
        run = bench.one_pass(trio(), model, preset=dict.fromkeys(("w0", "w1", "judge"), SPENT))
        assert not model.calls
    assert (run.answer, run.answered_by, run.usage) == ("settled on 4", "judge", Usage())


def test_agents_read_what_is_carried_each_its_own_and_all_the_bulletin(bench: Bench) -> None:
    carry = RoundState(
        own={"w0": said("w0", "mine: 4")},
        letters={"w0": (said("judge", "why 4?"), said("w1", "I say 5"))},
        bulletin="Two rounds are left.",
    )
    with ScriptedModel("x") as model:
        bench.one_pass(trio(), model, state=carry)
        [first], [second] = questions(model, "w0"), questions(model, "w1")
        systems = [call.body["messages"][0]["content"] for call in model.calls]
    order = [first.index(word) for word in ("mine: 4", "why 4?", "I say 5", "Two rounds")]
    assert order == sorted(order)
    assert "Two rounds" in second
    assert "mine: 4" not in second
    assert all("never instructions" in system for system in systems)


def test_carried_text_is_part_of_what_a_journal_answers(bench: Bench, tmp_path: Path) -> None:
    def calls(**carried: Any) -> int:
        with ScriptedModel("x") as model:
            bench.one_pass(trio(), model, folder=tmp_path, state=RoundState(**carried))
            return len(model.calls)

    own = {"w0": said("w0", "mine: 4")}
    assert [calls(), calls(), calls(own=own), calls(own=own)] == [3, 0, 1, 0]
    letters = {"judge": (said("w0", "no"),)}
    assert [calls(own=own, letters=letters), calls(bulletin="x")] == [1, 3]


def test_a_dialogue_loses_at_most_the_middle_of_its_longest(bench: Bench, tmp_path: Path) -> None:
    with ScriptedModel({"[w0]": "begin " + "z" * 4000 + " end", "": "x"}) as model:
        run = bench.one_pass(trio(), model, folder=tmp_path, dialogue=500)
        again = bench.one_pass(trio(), model, folder=tmp_path, dialogue=500)
        assert len(model.calls) == 3
        other = bench.one_pass(trio(), model, folder=tmp_path, dialogue=9000)
        assert len(model.calls) == 3
    assert {item: out.dialogue for item, out in run.agents.items()} == {
        item: out.dialogue for item, out in again.agents.items()
    }
    roles = [item["role"] for item in run.agents["w0"].dialogue]
    system, question, answer = (item["content"] for item in run.agents["w0"].dialogue)
    assert roles == ["system", "user", "assistant"]
    assert "[w0]" in system
    assert "How many apples" in question
    assert answer.startswith("begin z")
    assert answer.endswith("z end")
    assert "characters left out" in answer
    assert len(system + question + answer) <= 500
    assert len(other.agents["w0"].dialogue[2]["content"]) == 4010


def test_no_dialogue_is_kept_unless_somebody_wants_it(bench: Bench) -> None:
    with ScriptedModel("x") as model:
        run = bench.one_pass(trio(), model)
    assert {agent.dialogue for agent in run.agents.values()} == {()}


@pytest.mark.parametrize("journaled", [True, False])
def test_an_agents_cap_holds_over_passes(bench: Bench, tmp_path: Path, journaled: bool) -> None:
    allowance = Allowance(60)
    passing: dict[str, Any] = {
        "allowance": allowance,
        "agent_caps": Caps(calls=1),
        "folder": tmp_path if journaled else None,
    }
    with ScriptedModel("x") as model:
        first = bench.one_pass(team(llm("one")), model, path="round 1/", **passing)
        second = bench.one_pass(team(llm("one")), model, path="round 2/", **passing)
    assert (first.status, second.status) == ("done", "stopped")
    assert "agent one has reached its budget calls=1" in str(second.error)


def test_what_a_pass_that_has_ended_cost_is_read_once() -> None:
    read, compared = list[str](), list[str]()

    class Place(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            compared.append(self)
            return str.__eq__(self, other)

    def spent(under: str) -> Usage:
        read.append(under)
        return Usage(calls=1)

    journal: Any = SimpleNamespace(spent=spent)
    allowance, run = Allowance(60), Run(status="done", agents={"one": SPENT})
    for number in range(20):
        for _ in range(2):  # asked again, it is the same
            assert allowance.of("one", Place(f"{number}/"), journal)[0].calls == number + 1
        allowance.count(run, Place(f"{number}/"))
    assert allowance.of("one", "19/", journal) == (Usage(calls=20), 20 * SPENT.seconds)
    assert len(read) == 3 * 20
    assert len(compared) < 3 * 20, "no pass is looked for among all others"


def test_the_time_of_a_team_holds_over_passes(bench: Bench) -> None:
    with ScriptedModel(Reply.fault("hang")) as model:
        spent = Allowance(0.0)
        run = bench.one_pass(team(llm("one")), model, allowance=spent)
    assert (run.status, run.answer) == ("stopped", None)
    assert "execution.timeout, 0 seconds" in str(run.error)

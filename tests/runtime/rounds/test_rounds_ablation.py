"""Who is silent: what the others read then, what a journal answers, and what comes of the run."""

from pathlib import Path
from typing import Any

import pytest

from coterie.runtime import Ablation, AgentOutcome, compile
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.plan.plan import part_of
from coterie.schema import Agent, Catalogue, InputError, Rounds, Team

from ..conftest import Bench, llm, team

FAILS = Reply.error(400, message="no")
NAMES = ("scout", "w0", "w1", "judge", "clerk")
EDGES = {"scout": ("w0", "w1"), "w0": ("judge",), "w1": ("judge",), "judge": ("clerk",)}


def five(**execution: Any) -> Team:
    return team(*(llm(name) for name in NAMES), edges=EDGES, **execution)


def pair(**execution: Any) -> Team:
    """A writer whose critic answers it in the next round, and an editor that closes."""
    agents = [llm(word) for word in ("writer", "critic", "editor")]
    edges = {"writer": ("critic", "editor"), "critic": ("editor",)}
    rounds = Rounds(most=3, until="never", closing=("editor",))
    return team(*agents, edges=edges, rounds=rounds, **execution)


def asked(model: ScriptedModel, agent: str) -> list[tuple[str, str]]:
    """The instructions and the question of an agent, each time it was asked."""
    bodies = [call.body["messages"] for call in model.calls]
    read = [(body[0]["content"], body[1]["content"]) for body in bodies]
    return [couple for couple in read if f"[{agent}]" in couple[0]]


def silent(*agents: str, **turns: int) -> Ablation:
    return Ablation(agents=frozenset(agents), turns=frozenset(turns.items()))


def test_a_part_of_a_plan_has_nobody_who_is_not_in_it() -> None:
    plan = compile(five(context="all"), Catalogue.of_host())
    part = part_of(plan, {"judge", "w1", "nobody"})
    assert {item: planned.sees for item, planned in part.agents.items()} == {
        "w1": (),
        "judge": ("w1",),
    }
    assert part.levels == (("w1",), ("judge",))
    assert (part.workers, part.team, part.output) == (2, plan.team, "clerk")
    assert part_of(plan, plan.agents) is plan
    assert part_of(plan, ()).workers == 1


def test_colleagues_read_what_they_would_in_a_team_without_the_silent(bench: Bench) -> None:
    without = team(
        *(llm(name) for name in NAMES if name != "w0"),
        edges={"scout": ("w1",), "w1": ("judge",), "judge": ("clerk",)},
    )
    fields = {f"[{name}]": f"said by {name}" for name in NAMES}
    with ScriptedModel(fields) as model:
        run = bench.run(five(), model, silent=silent("w0"))
        assert not asked(model, "w0")
        first = {name: asked(model, name) for name in NAMES}
    with ScriptedModel(fields) as model:
        bench.run(without, model)
        assert {name: asked(model, name) for name in NAMES} == first
    assert (run.status, run.answer) == ("done", "said by clerk")
    assert run.agents["w0"] == AgentOutcome(status="skipped")
    assert [item.agent for item in bench.of("agent_started")].count("w0") == 0


def test_a_whole_journal_answers_who_never_hears_the_silent(bench: Bench, tmp_path: Path) -> None:
    with ScriptedModel({f"[{name}]": name for name in NAMES}) as model:
        bench.run(five(), model, folder=tmp_path)
        assert len(model.calls) == 5
        bench.run(five(), model, folder=tmp_path, silent=silent("w0"))
        again = [name for name in NAMES if len(asked(model, name)) > 1]
    assert again == ["judge"]  # which says the same: so the clerk reads what it read


def test_who_loses_all_that_it_hears_works_from_the_task_alone(bench: Bench) -> None:
    with ScriptedModel("x") as model:
        run = bench.run(five(), model, silent=silent("scout", "w0", "w1"))
        system, question = asked(model, "judge")[0]
    assert (run.status, run.usage.calls) == ("done", 2)
    assert question == "Task:\nHow many apples are left?"
    assert "colleagues" not in system


def test_who_asks_no_model_and_hears_nobody_any_more_takes_no_part(bench: Bench) -> None:
    vote = Agent(id="vote", agent_type="Function", function="majority")
    some = team(
        llm("a"), llm("b"), vote, llm("judge"),
        edges={"a": ("vote",), "b": ("vote",), "vote": ("judge",)},
    )  # fmt: skip
    with ScriptedModel("x") as model:
        run = bench.run(some, model, silent=silent("a", "b"))
        assert len(model.calls) == 1
    assert (run.status, run.answer, run.agents["vote"].status) == ("done", "x", "skipped")


def test_without_its_output_a_run_has_no_answer(bench: Bench) -> None:
    with ScriptedModel("x") as model:
        run = bench.run(five(), model, silent=silent("clerk"))
    assert (run.status, run.answer, run.score, run.usage.calls) == ("failed", None, None, 4)
    assert run.error == "clerk, whose output is the answer, took no part."


def test_everybody_can_be_silent(bench: Bench) -> None:
    with ScriptedModel("x") as model:
        for some in (five(), five(on_error="degrade"), pair()):
            run = bench.run(some, model, silent=silent(*some.agents))
            assert (run.status, run.answer) == ("failed", None)
        assert not model.calls


def test_in_rounds_nobody_reads_a_letter_of_the_silent(bench: Bench) -> None:
    fields = {"[writer]": ["1", "2", "3"], "[critic]": ["a", "b", "c"], "[editor]": "end"}
    with ScriptedModel(fields) as model:
        run = bench.run(pair(), model, silent=silent("critic"))
        writer, editor = asked(model, "writer"), asked(model, "editor")
        assert not asked(model, "critic")
    assert (run.status, run.answer, run.rounds) == ("done", "end", 3)
    assert not [couple for couple in writer if "<answer" in couple[1]]
    assert len(editor) == 1
    assert "critic" not in editor[0][1]


def test_rounds_without_their_agents_let_those_who_close_work_alone(bench: Bench) -> None:
    with ScriptedModel("end") as model:
        run = bench.run(pair(on_error="skip"), model, silent=silent("writer", "critic"))
        [(_, question)] = asked(model, "editor")
    assert (run.status, run.answer, run.usage.calls) == ("done", "end", 1)
    assert question == "Task:\nHow many apples are left?"


def test_a_turn_is_missing_in_its_round_only(bench: Bench, tmp_path: Path) -> None:
    fields = {"[writer]": [*"1234"], "[critic]": [*"abcd"], "[editor]": ["end", "other"]}
    with ScriptedModel(fields) as model:
        bench.run(pair(), model, folder=tmp_path)
        before = len(model.calls)
        run = bench.run(pair(), model, folder=tmp_path, silent=silent(critic=2))
        writer = asked(model, "writer")
        critic = asked(model, "critic")[3:]
        assert len(model.calls) - before == 3  # writer and critic of round 3, and the editor
    assert (run.status, run.answer) == ("done", "other")
    assert "<answer" not in writer[-1][1]
    assert len(critic) == 1
    assert "a\n" in critic[0][1].split("<own")[1]  # it goes on from what it said in round 1
    starts = [item.fields["round"] for item in bench.of("agent_started", "critic")]
    assert starts == [1, 2, 3, 1, 3]


def test_a_last_turn_leaves_what_was_said_before_it(bench: Bench) -> None:
    fields = {"[writer]": ["1", "2", "3"], "[critic]": ["a", "b", "c"], "[editor]": "end"}
    with ScriptedModel(fields) as model:
        bench.run(pair(), model, silent=silent(critic=3))
        [(_, question)] = asked(model, "editor")
    assert "b\n</report" in question


def test_an_answer_whose_turn_is_missing_is_none(bench: Bench) -> None:
    some = team(llm("a"), llm("b"), edges={"a": ("b",)}, rounds=Rounds(most=2, until="never"))
    with ScriptedModel("x") as model:
        run = bench.run(some, model, silent=silent(b=2))
    assert (run.status, run.answer, run.rounds) == ("failed", None, 2)


def test_who_could_say_that_all_is_final_and_is_silent_ends_nothing(bench: Bench) -> None:
    form = {"type": "object", "properties": {"final": {"type": "boolean"}}, "required": ["final"]}
    agents = [llm("writer"), llm("critic", output_schema=form)]
    rounds = Rounds(most=3, until="finalized")
    some = team(*agents, edges={"critic": ("writer",)}, rounds=rounds)
    fields = {"[critic]": Reply.json({"final": True}), "": [*"12345"]}
    with ScriptedModel(fields) as model:
        assert bench.run(some, model, silent=silent("critic")).rounds == 3
        assert bench.run(some, model, silent=silent(critic=1)).rounds == 2


def test_a_failure_is_told_where_it_was(bench: Bench) -> None:
    with ScriptedModel({"[judge]": FAILS, "": "x"}) as model:
        run = bench.run(five(), model, silent=silent("w0"))
    assert str(run.error).startswith("agent judge: ")
    assert run.agents["clerk"].status == "cancelled"


@pytest.mark.parametrize("who", [silent("nobody"), silent(nobody=1)])
def test_who_is_no_agent_cannot_be_silent(bench: Bench, who: Ablation) -> None:
    with ScriptedModel("x") as model:
        with pytest.raises(InputError, match="team has no agent 'nobody', so it cannot be silent"):
            bench.run(five(), model, silent=who)
        assert not model.calls

"""Agents that work once for each item of a list: what each reads, and the list of their answers."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime import Caps, Run
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.doubles.script import Request
from coterie.runtime.gateway import ChatAnswer
from coterie.schema import Each, Rounds, Task, Team, When

from ...provider import Provider, answer
from ...support.models import questions
from .. import timed
from ..conftest import TASK, Bench, llm, team

PARTS = {
    "type": "object",
    "properties": {"parts": {"type": "array", "items": {"type": "string"}}},
    "required": ["parts"],
}
OF_PLANNER = Each(agent="planner", field="parts", most=4)
EDGES = {"planner": ("worker",), "worker": ("end",)}


def spread(each: Each = OF_PLANNER, **answer: Any) -> Team:
    worker = answer.pop("worker", {})
    agents = [llm("planner", output_schema=PARTS), llm("worker", each=each, **worker), llm("end")]
    return team(*agents, edges=EDGES, **answer)


def part_of(request: Request) -> str:
    """The item that a question is about."""
    question = request["messages"][-1]["content"]
    return question.split("<item ")[1].split("\n")[1]


def script(*parts: Any, **answer: Any) -> dict[str, Any]:
    return {
        "[planner]": Reply.json({"parts": [*parts]}),
        "[worker]": lambda request: Reply(text=f"did {part_of(request)}"),
        "[end]": "the end",
        **answer,
    }


def answers(run: Run) -> Any:
    result = run.agents["worker"].result
    assert result is not None
    return json.loads(result.content)


def test_an_agent_works_on_each_item_and_answers_with_a_list_in_order(bench: Bench) -> None:
    late = {"one": 0.2}

    def works(request: Request) -> Reply:
        part = part_of(request)
        return Reply(text=f"did {part}", latency=late.get(part, 0))

    with ScriptedModel(script("one", "two", "three", **{"[worker]": works})) as model:
        run = bench.run(spread(), model)
        asked = questions(model, "worker")
        [read] = questions(model, "end")
    assert (run.status, run.answer) == ("done", "the end")
    assert answers(run) == ["did one", "did two", "did three"]
    assert sum("your part is item 1 of 3" in question for question in asked) == 1
    assert len(asked) == run.agents["worker"].usage.calls == 3
    assert read.count("<report ") == 1
    assert '["did one", "did two", "did three"]' in read
    [started] = bench.of("agent_started", "worker")
    assert started.fields["items"] == 3
    assert sorted(event.fields["item"] for event in bench.of("item_finished")) == [1, 2, 3]


def test_structured_answers_are_a_list_of_values_on_which_others_work(bench: Bench) -> None:
    """A list of lists: the second works on what the first answered, item by item."""
    verdict = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    agents = [
        llm("planner", output_schema=PARTS),
        llm("worker", each=OF_PLANNER, output_schema=verdict),
        llm("checker", each=Each(agent="worker")),
        llm("end"),
    ]
    edges = {"planner": ("worker",), "worker": ("checker",), "checker": ("end",)}
    fields = script("one", "two", **{"[worker]": Reply.json({"ok": True})})
    fields["[checker]"] = lambda request: Reply(text=part_of(request))
    with ScriptedModel(fields) as model:
        run = bench.run(team(*agents, edges=edges), model)
    assert answers(run) == [{"ok": True}, {"ok": True}]
    result = run.agents["checker"].result
    assert result is not None
    assert json.loads(result.content) == ['{"ok": true}', '{"ok": true}']


@pytest.mark.parametrize(
    ("field", "task", "parts"),
    [
        ("context", {"context": "one\n\n two \n"}, ["one", "two"]),
        ("context", {"context": '["one", {"n": 2}]'}, ["one", '{"n": 2}']),
        ("files", {"files": {"b.txt": "B", "a.txt": "A"}}, ["a.txt", "b.txt"]),
    ],
)
def test_a_list_may_stand_in_the_task(
    bench: Bench, field: str, task: dict[str, Any], parts: list[str]
) -> None:
    alone = team(llm("worker", each=Each(field=field)), llm("end"), edges={"worker": ("end",)})
    with ScriptedModel(script()) as model:
        run = bench.run(alone, model, task=Task(id="t", query="Go on.", **task))
    assert answers(run) == [f"did {part}" for part in parts]


def test_no_more_items_are_worked_on_than_the_team_says_and_that_is_told(bench: Bench) -> None:
    with ScriptedModel(script(*"abcdef")) as model:
        run = bench.run(spread(), model)
        assert len(questions(model, "worker")) == 4
    assert answers(run) == [f"did {part}" for part in "abcd"]
    assert "2 more items were left out" in run.agents["worker"].mishaps


def test_an_empty_list_is_nothing_to_do(bench: Bench) -> None:
    with ScriptedModel(script()) as model:
        run = bench.run(spread(), model)
        assert questions(model, "worker") == []
        assert "worker was not needed" in questions(model, "end")[0]
    assert run.agents["worker"].error == "its list is empty: planner.parts."


@pytest.mark.parametrize(("on_error", "status"), [("fail", "failed"), ("degrade", "done")])
def test_an_item_that_fails_goes_by_the_policy(bench: Bench, on_error: str, status: str) -> None:
    def works(request: Request) -> Reply:
        is_bad = part_of(request) == "two"
        return Reply.error(400, message="no") if is_bad else Reply(text="done")

    team = spread(on_error=on_error, parallel_workers=False)
    with ScriptedModel(script("one", "two", "three", **{"[worker]": works})) as model:
        run = bench.run(team, model)
        assert len(questions(model, "worker")) == (3 if status == "done" else 2)
    assert run.status == status
    if status == "done":
        assert answers(run) == ["done", None, "done"]
        assert any("item 2 failed: " in mishap for mishap in run.agents["worker"].mishaps)
    else:
        assert "item 2: " in str(run.error)


@pytest.mark.parametrize(("workers", "peak"), [(True, 4), (2, 2), (False, 1)])
def test_items_are_worked_on_side_by_side_within_the_limit(workers: Any, peak: int) -> None:
    async def behave(_model: str, body: Request) -> ChatAnswer:
        if "[planner]" in body["messages"][0]["content"]:
            return answer(json.dumps({"parts": [*"abcd"]}))
        await asyncio.sleep(1)
        return answer("ok")

    provider = Provider(behave)
    run, seconds = timed.run(spread(parallel_workers=workers), provider)
    assert (run.status, provider.peak, seconds) == ("done", peak, 4 / peak + 1)


def test_a_resumed_run_asks_only_for_items_that_are_not_there(bench: Bench, tmp_path: Path) -> None:
    refused = iter([True, False])

    def works(request: Request) -> Reply:
        is_bad = part_of(request) == "two" and next(refused)
        return Reply.error(400, message="no") if is_bad else Reply(text=f"did {part_of(request)}")

    fields = script("one", "two", **{"[worker]": works})
    with ScriptedModel(fields) as model:
        assert bench.run(spread(), model, folder=tmp_path).status == "failed"
        run = bench.run(spread(), model, folder=tmp_path)
        bodies = [call.body for call in model.calls if call.body and "<item " in str(call.body)]
        asked = [part_of(body) for body in bodies]
    assert answers(run) == ["did one", "did two"]
    assert sorted(asked) == ["one", "two", "two"]
    paths = {event.fields["path"] for event in bench.of("model_call", "worker")}
    assert "worker/item 2/attempt 1/call 1" in paths


def test_in_rounds_items_are_worked_on_anew_and_others_read_the_list(bench: Bench) -> None:
    rounds = Rounds(most=2, until="never", hears="others", closing=("end",))
    fields = script("one", "two")
    fields["[planner]"] = [
        Reply.json({"parts": [*parts]}) for parts in (("one", "two"), ("three",))
    ]
    with ScriptedModel(fields) as model:
        run = bench.run(spread(rounds=rounds), model)
        asked, [_, planned] = questions(model, "worker"), questions(model, "planner")
    assert [question.count("<item ") for question in asked] == [1, 1, 1]
    assert not any("<own " in question for question in asked)
    assert '["did one", "did two"]' in planned
    assert answers(run) == ["did three"]


def test_a_cap_of_an_agent_holds_for_all_its_items_together(bench: Bench) -> None:
    caps = Caps(calls=2)
    with ScriptedModel(script("one", "two", "three")) as model:
        run = bench.one_pass(spread(parallel_workers=False), model, agent_caps=caps)
        assert len(questions(model, "worker")) == 2
    assert run.agents["worker"].status == "cancelled"


def test_on_which_items_an_agent_works_may_hang_on_a_condition(bench: Bench) -> None:
    schema = {
        "type": "object",
        "properties": {"parts": {"type": "array"}, "split": {"type": "boolean"}},
        "required": ["parts", "split"],
    }
    when = When(agent="planner", field="split", is_=True)
    agents = [
        llm("planner", output_schema=schema),
        llm("worker", each=OF_PLANNER, when=when),
        llm("end"),
    ]
    fields = script(**{"[planner]": Reply.json({"parts": ["one"], "split": False})})
    with ScriptedModel(fields) as model:
        run = bench.run(team(*agents, edges=EDGES), model, task=TASK)
        assert questions(model, "worker") == []
    assert run.agents["worker"].unneeded

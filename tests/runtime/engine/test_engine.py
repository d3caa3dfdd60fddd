"""The engine: order, concurrency, failures, limits, and that nothing is left behind."""

import errno
import gc
import threading
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from coterie.runtime import Budget, Caps
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.gateway import CallError
from coterie.runtime.record.trace import Event
from coterie.runtime.runners.llm import LlmRunner
from coterie.schema import Agent
from coterie.schema.values.errors import InputError, StorageError

from ...waiting import PATIENCE
from .. import timed
from ..conftest import Bench, llm, team
from ..timed import FOR_EVER, always, by_agent

FAILS = Reply.error(400, message="no")
ANSWER = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
}


def chain(*names: str) -> dict[str, tuple[str, ...]]:
    return {name: (other,) for name, other in pairwise(names)}


def vote(count: int, **execution: object):
    workers = [llm(f"w{number}", role="worker") for number in range(count)]
    edges = {worker.id: ("judge",) for worker in workers}
    return team(*workers, llm("judge"), edges=edges, **execution)


def test_the_last_agent_gives_the_answer_and_sees_the_reports(bench: Bench) -> None:
    with ScriptedModel({"[judge]": "four", "[w": "I say 4"}) as model:
        run = bench.run(vote(3), model)
        asked = [call.body for call in model.calls if "[judge]" in str(call.body)]
    assert (run.status, run.answer, run.usage.calls) == ("done", "four", 4)
    question = asked[0]["messages"][1]["content"]
    assert question.count("I say 4") == 3
    assert question.index('from="w0"') < question.index('from="w1"') < question.index('from="w2"')
    assert 'role="worker"' in question


def test_a_model_that_this_host_cannot_ask_is_no_failure_of_an_agent(bench: Bench) -> None:
    """No team would be better off: so the run has no result, and says what the host lacks."""
    with (
        ScriptedModel({}) as model,
        pytest.raises(InputError, match="NO_SUCH_KEY is not set"),
    ):
        bench.run(vote(3, on_error="continue"), model, key_env="NO_SUCH_KEY")


def test_libraries_of_later_agents_are_imported_while_earlier_ones_wait(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    loaded, asked = threading.Event(), list[bool]()

    def load() -> None:
        loaded.set()
        raise ImportError("libsomething.so.1 is missing")

    def waits(_request: object) -> Reply:
        asked.append(loaded.wait(PATIENCE))
        return Reply(text="1")

    monkeypatch.setattr(LlmRunner, "load", staticmethod(load), raising=False)
    with ScriptedModel({"[first]": waits, "[second]": "2"}) as model:
        run = bench.run(team(llm("first"), llm("second"), edges=chain("first", "second")), model)
    gc.collect()  # A failure that nobody looks at is logged when it is collected.
    assert (run.answer, asked, caplog.messages) == ("2", [True], [])


def test_under_fail_an_early_answer_does_not_hide_a_later_failure() -> None:
    # No team that loads has an agent whose work reaches nobody; but whoever makes one by hand must
    # not be told what depends on who was quicker.
    agents = [llm("quick"), llm("slow"), llm("late")]
    given = replace(team(*agents, edges=chain("slow", "late")), declared_output="quick")
    failing = {"slow": CallError("HTTP 400: no", kind="rejected")}
    run, _ = timed.run(given, by_agent({"slow": 2, "": 1}, failing))
    assert run.agents["quick"].status == "done"
    assert (run.status, run.answer) == ("failed", None)
    assert run.error is not None
    assert run.error.startswith("agent slow:")


def test_an_agent_with_nothing_left_fails_under_degrade(bench: Bench) -> None:
    with ScriptedModel({"[w": FAILS, "": "x"}) as model:
        run = bench.run(vote(2, on_error="degrade"), model)
    assert (run.status, run.agents["judge"].status) == ("failed", "failed")
    assert run.agents["judge"].error == "none of its colleagues reported anything."


def test_an_empty_answer_is_a_failure_that_is_tried_again(bench: Bench) -> None:
    with ScriptedModel(["", "", "third time"]) as model:
        run = bench.run(team(llm("solo"), max_retries=2), model)
    assert (run.answer, run.agents["solo"].attempts, run.usage.calls) == ("third time", 3, 3)
    assert len(bench.of("agent_retried")) == 2


def test_a_failed_call_is_repeated_by_the_gateway_only(bench: Bench) -> None:
    with ScriptedModel(Reply.error(500)) as model:
        run = bench.run(team(llm("solo"), max_retries=1), model)
        assert len(model.calls) == 2
    assert (run.status, run.agents["solo"].attempts) == ("failed", 1)


def test_a_structured_answer_is_repaired_once(bench: Bench) -> None:
    with ScriptedModel(["seven", Reply.json({"answer": "7"})]) as model:
        run = bench.run(team(llm("solo", output_schema=ANSWER)), model)
        repair = model.calls[1].body["messages"]
        constraint = model.calls[0].body["response_format"]
    assert run.answer == "7"
    result = run.agents["solo"].result
    assert result is not None
    assert result.content == '{"answer": "7"}'
    assert repair[2] == {"role": "assistant", "content": "seven"}
    assert "it is not JSON: 'seven'" in repair[3]["content"]
    assert constraint["json_schema"]["schema"] == ANSWER


class FullDisk(list[Event]):
    """Events of which those of calls cannot be written down."""

    def append(self, event: Event) -> None:
        if event.type == "model_call":
            raise StorageError(errno.ENOSPC, "No space left on device")


def test_no_model_is_asked_once_a_call_could_not_be_written_down(bench: Bench) -> None:
    bench.events = FullDisk()
    with ScriptedModel(["seven", "8"]) as model:
        with pytest.raises(StorageError, match="No space left"):
            bench.run(team(llm("solo", output_schema=ANSWER)), model)
        assert len(model.calls) == 1


@pytest.mark.parametrize(
    ("of_each", "of_all", "status"),
    [(Caps(calls=1), Caps(), "done"), (None, Caps(calls=2), "stopped")],
)
def test_a_cap_stops_a_run_that_has_an_answer_only_where_it_is_not_one_agents_own(
    bench: Bench, of_each: Caps | None, of_all: Caps, status: str
) -> None:
    judge = Agent(id="judge", agent_type="Function", function="majority")
    policy: dict[str, Any] = {"on_error": "degrade", "parallel_workers": False}
    edges = {"w0": ("judge",), "w1": ("judge",)}
    voters = team(llm("w0"), llm("w1"), judge, edges=edges, **policy)
    with ScriptedModel({"[w0]": "4", "[w1]": ""}) as model:
        run = bench.one_pass(voters, model, agent_caps=of_each, budget=Budget(of_all))
        assert len(model.calls) == 2
    assert (run.status, run.answer, run.agents["w1"].status) == (status, "4", "cancelled")
    assert run.over_budget is (status == "stopped")


def test_a_run_that_takes_too_long_is_stopped_by_its_limit() -> None:
    run, seconds = timed.run(vote(2, timeout=3), by_agent({"w0": 1, "": FOR_EVER}))
    assert (run.status, run.answer, seconds) == ("stopped", None, 3)
    assert run.agents["w0"].status == "done"
    assert {run.agents[name].status for name in ("w1", "judge")} == {"cancelled"}
    assert "execution.timeout, 3 seconds" in str(run.error)


def test_sampling_seeds_depend_on_who_asks_and_not_on_when(bench: Bench) -> None:
    def seeds(workers: bool | int) -> dict[str, int]:
        with ScriptedModel("x") as model:
            bench.run(vote(3, parallel_workers=workers), model, seed=7)
            return {call.body["messages"][0]["content"]: call.body["seed"] for call in model.calls}

    parallel = seeds(True)
    assert parallel == seeds(False)
    assert len(set(parallel.values())) == 4


def test_the_score_is_the_scorers_and_the_reference_stays_hidden(bench: Bench) -> None:
    from coterie.schema import Task

    task = Task(id="t", query="What is 3 + 4?", answer="secret-7")
    with ScriptedModel("secret-7") as model:
        run = bench.run(team(llm("solo")), model, task=task)
        assert all("secret-7" not in str(call.body) for call in model.calls)
    assert run.score is not None
    assert run.score.value == 1


def test_a_call_that_a_timeout_cuts_off_is_in_the_usage() -> None:
    """The endpoint may bill for it; so it counts with all that it can have cost."""
    prices: dict[str, Any] = {"usd_per_mtok_input": 1.0, "usd_per_mtok_output": 1.0}
    run, _ = timed.run(team(llm("a", timeout=3), max_retries=0), always(FOR_EVER), **prices)
    assert run.status == "failed"
    assert run.usage.uncertain_calls == 1
    assert run.usage.uncertain_usd > 0.004

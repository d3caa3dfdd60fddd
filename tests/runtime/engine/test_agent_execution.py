"""What agents have their tools do: told to scorers, and found again by a run that goes on."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime import (
    Calls,
    Evidence,
    Journal,
    Run,
    Score,
    compile,
)
from coterie.runtime.agents.outcomes import ToolCall
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.engine import attempt
from coterie.runtime.runners import AgentResult, Assignment
from coterie.runtime.scoring import scorers
from coterie.runtime.tools import Tool, ToolError
from coterie.schema import (
    AgentError,
    Catalogue,
    JailError,
    Model,
    ScorerChoice,
    Task,
    Team,
)

from ...support.performing import performed
from ..conftest import Part, Scripted, llm, team

TASK = Task(id="t", query="Count.", answer="?", scorer=ScorerChoice(name="judged"))
NUMBER = {"type": "object", "properties": {"by": {"type": "integer"}}}


@dataclass(kw_only=True)
class Stand:
    """Runs a team whose agents do as scripted, with a tool that counts."""

    folder: Path
    keeps_state: bool = False
    worked: list[int] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    failing: bool = False
    interrupt: Callable[[], object] = lambda: None

    async def count(self, arguments: Mapping[str, Any], workspace: Any) -> int:
        by = arguments.get("by", 1)
        if by < 0:
            raise ToolError("it only goes up.")
        self.worked.append(by)
        workspace.tool_state["count"] = workspace.tool_state.get("count", 0) + by
        return workspace.tool_state["count"]

    async def judge(self, evidence: Evidence) -> Score:
        self.evidence.append(evidence)
        if self.failing:
            raise JailError("no jail here.")
        return Score(value=1.0, reason="seen")

    def run(self, team: Team, script: Script, base: str = "http://127.0.0.1:9/v1") -> Run:
        """Run it; the journal answers what was done before."""
        known = Catalogue.of_host(
            models={"default": Model(alias="default", model="m", api_base=base)}
        )
        plan = compile(team, known)
        agents = {
            name: replace(agent, runner=Scripted(script[name])) if name in script else agent
            for name, agent in plan.agents.items()
        }
        count = Tool(
            name="count", description="Count.", parameters=NUMBER, run=self.count,
            keeps_state=self.keeps_state,
        )  # fmt: skip

        async def done() -> Run:
            running = asyncio.current_task()
            assert running is not None
            self.interrupt = running.cancel
            with Journal.open(self.folder) as journal:
                given: dict[str, Any] = {"calling": {"journal": journal}, "tools": [count]}
                return await performed(replace(plan, agents=agents), TASK, known.models, **given)

        return asyncio.run(done())

    @property
    def calls(self) -> list[ToolCall]:
        """What the scorer was told that the agent had its tools do."""
        return list(self.evidence[-1].tool_calls)


Script = Mapping[str, Part]


def counting(*steps: int) -> Part:
    """Count by these steps; one that cannot be done is no reason to stop."""

    async def part(assignment: Assignment) -> str:
        reached: Any = None
        for by in steps:
            try:
                reached = await assignment.tools["count"].call({"by": by})
            except ToolError:
                continue
        return str(reached)

    return part


def retried(*attempts: Part) -> Part:
    """Make these attempts, all of which but the last fail."""
    left = [*attempts]

    async def part(assignment: Assignment) -> str | AgentResult:
        answer = await left.pop(0)(assignment)
        if left:
            raise AgentError("it lost its way.")
        return answer

    return part


def called(*steps: int) -> Sequence[ToolCall]:
    return [
        ToolCall(tool="count", arguments={"by": by}, error="it only goes up." if by < 0 else None)
        for by in steps
    ]


@pytest.fixture
def stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stand:
    stand = Stand(folder=tmp_path)
    monkeypatch.setattr(scorers, "load_named", lambda *_: stand.judge)
    return stand


def solo(**execution: Any) -> Team:
    return team(llm("one", tools=("count",)), **execution)


def test_a_scorer_is_told_the_calls_of_the_agent_that_answered_in_order(stand: Stand) -> None:
    pair = team(
        llm("helper", tools=("count",)),
        llm("last", tools=("count",)),
        edges={"helper": ("last",)},
    )
    run = stand.run(pair, {"helper": counting(5), "last": counting(1, -2, 3)})
    assert (run.status, run.answer) == ("done", "4")
    assert run.score == Score(value=1.0, reason="seen")
    assert stand.calls == called(1, -2, 3)
    assert run.agents["helper"].tool_calls == tuple(called(5))
    assert stand.evidence[-1].task.answer == "?"


def test_only_what_the_last_attempt_did_counts(stand: Stand) -> None:
    run = stand.run(solo(max_retries=1), {"one": retried(counting(1, 7), counting(2, 7))})
    assert (run.answer, run.agents["one"].attempts) == ("9", 2)
    assert stand.calls == called(2, 7)
    assert stand.worked == [1, 7, 2, 7]


def test_an_outcome_of_the_journal_brings_its_calls_along(stand: Stand) -> None:
    first = stand.run(solo(), {"one": counting(1, -2, 3)})
    again = stand.run(solo(), {"one": counting(99)})
    assert again.answer == first.answer == "4"
    assert stand.worked == [1, 3]
    assert stand.calls == called(1, -2, 3)


def test_what_went_wrong_in_any_attempt_is_kept_with_the_outcome(stand: Stand) -> None:
    pair = (
        "tool count failed: it only goes up. (4 times)",
        "tried again after: it lost its way.",
    )
    run = stand.run(solo(max_retries=1), {"one": retried(*[counting(-1, 2, -3)] * 2)})
    assert run.agents["one"].mishaps == pair
    again = stand.run(solo(max_retries=1), {"one": counting(99)})
    assert again.agents["one"].mishaps == pair


def test_an_agent_that_failed_says_what_went_wrong_before(stand: Stand) -> None:
    async def fails(assignment: Assignment) -> str:
        await counting(-1)(assignment)
        raise AgentError("it lost its way.")

    run = stand.run(solo(max_retries=0), {"one": fails})
    assert run.agents["one"].mishaps == ("tool count failed: it only goes up.",)


@pytest.mark.parametrize(
    ("keeps_state", "answer", "worked"), [(False, "3", [1, 2]), (True, "6", [1, 2, 1, 2, 3])]
)
def test_tools_that_keep_state_work_again_when_a_run_goes_on(
    stand: Stand, keeps_state: bool, answer: str, worked: list[int]
) -> None:
    """Others give what they gave: what they did outside must not be done twice."""
    stand.keeps_state = keeps_state

    async def interrupted(assignment: Assignment) -> str:
        await counting(1, 2)(assignment)
        stand.interrupt()
        return await asyncio.Future[str]()

    with pytest.raises(asyncio.CancelledError):
        stand.run(solo(), {"one": interrupted})
    assert stand.worked == [1, 2]
    run = stand.run(solo(), {"one": counting(*((1, 2, 3) if keeps_state else (1, 2)))})
    assert (run.answer, stand.worked) == (answer, worked)
    assert stand.calls == called(*((1, 2, 3) if keeps_state else (1, 2)))


def test_a_scorer_whose_jail_fails_gives_no_score_and_blames_nobody(stand: Stand) -> None:
    stand.failing = True
    run = stand.run(solo(), {"one": counting(1)})
    assert (run.status, run.answer, run.score, run.fault) == ("failed", None, None, "jail")
    assert run.error == "the answer could not be scored: no jail here."
    assert run.is_infrastructure_failure
    stand.failing = False
    assert stand.run(solo(), {"one": counting(1)}).score == Score(value=1.0, reason="seen")
    assert stand.worked == [1]


def test_an_agent_whose_jail_fails_is_not_tried_again(stand: Stand) -> None:
    failures = [JailError("no jail here.")]

    async def jailed(_: Assignment) -> str:
        if failures:
            raise failures.pop()
        return "done"

    run = stand.run(solo(), {"one": jailed})
    agent = run.agents["one"]
    assert (run.status, agent.fault, agent.attempts) == ("failed", "jail", 1)


@pytest.mark.parametrize(
    ("reply", "lost"),
    [(Reply.error(401), 1), (Reply.error(500), 1), (Reply.error(400), 0), (Reply(text=""), 0)],
)
def test_a_providers_failure_is_no_agents_failure(stand: Stand, reply: Reply, lost: int) -> None:
    pair = team(llm("helper"), llm("last"), edges={"helper": ("last",)}, max_retries=0)
    with ScriptedModel({"[helper]": reply}) as model:
        run = stand.run(pair, {}, model.api_base)
    assert run.status == "failed"
    assert run.infrastructure_failures == lost
    assert run.is_infrastructure_failure is bool(lost)


@pytest.mark.parametrize("reply", [Reply.error(401), Reply.error(400)])
def test_a_run_that_goes_on_without_an_agent_that_its_provider_failed_is_no_trial(
    stand: Stand, reply: Reply
) -> None:
    workers = [llm("w0"), llm("w1"), llm("last")]
    edges = {"w0": ("last",), "w1": ("last",)}
    some = team(*workers, edges=edges, max_retries=0, on_error="degrade")
    with ScriptedModel({"[w0]": reply, "": "x"}) as model:
        run = stand.run(some, {}, model.api_base)
    assert run.status == "done"
    assert run.is_infrastructure_failure is (reply.status == 401)


def test_a_call_of_the_journal_counts_while_another_of_its_agent_is_answered(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask, is_answered = Calls.chat, asyncio.Event()

    async def late(self: Calls, path: str, *given: Any, **options: Any) -> Any:
        if path.endswith("call 1"):
            await is_answered.wait()
        answer = await ask(self, path, *given, **options)
        is_answered.set()
        return answer

    async def asking(assignment: Assignment, *texts: str) -> str:
        asked = ([{"role": "user", "content": text}] for text in texts)
        await asyncio.gather(*map(assignment.client.chat, asked))
        return "done"

    async def interrupted(assignment: Assignment) -> str:
        await asking(assignment, "1")
        stand.interrupt()
        return await asyncio.Future[str]()

    async def resumed(assignment: Assignment) -> str:
        monkeypatch.setattr(Calls, "chat", late)
        return await asking(assignment, "1", "2")

    with ScriptedModel({"": "x"}) as model:
        with pytest.raises(asyncio.CancelledError):
            stand.run(solo(), {"one": interrupted}, model.api_base)
        run = stand.run(solo(), {"one": resumed}, model.api_base)
        assert len(model.calls) == 2
    assert (run.status, run.usage.calls) == ("done", 2)


def test_what_tools_give_is_bounded(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt, "LARGEST_WORK", 1000)

    async def failing(assignment: Assignment) -> str:
        for by in range(1, 1000):
            with contextlib.suppress(ToolError):
                await assignment.tools["count"].call({"by": -by})
        return "never"

    run = stand.run(solo(max_retries=0), {"one": failing})
    assert run.status == "failed"
    assert "its tools and its code gave more than 0 MiB in one attempt" in (run.error or "")
    with Journal.open(stand.folder) as journal:
        assert sum(len(item["error"]) for item in journal.values("tool")) <= 1000

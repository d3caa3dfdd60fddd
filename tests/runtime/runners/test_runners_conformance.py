"""What every backend must keep to, checked on every one that is installed, a plugin's too.

The checks know a backend only by the `Runner` protocol. Their model speaks every backend's
language: it answers with a tool call, with code or with text, by what it is asked.
"""

import asyncio
import json
import re
import socket
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from coterie.runtime.gateway import CallError, ChatAnswer, ToolRequest
from coterie.runtime.jail import Jails
from coterie.runtime.repository.workspace import Workspaces
from coterie.runtime.runners import AgentReport, AgentResult, Runner
from coterie.schema import Agent, AgentError, JailError, Task
from coterie.schema.host.catalogue import installed, load_named
from coterie.schema.team.team import IMPLIED_BACKENDS

from ...jails import needs_jail
from .conftest import Line, assignment

RUNNERS = sorted(installed("runners"))
MARKER = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

pytestmark = pytest.mark.usefixtures("nothing_left")


class NoJails:
    """A machine that has no jail, and a user who did not ask to do without."""

    unsafe = False

    def open(self, *_: Any) -> NoReturn:
        raise JailError("there is no jail.")


class Case:
    """One kind of agent of a backend, and a task for it."""

    def __init__(self, agent: Agent, repository: Path) -> None:
        self.kind: type[Runner] = load_named("runners", str(agent.backend))
        self.agent = agent
        self.jails: Any = Jails(unsafe=agent.backend == "swe-agent")
        self.task = Task(id="task", query="Say the word.", repo=repository)

    def run(self, check: Callable[[Callable[..., Awaitable[AgentResult]]], Awaitable[Any]]) -> Any:
        """Run a check; it gets what starts the agent with a line to a model and a word to say."""
        runner: Any = self.kind()

        async def checked() -> Any:
            with Workspaces(self.task) as home:

                def started(line: Any, word: str = "word-0") -> Awaitable[AgentResult]:
                    given = assignment(
                        self.agent, line, home, jails=self.jails, question=f"Say {word}."
                    )
                    report = AgentReport(agent_id="colleague", role="", content=word)
                    return runner.run(replace(given, reports=(report,)))

                return await check(started)

        return asyncio.run(checked())


def _agents() -> Iterator[Agent]:
    """Yield one agent of every kind that the installed backends run."""
    for backend in RUNNERS:
        kinds = [kind for kind, implied in IMPLIED_BACKENDS.items() if implied == backend]
        for kind in kinds or [None]:
            function = "concat" if kind == "Function" else None
            yield Agent(
                id="agent",
                agent_type=kind,
                backend=backend,
                function=function,
                prompt="Work.",
                max_steps=3,
            )


def _cases(wanted: Callable[[type[Runner], Agent], bool] = lambda runner, agent: True) -> Any:
    """Run a check on all agents, or on those that it is about."""
    chosen: list[Any] = []
    for agent in _agents():
        runner: type[Runner] = load_named("runners", str(agent.backend))
        if wanted(runner, agent):
            marks = needs_jail if runner.needs_jail(agent) else ()
            name = f"{agent.backend}-{agent.agent_type}"
            chosen.append(pytest.param(agent, id=name, marks=marks))
    return pytest.mark.parametrize("case", chosen, indirect=True)


def _without_objection(runner: type[Runner], agent: Agent) -> bool:
    # Whether SWE-agent is installed here is not what these checks are about.
    return not any("output_schema" in objection for objection in runner.objections(agent))


every = _cases()
asking = _cases(lambda runner, agent: runner.calls_at_most(agent) > 0)
formed = _cases(
    lambda runner, agent: (
        runner.calls_at_most(agent) > 0
        and _without_objection(runner, replace(agent, output_schema=SCHEMA))
    )
)


@pytest.fixture
def case(
    request: pytest.FixtureRequest,
    repository: Path,
    stand_in: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Case:
    monkeypatch.setenv("MAS_SWE_AGENT_PYTHON", str(stand_in))
    return Case(request.param, repository)


def obliging(messages: list[Any], tools: list[Any]) -> ChatAnswer:
    """Say the word, in the language of whoever asks."""
    text = json.dumps(messages)
    word = re.findall(r"Say (word-\d+)", text)[0]
    names = {tool["function"]["name"] for tool in tools}
    if "final_answer" in names:
        return _called("final_answer", answer=word)
    if "bash" in names and "exit code" not in text:
        return _called("bash", command=f"echo '# {word}' >> toy.py")
    if "submit" in names:
        return _called("submit")
    if "bash" in names:
        return _called("bash", command=f"echo {MARKER}")
    return _said(f"final_answer({word!r})" if "<code>" in text else word, text)


def dawdling(messages: list[Any], tools: list[Any]) -> ChatAnswer:
    """Do something that leads nowhere."""
    if any(tool["function"]["name"] == "bash" for tool in tools):
        return _called("bash", command="true")
    return _said("x = 1", json.dumps(messages))


def silent(messages: list[Any], tools: list[Any]) -> ChatAnswer:
    """Say nothing."""
    del messages, tools
    return ChatAnswer(text="")


def _said(text: str, asked: str) -> ChatAnswer:
    return ChatAnswer(text=f"<code>\n{text}\n</code>" if "<code>" in asked else text)


def _called(name: str, **arguments: Any) -> ChatAnswer:
    call = ToolRequest(id="", name=name, arguments=json.dumps(arguments))
    return ChatAnswer(text="", tool_calls=(call,), finish_reason="tool_calls")


@every
def test_an_answer_is_a_result_that_can_be_kept_and_needs_no_other_connection(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> NoReturn:
        raise AssertionError("a connection was made past the line")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    if not case.kind.needs_jail(case.agent):
        case.jails = NoJails()
    result = case.run(lambda start: start(Line(obliging)))
    assert "word-0" in result.content
    assert json.loads(json.dumps(list(result.steps))) == list(result.steps)


@every
def test_runs_overlap_and_do_not_hear_of_each_other(case: Case) -> None:
    words = ["word-1", "word-2"]
    together = asyncio.Barrier(len(words))
    lines = [Line(obliging, together=together) for _ in words]

    async def all_at_once(start: Any) -> Any:
        return await asyncio.gather(*map(start, lines, words))

    for word, line, result in zip(words, lines, case.run(all_at_once), strict=True):
        assert word in result.content
        assert not set(words) - {word} & set(re.findall(r"word-\d+", json.dumps(line.seen)))


@asking
def test_a_model_that_says_nothing_gives_no_result(case: Case) -> None:
    line = Line(silent)
    with pytest.raises(AgentError):
        case.run(lambda start: start(line))
    assert line.calls <= case.kind.calls_at_most(case.agent)


@formed
def test_a_form_that_is_never_met_gives_no_result(case: Case) -> None:
    case.agent = replace(case.agent, output_schema=SCHEMA)
    line = Line(obliging)
    with pytest.raises(AgentError):
        case.run(lambda start: start(line))
    assert line.calls <= case.kind.calls_at_most(case.agent)


@asking
def test_no_agent_makes_more_calls_than_it_announced(case: Case) -> None:
    line = Line(dawdling)

    async def to_any_end(start: Any) -> None:
        await asyncio.wait({asyncio.ensure_future(start(line))})

    case.run(to_any_end)
    assert 1 <= line.calls <= case.kind.calls_at_most(case.agent)


@asking
def test_a_failed_model_call_is_raised_as_it_is_and_not_repeated(case: Case) -> None:
    failure = CallError("the endpoint is down.", kind="down")

    def fails(messages: list[Any], tools: list[Any]) -> NoReturn:
        raise failure

    line = Line(fails)
    with pytest.raises(CallError) as raised:
        case.run(lambda start: start(line))
    assert raised.value is failure
    assert line.calls == 1


@_cases(lambda runner, agent: runner.needs_jail(agent))
def test_code_runs_in_a_jail_or_not_at_all(case: Case) -> None:
    case.jails = NoJails()
    line = Line(obliging)
    with pytest.raises(JailError):
        case.run(lambda start: start(line))


@asking
def test_a_cancelled_run_is_over_at_once_and_leaves_nothing(case: Case) -> None:
    async def cancelled(start: Any) -> int:
        line = Line(obliging, hangs=True)
        running = asyncio.ensure_future(start(line))
        await line.asked.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return len(asyncio.all_tasks()) - 1

    assert case.run(cancelled) == 0


STRANGE = [
    Agent(id="agent", agent_type="NoSuchType"),
    Agent(id="agent", tools=("megaphone",), output_schema=SCHEMA, max_steps=1),
    Agent(id="agent", function="nothing", prompt="{{ x }}"),
]


@pytest.mark.parametrize("backend", RUNNERS)
def test_objections_are_sentences_and_bounds_are_numbers(backend: str) -> None:
    kind: type[Runner] = load_named("runners", backend)
    for agent in STRANGE:
        assert all(re.fullmatch(r"\S.*\.", objection) for objection in kind.objections(agent))
        assert kind.calls_at_most(agent) >= 0
        assert kind.needs_jail(agent) in {True, False}

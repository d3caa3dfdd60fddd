"""P11: an agent's failure follows the declared policy, and never passes for an answer."""

import asyncio
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime import Calls, Context, Gateway, Run, Toolbox, Trace, compile, perform
from coterie.runtime.command.run import main as mas_run
from coterie.runtime.doubles import Call, Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request
from coterie.runtime.jail import Jails
from coterie.runtime.jail.detect import JailReport, detect
from coterie.runtime.record.trace import Event
from coterie.schema import Catalogue, Model, Task, dump

from ..support.commands import invoked_in
from .failures import CANARY, FRAIL, KINDS, SHAPES, Cell, Kind, cells

AT_ONCE = 48
KEYS = {"RIGHT_KEY": "right-key-of-this-test", "WRONG_KEY": "wrong-key-of-this-test"}


@dataclass(eq=False)
class Making:
    """A cell being run, behind a gateway that decides when its calls may go out."""

    number: int
    cell: Cell
    gateway: Gateway
    events: list[Event] = field(default_factory=list[Event])

    def __post_init__(self) -> None:
        self.models = self.gateway.models
        self.others_ended = asyncio.Event()

    async def run(self, toolbox: Toolbox) -> Run:
        """Run the cell's team."""
        cell, alias = self.cell, f"{FRAIL}_{self.number}"
        team = cell.shape.team(cell.kind, cell.failing, cell.policy, alias)
        gateway: Any = self
        return await perform(
            compile(team, Catalogue.of_host(models=self.models)),
            Task(id="task", query=f"Cell {self.number}."),
            Context(
                calls=Calls(gateway=gateway),
                jails=Jails(),
                toolbox=toolbox,
                trace=Trace(self._noted),
            ),
        )

    async def chat(self, request: Any, *arguments: Any, **more: Any) -> Any:
        """Ask the model, when it is time."""
        agent = named(str(request.messages))
        if agent in self.cell.held():
            await asyncio.Event().wait()
        if agent == self.cell.failing and self.cell.when == "last":
            self._look()
            await self.others_ended.wait()
        return await self.gateway.chat(request, *arguments, **more)

    def _noted(self, event: Event) -> None:
        self.events.append(event)
        self._look()

    def _look(self) -> None:
        """See whether all that need not wait for the failing agent have ended."""
        ended = {event.agent for event in self.events if event.type == "agent_finished"}
        shape, failing = self.cell.shape, self.cell.failing
        waiting = {hear for hear in shape.hears if failing in shape.before(hear) | {hear}}
        if {*shape.hears} - waiting <= ended:
            self.others_ended.set()

    def count(self, kind: str) -> int:
        """How many events of a kind the failing agent had."""
        return sum((e.type, e.agent) == (kind, self.cell.failing) for e in self.events)


def named(text: str) -> str:
    """The agent whose prompt stands in a text."""
    result = re.search(r"You are \[(\w+)\]", text)
    assert result is not None
    return result[1]


def script(kind: Kind) -> Callable[[Request], str | Reply]:
    """The frail model fails its agent; the other one answers."""

    def reply(request: Request) -> str | Reply:
        is_frail = request["model"].startswith(FRAIL)
        return kind.reply if is_frail else f"words of {named(message_text(request))}"

    return reply


async def made(
    matrix: Sequence[Cell], model: ScriptedModel, **special: Any
) -> list[tuple[Making, Run]]:
    """Run all cells of a kind, many at the same time, with something special in frail models."""

    def endpoint(alias: str, **options: Any) -> Model:
        options = {"key_env": "RIGHT_KEY", **options}
        return Model(alias=alias, model=alias, api_base=model.api_base, **options)

    frail = {f"{FRAIL}_{n}": {**cell.kind.model, **special} for n, cell in enumerate(matrix)}
    models = {alias: endpoint(alias, **options) for alias, options in frail.items()}
    models["default"] = endpoint("default")
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(making: Making) -> tuple[Making, Run]:
        async with slots:
            return making, await making.run(toolbox)

    async with Gateway(models, environment=KEYS, seed=0) as gateway, Toolbox() as toolbox:
        makings = [Making(number, cell, gateway) for number, cell in enumerate(matrix)]
        return await asyncio.gather(*(one(making) for making in makings))


def by_cell(calls: Sequence[Call]) -> Mapping[int, Mapping[str, list[Call]]]:
    """The calls that arrived, by cell and agent."""
    table: defaultdict[int, defaultdict[str, list[Call]]] = defaultdict(lambda: defaultdict(list))
    for call in calls:
        number = re.search(r"Cell (\d+)\.", call.text)
        assert number is not None
        table[int(number[1])][named(call.text)].append(call)
    return table


def check_statuses(cell: Cell, run: Run) -> None:
    """Every agent ended as the policy says, and the run as its output agent did."""
    expected = cell.statuses()
    assert {item: agent.status for item, agent in run.agents.items()} == expected
    failed = run.agents[cell.failing]
    assert cell.kind.error in str(failed.error)
    assert failed.attempts == cell.kind.attempts
    if expected[cell.shape.output] == "done":
        assert (run.status, run.error) == ("done", None)
    else:
        assert (run.status, run.error) == ("failed", f"agent {cell.failing}: {failed.error}")


def check_calls(making: Making, calls: Mapping[str, list[Call]]) -> None:
    """Every call that is due was made, and no other."""
    cell = making.cell
    others = {name: len(call) for name, call in calls.items() if name != cell.failing}
    assert others == cell.calls()
    arrived = len(calls.get(cell.failing, ()))
    assert arrived == cell.kind.calls or (
        not cell.kind.every_call_arrives and arrived < cell.kind.calls
    )
    assert making.count("model_retried") == cell.kind.retried
    assert making.count("agent_retried") == cell.kind.attempts - 1


def check_words(cell: Cell, run: Run, calls: Mapping[str, list[Call]]) -> None:
    """Who was asked heard those who are done, was told who is missing, and nothing else."""
    statuses, failed = cell.statuses(), run.agents[cell.failing]
    assert failed.result is None
    assert CANARY not in str(run.answer)
    assert (run.answer is not None) == (run.status == "done")
    for agent in cell.calls():
        text = calls[agent][0].text
        hears = cell.shape.hears[agent].split()
        done = [hear for hear in hears if statuses[hear] == "done"]
        assert re.findall(r'<report \w+ from="(\w+)"', text) == done
        missing = re.findall(r"^(\w+) could not finish and reports nothing\.$", text, re.MULTILINE)
        assert missing == [hear for hear in hears if hear not in done]
        assert CANARY not in text
        assert cell.kind.error not in text
        assert str(failed.error) not in text


@pytest.mark.parametrize("name", KINDS)
def test_p11_every_agent_ends_as_the_policy_declares(
    name: str, nightly: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = KINDS[name]
    if name == "no_jail":
        without_jail(monkeypatch)
    elif kind.fields.get("agent_type") == "CodeAgent" and detect().tier is None:
        pytest.skip("this machine has no jail for agents' code")
    shapes = [*SHAPES] if nightly else shapes_of(name)
    matrix = cells(kind, shapes)
    with ScriptedModel(script(kind), key=KEYS["RIGHT_KEY"]) as model:
        runs = asyncio.run(made(matrix, model))
        calls = by_cell(model.calls)
    for making, run in runs:
        check_statuses(making.cell, run)
        check_calls(making, calls[making.number])
        check_words(making.cell, run, calls[making.number])
    positions = sum(len(SHAPES[shape].hears) for shape in shapes)
    assert len(runs) == positions * (4 if kind.can_be_last else 3)


def shapes_of(name: str) -> list[str]:
    """Return where a kind of failure is tried on every change: one shape, each in turn."""
    if name == "code_exits":  # it starts a jail for each cell
        return ["diamond"]
    return [[*SHAPES][[*KINDS].index(name) % len(SHAPES)]]


def without_jail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the machine one on which no jail works."""
    monkeypatch.setattr(
        "coterie.runtime.jail.detect.detect", lambda: JailReport(tier=None, attempts=())
    )


OTHERS_MAY_ANSWER = [
    *("busy", "server_error", "hanging", "dripping", "html", "no_choices", "cut_off", "too_long"),
]


@pytest.mark.parametrize("name", OTHERS_MAY_ANSWER)
def test_p11_a_fallback_model_answers_where_one_is_declared(name: str) -> None:
    kind = KINDS[name]
    # Where agents wait for a failure, they would wait for ever.
    matrix = [cell for cell in cells(kind, ["diamond"]) if not cell.held()]
    with ScriptedModel(script(kind), key=KEYS["RIGHT_KEY"]) as model:
        runs = asyncio.run(made(matrix, model, fallback=("default",)))
        assert all(CANARY not in call.text for call in model.calls)
    for making, run in runs:
        assert {agent.status for agent in run.agents.values()} == {"done"}
        assert run.answer == "words of end"
        assert making.count("model_fallback") == 1
        assert making.count("model_retried") == kind.retried
    assert len(runs) >= 15


COMMANDS = {
    ("fail", "right"): 1,
    ("skip", "right"): 1,
    ("degrade", "right"): 0,
    ("degrade", "end"): 1,
    ("degrade", "top"): 1,
}


def given(api_base: str) -> list[str]:
    """The models of a command."""
    return ["--model", f"sound@{api_base}", "--model", f"{FRAIL}={FRAIL}@{api_base}"]


@pytest.mark.parametrize(("policy", "failing"), COMMANDS)
def test_p11_the_command_ends_with_the_code_of_the_run(
    policy: str, failing: str, tmp_path: Path
) -> None:
    kind = Kind(error=CANARY, reply=Reply.error(400, message=CANARY))
    cell = Cell(shape=SHAPES["diamond"], failing=failing, policy=policy, when="last", kind=kind)
    team = cell.shape.team(kind, failing, policy, FRAIL)
    (tmp_path / "team.yaml").write_text(dump(team))
    with ScriptedModel(script(kind)) as model:
        words = ["team.yaml", "-q", "Cell 0.", *given(model.api_base)]
        done = invoked_in(tmp_path, mas_run, words, "mas-run")
    assert done.code == COMMANDS[policy, failing], done.err
    (folder,) = (tmp_path / "runs").iterdir()
    result = json.loads((folder / "result.json").read_text())
    statuses = {item: agent["status"] for item, agent in result["agents"].items()}
    if policy == "fail":  # what goes on beside the failure may be done or not
        statuses["left"] = statuses["under"] = "done"
    assert statuses == cell.statuses()
    assert CANARY in result["agents"][failing]["error"]
    assert done.out == ("words of end\n" if done.code == 0 else "")
    assert CANARY in done.err


def test_p11_the_matrix_is_whole() -> None:
    """All policies at all positions of all shapes, for every kind of failure."""
    positions = sum(len(shape.hears) for shape in SHAPES.values())
    assert len(KINDS) >= 12
    for kind in KINDS.values():
        counted = Counter((cell.policy, cell.when) for cell in cells(kind, SHAPES))
        first = {(policy, "first"): positions for policy in ("fail", "skip", "degrade")}
        assert counted == first | ({("fail", "last"): positions} if kind.can_be_last else {})

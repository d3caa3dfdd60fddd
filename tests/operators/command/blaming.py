"""A folder in which somebody asks who made a run fail, and a model that analyzers ask."""

import hashlib
import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coterie.operators.command.blame import main
from coterie.operators.command.op.command import main as mas_op
from coterie.runtime.command.run import main as mas_run
from coterie.runtime.doubles import Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request

from ...support.commands import CommandResult, invoked
from ..evolving import asked

TEAM = """\
name: fruit
agents:
  planner: {prompt: "You are [planner]."}
  solver: {prompt: "You are [solver]."}
  writer: {prompt: "You are [writer]."}
topology: {reports_to: {planner: [solver], solver: [writer]}}
"""
STAR = TEAM.replace("planner: [solver]", "planner: [writer]")
ROUNDS = f"{STAR}execution: {{rounds: {{most: 2, until: never, closing: [writer]}}}}\n"
VOTE = STAR.replace('prompt: "You are [writer]."', "agent_type: Function, function: majority")
WARD = """\
name: ward
agents:
  chief: {prompt: "You are [chief]."}
  planner: {role: plans, prompt: "You are [planner]."}
  solver: {role: solves, prompt: "You are [solver]."}
  writer: {prompt: "You are [writer]."}
topology: {reports_to: {chief: [writer], planner: [writer], solver: [writer]}}
execution:
  recruit: {by: chief, among: [planner, solver], most: 1}
  rounds: {most: 2, until: never, closing: [writer]}
"""
CREW = """\
name: crew
agents:
  planner: {role: leads, prompt: "You are [planner]."}
  solver: {role: counts, prompt: "You are [solver]."}
  writer: {role: writes, prompt: "You are [writer]."}
execution: {roster: {lead: planner}}
"""
TASK = {"id": "fruit", "query": "How many apples?", "answer": "7", "scorer": {"name": "exact"}}
FILES = ("events.jsonl", "journal.log", "result.json", "run.json", "task.json", "team.yaml")
SAID = {"planner": "Count the pears.", "solver": "Six pears.", "writer": "6"}
Script = Callable[[Request], Reply]


def fruit(request: Request) -> Reply:
    """Agents take pears for apples; analyzers find that the planner said so."""
    form, text = asked(request), message_text(request)
    if "specialists" in form:
        return Reply.json({"specialists": ["solver"], "reason": "it counts"})
    if "confidence" in form:
        return accused(form, text)
    if "acts" in form:
        return Reply.json(acted(text))
    return Reply(text=next(word for name, word in SAID.items() if f"[{name}]" in text))


def acted(text: str) -> Mapping[str, Any]:
    """The lead of an open roster has somebody count, and hands in what that comes to."""
    if "[planner]" not in text:
        return {"acts": [], "report": "Six pears."}
    if "Six pears." in text:
        return {"acts": [{"act": "finalize", "answer": "6"}], "report": ""}
    start = {"act": "start_agent", "agent": "solver", "text": "Count the pears."}
    return {"acts": [start], "report": ""}


def accused(form: Mapping[str, Any], text: str) -> Reply:
    fields = {"reason": "It said pears.", "confidence": 0.6}
    if "erred" in form:
        erred = "speak for the agent called planner" in text
        return Reply.json({**fields, "erred": erred, "step": form["step"]["enum"][0]})
    agents = [item["properties"]["agent"]["enum"][0] for item in form["accused"]["anyOf"]]
    agent = "planner" if "planner" in agents else "solver"
    evidence = {"evidence": []} if "evidence" in form else {}
    return Reply.json(
        {**fields, "accused": {"agent": agent, "step": step_of(agent, text)}, **evidence}
    )


def step_of(agent: str, text: str) -> int:
    """The first step of an agent, as the question tells it."""
    result = re.search(rf'steps of {agent}: (\d+)|"(\d+), {agent},', text)
    assert result
    return int(result[1] or result[2])


@dataclass(kw_only=True)
class Cli:
    """A folder in which somebody asks who is to blame, or whom to thank."""

    folder: Path
    model: ScriptedModel

    @property
    def address(self) -> str:
        return f"m@{self.model.api_base}"

    def make(self, team: str = TEAM, task: Mapping[str, Any] = TASK, *words: str) -> Path:
        """Run a team; give the folder of the run."""
        (self.folder / "team.yaml").write_text(team)
        (self.folder / "task.json").write_text(json.dumps(task))
        words = ("team.yaml", "task.json", "--model", self.address, "--quiet", *words)
        invoked(mas_run, words, "mas-run")
        return max((self.folder / "runs").iterdir(), key=lambda path: path.stat().st_mtime_ns)

    def blame(self, run: Path, *words: str, command: Any = main) -> CommandResult:
        return self._asked(command, [str(run), *words], "mas dev blame")

    def credit(self, run: Path, *words: str) -> CommandResult:
        return self._asked(mas_op, ["credit", str(run), *words], "mas dev op")

    def _asked(self, command: Any, words: list[str], name: str) -> CommandResult:
        """Run a command; count what the model is asked meanwhile."""
        before = len(self.model.calls)
        result = invoked(command, [*words, "--model", self.address], name)
        result.calls = len(self.model.calls) - before
        return result


@dataclass
class Stage:
    """What the model is: it can be changed while it listens."""

    script: Script = fruit
    hung: threading.Event = field(default_factory=threading.Event)

    def __call__(self, request: Request) -> Reply:
        return self.script(request)


def kept(run: Path) -> dict[str, str]:
    return {name: hashlib.sha256((run / name).read_bytes()).hexdigest() for name in FILES}


def verdict(result: CommandResult) -> tuple[str, str]:
    assert result.code == 0, result.err
    return result.json["agent"], result.json["text"]

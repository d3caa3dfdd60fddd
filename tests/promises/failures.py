"""Ways in which an agent of a team can fail, the teams in which it does, and what must follow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from coterie.runtime.doubles import Reply
from coterie.schema import Agent, Execution, Team

from ..support.teams import NUMBER

CANARY = "TEXT-OF-A-FAILURE"
"""Stands in everything that the model says where it fails an agent."""
FRAIL = "frail"
"""Begins the name of the model of the agent that fails, and of no other."""
RETRIES = 1
MOMENT = 0.2
"""Seconds after which a model or an agent that hangs is given up."""

When = Literal["first", "last"]


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A team's graph.

    Attributes:
        hears: Whom every agent hears, as the rule for context has it, in Kahn's order.
        edges: Who reports to whom.
        functions: The agents that ask no model.
    """

    hears: Mapping[str, str]
    edges: Mapping[str, str]
    functions: Mapping[str, str] = field(default_factory=dict[str, str])
    context: Any = "predecessors"

    @property
    def output(self) -> str:
        """The agent whose output is the answer."""
        return [*self.hears][-1]

    def before(self, agent: str) -> set[str]:
        """All agents on which an agent depends."""
        direct = self.hears[agent].split()
        return {*direct}.union(*(self.before(name) for name in direct))

    def team(self, kind: Kind, failing: str, policy: Any, model_id: str) -> Team:
        """A team of this shape in which one agent fails."""
        agents = {hear: self._agent(hear) for hear in self.hears}
        agents[failing] = kind.agent(failing, model_id)
        return Team(
            name="team",
            agents=agents,
            reports_to={name: tuple(others.split()) for name, others in self.edges.items()},
            execution=Execution(on_error=policy, max_retries=RETRIES, context=self.context),
        )

    def _agent(self, name: str) -> Agent:
        if function := self.functions.get(name):
            return Agent(id=name, agent_type="Function", function=function)
        return Agent(id=name, prompt=f"You are [{name}].")


SHAPES: Mapping[str, Shape] = {
    "chain": Shape(
        hears={"a": "", "f": "a", "c": "f", "d": "c"},
        edges={"a": "f", "f": "c", "c": "d"},
        functions={"f": "concat"},
    ),
    "fan_in": Shape(
        hears={"w1": "", "w2": "", "w3": "", "judge": "w1 w2 w3"},
        edges={"w1": "judge", "w2": "judge", "w3": "judge"},
    ),
    "fan_out": Shape(
        hears={"lead": "", "x": "lead", "y": "lead", "z": "lead", "vote": "x y z"},
        edges={"lead": "x y z", "x": "vote", "y": "vote", "z": "vote"},
        functions={"vote": "majority"},
    ),
    "diamond": Shape(
        hears={"top": "", "left": "top", "right": "top", "under": "left", "end": "right under"},
        edges={"top": "left right", "left": "under", "under": "end", "right": "end"},
        functions={"under": "concat"},
    ),
    "all_hear_all": Shape(
        hears={"a": "", "b": "a", "c": "a b", "d": "a b c"},
        edges={"a": "b", "b": "c", "c": "d"},
        context="ancestors",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A way to fail.

    Attributes:
        error: What stands in the error that the agent ends with.
        calls: The calls that the agent makes in all.
        retried: How many of them the gateway repeats.
        model: What is special about the agent's model.
        fields: What is special about the agent.
        every_call_arrives: Whether each call is sure to reach the model before it is given up.
        can_be_last: Whether a held-back call holds the failure back.
    """

    error: str
    reply: Reply | str = ""
    calls: int = 1
    retried: int = 0
    attempts: int = 1
    model: Mapping[str, Any] = field(default_factory=dict[str, Any])
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    every_call_arrives: bool = True
    can_be_last: bool = True

    def agent(self, name: str, model_id: str) -> Agent:
        """The agent that fails so."""
        if "function" in self.fields:
            return Agent(id=name, **self.fields)
        return Agent(id=name, prompt=f"You are [{name}].", model_id=model_id, **self.fields)


def repeated(error: str, reply: Reply, **more: Any) -> Kind:
    """A failure of a call that may pass: the gateway repeats the call, nobody the agent."""
    return Kind(error=error, reply=reply, calls=RETRIES + 1, retried=RETRIES, **more)


def rerun(error: str, reply: Reply | str, *, calls: int = 1, **fields: Any) -> Kind:
    """A failure of an agent that may pass: the agent is run again, with so many calls each time."""
    return Kind(
        error=error, reply=reply, calls=calls * (RETRIES + 1), attempts=RETRIES + 1, fields=fields
    )


GIVEN_UP: Mapping[str, Any] = {"model": {"timeout": MOMENT}, "every_call_arrives": False}

KINDS: Mapping[str, Kind] = {
    "wrong_key": Kind(error="HTTP 401", model={"key_env": "WRONG_KEY"}),
    "no_such_model": Kind(error="HTTP 404", reply=Reply.error(404, message=CANARY)),
    "busy": repeated("HTTP 429", Reply.error(429, message=CANARY)),
    "server_error": repeated("HTTP 500", Reply.error(500, message=CANARY)),
    "hanging": repeated("no whole answer", Reply.fault("hang"), **GIVEN_UP),
    "dripping": repeated(
        "no whole answer", Reply.fault("drip").replace(text=CANARY, interval=1), **GIVEN_UP
    ),
    "html": repeated("not JSON", Reply.fault("html_body").replace(body=f"<p>{CANARY}</p>")),
    "no_choices": repeated("no choices", Reply.fault("no_choices")),
    "cut_off": repeated("connection was lost", Reply.fault("truncated_body").replace(text=CANARY)),
    "too_long": Kind(error="context", reply=Reply.fault("context_overflow")),
    "empty": rerun("answered with nothing", " \n"),
    "length": rerun("Raise max_tokens", Reply(text="", finish_reason="length")),
    "misfit": rerun("does not fit output_schema", CANARY, calls=2, output_schema=NUMBER),
    "agent_timeout": Kind(
        error=f"within {MOMENT:g} seconds, the agent's timeout",
        reply=Reply.fault("hang"),
        fields={"timeout": MOMENT},
        every_call_arrives=False,
        can_be_last=False,
    ),
    "function": Kind(
        error="calculate: ",
        calls=0,
        fields={"agent_type": "Function", "function": "calculate"},
        can_be_last=False,
    ),
    "out_of_steps": rerun(
        "used its 2 steps",
        Reply(text=f"I would rather talk. {CANARY}"),
        calls=2,
        agent_type="ToolCallingAgent",
        max_steps=2,
    ),
    "code_exits": rerun(
        "used its 1 steps",
        Reply.code(f"print('{CANARY}')\nraise SystemExit('{CANARY}')"),
        agent_type="CodeAgent",
        max_steps=1,
    ),
    "no_jail": Kind(
        error="no jail", calls=0, fields={"agent_type": "CodeAgent"}, can_be_last=False
    ),
}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One cell of the matrix.

    Attributes:
        when: Under `fail`, whether the failure comes before all that can wait, or after all that
            need not. Other policies wait for everything anyway.
    """

    shape: Shape
    failing: str
    policy: str
    when: When
    kind: Kind

    def held(self) -> set[str]:
        """The agents that may not end before the failure."""
        if (self.policy, self.when) != ("fail", "first"):
            return set()
        needed = self.shape.before(self.failing) | {self.failing}
        return {*self.shape.hears} - needed - {*self.shape.functions}

    def statuses(self) -> Mapping[str, str]:
        """How every agent must end."""
        ends: dict[str, str] = {}
        for agent, hears in self.shape.hears.items():
            before = hears.split()
            lost = [name for name in before if ends[name] != "done"]
            if agent == self.failing:
                ends[agent] = "failed"
            elif self.policy == "fail":
                ends[agent] = "cancelled" if lost or agent in self.held() else "done"
            elif self.policy == "skip":
                ends[agent] = "skipped" if lost else "done"
            else:
                ends[agent] = "failed" if before and len(lost) == len(before) else "done"
        return ends

    def calls(self) -> Mapping[str, int]:
        """How often every agent must ask its model."""
        asks = self.shape.hears.keys() - self.shape.functions.keys() - {self.failing}
        return {ask: 1 for ask in asks if self.statuses()[ask] == "done"}


def cells(kind: Kind, shapes: Iterable[str]) -> list[Cell]:
    """Every cell of a kind: all positions of these shapes, under all policies."""
    result = [
        Cell(shape=SHAPES[name], failing=failing, policy=policy, when="first", kind=kind)
        for name in shapes
        for failing in SHAPES[name].hears
        for policy in ("fail", "skip", "degrade")
    ]
    late = [replace(cell, when="last") for cell in result if cell.policy == "fail"]
    return result + (late if kind.can_be_last else [])

"""Teams that worked, with their agents' conversations, and models that look back for them."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from coterie.operators.methods.meta_team import Ground, TaskFeedback
from coterie.runtime import AgentOutcome, Run
from coterie.runtime.agents.runner import AgentResult
from coterie.runtime.doubles import Call, Reply
from coterie.schema import Team

from ...asking import TASK
from ...evolving import asked
from ...rounds import TRIO

Body = Mapping[str, Any]
NOTHING: Mapping[str, Any] = {}

NOTED = {"reason": "I guessed.", "notes": [], "summary": "I guessed; nobody checked."}
SETTLED = {"reason": "So it was.", "profile": "", "together": ""}
UNCHANGED = {"reason": "Nothing follows.", "rules": [], "retry": False}


def spoke(agent: str, *message: str) -> AgentOutcome:
    """What an agent came to that read and said this, in turn."""
    texts = message or (f"You are [{agent}].", f"question of {agent}", f"work of {agent}")
    roles = ("system", *("user", "assistant") * len(texts))
    dialogue = tuple(
        {"role": role, "content": text} for role, text in zip(roles, texts, strict=False)
    )
    return AgentOutcome(
        status="done", result=AgentResult(content=texts[-1]), dialogue=dialogue, attempts=1
    )


def ran(team: Team = TRIO, answer: str | None = "8", **outcomes: AgentOutcome) -> Run:
    agents = {agent: outcomes.get(agent, spoke(agent)) for agent in team.agents}
    return Run(status="done", answer=answer, agents=agents)


TOLD = TaskFeedback(task=TASK, answer="8", score=0.0, words="One is missing.")


def ground(team: Team = TRIO, run: Run | None = None, **fields: Any) -> Ground:
    return Ground(team=team, run=run or ran(team), feedback=TOLD, **fields)


def asked_of(body: Body) -> str:
    """Which agent a call is asked of; empty for the team."""
    result = re.search(r"You are \[(\w+)\]", body["messages"][0]["content"])
    return result[1] if result else ""


def phase(body: Body) -> str:
    """What a call is for."""
    fields = asked(body)
    if {"agents", "pairs"} & fields.keys():
        return "all"
    for name in (
        "looks",
        "questions",
        "answer",
        "account",
        "profile",
        "notes",
        "statement",
        "rules",
    ):
        if name in fields:
            return name
    raise AssertionError(f"who asks for {sorted(fields)}?")


def model(
    answers: Mapping[str, Any] = NOTHING,
) -> Callable[[Body], Reply]:
    """A model that answers by the phase; a function is asked which agent it is that answers."""
    usual: dict[str, Any] = {
        "looks": {"looks": []},
        "questions": {"questions": []},
        "answer": {"answer": "I took it as it stood."},
        "statement": {"statement": ""},
        "account": {"account": "You gave a number without its unit."},
        "profile": SETTLED,
        "notes": NOTED,
        "rules": UNCHANGED,
        "all": UNCHANGED,
    }

    def reply(body: Body) -> Reply:
        answer = {**usual, **answers}[phase(body)]
        said = answer(asked_of(body)) if callable(answer) else answer
        fields = asked(body)
        if phase(body) in {"rules", "all"} and isinstance(said, dict):
            lists = {name: [] for name in fields if fields[name].get("type") == "array"}
            own = fields.get("agents", {}).get("properties", {})
            said = {**lists, **({"agents": {item: [] for item in own}} if own else {}), **said}
        return Reply.json(said) if not isinstance(said, str) else Reply(text=said)

    return reply


def calls_of(calls: Sequence[Call], of: str, agent: str = "") -> list[Call]:
    """The calls of a phase, perhaps only those that one agent answered."""
    bodies = ((call, call.body or {}) for call in calls)
    return [item for item, body in bodies if phase(body) == of and agent in {"", asked_of(body)}]

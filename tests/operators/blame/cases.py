"""A failed run to find fault with, and a model that speaks for its agents."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from coterie.operators.blame import FailedRun, RunStep
from coterie.operators.blame.asking import NOBODY
from coterie.runtime.doubles import Reply, message_text
from coterie.runtime.doubles.script import Request

TRACE = FailedRun(
    question="How many apples?",
    agents=("planner", "solver", "writer"),
    steps=(
        RunStep(number=3, agent="planner", text="PLAN Count the pears.", kind="answer"),
        RunStep(number=5, agent="solver", text="SOLUTION Six pears.", read="READ Count the pears."),
        RunStep(number=8, agent="user", text="Go on."),
        RunStep(number=9, agent="solver", text="SURE Six."),
        RunStep(number=12, agent="writer", text="FINAL Six apples."),
    ),
    answer="Six apples.",
    expected="Seven",
    ended="score 0",
)


def own(erred: bool, step: int, sure: float, reason: str = "because") -> Reply:
    """What an analyzer says of its own agent."""
    return Reply.json({"reason": reason, "erred": erred, "step": step, "confidence": sure})


def pair(agent: str, step: int, sure: float, reason: str = "because", **more: Any) -> Reply:
    """Whom somebody accuses; of an analyzer that looks again, with its `evidence`."""
    accused = {"agent": agent} if agent == NOBODY else {"agent": agent, "step": step}
    return Reply.json({"reason": reason, "accused": accused, "confidence": sure, **more})


def again(agent: str, step: int, sure: float, *evidence: int, reason: str = "because") -> Reply:
    """Whom an analyzer accuses when it looks again."""
    return pair(agent, step, sure, reason, evidence=[*evidence])


def analyzers(
    first: Mapping[str, Reply], *rounds: Mapping[str, Reply]
) -> Callable[[Request], Reply]:
    """Answer each analyzer by whose it is and which round it is in, whatever comes first."""
    asked: dict[str, int] = {}

    def reply(request: Request) -> Reply:
        result = re.search(r"You speak for the agent called (\w+)\.", message_text(request))
        assert result, request
        agent = result[1]
        number = asked[agent] = asked.get(agent, -1) + 1
        return (first, *rounds)[number][agent]

    return reply

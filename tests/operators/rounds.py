"""Teams that worked a round, and roles that they may take in."""

from typing import Any

from coterie.operators import Contribution, Contributions, RoundAccount
from coterie.runtime import AgentOutcome, Run
from coterie.runtime.agents.runner import AgentResult
from coterie.schema import Agent, Team

from .asking import llm, team

TRIO = team(
    "trio",
    llm("planner", role="plans"),
    llm("solver", role="solves"),
    llm("writer", role="writes the answer"),
    edges={"planner": ("solver",), "solver": ("writer",)},
)

ROLES: dict[str, Agent] = {
    "verifier": llm("verifier", role="checks", prompt="Check every step of it."),
    "searcher": llm("searcher", role="looks things up", prompt="Look up what is needed."),
}


def did(content: str = "", **fields: Any) -> AgentOutcome:
    """What an agent came to."""
    result = AgentResult(content=content) if content else None
    given: dict[str, Any] = {"status": "done" if content else "failed", "result": result, **fields}
    return AgentOutcome(**given)


def worked(of: Team = TRIO, answer: str | None = "7", **outcomes: AgentOutcome) -> RoundAccount:
    """A round of a team, in which agents did what is said of them, or something."""
    agents = {agent: outcomes.get(agent, did(f"work of {agent}")) for agent in of.agents}
    status: Any = "failed" if answer is None else "done"
    error = "it broke." if answer is None else None
    return RoundAccount(team=of, run=Run(status=status, answer=answer, error=error, agents=agents))


def judged(score: float = 0.5, *, converged: bool = False, **values: float) -> Contributions:
    """What a judge says of a round."""
    of = {agent: Contribution(value=value, reason=f"{agent} so") for agent, value in values.items()}
    return Contributions(of=of, score=score, reason="checked", converged=converged)

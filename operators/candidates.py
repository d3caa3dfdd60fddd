"""Candidates: teams that were tried on a task, and what came of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ..pool.statistics import Trial
from ..runtime.engine import AgentOutcome, Run
from ..runtime.runners.protocol import AgentResult
from ..runtime.scorers import Score
from ..runtime.tools import ToolCall
from ..runtime.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..schema.edits import Component
    from ..schema.recipe import Recipe
    from ..schema.task import Task
    from ..schema.team import Lineage, Team

__all__ = ["Candidate", "cost_of", "run_of", "run_value"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A team that was tried on a task.

    Attributes:
        number: The how-many-th of its turn, from 0.
        team: The team.
        born: Where it comes from.
        component: What its mutation touched; None for other operators.
        member: Its name in the pool where it was tried as it stands there.
        run: What came of it.
        score: In [0, 1]; 0 where the team ended without an answer.
        reason: Why this score.
        reward: score - beta * cost (EvoMAS Eq. 4).
    """

    number: int
    team: Team
    born: Lineage
    component: Component | None = None
    member: str | None = None
    run: Run
    score: float
    reason: str = ""
    reward: float

    @property
    def executed(self) -> bool:
        """Whether it ran to an answer, without a structural or runtime failure."""
        return self.run.status == "done"

    @property
    def verdict(self) -> float:
        """What the task's own scorer says, whoever scored it for the evolution."""
        return self.run.score.value if self.run.score else 0.0

    def trial(self, task: Task, evolution: str) -> Trial:
        """Give what the pool keeps of it."""
        return Trial(
            task=task.id,
            niche=task.niche or None,
            score=self.score,
            reward=self.reward,
            usage=self.run.usage,
            run=evolution,
        )

    def value(self) -> dict[str, Any]:
        """Give what the evolution's record has of it."""
        return {
            "operator": self.born.operator,
            "component": self.component,
            "parents": list(self.born.parents),
            "member": self.member,
            "executed": self.executed,
            "score": self.score,
            "verdict": self.run.score.value if self.run.score else None,
            "reward": self.reward,
            "usage": self.run.usage.value(),
        }


def cost_of(run: Run, recipe: Recipe) -> float:
    """Give a run's cost in the recipe's unit."""
    match recipe.cost_unit:
        case "tokens":
            amount = float(run.usage.tokens)
        case "usd":
            amount = run.usage.usd
        case "calls":
            amount = float(run.usage.calls)
        case "seconds":
            amount = run.seconds
    return amount / recipe.cost_per


def run_value(run: Run) -> dict[str, Any]:
    """Write a run as a JSON object, for the journal."""
    agents = {name: {**asdict(one), "usage": one.usage.value()} for name, one in run.agents.items()}
    score = None if run.score is None else asdict(run.score)
    return {
        "status": run.status,
        "answer": run.answer,
        "score": score,
        "error": run.error,
        "usage": run.usage.value(),
        "seconds": run.seconds,
        "agents": agents,
    }


def run_of(value: Mapping[str, Any]) -> Run:
    """Read a run from the journal."""
    score = value["score"]
    fields: dict[str, Any] = {
        **value,
        "score": None if score is None else Score(**score),
        "usage": Usage(**value["usage"]),
        "agents": {name: _outcome(one) for name, one in value["agents"].items()},
    }
    return Run(**fields)


def _outcome(value: Mapping[str, Any]) -> AgentOutcome:
    result = value["result"]
    kept = None
    if result is not None:
        said: dict[str, Any] = {**result, "steps": tuple(result["steps"])}
        kept = AgentResult(**said)
    fields: dict[str, Any] = {
        **value,
        "result": kept,
        "usage": Usage(**value["usage"]),
        "tool_calls": tuple(ToolCall(**one) for one in value["tool_calls"]),
        "mishaps": tuple(value.get("mishaps", ())),
    }
    return AgentOutcome(**fields)

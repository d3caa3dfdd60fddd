"""The record of a run: what was run, and what came of it, in a folder of plain files."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from ..schema import dump
from ..schema.errors import InputError
from ..schema.team import Agent, Team, is_prompt_id
from .trace import VERSION, RunFolder, Scrubber

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ..schema.task import Task
    from .engine import AgentOutcome, Run
    from .plan import Plan

__all__ = ["Record", "resolved"]


class Record:
    """Keeps a run in a folder. A context manager; the folder is complete however the run ends.

    Args:
        runs: Where run folders are made.
        plan: What is run; team.yaml has its prompts written out.
        task: What is asked.
        secrets: What may not be written.

    Raises:
        InputError: The folder cannot be made.
    """

    def __init__(self, runs: Path, plan: Plan, task: Task, *, secrets: Iterable[str]) -> None:
        self._plan = plan
        self._result: dict[str, Any] = {"status": "interrupted"}
        try:
            self.folder = RunFolder.create(runs, plan.team.name, task.id, Scrubber(secrets))
            self.folder.write("team.yaml", dump(resolved(plan)))
            self.folder.write("task.json", _as_json(_task_value(task)))
        except OSError as error:
            raise InputError(
                f"{runs}: the run's folder cannot be written: {error.strerror}."
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.folder.close()
        self.folder.write("result.json", _as_json({"v": VERSION, **self._head(), **self._result}))

    def finish(self, run: Run) -> None:
        """Take the result; it is written when the record is left."""
        self._result = {
            "status": run.status,
            "answer": run.answer,
            "score": None if run.score is None else asdict(run.score),
            "error": run.error,
            "seconds": round(run.seconds, 3),
            "usage": {**run.usage.value(), "cost": run.usage.cost},
            "agents": {agent_id: _outcome(outcome) for agent_id, outcome in run.agents.items()},
        }

    def _head(self) -> dict[str, Any]:
        planned = self._plan.agents.values()
        models = {one.model.alias: one.model for one in planned if one.model is not None}
        return {
            "team": self._plan.team.name,
            "content_hash": self._plan.content_hash,
            "models": {
                alias: {"model": model.model, "api_base": model.api_base, "from": model.origin}
                for alias, model in sorted(models.items())
            },
        }


def resolved(plan: Plan) -> Team:
    """Give the plan's team with the texts of its prompts in place of their ids."""

    def with_text(agent: Agent) -> Agent:
        text = plan.agents[agent.id].prompt
        return replace(agent, prompt=f"{text}\n" if is_prompt_id(text) else text)

    agents = {agent_id: with_text(agent) for agent_id, agent in plan.team.agents.items()}
    return replace(plan.team, agents=MappingProxyType(agents))


def _outcome(outcome: AgentOutcome) -> dict[str, Any]:
    return {
        "status": outcome.status,
        "content": outcome.result.content if outcome.result else None,
        "error": outcome.error,
        "seconds": round(outcome.seconds, 3),
        "attempts": outcome.attempts,
        "usage": outcome.usage.value(),
    }


def _task_value(task: Task) -> dict[str, Any]:
    value = {
        "id": task.id,
        "query": task.query,
        "context": task.context,
        "niche": task.niche,
        "files": dict(task.files),
        "repo": str(task.repo.resolve()) if task.repo else None,
        "answer": task.answer,
        "scorer": {"name": task.scorer.name, **task.scorer.options},
    }
    return {key: item for key, item in value.items() if item not in (None, "", {})}


def _as_json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"

"""A recorded run as a JSON object."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from .conversation import news

if TYPE_CHECKING:
    from .recorded import Recorded


def value_of(run: Recorded, *, agent: str | None = None) -> dict[str, Any]:
    """Return a run as a JSON object, with nothing shortened."""
    names = [agent] if agent is not None else [*run.states]
    own = [event for event in run.events if agent is None or event.get("agent") == agent]
    return {
        "run": run.place,
        "status": run.status,
        "started": run.started or None,
        "team": run.team.name,
        "task": dict(run.task),
        "models": list(run.models),
        "result": dict(run.result) or None,
        "usage": {**asdict(run.usage), "cost": run.usage.cost},
        **({"damaged": run.damage} if run.damage else {}),
        "next": list(run.hints),
        "agents": {name: _agent(run, name) for name in names},
        "events": [event for event in own if event["type"] != "model_call"],
    }


def _agent(run: Recorded, agent: str) -> dict[str, Any]:
    calls = run.calls_by(agent)
    return {
        "state": run.states.get(agent),
        "reports_to": list(run.team.reports_to.get(agent, ())),
        "calls": [{**call.event, "messages": list(new)} for call, new in news(calls)],
    }

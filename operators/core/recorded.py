"""Reading of runs that `mas-run` recorded, to make digests of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...runtime.agents.outcomes import Run
from ...runtime.gateway import ChatAnswer, ToolRequest
from ...runtime.gateway.chat.dialogue import as_dialogue
from ...runtime.runs.record import read_result
from ...schema.values.codec import from_value
from ...schema.values.errors import InputError


def read_run(folder: Path) -> Run:
    """Return the result of a recorded run.

    The reason of its score is left out, because it quotes the reference answer.

    Raises:
        InputError: It is not the folder of a run, the run is unfinished, or a file is damaged.
    """
    result = read_result(folder)
    if result is None or "agents" not in result:
        raise InputError(
            f"{folder}: this run is unfinished. Finish it with: mas-run --resume {folder}"
        )
    try:
        score = result["score"] and {"value": result["score"]["value"], "reason": ""}
        usage = {name: item for name, item in result["usage"].items() if name != "cost"}
        return from_value(Run, {**result, "score": score, "usage": usage})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{folder}: this is no record of a run: {error!r}.") from None


def with_dialogues(run: Run, events: Iterable[Mapping[str, Any]], most: int) -> Run:
    """Return a run with each agent's dialogue, taken from the agent's last model call.

    That call holds everything that the agent had read and said before.

    Args:
        run: The run, from `read_run`.
        events: Its events, from `all_events_of`.
    """
    calls = [event for event in events if event["type"] == "model_call" and event.get("agent")]
    last = {call["agent"]: _dialogue(call, most) for call in calls}
    agents = {
        agent: replace(outcome, dialogue=outcome.dialogue or last.get(agent, ()))
        for agent, outcome in run.agents.items()
    }
    return replace(run, agents=agents)


def _dialogue(call: Mapping[str, Any], most: int) -> tuple[Mapping[str, Any], ...]:
    tools = tuple(
        ToolRequest(id=str(item.get("id")), name=item["name"], arguments=item["arguments"])
        for item in call["tool_calls"]
    )
    answer = ChatAnswer(text=call["text"], tool_calls=tools)
    return as_dialogue(call["messages"], answer, most)

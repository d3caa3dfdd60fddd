"""Draws other parameters of an agent: its temperature, tokens, model, tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .....schema.edits import Edit, GrantTool, SetModel, SetParameter
from .....schema.team.team import Agent
from .....schema.values.hints import listed
from .answering import agents_that_answer, agents_that_ask
from .source import DrawnFrom, Sketch

TEMPERATURES = (0, 0.3, 0.7, 1.0)
USES_TOOLS = "ToolCallingAgent"
MOST_STEPS = 6
"""Steps of an agent that gains tools, if its type requires a number."""


def _agents(source: DrawnFrom) -> Sequence[Agent]:
    """Return the agents that call a model, the answering ones first."""
    agents = [*agents_that_answer(source.team), *agents_that_ask(source.team)]
    return list({agent.id: agent for agent in agents}.values())


def _for_all_and_each(source: DrawnFrom) -> Iterator[Sequence[Agent]]:
    """Return all agents that call a model together, then each by itself."""
    agents = _agents(source)
    yield agents
    yield from ([agent] for agent in agents)


def temperature(source: DrawnFrom) -> Iterator[Sketch]:
    """Set the temperature of all agents, or of one."""
    for agents in _for_all_and_each(source):
        for value in TEMPERATURES:
            yield (
                _set(agents, "temperature", value),
                f"Set the temperature of {_ids(agents)} to {value}.",
            )


def max_tokens(source: DrawnFrom) -> Iterator[Sketch]:
    """Double or halve the tokens of agents that were cut off: room to finish, or less to ramble."""
    cut_off = {agent_id for trial in source.trials for agent_id in trial.run.cut_off}
    for agent in (agent for agent in _agents(source) if agent.id in cut_off):
        for value in (agent.max_tokens * 2, max(1, agent.max_tokens // 2)):
            reason = f"Let {agent.id}, which was cut off, write at most {value} tokens."
            yield _set([agent], "max_tokens", value), reason


def model(source: DrawnFrom) -> Iterator[Sketch]:
    """Set another model for all agents, or for one."""
    for agents in _for_all_and_each(source):
        for alias in sorted(source.ceiling.models & source.catalogue.aliases):
            edits = tuple(SetModel(agent=agent.id, model_id=alias) for agent in agents)
            yield edits, f"Let {_ids(agents)} ask the model {alias}."


def tool(source: DrawnFrom) -> Iterator[Sketch]:
    """Grant a tool; an agent that makes a single call becomes one that uses tools."""
    tools = source.catalogue.tools - source.catalogue.benchmark_tools
    for name in sorted(tools & source.ceiling.tools):
        for agent in _agents(source):
            if name not in agent.tools:
                edits = (*_using_tools(source, agent), GrantTool(agent=agent.id, tool=name))
                yield edits, f"Let {agent.id} use the tool {name}."


def _using_tools(source: DrawnFrom, agent: Agent) -> Iterator[Edit]:
    if source.team.backend_of(agent) == "llm":
        yield from _set([agent], "agent_type", USES_TOOLS)
        if agent.backend is not None:
            yield from _set([agent], "backend", None)
        if agent.max_steps is None and (most := source.ceiling.max_steps) is not None:
            yield from _set([agent], "max_steps", min(most, MOST_STEPS))


def _set(agents: Sequence[Agent], field: str, value: Any) -> tuple[SetParameter, ...]:
    return tuple(
        SetParameter(agent=agent.id, field=field, value=value)
        for agent in agents
        if getattr(agent, field) != value
    )


def _ids(agents: Sequence[Agent]) -> str:
    return listed([agent.id for agent in agents])

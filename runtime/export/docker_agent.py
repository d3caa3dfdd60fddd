"""A team as docker-agent's YAML: agents that report to another one are its sub-agents."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ...schema.foreign.docker_names import VERSION, calling
from ...schema.team.writing import write_yaml
from ..messages.messages import system
from .portable import PENALTIES, has_form_there
from .reached import reached_for
from .toolsets import toolsets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.host.catalogue import ToolServer
    from ...schema.host.models import Model
    from ...schema.team.team import Agent
    from ..plan.plan import Plan, PlannedAgent

HEADER = "# {name}, written by `mas dev export`. Try it: docker agent run FILE\n"


def docker_agent_text(plan: Plan, servers: Mapping[str, ToolServer]) -> str:
    """Write a plan as docker-agent's YAML; servers are those of tools.yaml.

    An agent's instruction ends with the agents to call before it answers: there, its model decides
    what the topology decides here.
    """
    models = _Models(plan=plan)
    order = [plan.output, *(agent for agent in plan.agents if agent != plan.output)]
    agents = {name: _agent(plan, plan.agents[name], models, servers) for name in order}
    described = {"description": plan.team.description} if plan.team.description else {}
    value = {
        "version": VERSION,
        **({"metadata": described} if described else {}),
        "models": models.written,
        "agents": agents,
    }
    return HEADER.format(name=plan.team.name) + write_yaml(value)


def _agent(
    plan: Plan, planned: PlannedAgent, models: _Models, servers: Mapping[str, ToolServer]
) -> dict[str, Any]:
    agent = planned.agent
    calls = plan.team.predecessors[agent.id]
    instruction = _instruction(plan, planned)
    schema = agent.output_schema
    fields: dict[str, Any] = {
        "model": models.name_of(agent),
        "description": agent.role,
        "instruction": f"{instruction}\n\n{calling(calls)}" if calls else instruction,
        "sub_agents": list(calls),
        "toolsets": [*toolsets(agent, servers)],
        "max_iterations": agent.max_steps if planned.backend != "llm" else None,
    }
    if schema is not None and has_form_there(schema):
        fields["structured_output"] = {"name": agent.id, "schema": dict(schema)}
    return {name: value for name, value in fields.items() if value}


def _instruction(plan: Plan, planned: PlannedAgent) -> str:
    """Return an agent's prompt, with the team's rules and its memory, if any."""
    agent, team = planned.agent, plan.team
    if not team.constitution and not agent.notes.places:
        return planned.prompt
    bare = replace(planned, agent=replace(agent, role="", output_schema=None))
    notes, paired = team.known_to(agent), team.paired_with(agent)
    return system(bare, team.constitution, has_reports=False, noted=notes, paired=paired)


@dataclass(kw_only=True, slots=True)
class _Models:
    """The exported models: one for each alias and each set of parameters."""

    plan: Plan
    written: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])

    def name_of(self, agent: Agent) -> str:
        """Return the exported name of an agent's model: its alias, numbered if needed."""
        alias = agent.model_id
        value = _model(self.plan.models[alias], agent)
        number, name = 1, alias
        while self.written.setdefault(name, value) != value:
            number += 1
            name = f"{alias}-{number}"
            while name in self.plan.models:
                number += 1
                name = f"{alias}-{number}"
        return name


def _model(model: Model, agent: Agent) -> dict[str, Any]:
    reached = reached_for("docker-agent", model)
    assert reached is not None  # noqa: S101 - what the rules have seen to
    effort = agent.effort or model.effort
    fields: dict[str, Any] = {
        "provider": reached.provider or ("anthropic" if reached.wire == "anthropic" else "openai"),
        "model": reached.name,
        "base_url": reached.address or None,
        "token_key": reached.key_env,
        "max_tokens": agent.max_tokens,
        "temperature": agent.temperature,
        "top_p": agent.top_p if agent.top_p is not None else model.top_p,
        "thinking_budget": effort or model.thinking_tokens,
        **{name: value for name, value in model.body.items() if name in PENALTIES},
    }
    return {name: value for name, value in fields.items() if value is not None}

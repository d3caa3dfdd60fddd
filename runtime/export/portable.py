"""What of a team another program has nothing like: what is refused, and what is lost."""

from __future__ import annotations

from dataclasses import fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...schema.foreign.docker_names import PROVIDERS, ROOT
from ...schema.team.task_fields import names_fields
from ...schema.team.team import Agent, Execution, Notes, Team
from .reached import Reached, reached_by

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ...schema.host.models import Model
    from ...schema.loading.loading import Reading, Rule
    from ...schema.values.problems import Path, Problem

    Found = Iterator[tuple[Path, str]]

__all__ = ["TARGETS", "reached_for", "rules_for"]

TARGETS = ("langgraph", "docker-agent")

KNOWN: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "langgraph": {
            "openai": "openai",
            "anthropic": "anthropic",
            "bedrock": "bedrock_converse",
            "bedrock_converse": "bedrock_converse",
            "vertex_ai": "google_vertexai",
        },
        "docker-agent": {ours: theirs for theirs, ours in PROVIDERS.items() if ours != "azure"},
    }
)
"""What they call providers, by our names of them. All others are reached at their addresses."""

STATE = ("query", "reports")
"""The fields of the state that a graph of ours has; no node can be called so."""

PENALTIES = frozenset({"frequency_penalty", "presence_penalty"})
"""Fields of requests for which docker-agent has fields of its own."""

EXECUTION = {
    "on_error": "where an agent fails, the whole run fails there.",
    "on_overflow": "nothing is trimmed there.",
    "timeout": "a whole run has no limit of time there.",
}
OF_AGENTS = {
    "imports": "it is for agents that write code.",
    "max_steps": "it is for agents that use tools.",
    "member": "there are no pools there.",
    "planning_interval": "it is for agents that use tools.",
}
OF_TEAMS = {
    "lineage": "there are no pools there.",
    "successful_tasks": "it is for operators, and never executed.",
}
OF_MODELS = {
    "fallback": "no other model answers in its place there.",
    "header_env": "secret headers are not written.",
    "thinking_tokens": "only an effort is written.",
}


def reached_for(target: str, model: Model | None) -> Reached | None:
    """Say where a model is reached by a program; None where only coterie reaches it."""
    return reached_by(model, KNOWN[target])


def rules_for(target: str) -> tuple[Rule, ...]:
    """Give the rules that find what stands in the way (errors) and what is lost (warnings)."""
    losses = {"langgraph": _lost_in_langgraph, "docker-agent": _lost_in_docker_agent}[target]

    def refused(reading: Reading) -> Iterator[Problem]:
        models = reading.catalogue.models
        for path, message in (*_refused(reading.team), *_unreached(reading.team, models, target)):
            yield reading.problem(path, message)

    def lost(reading: Reading) -> Iterator[Problem]:
        for path, message in (
            *_lost(reading.team),
            *_lost_of_models(reading.team, reading.catalogue.models, target),
            *losses(reading.team),
        ):
            yield replace(reading.problem(path, f"is lost: {message}"), severity="warning")

    return (refused, lost)


def _refused(team: Team) -> Found:
    """Give what other programs cannot do: anything but one chat call of each agent."""
    for agent in team.agents.values():
        path = ("agents", agent.id)
        if (backend := team.backend_of(agent)) != "llm":
            yield path, f"only agents of type LLM can be exported; this one's backend is {backend}."
        if agent.recall is not None:
            yield (*path, "recall"), "a pool's memory is no part of the file. Leave it out."
    for name in ("recruit", "rounds", "roster"):
        if getattr(team.execution, name) is not None:
            yield (
                ("execution", name),
                "only teams whose agents work once, and all of them, can be exported.",
            )


def _unreached(team: Team, models: Mapping[str, Model], target: str) -> Found:
    """Give the models that only coterie reaches, and names that mean something else there."""
    for agent in team.agents.values():
        model = models.get(agent.model_id)
        if team.backend_of(agent) == "llm" and reached_for(target, model) is None:
            said = "the embedded model" if model is None or model.is_embedded else model.model
            yield (
                ("agents", agent.id, "model_id"),
                f"{agent.model_id!r} is {said}, which only coterie reaches. Say what it is to be"
                f" there: --model {agent.model_id}=openai/gpt-4o-mini, or NAME@URL.",
            )
        if target == "langgraph" and agent.id in STATE:
            yield ("agents", agent.id), "the graph's state has that field. Call it otherwise."
        if target == "docker-agent" and agent.id == ROOT != team.output:
            yield (
                ("agents", agent.id),
                f"docker-agent would ask it for the answer, which {team.output} gives. Call it"
                " otherwise.",
            )


def _lost(team: Team) -> Found:
    usual = Execution()
    for name, message in EXECUTION.items():
        if getattr(team.execution, name) != getattr(usual, name):
            yield ("execution", name), message
    for name, message in OF_TEAMS.items():
        if getattr(team, name):
            yield (name,), message
    plain = {field.name: field.default for field in fields(Agent)}
    for agent in team.agents.values():
        for name, message in OF_AGENTS.items():
            if getattr(agent, name) != plain[name]:
                yield ("agents", agent.id, name), message
        if names_fields(agent.prompt):
            yield ("agents", agent.id, "prompt"), "fields of a task are not filled in there."


def _lost_of_models(team: Team, models: Mapping[str, Model], target: str) -> Found:
    """Give what models.yaml says of the models that cannot be written; each model once."""
    firsts: Mapping[str, Agent] = {one.model_id: one for one in reversed([*team.agents.values()])}
    for alias, agent in firsts.items():
        if alias not in models:
            continue
        names = {**OF_MODELS, **(_DOCKER_MODELS if target == "docker-agent" else {})}
        for name, message in names.items():
            value = getattr(models[alias], name)
            if name == "body" and target == "docker-agent":
                value = value.keys() - PENALTIES
            if name == "thinking_tokens" and target == "docker-agent":
                continue
            if value:
                path = ("agents", agent.id, "model_id")
                yield path, f"{name} of {alias!r} in models.yaml: {message}"


_DOCKER_MODELS = {
    "api": "which API is spoken is the provider's there.",
    "body": "further fields of requests are not written.",
    "headers": "further headers are not written.",
}


def _lost_in_langgraph(team: Team) -> Found:
    for agent in team.agents.values():
        if agent.output_schema is not None:
            yield (
                ("agents", agent.id, "output_schema"),
                "the form stands in the instructions, and no answer is checked or asked for again.",
            )


def _lost_in_docker_agent(team: Team) -> Found:
    if team.constitution:
        yield ("constitution",), "it stands in the instruction of each agent."
    for name in ("context", "max_retries", "parallel_workers"):
        if getattr(team.execution, name) != getattr(Execution(), name):
            yield ("execution", name), "agents are called by other agents there, one by one."
    for agent in team.agents.values():
        path = ("agents", agent.id)
        if agent.notes.untaught != Notes():
            yield (*path, "notes"), "they stand in its instruction."
        if agent.timeout is not None:
            yield (*path, "timeout"), "an agent has no limit of time there."
        schema = agent.output_schema
        if schema is not None and not has_form_there(schema):
            yield (*path, "output_schema"), "only objects with properties are held to a form there."
        receivers = team.reports_to.get(agent.id, ())
        if len(receivers) > 1:
            yield path, f"it works for each of {', '.join(receivers)} anew there, not once."


def has_form_there(schema: Mapping[str, Any]) -> bool:
    """Tell whether docker-agent can hold an answer to a form."""
    return schema.get("type") == "object" and "properties" in schema

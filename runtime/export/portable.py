"""Features of a team that another program lacks: some are refused, others are lost."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...schema.foreign.docker_names import ROOT
from ...schema.team.task import names_fields
from ...schema.team.team import Agent, Execution, Notes, Rounds, Team
from ...schema.values.values import unlike_default
from .reached import reached_for
from .toolsets import FILES, SHELLS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ...schema.host.models import Model
    from ...schema.loading.loading import Reading, Rule
    from ...schema.values.problems import Path, Problem

    Remarks = Iterator[tuple[Path, str]]

TARGETS = ("langgraph", "docker-agent")

STATE = ("query", "reports", "settled")
"""The fields of the exported graph's state; no node may have such a name."""

PENALTIES = frozenset({"frequency_penalty", "presence_penalty"})
"""Request fields for which docker-agent has its own fields."""

KINDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "docker-agent": frozenset({"llm", "mini-swe-agent", "smolagents", "swe-agent"}),
        "langgraph": frozenset({"llm", "smolagents"}),
    }
)
"""The backends whose agents have a counterpart there."""
UNROLLED = ("never", "unchanged", "finalized")
"""Conditions that end rounds and that a program for LangGraph can check."""
FUNCTIONS = ("calculate", "concat", "extract_json", "majority", "vote")
"""Our own functions, whose source a program can carry."""
WRITTEN: Mapping[type[object], frozenset[str]] = MappingProxyType(
    {
        Agent: frozenset(
            {
                "agent_type", "backend", "effort", "function", "id", "max_tokens", "model_id",
                "notes", "output_schema", "prompt", "role", "temperature", "timeout", "tools",
                "top_p",
            }
        ),
        Execution: frozenset(
            {
                "context", "max_retries", "on_error", "parallel_workers", "recruit", "roster",
                "rounds",
            }
        ),
        Rounds: frozenset({"closing", "meeting", "most", "opening", "until"}),
        Team: frozenset(
            {
                "agents", "backend", "constitution", "declared_output", "description", "execution",
                "name", "reports_to",
            }
        ),
    }
)  # fmt: skip
"""The fields that are written, or refused depending on their values. Other fields that are set are
refused."""
LOST: Mapping[type[object], Mapping[str, str]] = MappingProxyType(
    {
        Agent: {
            "files": "the target does not support files in tasks.",
            "imports": "only agents that write code use it.",
            "max_steps": "only agents that use tools use it.",
            "member": "the target has no pools.",
            "planning_interval": "the target does not replan.",
            "recall": "a pool's memory is not exported.",
        },
        Execution: {
            "on_overflow": "the target does not trim prompts.",
            "timeout": "the target has no time limit for a whole run.",
        },
        Rounds: {},
        Team: {
            "lineage": "the target has no pools.",
            "successful_tasks": "only operators use it.",
        },
    }
)
"""The fields that are not written, with what is lost."""
OF_MODELS = {
    "fallback": "the target does not fall back to another model.",
    "header_env": "secret headers are not exported.",
    "thinking_tokens": "only effort is exported.",
}


def rules_for(target: str) -> tuple[Rule, ...]:
    """Return the rules that find obstacles (errors) and losses (warnings)."""

    def refused(reading: Reading) -> Iterator[Problem]:
        models = reading.catalogue.models
        for path, message in (
            *_refused(reading.team, target, reading.catalogue.python_tools),
            *_unreached(reading.team, models, target),
        ):
            yield reading.problem(path, message)

    def report_losses(reading: Reading) -> Iterator[Problem]:
        for path, message in (
            *_losses(reading.team),
            *_lost_of_models(reading.team, reading.catalogue.models, target),
            *(_lost_in_docker_agent(reading.team) if target == "docker-agent" else ()),
        ):
            yield replace(
                reading.problem(path, f"has no counterpart: {message}"), severity="warning"
            )

    return (refused, report_losses)


def _refused(team: Team, target: str, python: Collection[str]) -> Remarks:
    """Yield what the other program cannot do."""
    for agent in team.agents.values():
        path, backend = ("agents", agent.id), team.backend_of(agent)
        if backend == "function" and target == "langgraph":
            if agent.function not in FUNCTIONS:
                yield (*path, "function"), f"only {', '.join(FUNCTIONS)} can be exported."
        elif backend not in KINDS[target] or (agent.agent_type in SHELLS and target == "langgraph"):
            kind = agent.agent_type or backend
            yield path, f"{target} has no counterpart for a {kind}."
        for index, tool in enumerate(agent.tools):
            if tool in python or ("." not in tool and tool not in FILES):
                message = f"only {', '.join(sorted(FILES))} and tools of servers can be exported."
                yield (*path, "tools", index), message
    for name in ("recruit", "roster"):
        if getattr(team.execution, name) is not None:
            yield ("execution", name), f"{target} has a fixed set of agents."
    yield from _refused_rounds(team, target)
    yield from _unknown(team)


def _unknown(team: Team) -> Remarks:
    """Yield the set fields that this module does not list, so that none is lost silently."""
    for path, part in _parts(team):
        handled = WRITTEN[type(part)] | LOST[type(part)].keys()
        for name in unlike_default(part):
            if name not in handled:
                yield (*path, name), "it cannot be exported."


def _parts(team: Team) -> Iterator[tuple[Path, object]]:
    """Yield the parts of a team that have fields, with their paths."""
    yield (), team
    yield ("execution",), team.execution
    if team.execution.rounds is not None:
        yield ("execution", "rounds"), team.execution.rounds
    yield from ((("agents", agent.id), agent) for agent in team.agents.values())


def _refused_rounds(team: Team, target: str) -> Remarks:
    rounds = team.execution.rounds
    if rounds is not None and target == "docker-agent":
        yield ("execution", "rounds"), f"{target} runs each agent once."
    elif rounds is not None and rounds.until not in UNROLLED:
        message = f"{rounds.until} cannot be exported. Use one of: {', '.join(UNROLLED)}."
        yield ("execution", "rounds", "until"), message


def _unreached(team: Team, models: Mapping[str, Model], target: str) -> Remarks:
    """Return the models that only coterie reaches, and names that mean something else there."""
    for agent in team.agents.values():
        model = models.get(agent.model_id)
        if team.backend_of(agent) != "function" and reached_for(target, model) is None:
            text = "the embedded model" if model is None or model.is_embedded else model.model
            yield (
                ("agents", agent.id, "model_id"),
                f"{agent.model_id!r} is {text}, which only coterie can call. Replace it, for"
                f" instance with --model {agent.model_id}=openai/gpt-4o-mini, or NAME@URL.",
            )
        if target == "langgraph" and agent.id in STATE:
            yield ("agents", agent.id), "the graph's state has a field of that name. Rename it."
        if target == "docker-agent" and agent.id == ROOT != team.output:
            yield (
                ("agents", agent.id),
                f"docker-agent would take the answer from it, instead of {team.output}. Rename it.",
            )


def _losses(team: Team) -> Remarks:
    for path, part in _parts(team):
        lost = LOST[type(part)]
        has_steps = isinstance(part, Agent) and team.backend_of(part) != "llm"
        for name in unlike_default(part):
            if name in lost and not (has_steps and name == "max_steps"):
                yield (*path, name), lost[name]
    for agent in team.agents.values():
        if names_fields(agent.prompt):
            yield ("agents", agent.id, "prompt"), "the target does not fill in fields of a task."


def _lost_of_models(team: Team, models: Mapping[str, Model], target: str) -> Remarks:
    """Return the fields of models.yaml that cannot be written; each model once."""
    firsts: Mapping[str, Agent] = {
        item.model_id: item for item in reversed([*team.agents.values()])
    }
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
    "api": "docker-agent uses the provider's API.",
    "body": "other fields of requests are not exported.",
    "headers": "other headers are not exported.",
}


def _lost_in_docker_agent(team: Team) -> Remarks:
    changed = unlike_default(team.execution)
    if "on_error" in changed:
        yield ("execution", "on_error"), "in docker-agent, the run fails if an agent fails."
    if team.constitution:
        yield ("constitution",), "it is copied into the instruction of each agent."
    for name in ("context", "max_retries", "parallel_workers"):
        if name in changed:
            yield ("execution", name), "in docker-agent, agents call each other, one by one."
    for agent in team.agents.values():
        path = ("agents", agent.id)
        if lost := SHELLS.get(agent.agent_type or ""):
            yield (*path, "agent_type"), lost
        if agent.notes.untaught != Notes():
            yield (*path, "notes"), "they are copied into its instruction."
        if agent.timeout is not None:
            yield (*path, "timeout"), "docker-agent has no time limit for an agent."
        schema = agent.output_schema
        if schema is not None and not has_form_there(schema):
            yield (*path, "output_schema"), "docker-agent enforces only objects with properties."
        receivers = team.reports_to.get(agent.id, ())
        if len(receivers) > 1:
            yield path, f"docker-agent runs it again for each of {', '.join(receivers)}."


def has_form_there(schema: Mapping[str, Any]) -> bool:
    """Return whether docker-agent can enforce an output schema for a model."""
    return schema.get("type") == "object" and "properties" in schema

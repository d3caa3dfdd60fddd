"""A team as a program for LangGraph: a node for each agent, and an edge wherever one reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..messages.messages import system
from ..prompts import render
from .portable import reached_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...schema.host.models import Model
    from ..plan.plan import Plan, PlannedAgent
    from .reached import Reached

__all__ = ["langgraph_text", "literal"]

FOLDER = Path(__file__).parent
PACKAGES = {
    "anthropic": "langchain-anthropic",
    "bedrock_converse": "langchain-aws",
    "google_vertexai": "langchain-google-vertexai",
    "openai": "langchain-openai",
}
USUAL_STEPS = 20
"""Levels that LangGraph goes through without being told: it ends a graph after 25 steps."""
NO_KEY = "none"
"""What is sent to an address that asks for no key: the client insists on one."""


def langgraph_text(plan: Plan) -> str:
    """Write a plan whose agents are all chat calls as a Python program.

    Its agents read word for word what they read here: the same instructions, the task, and the
    reports of their colleagues between markers.
    """
    team = plan.team
    settings = {agent: _settings(plan, planned) for agent, planned in plan.agents.items()}
    packages = {PACKAGES[setting["model_provider"]] for setting, _ in settings.values()}
    text = render(
        "langgraph",
        folder=FOLDER,
        said=literal(_docstring(plan, sorted(packages))),
        agents=[_agent(plan, planned, *settings[agent]) for agent, planned in plan.agents.items()],
        edges=[*_edges(plan)],
        output=_written(plan.output),
        config=_config(plan),
        has_schemas=any(agent.output_schema is not None for agent in team.agents.values()),
        has_keys=any(key for _, key in settings.values()),
    )
    return f"{text}\n"


def _config(plan: Plan) -> str:
    """Give how the graph is run, as Python; nothing where it is as LangGraph does."""
    config: dict[str, int] = {}
    if plan.team.execution.parallel_workers is not True:
        config["max_concurrency"] = plan.workers
    if len(plan.levels) > USUAL_STEPS:
        config["recursion_limit"] = len(plan.levels) + 1
    written = (f"{_written(name)}: {value}" for name, value in config.items())
    return f"{{{', '.join(written)}}}" if config else ""


def _docstring(plan: Plan, packages: Sequence[str]) -> str:
    about = f"{plan.team.name}, a team of agents. {plan.team.description}".strip()
    return (
        f"{about}\n\nWritten by `mas dev export`; it is yours to change. It needs:\n\n"
        f"    python -m pip install langgraph langchain {' '.join(packages)}\n\n"
        'and runs as a program (`python FILE "What is asked"`), or as `graph` and `answer` of a'
        " module.\n"
    )


def _agent(
    plan: Plan, planned: PlannedAgent, settings: Mapping[str, Any], key_env: str | None
) -> Mapping[str, Any]:
    """Give what the file says of an agent, as Python."""
    agent, team = planned.agent, plan.team
    instructions = system(
        planned,
        team.constitution,
        has_reports=bool(planned.sees),
        known=team.known_to(agent),
        paired=team.paired_with(agent),
    )
    return {
        "id": _written(agent.id),
        "role": literal(agent.role),
        "instructions": literal(instructions),
        "reads": _written(list(planned.sees)),
        "model": {name: _written(value) for name, value in settings.items()},
        "key_env": _written(key_env) if key_env else "",
        "schema": agent.output_schema is not None,
    }


def _edges(plan: Plan) -> Iterator[tuple[str, str]]:
    """Give the edges, as Python: from all whom an agent waits for, at once."""
    for one, before in plan.team.heard.items():
        ends = _written(before[0] if len(before) == 1 else list(before)) if before else "START"
        yield ends, _written(one)
    yield _written(plan.output), "END"


def _settings(plan: Plan, planned: PlannedAgent) -> tuple[dict[str, Any], str | None]:
    """Give what `init_chat_model` is called with, and the variable with the key."""
    agent, model = planned.agent, plan.models[planned.agent.model_id]
    reached = reached_for("langgraph", model)
    assert reached is not None  # noqa: S101 - what the rules have seen to
    fields: dict[str, Any] = {
        **_place(reached),
        "max_tokens": agent.max_tokens,
        "temperature": agent.temperature,
        "top_p": agent.top_p if agent.top_p is not None else model.top_p,
        "timeout": agent.timeout,
        "max_retries": plan.team.execution.max_retries,
        **_of_openai(reached, model, agent.effort),
    }
    return {name: value for name, value in fields.items() if value is not None}, reached.key_env


def _place(reached: Reached) -> dict[str, Any]:
    provider = reached.provider or ("anthropic" if reached.wire == "anthropic" else "openai")
    # Anthropic's client adds the version itself.
    address = reached.address
    base = address.removesuffix("/v1") if provider == "anthropic" else address
    key = NO_KEY if reached.address and not reached.key_env else None
    place = {"model": reached.name, "model_provider": provider, "base_url": base or None}
    return {**place, "api_key": key}


def _of_openai(reached: Reached, model: Model, effort: str | None) -> dict[str, Any]:
    """Give what only the client for OpenAI's API takes."""
    if (reached.provider or "openai") != "openai" or reached.wire == "anthropic":
        return {}
    return {
        "reasoning_effort": effort or model.effort,
        "use_responses_api": True if reached.wire == "responses" else None,
        "extra_body": dict(model.body) or None,
        "default_headers": dict(model.headers) or None,
    }


def literal(text: str) -> str:
    """Write a text as a Python literal that people can read: over several lines where it has some.

    Evaluating it gives the text, whatever is in it.
    """
    plain = text.replace("\n", "").isprintable() and "\\" not in text and '"""' not in text
    if "\n" not in text or not plain or text.endswith('"'):
        return _in_quotes(repr(text))
    return f'"""\\\n{text}"""'


def _written(value: Any) -> str:
    """Write a plain value as a Python literal on one line."""
    if isinstance(value, str):
        return _in_quotes(repr(value))
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    return repr(value)


def _in_quotes(said: str) -> str:
    """Prefer double quotes: Python takes single ones where a text has neither."""
    return f'"{said[1:-1]}"' if said[0] == "'" and '"' not in said else said

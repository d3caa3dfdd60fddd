"""A team as a program for LangGraph: a node for each time that an agent works."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...schema.host.catalogue import load_named
from ...schema.values.errors import AgentError
from ...schema.values.values import plain
from ..gateway.chat.messages import WORDLESS
from ..messages.messages import system
from ..prompts import render
from ..values.structured import answer_in, json_in, parse_structured
from .carried import source_of
from .reached import reached_for
from .toolsets import of_client
from .unrolled import unrolled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...schema.host.catalogue import ToolServer
    from ...schema.host.models import Model
    from ..plan.plan import Plan, PlannedAgent
    from .reached import Reached
    from .unrolled import Node

FOLDER = Path(__file__).parent
PACKAGES = {
    "anthropic": "langchain-anthropic",
    "bedrock_converse": "langchain-aws",
    "google_vertexai": "langchain-google-vertexai",
    "openai": "langchain-openai",
}
USUAL_STEPS = 20
"""Levels that LangGraph's default limit allows: it ends a graph after 25 steps."""
USUAL_TOOL_STEPS = 10
"""The default number of steps of an agent with tools, the same as ours."""
OWN_WORK = (
    "You have worked on this task before. This is what you reported; keep of it what is right, and"
    " give the whole again:"
)
"""The heading of an agent's own report; tests compare it with the prompt `question`."""
NO_NOTES: Mapping[str, Any] = {
    **dict.fromkeys(("constitution", "prompt", "coaching", "schema", "looks_skills_up"), ""),
    **dict.fromkeys(("patches", "known", "paired", "skills"), ()),
}
NO_KEY = "none"
"""The key for an address that needs none, since the client insists on one."""


def langgraph_text(plan: Plan, servers: Mapping[str, ToolServer]) -> str:
    """Write a plan as a Python program; servers are those of tools.yaml.

    Its agents read exactly what they read here: the same instructions, the task, and the
    reports of their colleagues between markers. Rounds are unrolled: each has its own nodes.
    """
    team, nodes = plan.team, unrolled(plan)
    settings = {
        agent: _settings(plan, planned)
        for agent, planned in plan.agents.items()
        if planned.backend != "function"
    }
    functions = sorted({str(agent.function) for agent in team.agents.values() if agent.function})
    has_schemas = any(agent.output_schema is not None for agent in team.agents.values())
    rounds = team.execution.rounds
    needed = [load_named("functions", name) for name in functions]
    if has_schemas:
        needed += [parse_structured, answer_in]
    if rounds and rounds.until == "finalized":
        needed.append(json_in)
    packages = {PACKAGES[setting["model_provider"]] for setting, _ in settings.values()}
    packages |= {"jsonschema"} if has_schemas else set()
    tools = [tool for agent in team.agents.values() for tool in agent.tools]
    used = {tool.partition(".")[0] for tool in tools if "." in tool}
    packages |= {"langchain-mcp-adapters"} if used else set()
    output = next(node.name for node in reversed(nodes) if node.agent == plan.output)
    text = render(
        "langgraph",
        folder=FOLDER,
        about=literal(_docstring(plan, sorted(packages))),
        carried=source_of([*needed, AgentError]),
        agents=[
            _agent(plan, planned, settings.get(agent)) for agent, planned in plan.agents.items()
        ],
        nodes=nodes,
        python=_written,
        edges=[*_edges(nodes, output)],
        output=_written(output),
        config=_config(plan, nodes),
        retries=team.execution.max_retries,
        on_error=_written(team.execution.on_error),
        has_reports=literal(_of_reports()),
        own_work=literal(OWN_WORK),
        until=rounds.until if rounds else "",
        final=[agent.id for agent in team.agents.values() if agent.can_finalize],
        wordless=_written(WORDLESS),
        has_functions=bool(functions),
        has_schemas=has_schemas,
        has_tools=bool(tools),
        has_servers=bool(used),
        servers=repr({name: of_client(servers[name]) for name in sorted(used)}),
        has_keys=any(key for _, key in settings.values()),
        answers_in_json=team.agents[plan.output].output_schema is not None,
    )
    return f"{text}\n"


def _of_reports() -> str:
    """Return the end of the instructions of agents that receive reports."""
    written = [render("system", role="x", has_reports=has, **NO_NOTES) for has in (False, True)]
    return written[1].removeprefix(written[0])


def _config(plan: Plan, nodes: Sequence[Node]) -> str:
    """Return the configuration of the graph as Python; empty for LangGraph's defaults."""
    config: dict[str, int] = {}
    if plan.team.execution.parallel_workers is not True:
        config["max_concurrency"] = plan.workers
    depths: dict[str, int] = {}
    for node in nodes:
        depths[node.name] = 1 + max((depths[source] for source in node.after), default=0)
    if (depth := max(depths.values())) > USUAL_STEPS:
        config["recursion_limit"] = depth + 1
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
    plan: Plan, planned: PlannedAgent, settings: tuple[Mapping[str, Any], str | None] | None
) -> Mapping[str, Any]:
    """Return the definition of an agent, as Python."""
    agent, team = planned.agent, plan.team
    same = {"id": _written(agent.id), "role": literal(agent.role)}
    if settings is None:
        return {**same, "function": _written(str(agent.function))}
    instructions = system(
        planned,
        team.constitution,
        has_reports=False,
        noted=team.known_to(agent),
        paired=team.paired_with(agent),
    )
    model, key_env = settings
    return {
        **same,
        "function": "",
        "instructions": literal(instructions),
        "model": {name: _written(value) for name, value in model.items()},
        "key_env": _written(key_env) if key_env else "",
        "tools": _written(list(agent.tools)) if agent.tools else "",
        "steps": agent.max_steps or USUAL_TOOL_STEPS,
        "schema": "" if agent.output_schema is None else repr(plain(agent.output_schema)),
    }


def _edges(nodes: Sequence[Node], output: str) -> Iterator[tuple[str, str]]:
    """Yield the edges as Python: one from all the nodes that a node waits for."""
    for node in nodes:
        after = list(node.after)
        ends = _written(after[0] if len(after) == 1 else after) if after else "START"
        yield ends, _written(node.name)
    yield _written(output), "END"


def _settings(plan: Plan, planned: PlannedAgent) -> tuple[dict[str, Any], str | None]:
    """Return the arguments of `init_chat_model`, and the variable with the key."""
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
    """Return the arguments that only the client for OpenAI's API takes."""
    if (reached.provider or "openai") != "openai" or reached.wire == "anthropic":
        return {}
    return {
        "reasoning_effort": effort or model.effort,
        "use_responses_api": True if reached.wire == "responses" else None,
        "extra_body": dict(model.body) or None,
        "default_headers": dict(model.headers) or None,
    }


def literal(text: str) -> str:
    """Write a text as a readable Python literal, over several lines if it has several.

    Evaluating it returns the text, whatever it contains.
    """
    plain = text.replace("\n", "").isprintable() and "\\" not in text and '"""' not in text
    if "\n" not in text or not plain or text.endswith('"'):
        return _in_quotes(repr(text))
    return f'"""\\\n{text}"""'


def _written(value: Any) -> str:
    """Write a plain value as a Python literal on one line."""
    if isinstance(value, str):
        return _in_quotes(repr(value))
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, value))}]"
    return repr(value)


def _in_quotes(text: str) -> str:
    """Prefer double quotes: Python takes single ones where a text has neither."""
    return f'"{text[1:-1]}"' if text[0] == "'" and '"' not in text else text

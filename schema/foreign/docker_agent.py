"""Converts docker-agent's YAML to a team: sub-agents report to their caller."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..loading.recognition import DOCKER_AGENT
from ..team.team import Agent, Team
from ..values.document import Document
from ..values.errors import ConfigError
from ..values.hints import did_you_mean
from ..values.problems import Path, quoted
from ..values.values import is_mapping
from .docker_models import Models
from .docker_names import ROOT, calling
from .docker_toolsets import Toolsets
from .source import Edges, ForeignFile, Imported, as_prompt, ids_of, ill_fitting

LONGEST_ROLE = 200
ADVICE = {
    "add_date": "Write the date into the task.",
    "add_environment_info": "Write facts about the machine into the task.",
    "add_prompt_files": "Write the files' texts into the prompt.",
    "commands": "Write such a prompt as a task.",
    "fallback": "Retries are the team's: execution.max_retries.",
    "hooks": "Nothing runs besides the agents.",
    "max_iterations": "max_steps is for agents that use tools; this one makes one call.",
    "mcps": "None of the kept agents uses it.",
    "permissions": "Permissions of tools are in tools.yaml: permissions.",
    "providers": "No model of the file uses it.",
    "rag": "Give a pool's memory with recall, or the texts as files of the task.",
    "routing": "An agent has one model; give others to other agents.",
    "skills": "Write skills under notes.skills.",
}
"""What to write instead of a field that has no counterpart."""


def docker_agent_team(
    document: Document, name: str, listed: Mapping[str, Sequence[str]] | None = None
) -> Imported:
    """Convert a file of docker-agent.

    Its root agent gives the answer here. The agents that it can call (`sub_agents`) work before it
    and report to it; agents that it hands over to (`handoffs`) work after it.

    Args:
        listed: The tools of the servers in the user's tools.yaml, by server name; None if there is
            no such file yet.

    Raises:
        ConfigError: docker-agent would not load the file either; the exception has every problem.
    """
    source = ForeignFile(document=document)
    source.take(("version",))
    written = source.keys(("agents",))
    ids = ids_of(written)
    first = ROOT if ROOT in written else written[0]
    called = {agent: [*_called(source, agent, written)] for agent in written}
    order = _reached(first, called)
    models, toolsets = Models(source=source), Toolsets(source=source, listed=listed)
    agents = {ids[agent]: _agent(source, agent, ids, models, toolsets) for agent in order}
    edges = _edges(source, order, called, ids)
    output = _output(source, edges, first, ids, order)
    for agent in written:
        if agent not in order:
            message = f"{quoted(first)} never calls it, so it is left out."
            source.lose(("agents", agent), message)
    models.keep_unused()
    team = Team(
        name=ids_of([name])[name],
        description=source.whole_text(("metadata", "description")),
        agents=agents,
        reports_to=edges.tuples,
        declared_output=output if len(agents) > 1 else None,
    )
    source.lose_unread(ADVICE)
    if source.wrong:
        raise ConfigError(sorted(source.wrong))
    return Imported(
        program=DOCKER_AGENT,
        team=team,
        models=models.fields,
        losses=tuple(sorted(source.losses)),
        servers=toolsets.servers,
        clients=toolsets.clients if toolsets.unlisted else {},
    )


def _called(source: ForeignFile, agent: str, written: list[str]) -> Iterator[tuple[Path, str]]:
    """Yield the agents that an agent calls or hands over to, each with its place."""
    for kind in ("sub_agents", "handoffs"):
        for path, target in source.texts(("agents", agent, kind)):
            if target in written:
                yield path, target
            elif "/" in target or ":" in target:
                source.lose(
                    path,
                    f"{quoted(target)} is an agent of another file or registry. Write it into this"
                    " file.",
                )
            else:
                hint = did_you_mean(target, written)
                source.refuse(path, f"no agent {quoted(target)}.{hint}")


def _reached(first: str, called: Mapping[str, list[tuple[Path, str]]]) -> list[str]:
    """Return the agents that can be reached, the root agent first."""
    order = {first: None}
    waiting = [first]
    while waiting:
        new = [target for _, target in called[waiting.pop(0)] if target not in order]
        order |= dict.fromkeys(new)
        waiting += dict.fromkeys(new)
    return [*order]


def _edges(
    source: ForeignFile,
    order: list[str],
    called: Mapping[str, list[tuple[Path, str]]],
    ids: Mapping[str, str],
) -> Edges:
    edges = Edges()
    for agent in order:
        for path, target in called[agent]:
            is_sub = path[2] == "sub_agents"
            ends = (target, agent) if is_sub else (agent, target)
            if not edges.add(ids[ends[0]], ids[ends[1]]):
                source.warn(
                    path,
                    f"if {ids[ends[0]]} reported to {ids[ends[1]]}, the edges would form a cycle."
                    " For repeated exchanges, see execution.rounds.",
                )
        _warn_of_calls(source, agent)
    return edges


def _warn_of_calls(source: ForeignFile, agent: str) -> None:
    """Warn of changed calls: there an agent decides about them; here all are made."""
    path = ("agents", agent)
    subs = [name for _, name in source.texts((*path, "sub_agents"))]
    if subs and not source.text((*path, "instruction")).endswith(calling(subs)):
        source.warn(
            (*path, "sub_agents"),
            f"{quoted(agent)} calls them there when it chooses to. Here they all get the task,"
            " work before it, and report to it: adapt what its prompt says about calls.",
        )
    if source.texts((*path, "handoffs")):
        source.warn(
            (*path, "handoffs"),
            f"{quoted(agent)} chooses one of them there, which continues the conversation. Here"
            " they all work after it, and read its report.",
        )


def _output(
    source: ForeignFile, edges: Edges, first: str, ids: Mapping[str, str], order: list[str]
) -> str:
    """Return the output agent: the root agent, or the last one that is handed the conversation."""
    sinks = edges.sinks(ids[agent] for agent in order)
    output = ids[first] if ids[first] in sinks else sinks[-1]
    names = {ids[agent]: agent for agent in order}
    for sink in sinks:
        if sink != output:
            edges.add(sink, output)
            source.warn(
                ("agents", names[sink]),
                f"a team has one output, here {output}: {sink} reports to it.",
            )
    return output


def _agent(
    source: ForeignFile, name: str, ids: Mapping[str, str], models: Models, toolsets: Toolsets
) -> Agent:
    path = ("agents", name)
    chosen = models.of_agent(path)
    role, opening = _role(source, path)
    schema = _schema(source, (*path, "structured_output"), ids[name])
    works, instructions = toolsets.of_agent(path, has_schema=schema is not None)
    parts = (opening, _instruction(source, path), *instructions)
    return Agent(
        id=ids[name],
        role=role,
        model_id=chosen.alias,
        prompt=_prompt(source, path, "\n\n".join(part for part in parts if part), role),
        output_schema=schema,
        **works,
        **_steps(source, path, works["agent_type"]),
        **chosen.settings,
    )


def _instruction(source: ForeignFile, path: Path) -> str:
    """Return an agent's instruction, without the words on calls that our export adds."""
    subs = [name for _, name in source.texts((*path, "sub_agents"))]
    instruction = source.whole_text((*path, "instruction"))
    return instruction.removesuffix(f"\n\n{calling(subs)}") if subs else instruction


def _prompt(source: ForeignFile, path: Path, text: str, role: str) -> str:
    if not text:
        source.warn(path, "it has no instruction, but needs a prompt. One was added.")
    prompt = text or role or "Do your part of the task."
    if as_prompt(prompt) != prompt:
        message = "a single such word would name a file, so words were added before it."
        source.warn((*path, "instruction"), message)
    return as_prompt(prompt)


def _steps(source: ForeignFile, path: Path, agent_type: str) -> Mapping[str, Any]:
    """Return the step limit of an agent that works in a loop."""
    place = (*path, "max_iterations")
    if agent_type == "LLM" or not source.has(place):
        return {}
    steps = {"max_steps": source.number(place)}
    for _, message in ill_fitting(steps):
        source.lose(place, message)
        return {}
    return steps


def _role(source: ForeignFile, path: Path) -> tuple[str, str]:
    """Return an agent's role; if its description is too long, the beginning of its prompt."""
    described = source.whole_text((*path, "description"))
    if len(described) <= LONGEST_ROLE:
        return described, ""
    source.warn(
        (*path, "description"),
        f"a role has {LONGEST_ROLE} characters at most, and this has {len(described)}. It is at"
        " the head of the prompt instead.",
    )
    return "", described.strip()


def _schema(source: ForeignFile, path: Path, agent: str) -> Mapping[str, Any] | None:
    """Return the schema of an agent's answer, if coterie supports it."""
    schema = source.take((*path, "schema"))
    if schema is None:
        return None
    if not is_mapping(schema):
        source.lose((*path, "schema"), f"{quoted(schema)} is not a schema.")
        return None
    names = {
        "title": source.text((*path, "name")),
        "description": source.text((*path, "description")),
    }
    if names["title"] == agent:  # as our export calls it
        del names["title"]
    form = {**{key: text for key, text in names.items() if text}, **schema}
    for key, text in names.items():
        if form.get(key, "") != text:
            name = "name" if key == "title" else key
            source.lose((*path, name), f"The schema already has a {key}.")
    if source.take((*path, "strict")) is False:
        source.warn((*path, "strict"), "Here, an answer that does not fit is always repeated.")
    if first := next(ill_fitting({"output_schema": form}), None):
        place = first[0].removeprefix("output_schema").removeprefix(".")
        source.lose(path, f"It is left out: {place}: {first[1]}")
        return None
    return form

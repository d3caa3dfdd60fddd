"""What a team file means: rules that the shape of a file cannot express.

Each rule takes a reading of the file and gives the problems it finds. A rule never assumes that
another one holds, so that all problems show at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from graphlib import CycleError
from typing import TYPE_CHECKING, Any

from ._shape import did_you_mean
from .catalogue import load_named
from .problems import Path, quoted
from .secrets import looks_secret
from .team import IMPLIED_BACKENDS, is_prompt_id, natural
from .values import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ._document import Document
    from .catalogue import Catalogue
    from .problems import Problem
    from .team import Agent, Team

__all__ = ["TEAM_RULES", "Reading", "secrets_in"]

_FILE_NAME = re.compile(r"\S*([/\\]\S*|\.(md|txt|ya?ml|prompt))")


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """A team file as read: the document, the team as far as it has a shape, what is known."""

    document: Document
    team: Team
    catalogue: Catalogue

    def problem(self, path: Path, message: str, *, at_key: bool = False) -> Problem:
        """Name a problem of the value at a path."""
        return self.document.problem(path, message, at_key=at_key)

    def agents(self) -> Iterator[tuple[Agent, Path]]:
        """Give each agent and its path."""
        return ((agent, ("agents", agent.id)) for agent in self.team.agents.values())


def known_agents(reading: Reading) -> Iterator[Problem]:
    """Every name in the topology is an agent of the team."""
    known = list(reading.team.agents)
    reports_to: Path = ("topology", "reports_to")
    for reporter, receivers in reading.team.reports_to.items():
        if reporter not in known:
            hint = did_you_mean(reporter, known) or f" Agents: {_listed(known)}."
            yield reading.problem(
                (*reports_to, reporter), f"no agent {quoted(reporter)}.{hint}", at_key=True
            )
        for index, receiver in enumerate(receivers):
            if receiver not in known:
                hint = did_you_mean(receiver, known) or f" Agents: {_listed(known)}."
                path = (*reports_to, reporter, index)
                yield reading.problem(path, f"no agent {quoted(receiver)}.{hint}")
    output = reading.team.declared_output
    if output is not None and output not in known:
        hint = did_you_mean(output, known) or f" Agents: {_listed(known)}."
        yield reading.problem(("topology", "output"), f"no agent {quoted(output)}.{hint}")


def no_cycle(reading: Reading) -> Iterator[Problem]:
    """The topology is a directed acyclic graph."""
    team = _with_known_edges(reading.team)
    try:
        _ = team.levels
    except CycleError as error:
        cycle: list[str] = error.args[1]
        shown = " -> ".join(reversed(cycle)) if len(cycle) > 2 else f"{cycle[0]} -> {cycle[0]}"
        path: Path = ("topology", "reports_to", cycle[-1])
        yield reading.problem(path, f"a cycle: {shown}. Leave out one of these edges.", at_key=True)


def one_output(reading: Reading) -> Iterator[Problem]:
    """Every agent's work finds its way into the output agent's."""
    team = _with_known_edges(reading.team)
    if not team.agents or any(no_cycle(reading)):
        return
    sinks = [agent_id for agent_id in team.agents if not team.reports_to.get(agent_id)]
    if team.declared_output is None and team.execution.context != "all" and len(sinks) > 1:
        yield reading.problem(
            ("topology",) if team.edges else ("agents",),
            f"{len(sinks)} agents report to nobody: {_listed(sinks)}. A team has one output: let"
            " the others report to it.",
        )
        return
    if team.output in team.agents:
        for lost in _lost(team):
            yield reading.problem(
                ("agents", lost),
                f"its output reaches nobody who works for the answer of {quoted(team.output)}."
                " Let it report to someone, or leave it out.",
                at_key=True,
            )


def known_names(reading: Reading) -> Iterator[Problem]:
    """Tools, models, functions and prompts exist on this host and are granted."""
    known = reading.catalogue
    for agent, path in reading.agents():
        if agent.model_id not in known.aliases:
            yield reading.problem((*path, "model_id"), _unknown_model(agent.model_id, known))
        for index, tool in enumerate(agent.tools):
            if tool not in known.tools:
                yield reading.problem((*path, "tools", index), _unknown_tool(tool, known))
        if agent.function is not None and agent.function not in known.functions:
            hint = did_you_mean(agent.function, known.functions)
            message = f"no function {quoted(agent.function)}.{hint or _known(known.functions)}"
            yield reading.problem((*path, "function"), message)
        if problem := _prompt_problem(agent.prompt, known):
            yield reading.problem((*path, "prompt"), problem)


def known_backends(reading: Reading) -> Iterator[Problem]:
    """Every agent has a backend that is installed and takes agents of its type."""
    team, known = reading.team, reading.catalogue
    if team.backend is not None and team.backend not in known.backends:
        yield reading.problem(("backend",), _unknown_backend(team.backend, known))
    for agent, path in reading.agents():
        if agent.backend is not None and agent.backend not in known.backends:
            yield reading.problem((*path, "backend"), _unknown_backend(agent.backend, known))
        elif agent.agent_type not in {None, *IMPLIED_BACKENDS} and agent.backend is None:
            hint = did_you_mean(str(agent.agent_type), IMPLIED_BACKENDS)
            message = f"no agent type {quoted(agent.agent_type)}.{hint or _known(IMPLIED_BACKENDS)}"
            yield reading.problem((*path, "agent_type"), message)
        elif (backend := team.backend_of(agent)) in known.backends:
            field = "agent_type" if agent.agent_type else "backend"
            for message in load_named("runners", backend).objections(agent):
                yield reading.problem((*path, field), message)


def secrets_in(document: Document) -> Iterator[Problem]:
    """No text holds what looks like a key. The text itself is never shown."""
    for path, text in _texts(document.value):
        if looks_secret(text):
            yield document.problem(
                path,
                "this looks like a secret key. Keep keys in the environment: models.yaml names"
                " the variable (key_env).",
            )


TEAM_RULES: tuple[Callable[[Reading], Iterator[Problem]], ...] = (
    known_agents,
    no_cycle,
    one_output,
    known_names,
    known_backends,
)


def _with_known_edges(team: Team) -> Team:
    """Leave out edges to agents that do not exist, so that the rest of the graph can be judged."""
    from dataclasses import replace

    kept: Mapping[str, tuple[str, ...]] = {
        u: tuple(v for v in receivers if v in team.agents)
        for u, receivers in team.reports_to.items()
        if u in team.agents
    }
    return replace(team, reports_to=kept)


def _lost(team: Team) -> list[str]:
    """Find the agents whose output the output agent sees neither directly nor through others."""
    if team.execution.context == "all":
        last = next(level for level in team.levels if team.output in level)
        index = team.levels.index(last)
        later = [agent_id for level in team.levels[index:] for agent_id in level]
        return sorted((lost for lost in later if lost != team.output), key=natural)
    reached, open_ends = {team.output}, [team.output]
    while open_ends:
        new = set(team.predecessors[open_ends.pop()]) - reached
        reached |= new
        open_ends += new
    return [agent_id for agent_id in team.agents if agent_id not in reached]


def _unknown_model(alias: str, known: Catalogue) -> str:
    hint = did_you_mean(alias, known.aliases)
    return (
        f"no model {quoted(alias)} on this host.{hint or _known(known.aliases)}"
        f" Define it in models.yaml, or with --model {alias}=PROVIDER/NAME."
    )


def _unknown_tool(tool: str, known: Catalogue) -> str:
    if tool in known.withheld_tools:
        return f"the tool {quoted(tool)} is not granted here. Granted: {_listed(known.tools)}."
    if tool.partition(".")[2]:
        return f"no tool {quoted(tool)}.{did_you_mean(tool, known.tools)} tools.yaml names servers."
    return f"no tool {quoted(tool)}.{did_you_mean(tool, known.tools) or _known(known.tools)}"


def _unknown_backend(name: str, known: Catalogue) -> str:
    hint = did_you_mean(name, known.backends) or _known(known.backends)
    return f"no backend {quoted(name)}.{hint} A plugin may add others."


def _prompt_problem(prompt: str, known: Catalogue) -> str | None:
    if is_prompt_id(prompt):
        if known.prompt(prompt) is not None:
            return None
        hint = did_you_mean(prompt, known.prompt_ids)
        return (
            f"no prompt file {prompt}.md.{hint} To give the text itself, write a sentence, or a"
            " block after `prompt: |`."
        )
    if _FILE_NAME.fullmatch(prompt):
        return (
            f"{quoted(prompt)} looks like a file name. Write the id of a prompt file, for instance"
            " solve_step_by_step, or the text itself."
        )
    return None


def _texts(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Give every text of a document with its path; keys count as texts too."""
    if isinstance(value, str):
        yield path, value
    elif is_mapping(value):
        for key, item in value.items():
            yield (*path, str(key)), str(key)
            yield from _texts(item, (*path, str(key)))
    elif is_list(value):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))


def _known(names: Any) -> str:
    return f" Known: {_listed(sorted(names))}."


def _listed(names: Any, most: int = 8) -> str:
    shown = list(names)
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more if shown else "none"

"""The graph that a team file declares: its agents, and who reports to whom."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from graphlib import CycleError
from typing import TYPE_CHECKING

from ..checking._shape import shape_schema
from ..values.hints import did_you_mean, listed
from ..values.problems import Path, dotted, quoted
from ..values.values import is_mapping
from .team import natural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..host.catalogue import Catalogue
    from ..values.document import Document
    from ..values.problems import Problem
    from .team import Agent, Team

GRAPH = ("topology", "execution.context")
"""The fields whose faults leave the graph unclear."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """A team file that has been read.

    Attributes:
        team: The team, built from the parts of the file that have the right shape.
        problems: The problems in the file's shape.
    """

    document: Document
    team: Team
    catalogue: Catalogue
    problems: Sequence[Problem] = ()

    def problem(self, path: Path, message: str, *, at_key: bool = False) -> Problem:
        """Return a problem at a path, placed in `defaults` if the value is written there."""
        return self.document.problem(self._written(path), message, at_key=at_key)

    def _written(self, path: Path) -> Path:
        match path:
            case ("agents", str(agent), str(field), *rest) if agent in self.agent_ids:
                fields = self.document.value["agents"][agent]
                is_own = not is_mapping(fields) or field in fields
                is_shared = ("defaults", field) in self.document.places
                return path if is_own or not is_shared else ("defaults", field, *rest)
            case _:
                return path

    def sound(self, field: str) -> bool:
        """Return whether a field and everything inside it have the right shape."""
        field = dotted(self.document.written(tuple(field.split("."))))
        faulty = [problem.path for problem in self.problems if problem.file == self.document.file]
        faulty += map(dotted, self.document.faulty_grafts({item.file for item in self.problems}))
        return not any(f"{path}.".startswith(f"{field}.") for path in faulty)

    @property
    def agent_ids(self) -> Sequence[str]:
        """The ids of all agents in the file, including agents whose fields are faulty."""
        written = self.document.value.get("agents") if is_mapping(self.document.value) else None
        return tuple(written) if is_mapping(written) else ()

    def agents(self) -> Iterator[tuple[Agent, Path]]:
        """Yield each agent with its path."""
        return ((agent, ("agents", agent.id)) for agent in self.team.agents.values())


Rule = Callable[["Reading"], "Iterator[Problem]"]


def known_agents(reading: Reading) -> Iterator[Problem]:
    """Check that every name in the topology is an agent of the team."""
    agents = reading.agent_ids
    if not agents:
        return
    reports_to: Path = ("topology", "reports_to")
    for reporter, receivers in reading.team.reports_to.items():
        if reporter not in agents:
            yield unknown_agent(reading, (*reports_to, reporter), reporter, at_key=True)
        for index, receiver in enumerate(receivers):
            if receiver not in agents:
                yield unknown_agent(reading, (*reports_to, reporter, index), receiver)
    output = reading.team.declared_output
    if output is not None and output not in agents:
        yield unknown_agent(reading, ("topology", "output"), output)


def unknown_agent(reading: Reading, path: Path, name: str, *, at_key: bool = False) -> Problem:
    """Return the problem of an unknown agent, with the closest known name."""
    agents = reading.agent_ids
    hint = did_you_mean(name, agents) or f" Agents: {listed(agents)}."
    return reading.problem(path, f"no agent {quoted(name)}.{hint}", at_key=at_key)


def no_cycle(reading: Reading) -> Iterator[Problem]:
    """Check that the topology is a directed acyclic graph."""
    team = _with_known_edges(reading.team)
    try:
        _ = team.levels
    except CycleError as error:
        cycle: list[str] = error.args[1]
        path: Path = ("topology", "reports_to", cycle[0])
        message = f"a cycle: {' -> '.join(cycle)}. Leave out one of these edges."
        yield reading.problem(path, message, at_key=True)


def one_output(reading: Reading) -> Iterator[Problem]:
    """Check that every agent's output reaches the output agent."""
    team = reading.team
    if not team.agents or team.execution.roster is not None or not is_clear(reading):
        return
    sinks = [agent_id for agent_id in team.agents if not team.reports_to.get(agent_id)]
    if team.declared_output is None and team.execution.context != "all" and len(sinks) > 1:
        yield reading.problem(
            ("topology",) if team.edges else ("agents",),
            f"{len(sinks)} agents report to no one: {listed(sinks)}. A team has one output: let"
            " the others report to it.",
        )
        return
    for lost in _unseen_agents(team):
        yield reading.problem(
            ("agents", lost),
            f"its output does not reach the output agent, {quoted(team.output)}. Let it report to"
            " an agent that does, or leave it out.",
            at_key=True,
        )


def _with_known_edges(team: Team) -> Team:
    """Return the team without edges to unknown agents, so that other rules can check the rest."""
    edges: Mapping[str, tuple[str, ...]] = {
        u: tuple(v for v in receivers if v in team.agents)
        for u, receivers in team.reports_to.items()
        if u in team.agents
    }
    return replace(team, reports_to=edges)


def is_clear(reading: Reading) -> bool:
    """Return whether the file declares one clear graph; else lost agents are not reported."""
    fields = {"", *shape_schema("team")["properties"]}
    return (
        set(reading.agent_ids) == set(reading.team.agents)
        and all(reading.sound(field) for field in GRAPH)
        and all(
            re.split(r"[.\[]", problem.path)[0] in fields
            for problem in reading.problems
            if problem.file == reading.document.file
        )
        and not any(known_agents(reading))
        and not any(no_cycle(reading))
    )


def _unseen_agents(team: Team) -> list[str]:
    """Return the agents whose output never reaches the output agent, directly or through others."""
    if team.execution.context == "all":
        levels = team.levels
        last = next(index for index, level in enumerate(levels) if team.output in level)
        later = [agent_id for level in levels[last:] for agent_id in level]
        return sorted((lost for lost in later if lost != team.output), key=natural)
    reached = {team.output, *team.ancestors[team.output]}
    return [agent_id for agent_id in team.agents if agent_id not in reached]

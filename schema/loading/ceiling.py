"""The capability ceiling: the most that a person allows teams to use, whoever wrote them.

A team above the ceiling is refused as a whole. It is never reduced to fit: the result would be a
team that nobody proposed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from ..host.models import DEFAULT_ALIAS, Effort, is_more
from ..team._meaning import Reading
from ..team.team import IMPLIED_BACKENDS, Agent, Team
from ..values.hints import listed
from ..values.problems import Path, Problem, dotted, quoted
from ..values.values import is_list
from .loading import read_shape

SINGLE_CALL = {"llm": "LLM", "function": "Function"}
"""The backends that run a single type of agent, with that type, which files need not name."""

Excess = tuple[Path, str]
"""A place where a team is above a ceiling, and the message."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CapabilityPolicy:
    """The most that teams may use. None sets no limit.

    Agents of the backend `function` call no model and spend nothing, so only their type and backend
    count. Hosts and keys have no ceiling, because no team can name them.

    Attributes:
        imports: Names of packages that the Python of agents may import.
        agent_types: Types of agents. An agent without a type counts by its backend's name, unless
            that is `llm` or `function`.
        max_tokens: The most tokens of one answer.
        effort: The most effort that an agent may set. An unset effort has no ceiling here.
        max_steps: The most turns of an agent. Agents that work in a loop must then set theirs.
            Agents that draft need twice as many, and each plan counts as one.
        timeout: The most seconds of an agent; if unset, those of the run count.
        run_timeout: The most seconds of a run.
        rounds: The most times that an agent may work: rounds, or turns in an open roster. A team
            without either has 1.
        items: The most items of a list that an agent may work on.
    """

    tools: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()
    models: frozenset[str] = frozenset({DEFAULT_ALIAS})
    agent_types: frozenset[str] = frozenset(SINGLE_CALL.values())
    backends: frozenset[str] = frozenset(SINGLE_CALL)
    agents: int | None = None
    edges: int | None = None
    max_tokens: int | None = None
    effort: Effort | None = None
    max_steps: int | None = None
    timeout: float | None = None
    run_timeout: float | None = None
    max_retries: int | None = None
    rounds: int | None = None
    items: int | None = None

    @classmethod
    def of(cls, *teams: Team) -> CapabilityPolicy:
        """Return the ceiling that allows exactly what any of these teams uses."""
        agents = [(team, agent) for team in teams for agent in team.agents.values()]
        asking = [(team, agent) for team, agent in agents if team.asks_model(agent)]
        steps = [_steps(team, agent) for team, agent in asking]
        return cls(
            tools=frozenset(tool for _, agent in agents for tool in agent.tools),
            imports=frozenset(name for _, agent in agents for name in agent.imports),
            models=frozenset(agent.model_id for _, agent in asking),
            agent_types=frozenset(_works_as(team, agent) for team, agent in agents),
            backends=frozenset(team.backend_of(agent) for team, agent in agents),
            agents=_most(len(team.agents) for team in teams),
            edges=_most(len(team.edges) for team in teams),
            max_tokens=_most(agent.max_tokens for _, agent in asking),
            effort=_longest(agent.effort for _, agent in asking),
            max_steps=None if None in steps else _most(step for step in steps if step),
            timeout=_most(_seconds(team, agent) for team, agent in asking),
            run_timeout=_most(team.execution.timeout for team in teams),
            max_retries=_most(team.execution.max_retries for team in teams),
            rounds=_most(_repeats(team)[1] for team in teams),
            items=_most(agent.each.most if agent.each else 1 for _, agent in agents),
        )

    def problems(self, team: Team, file: str = "team.yaml") -> list[Problem]:
        """List every excess of a team, with its value and the limit."""
        return [
            Problem(file=file, path=dotted(path), message=message)
            for path, message in self._excesses(team)
        ]

    def rule(self, reading: Reading) -> Iterator[Problem]:
        """Yield every excess of a team file, with its place: a rule of loading."""
        for path, message in self._excesses(reading.team):
            yield reading.problem(path, message)

    def _excesses(self, team: Team) -> Iterator[Excess]:
        yield from _above(("agents",), len(team.agents), "agents", self.agents)
        yield from _above(("topology",), len(team.edges), "edges", self.edges)
        execution = team.execution
        seconds, retries = ("execution", "timeout"), ("execution", "max_retries")
        yield from _above(seconds, execution.timeout, "seconds", self.run_timeout)
        yield from _above(retries, execution.max_retries, "retries", self.max_retries)
        yield from _above(*_repeats(team), self.rounds)
        for agent in team.agents.values():
            yield from self._works_above(team, agent)
            if team.asks_model(agent):
                yield from self._spends_above(team, agent)

    def _works_above(self, team: Team, agent: Agent) -> Iterator[Excess]:
        path: Path = ("agents", agent.id)
        works_as, backend = _works_as(team, agent), team.backend_of(agent)
        if works_as not in self.agent_types:
            yield (*path, "agent_type"), _refused("agent type", works_as, self.agent_types)
        if backend not in self.backends:
            yield (*path, "backend"), _refused("backend", backend, self.backends)
        for index, tool in enumerate(agent.tools):
            if tool not in self.tools:
                yield (*path, "tools", index), _refused("tool", tool, self.tools)
        for index, package in enumerate(agent.imports):
            if package not in self.imports:
                yield (*path, "imports", index), _refused("package", package, self.imports)

    def _spends_above(self, team: Team, agent: Agent) -> Iterator[Excess]:
        path: Path = ("agents", agent.id)
        if agent.model_id not in self.models:
            yield (*path, "model_id"), _refused("model", agent.model_id, self.models)
        items = agent.each.most if agent.each else 1
        yield from _above((*path, "each", "most"), items, "items", self.items)
        yield from _above((*path, "max_tokens"), agent.max_tokens, "tokens", self.max_tokens)
        if agent.effort and self.effort and is_more(agent.effort, self.effort):
            yield (*path, "effort"), f"{agent.effort}; the ceiling allows {self.effort}."
        yield from _above((*path, "timeout"), _seconds(team, agent), "seconds", self.timeout)
        steps = _steps(team, agent)
        if steps is None and self.max_steps is not None:
            message = f"missing; the ceiling allows {self.max_steps} steps. Write at most that."
            yield (*path, "max_steps"), message
        why = ("recall", "by") if agent.drafts else ("max_steps",)
        unit = "steps and plans" if agent.planning_interval else "steps"
        yield from _above((*path, *why), steps or 0, unit, self.max_steps)


def load_ceiling(path: str | FilePath) -> CapabilityPolicy:
    """Load the ceiling of a policy.yaml."""
    record: dict[str, Any] = read_shape(path, "policy")["ceiling"]
    fields: dict[str, Any] = {
        key: frozenset(item) if is_list(item) else item for key, item in record.items()
    }
    if "agent_types" in fields and "backends" not in fields:
        implied = (IMPLIED_BACKENDS.get(item) for item in record["agent_types"])
        fields["backends"] = frozenset(filter(None, implied))
    return CapabilityPolicy(**fields)


def _works_as(team: Team, agent: Agent) -> str:
    backend = team.backend_of(agent)
    return agent.agent_type or SINGLE_CALL.get(backend, backend)


def _repeats(team: Team) -> tuple[Path, int, str]:
    """Return the path, the number and the unit of an agent's maximum repetitions."""
    rounds, roster = team.execution.rounds, team.execution.roster
    if roster is not None:
        return ("execution", "roster", "turns"), roster.turns, "turns"
    return ("execution", "rounds"), rounds.most if rounds else 1, "rounds"


def _seconds(team: Team, agent: Agent) -> float:
    return team.execution.timeout if agent.timeout is None else agent.timeout


def _steps(team: Team, agent: Agent) -> int | None:
    """Return the most turns of an agent; None if only its backend knows."""
    loops = team.backend_of(agent) not in SINGLE_CALL
    steps = agent.max_steps if loops or agent.max_steps is not None else 1
    if steps is None:
        return None
    return (steps + agent.plans(steps)) * (2 if agent.drafts else 1)


def _longest(efforts: Iterable[Effort | None]) -> Effort:
    """Return the most effort; an unset effort counts as none."""
    most: Effort = "none"
    for effort in efforts:
        if effort is not None and is_more(effort, most):
            most = effort
    return most


def _most(numbers: Iterable[Any]) -> Any:
    return max(numbers, default=None)


def _above(path: Path, value: float, unit: str, limit: float | None) -> Iterator[Excess]:
    if limit is not None and value > limit:
        yield path, f"{value:g} {unit}; the ceiling allows {limit:g}."


def _refused(noun: str, name: str, allowed: frozenset[str]) -> str:
    return (
        f"the {noun} {quoted(name)} is above the ceiling, which allows {listed(sorted(allowed))}."
    )

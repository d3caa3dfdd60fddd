"""Compiling: from a team file to a plan that can be run and printed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...schema.host.catalogue import Catalogue, load_named
from ...schema.host.conforming import expected
from ...schema.host.foreign_code import foreign_code
from ...schema.host.models import DEFAULT_ALIAS, PERSON
from ...schema.team.team import READ_SKILL, Agent, Team, is_prompt_id
from ...schema.team.words import chooses, duty, goes, terms
from ...schema.team.writing import output_schema_in_order
from ...schema.values.errors import InputError
from ...schema.values.terminal import counted
from ...schema.values.values import plain, unlike_default

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ...schema.host.models import Model
    from ..agents.runner import Runner


@dataclass(frozen=True, kw_only=True)
class PlannedAgent:
    """An agent with its names resolved.

    Attributes:
        agent: The agent as written; the schema of a recruiter is limited to its actual choice.
        level: Its level in Kahn's order, from 0.
        model: Its model; None if the backend calls none, or none is known yet.
        sees: The agents whose outputs it receives, in Kahn order; it starts when all are done.
        calls_at_most: Model calls of one attempt, and of its draft if it writes one; retries of
            failed calls are not counted.
    """

    agent: Agent
    level: int
    backend: str
    runner: Runner
    prompt: str
    model: Model | None
    sees: tuple[str, ...]
    calls_at_most: int

    @cached_property
    def instructions(self) -> dict[Any, str]:
        """The instructions that depend on the agent and its team only."""
        return {}

    @property
    def takes_tools(self) -> bool:
        """Whether its backend supports tools."""
        with_tool = replace(self.agent, tools=(*self.agent.tools, READ_SKILL))
        return not any(self.runner.objections(with_tool))

    @property
    def looks_skills_up(self) -> bool:
        """Whether it has skills, and reads one with a tool when it needs it."""
        return bool(self.agent.notes.skills) and self.takes_tools

    @cached_property
    def shape(self) -> Mapping[str, Any]:
        """All parts of the agent that determine its outcome, besides its input."""
        # The prompt's text is part of the instructions, whether it was written out or as an id.
        # When it works, and on which items, decides who is asked, and not what comes of it.
        fields = unlike_default(replace(self.agent, notes=self.agent.notes.untaught))
        decided = {"prompt", "member", "when", "reads", "each"}
        return {name: item for name, item in fields.items() if name not in decided}

    @cached_property
    def shape_json(self) -> bytes:
        """The shape as JSON; see `journal.canonical`."""
        from ..record.journal import canonical

        return canonical(self.shape)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A team, ready to run.

    Attributes:
        agents: The planned agents by id, in Kahn order.
        levels: The ids by level; agents of one level do not depend on each other.
        output: The agent whose output is the team's answer.
        workers: The largest number of agents that work at the same time.
        resolved: The team with the texts of its prompts in place of their ids.
        content_hash: The resolved team's content hash.
        models: The models that may be called, by alias: those of agents, and their fallbacks.
    """

    team: Team
    agents: Mapping[str, PlannedAgent]
    levels: tuple[tuple[str, ...], ...]
    output: str
    workers: int
    resolved: Team
    content_hash: str
    models: Mapping[str, Model]

    @cached_property
    def written(self) -> str:
        """The resolved team as YAML."""
        from ...schema.team.writing import dump

        return dump(self.resolved)

    @property
    def aliases(self) -> frozenset[str]:
        """The model aliases that the plan calls."""
        planned = self.agents.values()
        return frozenset(agent.agent.model_id for agent in planned if agent.calls_at_most)

    @property
    def tools(self) -> frozenset[str]:
        """The tools that the plan's agents are granted."""
        return frozenset(tool for agent in self.agents.values() for tool in agent.agent.tools)

    @property
    def needs_jail(self) -> bool:
        """Whether an agent writes code that is run."""
        return any(agent.runner.needs_jail(agent.agent) for agent in self.agents.values())

    def lacks(self) -> list[str]:
        """Return what this machine lacks to run the plan's agents, each thing once.

        This may take a second, because a backend that runs a program asks it.
        """
        missing = dict[str, None]()
        backends = {type(agent.runner): agent.backend for agent in self.agents.values()}
        for kind, name in backends.items():
            with foreign_code(f"the backend {name}", InputError):
                lacks = getattr(kind, "lacks", tuple)()
                missing |= dict.fromkeys(expected(lacks, Iterable[str], f"the backend {name}"))
        return list(missing)

    @property
    def calls_at_most(self) -> int:
        """Model calls of a whole run without failures: in all rounds, with no agent settled.

        With an open roster: in all turns of all candidates.
        """
        recruit = self.team.execution.recruit
        calls = {
            agent: planned.calls_at_most * self.turns_at_most(agent)
            for agent, planned in self.agents.items()
        }
        among = recruit.among if recruit else ()
        dearest = sorted((calls.pop(name, 0) for name in among), reverse=True)
        return sum(calls.values()) + sum(dearest[: recruit.most if recruit else 0])

    @cached_property
    def optional(self) -> frozenset[str]:
        """The agents that a run may skip, because of the team's conditions or an empty list."""
        texts: set[str] = set()
        for name, planned in self.agents.items():
            agent = planned.agent
            perhaps = {*texts, *agent.reads}
            is_cut_off = bool(planned.sees) and perhaps.issuperset(planned.sees)
            is_cut_off = is_cut_off and name != self.output
            if agent.when or agent.each or is_cut_off:
                texts.add(name)
        return frozenset(texts)

    def written_at_most(self, agent_id: str) -> int:
        """Return the most tokens that an agent's answer may have, over all items of its list."""
        return self.agents[agent_id].agent.max_tokens * _items(self.agents[agent_id])

    def turns_at_most(self, agent_id: str) -> int:
        """Return how often an agent works at most, over all rounds and all items of its list."""
        return self._passes_at_most(agent_id) * _items(self.agents[agent_id])

    def _passes_at_most(self, agent_id: str) -> int:
        """Return the most passes of an agent; an open roster's leader may need one to hand in."""
        rounds, roster = self.team.execution.rounds, self.team.execution.roster
        if roster is not None:
            return roster.turns + (agent_id == roster.lead)
        if rounds is None or agent_id in {*self.team.opening, *rounds.closing}:
            return 1
        return rounds.most - 1 if agent_id == rounds.meeting else rounds.most

    def describe(self) -> dict[str, Any]:
        """Return the plan as JSON-able values, for printing and for tools."""
        return {
            "team": self.team.name,
            "content_hash": self.content_hash,
            "output": self.output,
            "workers": self.workers,
            "calls_at_most": self.calls_at_most,
            **({"recruit": asdict(recruit)} if (recruit := self.team.execution.recruit) else {}),
            **({"rounds": asdict(rounds)} if (rounds := self.team.execution.rounds) else {}),
            **({"roster": asdict(roster)} if (roster := self.team.execution.roster) else {}),
            "levels": [[_described(self.agents[name]) for name in level] for level in self.levels],
        }

    def __str__(self) -> str:
        often = "".join(f" {goe}," for goe in goes(self.team))
        lines = [
            f"{self.team.name}: {counted(len(self.agents), 'agent')},{often}"
            f" at most {counted(self.calls_at_most, 'call')}"
        ]
        for number, level in enumerate(self.levels, 1):
            lines.append(f"level {number}")
            lines += [f"  {self._line(agent_id)}" for agent_id in level]
        recruit = self.team.execution.recruit
        lines += [chooses(recruit)] if recruit else []
        return "\n".join([*lines, f"answer: {self.output}"])

    def _line(self, agent_id: str) -> str:
        planned = self.agents[agent_id]
        does = duty(self.team, self.team.agents[agent_id])
        texts = [_line(planned), does, *terms(planned.agent)]
        return "  ".join(filter(None, texts))


def compile(team: Team, catalogue: Catalogue) -> Plan:  # noqa: A001 - the field's word
    """Compile a team.

    Deterministic: the order of agents and edges in the file does not matter.

    Args:
        catalogue: Where prompts, models and backends are found; the one the team was loaded with.
    """
    levels, visible = team.levels, team.visible
    order = [agent_id for level in levels for agent_id in level]
    agents = {
        agent_id: _planned(
            _as_planned(team, team.agents[agent_id]),
            backend=team.backend_of(team.agents[agent_id]),
            level=number,
            sees=tuple(source for source in order if source in visible[agent_id]),
            catalogue=catalogue,
            acts=team.execution.roster is not None,
        )
        for number, level in enumerate(levels)
        for agent_id in level
    }
    workers = team.execution.parallel_workers
    bound = sum(map(_items, agents.values())) if workers is True else max(1, int(workers))
    resolved = _resolved(team, agents)
    return Plan(
        team=team,
        agents=MappingProxyType(agents),
        levels=levels,
        output=team.output,
        workers=bound,
        resolved=resolved,
        content_hash=resolved.content_hash,
        models=MappingProxyType(_models(agents, catalogue)),
    )


def _items(planned: PlannedAgent) -> int:
    """Return the most items that an agent works on in a pass."""
    return planned.agent.each.most if planned.agent.each else 1


def _as_planned(team: Team, agent: Agent) -> Agent:
    """Name whom a person's agent asks; have the same schema after a team was written to a file."""
    if team.backend_of(agent) == PERSON and agent.model_id == DEFAULT_ALIAS:
        agent = replace(agent, model_id=PERSON)
    if agent.output_schema is not None:
        agent = replace(agent, output_schema=output_schema_in_order(agent.output_schema))
    if (recruit := team.execution.recruit) is None or agent.id != recruit.by:
        return agent
    from .recruiter import held_to_choice

    return held_to_choice(recruit, agent)


def part_of(plan: Plan, agents: Collection[str]) -> Plan:
    """Return a part of a plan: only these agents work, and none sees another agent.

    An agent that calls no model works on its input; if all its sources are left out, so is the
    agent. The team remains whole, and so do the agents' notes on each other. The output agent may
    be left out: a pass then gives no answer.

    Args:
        agents: The agents to keep. Ids that are not in the plan are ignored.
    """
    if plan.agents.keys() <= set(agents):
        return plan
    part: dict[str, PlannedAgent] = {}
    for agent_id, planned in plan.agents.items():
        sees = tuple(see for see in planned.sees if see in part)
        has_work = sees or not planned.sees or planned.calls_at_most
        if agent_id in agents and has_work:
            part[agent_id] = replace(planned, sees=sees)
    levels = (tuple(name for name in level if name in part) for level in plan.levels)
    return replace(
        plan,
        agents=MappingProxyType(part),
        levels=tuple(level for level in levels if level),
        workers=max(1, min(plan.workers, sum(map(_items, part.values())))),
    )


def _resolved(team: Team, planned: Mapping[str, PlannedAgent]) -> Team:
    """Write prompts out; a text that looks like an id gets a line of its own."""

    def with_text(agent: Agent) -> Agent:
        text = planned[agent.id].prompt
        return replace(agent, prompt=f"{text}\n" if is_prompt_id(text) else text)

    agents = {agent_id: with_text(agent) for agent_id, agent in team.agents.items()}
    return replace(team, agents=MappingProxyType(agents))


def _models(planned: Mapping[str, PlannedAgent], catalogue: Catalogue) -> dict[str, Model]:
    """Collect the models that a plan may call."""
    waiting = [agent.agent.model_id for agent in planned.values() if agent.calls_at_most]
    fields: dict[str, Model] = {}
    while waiting:
        alias = waiting.pop()
        model = catalogue.model(alias)
        if model is not None and alias not in fields:
            fields[alias] = model
            waiting += model.fallback
    return fields


def _planned(
    agent: Agent,
    *,
    backend: str,
    level: int,
    sees: tuple[str, ...],
    catalogue: Catalogue,
    acts: bool,
) -> PlannedAgent:
    kind: Any = load_named("runners", backend)
    with foreign_code(f"the backend {backend}", InputError):
        runner, once = kind(), expected(kind.calls_at_most(agent), int, f"the backend {backend}")
        kind.needs_jail(agent)  # asked for again when the agent is run
    is_id = bool(agent.prompt) and is_prompt_id(agent.prompt)
    if acts and getattr(runner, "acts_by", "report") == "object":
        once = max(once, 2)  # an object may have to be repaired
    calls = once * (2 if agent.drafts else 1)
    return PlannedAgent(
        agent=agent,
        level=level,
        backend=backend,
        runner=runner,
        prompt=(catalogue.prompt(agent.prompt) or "") if is_id else agent.prompt,
        model=catalogue.model(agent.model_id) if calls else None,
        sees=sees,
        calls_at_most=calls,
    )


def _described(planned: PlannedAgent) -> dict[str, Any]:
    agent = planned.agent
    return {
        "id": agent.id,
        "role": agent.role,
        "backend": planned.backend,
        "agent_type": agent.agent_type,
        "model": _model(planned),
        "tools": list(agent.tools),
        "sees": list(planned.sees),
        **{
            name: plain(value)
            for name in ("when", "reads", "each")
            if (value := getattr(agent, name))
        },
        "calls_at_most": planned.calls_at_most,
    }


def _model(planned: PlannedAgent) -> str | None:
    if not planned.calls_at_most:
        return None
    if planned.model is None:
        return f"{planned.agent.model_id} (unresolved)"
    return f"{planned.agent.model_id} = {planned.model.model}"


def _line(planned: PlannedAgent) -> str:
    agent = planned.agent
    kind = agent.agent_type or planned.backend
    parts = [f"{agent.id:<20} {kind:<16} {_model(planned) or agent.function or '-'}"]
    if agent.tools:
        parts.append(f"tools: {', '.join(agent.tools)}")
    if planned.sees:
        parts.append(f"sees {len(planned.sees)}")
    parts.append(f"<= {planned.calls_at_most} calls")
    return "  ".join(parts)

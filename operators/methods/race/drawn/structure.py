"""Draws changes of the team's structure: a vote, a check, one agent less."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from .....runtime.scoring.voting import picks
from .....schema.edits import AddAgent, Edit, RemoveAgent, is_tied
from .....schema.team.team import Agent, Team
from ....core.meta import prompt
from .answering import agents_that_answer, holds_answer_alone, new_id
from .source import DrawnFrom, Sketch

VOTERS = (3, 5)
VOTES = ("vote", "majority")
WARM = 0.7
"""The temperature of voters that would otherwise all answer the same."""


def vote(source: DrawnFrom) -> Iterator[Sketch]:
    """Let an answering agent and copies of it vote."""
    team = source.team
    if not _hears_predecessors_alone(team):
        return
    if voters := _voters(team):
        yield from _more_voters(team, voters)
    elif path := _answering_path(team):
        for function in (name for name in VOTES if name in source.catalogue.functions):
            for count in VOTERS:
                reason = f"Let {count} answers of {path[0].id} vote, counted by {function}."
                yield _election(team, path, count, function), reason


def _voters(team: Team) -> Sequence[Agent]:
    """Return the agents that already vote."""
    output = team.agents[team.output]
    is_vote = team.backend_of(output) == "function" and output.function and picks(output.function)
    voters = [team.agents[agent_id] for agent_id in team.predecessors[output.id]]
    asks = all(team.asks_model(agent) for agent in voters)
    return voters if is_vote and asks else []


def _more_voters(team: Team, voters: Sequence[Agent]) -> Iterator[Sketch]:
    for count in (count for count in VOTERS if count > len(voters)):
        copied = (voters[number % len(voters)] for number in range(len(voters), count))
        edits = [
            _copy(team, agent, new_id(f"{agent.id}_{number}", team), reports_to=(team.output,))
            for number, agent in enumerate(copied, len(voters) + 1)
        ]
        yield tuple(edits), f"Let {count} agents vote instead of {len(voters)}."


def _answering_path(team: Team) -> Sequence[Agent]:
    """Return the answering agent, followed by the function that processes its output, if any."""
    output = team.agents[team.output]
    if team.asks_model(output):
        return [output]
    match team.predecessors[output.id]:
        case (only,) if output.function and team.asks_model(team.agents[only]):
            return [team.agents[only], output] if team.reports_to[only] == (output.id,) else []
        case _:
            return []


def _election(team: Team, path: Sequence[Agent], count: int, function: str) -> tuple[Edit, ...]:
    """Copy the path to the answer, and let all its ends report to a function that votes."""
    copies: list[AddAgent] = []
    ends = [team.output]
    for number in range(2, count + 1):
        names = [new_id(f"{agent.id}_{number}", team) for agent in path]
        copies.append(_copy(team, path[0], names[0], reports_to=tuple(names[1:])))
        copies += [AddAgent(agent=path[1].renamed(names[1], {}))] if len(path) > 1 else []
        ends.append(names[-1])
    counter = Agent(
        id=new_id("majority", team), role="vote", agent_type="Function", function=function
    )
    return (*copies, AddAgent(agent=counter, receives_from=tuple(ends), is_output=True))


def _copy(team: Team, agent: Agent, name: str, *, reports_to: tuple[str, ...]) -> AddAgent:
    """Copy an agent with its sources, with a temperature if the agent does not sample."""
    copy = agent.renamed(name, {})
    copy = replace(copy, temperature=WARM) if agent.temperature == 0 else copy
    return AddAgent(agent=copy, receives_from=team.predecessors[agent.id], reports_to=reports_to)


def _hears_predecessors_alone(team: Team) -> bool:
    """Return whether a new agent at the end would hear only the agents that report to it."""
    return is_tied(team) and (team.execution.context == "predecessors" or len(team.agents) == 1)


def check(source: DrawnFrom) -> Iterator[Sketch]:
    """Let a second agent check the answer and correct it, perhaps with another model."""
    team = source.team
    answering = agents_that_answer(team)
    if not answering or not is_tied(team):
        return
    first = answering[0]
    schema = first.output_schema if holds_answer_alone(first.output_schema or {}) else None
    models = sorted(source.ceiling.models & source.catalogue.aliases)
    for model in sorted(models, key=lambda alias: alias != first.model_id):
        checker = Agent(
            id=new_id("checker", team),
            role="checker",
            agent_type="LLM",
            model_id=model,
            prompt=prompt("check_answer"),
            max_tokens=first.max_tokens,
            temperature=0,
            timeout=first.timeout,
            output_schema=schema,
        )
        edit = AddAgent(agent=checker, receives_from=(team.output,), is_output=True)
        yield (edit,), f"Let a second agent ({model}) check the answer and correct it."


def leave_out(source: DrawnFrom) -> Iterator[Sketch]:
    """Remove one agent."""
    if len(source.team.agents) > 1 and is_tied(source.team):
        for agent in source.team.agents:
            yield (RemoveAgent(agent=agent),), f"Leave {agent} out."

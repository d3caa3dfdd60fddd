"""Rules for an open roster: its lead, and the fields that exclude it."""

from __future__ import annotations

from collections.abc import Iterator

from ..values.problems import Path, Problem, quoted
from ._graph import Reading, Rule, unknown_agent
from .team import Team

ROSTER: Path = ("execution", "roster")


def known_lead(reading: Reading) -> Iterator[Problem]:
    """Check that the lead is an agent of the team."""
    roster, agents = reading.team.execution.roster, reading.agent_ids
    if roster is None or not agents or not reading.sound("execution.roster"):
        return
    if roster.lead not in agents:
        yield unknown_agent(reading, (*ROSTER, "lead"), roster.lead)


def nothing_beside(reading: Reading) -> Iterator[Problem]:
    """Check that no field fixes the order of work, which the lead decides during the run."""
    if reading.team.execution.roster is not None:
        for path, message in _beside(reading.team):
            yield reading.problem(path, message, at_key=True)


def _beside(team: Team) -> Iterator[tuple[Path, str]]:
    execution, roster = team.execution, team.execution.roster
    who = "the lead decides who works for whom during the run"
    if team.reports_to:
        yield (
            ("topology", "reports_to"),
            f"an open roster has no edges: {who}. Leave it out, or leave out execution.roster.",
        )
    if roster is not None and team.declared_output not in {None, roster.lead}:
        yield (
            ("topology", "output"),
            f"{quoted(team.declared_output)} is not the lead, {quoted(roster.lead)}, which gives"
            " the answer. Leave it out, or let it lead.",
        )
    for name in ("rounds", "recruit"):
        if getattr(execution, name) is not None:
            yield (
                ("execution", name),
                f"an open roster has no {name}: {who}. Leave out one of them.",
            )
    if execution.context != "predecessors":
        yield (
            ("execution", "context"),
            "in an open roster, agents see only messages sent to them. Leave it out.",
        )


def candidates_that_act(reading: Reading) -> Iterator[Problem]:
    """Check that every candidate can read mail and act on it."""
    team = reading.team
    if team.execution.roster is None:
        return
    for agent, path in reading.agents():
        if team.backend_of(agent) == "function":
            yield reading.problem(
                path,
                f"{quoted(agent.id)} asks no model, so it can neither read mail nor act. Leave it"
                " out, or leave out execution.roster.",
                at_key=True,
            )


ROSTER_RULES: tuple[Rule, ...] = (known_lead, nothing_beside, candidates_that_act)
"""The rules for a team with an open roster."""

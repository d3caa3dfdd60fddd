"""Enlisting: the first team for a task, made of roles from a catalogue (TacoMAS §3.4)."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ....schema.edits import AddAgent, OrderAgents, RemoveAgent, ReplaceTopology
from ....schema.edits.offer.strict import array, closed, one_of
from ....schema.team.task import Task
from ....schema.team.team import Agent, Team
from ...core.answers import InvalidAnswer, child_of, reason_schema, structured
from ...core.bounds import Bounds
from ...core.material import material, task_text
from ...core.meta import OperatorModel, Question, prompt
from ...core.operator import Operator, OperatorSetting
from ...core.proposal import Proposal, RejectedProposal
from ...core.roles import roles_text

OPERATOR = "enlist"
FEWEST, MOST = 2, 8
"""The fewest and most agents of an enlisted team."""
LONGEST = 256
"""The most items of a list that are read, including duplicates."""


async def enlist(
    model: OperatorModel,
    path: str,
    task: Task,
    frame: Team,
    roles: Mapping[str, Agent],
    *,
    most: int = MOST,
) -> Proposal | RejectedProposal:
    """Ask for a team made of roles.

    Args:
        frame: A team that gives everything but agents and topology, such as its constitution.
        roles: The available agents by role; at least two.
        most: The most agents, at least two.
    """
    limits, most = model.limits, min(most, len(roles))
    question = Question(
        operator=OPERATOR,
        instructions=prompt(OPERATOR, least=FEWEST, most=most),
        material=material(task_text(task, limits), roles_text(roles, model.catalogue, limits)),
        schema=_schema(roles, limits, most),
        read=functools.partial(_read, model, frame, roles, most),
        inputs={"task": task, "frame": frame, "roles": roles, "most": most},
        parents=(frame.name,),
    )
    return await model.ask(path, question)


def _schema(roles: Mapping[str, Agent], bounds: Bounds, most: int) -> Mapping[str, Any]:
    role = one_of(roles)
    edges = array(closed(sender=role, receiver=role), most * (most - 1) // 2)
    return closed(reason=reason_schema(bounds), agents=array(role, most, least=FEWEST), edges=edges)


def _read(
    model: OperatorModel, frame: Team, roles: Mapping[str, Agent], most: int, text: str
) -> Proposal:
    """Parse a team; a repeated role counts once, at its first place."""
    fields = structured(text, _schema(roles, model.limits, LONGEST), model.limits)
    chosen = [*dict.fromkeys(fields["agents"])]
    if not FEWEST <= len(chosen) <= most:
        raise InvalidAnswer(f"{len(chosen)} different roles; choose from {FEWEST} to {most}.")
    edits = (
        *(RemoveAgent(agent=agent) for agent in frame.agents),
        *(AddAgent(agent=replace(roles[role], id=role)) for role in chosen),
        OrderAgents(agents=tuple(chosen)),
        ReplaceTopology(reports_to=_topology(chosen, fields["edges"]), output=chosen[-1]),
    )
    child = child_of(frame, edits, model.catalogue, model.ceiling)
    return Proposal.of(OPERATOR, frame, edits, reason=fields["reason"], child=child)


def _topology(
    chosen: Sequence[str], edges: Sequence[Mapping[str, str]]
) -> Mapping[str, tuple[str, ...]]:
    """Return the topology; agents without a receiver report to the last one."""
    place = {role: number for number, role in enumerate(chosen)}
    receivers: dict[str, dict[str, None]] = {role: {} for role in chosen[:-1]}
    for edge in edges:
        sender, receiver = edge["sender"], edge["receiver"]
        if not {sender, receiver} <= place.keys():
            raise InvalidAnswer(
                f"an edge from {sender} to {receiver}: both have to be among the agents."
            )
        if place[sender] >= place[receiver]:
            why = (
                f"an edge from {sender} to {receiver}: edges lead to agents further down the list."
            )
            raise InvalidAnswer(why)
        receivers[sender][receiver] = None
    return {role: tuple(fields) or (chosen[-1],) for role, fields in receivers.items()}


ENLIST = Operator(
    name="enlist",
    scale="roster",
    act=enlist,
    about="Let a model make a team for a task from a catalogue of roles. TEAM gives its execution"
    " settings; TEAM's agents are replaced.",
    inputs={"frame": "team", "most": OperatorSetting(about="The most agents.", least=FEWEST)},
)

"""The restructurer: a small change of a team's structure between two rounds (TacoMAS §3.4, Eq. 4).

Agents are born, from roles of a catalogue, and die if they contributed little for several rounds.
Edges are added and removed. The paper's edit budget bounds both. It counts neither the edges of a
new agent, nor those that bypass a dead one: its senders then report to the next agent that read its
reports. Remaining agents stay unchanged, because there is no edit for them.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....schema.edits import edits_from_json, is_tied, new_edges, spare_agents, spare_edges
from ....schema.edits.offer.strict import Schema, closed, edit, listed, one_of, some
from ....schema.team.team import natural
from ....schema.team.writing import agent_value
from ....schema.values.errors import ConfigError
from ....schema.values.problems import quoted
from ....schema.values.terminal import on_one_line
from ...core.answers import InvalidAnswer, child_of, reason_schema, sentences, structured
from ...core.material import clip, fenced, material, task_text
from ...core.meta import Question, prompt
from ...core.operator import Operator, OperatorSetting
from ...core.proposal import Proposal
from ...core.roles import free_id, roles_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ....schema.loading.ceiling import CapabilityPolicy
    from ....schema.team.task import Task
    from ....schema.team.team import Agent, Team
    from ...core.account import RoundAccount
    from ...core.bounds import Bounds
    from ...core.meta import OperatorModel
    from ...core.proposal import RejectedProposal
    from ...credit.contributions import Contributions

OPERATOR = "restructure"
AGENTS, EDGES = 1, 2
"""The defaults for the most agents and edges to add and remove."""
LOW, PATIENCE = 0.3, 2
"""The defaults: an agent may go after `PATIENCE` rounds with contributions below `LOW`."""
REPORTERS, RECEIVERS = 8, 3
"""The most senders and receivers of a new agent."""


def lasting_low(judged: Sequence[Contributions], *, below: float, rounds: int) -> tuple[str, ...]:
    """Return the agents with a low contribution in each of the last rounds.

    Args:
        judged: The judgements of the rounds, in order.
        below: A contribution below this is low.
        rounds: The number of consecutive rounds; agents that joined later are left out.
    """
    last = judged[-rounds:]
    if len(last) < rounds:
        return ()
    return tuple(
        agent
        for agent in last[-1].of
        if all(
            agent in contributions.of and contributions.of[agent].value < below
            for contributions in last
        )
    )


async def restructure(
    model: OperatorModel,
    path: str,
    task: Task,
    account: RoundAccount,
    judged: Sequence[Contributions],
    *,
    team: Team,
    roles: Mapping[str, Agent],
    dying: Sequence[str],
    agents: int,
    edges: int,
) -> Proposal | RejectedProposal:
    """Ask for a change of a team's structure, which may also stay unchanged.

    Args:
        team: The team to change: the same one, perhaps with other notes.
        agents: The most agents to add and remove.
        edges: The most other edges to add and remove.

    Returns:
        The team with edits, or without any. If nothing can change, no model is called.
    """
    room = _room(model.ceiling, team, agents)
    come = roles if room else {}
    offer = _Offer(team=team, roles=come, dying=dying, agents=room or agents, edges=edges)
    lists = offer.lists
    if not lists:
        return Proposal.of(OPERATOR, team, (), reason="There is nothing to change.", child=team)
    limits = model.limits
    question = Question(
        operator=OPERATOR,
        instructions=prompt(
            OPERATOR,
            agents=offer.agents if "agents" in lists else 0,
            births=bool(offer.births),
            deaths=bool(offer.deaths),
            edges=offer.edges if "edges" in lists else 0,
        ),
        material=material(
            task_text(task, limits),
            account.text(limits),
            fenced(
                "contributions",
                clip("\n".join(_contribution_lines(judged)), limits.team_characters),
            ),
            roles_text(offer.roles, model.catalogue, limits),
        ),
        schema=closed(reason=reason_schema(limits), **lists),
        read=functools.partial(_read, model, offer),
        parents=(team.name,),
        team=team,
        inputs={"task": task, "account": account, "judged": judged},
    )
    return await model.ask(path, question)


def _contribution_lines(judged: Sequence[Contributions]) -> Iterator[str]:
    """Yield each agent's contributions in all rounds, with the reason of the last."""
    for agent, last in judged[-1].of.items() if judged else ():
        values = (
            contributions.of[agent].value if agent in contributions.of else None
            for contributions in judged
        )
        text = ", ".join("-" if value is None else f"{value:.3g}" for value in values)
        yield f"{agent}: {text}; {on_one_line(last.reason)}"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Offer:
    """The possible changes, of which any combination is valid.

    Attributes:
        agents: The most agents to add and remove.
        edges: The most edges to add and remove.
    """

    team: Team
    roles: Mapping[str, Agent]
    dying: Sequence[str]
    agents: int
    edges: int

    @property
    def births(self) -> Sequence[Schema]:
        """The choices of new agents, one for each possible place."""
        return [*_births(self.team, sorted(self.roles, key=natural))] if self.roles else []

    @property
    def spare(self) -> Sequence[str]:
        """The agents that may go: those that may die and that the team can do without."""
        return [
            spare_agent
            for spare_agent in spare_agents(self.team, together=True)
            if spare_agent in self.dying
        ]

    @property
    def deaths(self) -> Sequence[Schema]:
        """The choice of an agent to remove."""
        return [edit("remove_agent", agent=one_of(self.spare))] if self.spare else []

    @property
    def changes(self) -> Sequence[Schema]:
        """The choices of edges to add and remove."""
        new = new_edges(self.team, together=True)
        spare = spare_edges(self.team, together=True)
        return [*_pairs("add_edge", new), *_pairs("remove_edge", spare)]

    @property
    def lists(self) -> Mapping[str, Schema]:
        """The lists of an answer, without those that have no choices."""
        if not is_tied(self.team):
            return {}
        choices = {
            "agents": ([*self.births, *self.deaths], self.agents),
            "edges": (self.changes, self.edges),
        }
        return {
            name: listed(of, least=0, most=most)
            for name, (of, most) in choices.items()
            if of and most
        }


def _room(ceiling: CapabilityPolicy, team: Team, most: int) -> int:
    """Return how many agents may be added, if every change of an agent adds one."""
    return most if ceiling.agents is None else max(0, min(most, ceiling.agents - len(team.agents)))


def _births(team: Team, roles: Sequence[str]) -> Iterator[Schema]:
    """Yield choices of new agents between any two levels, so that no edge closes a cycle.

    Before the first level, they have no senders; after the last one, they give the team's answer.
    """
    role = one_of(roles)
    levels = team.levels
    for slot in range(len(levels)):
        ahead = [name for level in levels[:slot] for name in level]
        behind = [name for level in levels[slot:] for name in level]
        senders = {"receives_from": _some(ahead, REPORTERS)} if ahead else {}
        yield edit("add_agent", role=role, **senders, reports_to=_some(behind, RECEIVERS))
    others = [agent for agent in team.agents if agent != team.output]
    senders = {"receives_from": _some(others, REPORTERS)} if others else {}
    yield edit("add_agent", role=role, **senders, is_output={"type": "boolean", "enum": [True]})


def _pairs(kind: str, options: Mapping[str, Iterable[str]]) -> Iterator[Schema]:
    for sender, receivers in options.items():
        if receivers:
            yield edit(kind, sender=one_of([sender]), receiver=one_of(receivers))


def _some(names: Sequence[str], most: int) -> Schema:
    return some(names, least=1, most=min(len(names), most))


def _read(model: OperatorModel, offer: _Offer, text: str) -> Proposal:
    """Parse an answer: check its budget, then its names, then the resulting team."""
    fields = _lists_in(text, offer, model.limits)
    values = [*_named(fields.get("agents", []), offer), *fields.get("edges", [])]
    try:
        edits = edits_from_json(json.dumps({"edits": values}))
    except ConfigError as error:
        raise InvalidAnswer(*sentences(error.problems)) from None
    child = child_of(offer.team, edits, model.catalogue, model.ceiling)
    return Proposal.of(OPERATOR, offer.team, edits, reason=fields["reason"], child=child)


def _lists_in(text: str, offer: _Offer, bounds: Bounds) -> Mapping[str, Any]:
    most = {"agents": offer.agents, "edges": offer.edges}
    kinds = {"agents": ("add_agent", "remove_agent"), "edges": ("add_edge", "remove_edge")}
    lists = {
        name: {"type": "array", "items": {"anyOf": [_any_edit(kind) for kind in kinds[name]]}}
        for name in offer.lists
    }
    fields = structured(text, closed(reason=reason_schema(bounds), **lists), bounds)
    for name in lists:
        if len(fields[name]) > most[name]:
            why = f"{len(fields[name])} changes under {name}; at most {most[name]} may be made."
            raise InvalidAnswer(why)
    return fields


def _any_edit(kind: str) -> Schema:
    return closed(**{kind: {"type": "object"}})


def _named(changes: Sequence[Mapping[str, Any]], offer: _Offer) -> Iterator[Mapping[str, Any]]:
    """Yield the edits of agents; a new agent is its role's agent under an unused id."""
    ids = {*offer.team.agents}
    for change in changes:
        if (newcomer := change.get("add_agent")) is not None:
            role = offer.roles.get(str(newcomer.get("role")))
            if role is None:
                raise InvalidAnswer(
                    f"no role {quoted(newcomer.get('role'))}. Known: {', '.join(offer.roles)}."
                )
            id_ = free_id(newcomer["role"], ids)
            ids.add(id_)
            place = {name: item for name, item in newcomer.items() if name != "role"}
            yield {"add_agent": {"agent": id_, "fields": agent_value(role), "place": place}}
        elif change["remove_agent"].get("agent") not in offer.spare:
            named = quoted(change["remove_agent"].get("agent"))
            raise InvalidAnswer(
                f"{named} may not go. These may: {', '.join(offer.spare) or 'nobody'}."
            )
        else:
            yield change


async def restructure_alone(
    model: OperatorModel,
    path: str,
    task: Task,
    account: RoundAccount,
    judged: Sequence[Contributions],
    *,
    roles: Mapping[str, Agent],
    agents: int = AGENTS,
    edges: int = EDGES,
    low: float = LOW,
    patience: int = PATIENCE,
) -> Proposal | RejectedProposal:
    """Ask for a change of the structure of a team that has worked.

    See `restructure` and `lasting_low`.
    """
    return await restructure(
        model,
        path,
        task,
        account,
        judged,
        team=account.team,
        roles=roles,
        dying=lasting_low(judged, below=low, rounds=patience),
        agents=agents,
        edges=edges,
    )


RESTRUCTURE = Operator(
    name="restructure",
    scale="roster",
    act=restructure,
    about="Let a model add agents from a catalogue of roles to a team, remove some, and move"
    " edges.",
    alone=restructure_alone,
    inputs={
        "agents": OperatorSetting(about="The most agents to add and remove.", least=0),
        "edges": OperatorSetting(about="The most edges to add and remove.", least=0),
        "low": OperatorSetting(
            about="An agent may go if it contributed less than this in each of the last rounds.",
            least=0,
            most=1,
        ),
        "patience": OperatorSetting(
            about="How many last rounds count; with fewer --judged, no agent may go.", least=1
        ),
    },
)

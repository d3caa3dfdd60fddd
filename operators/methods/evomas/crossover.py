"""Crossover: a child with the whole topology of one parent, and agents of both (EvoMAS Eq. 3).

The first question decides whose topology, and thus whose positions, the child has (EvoMAS App.
D.3). The second fills each position with an agent of either parent, or with a hybrid. A hybrid has
the prompt of one agent, and the model, tools and parameters of the other. The child is the
topology's parent with edits of single agents, a type of edit that cannot touch a topology.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from ....pool.ledger.learnt import Learnt
from ....pool.values.identity import are_isomorphic
from ....schema.edits import AgentEdit, agent_edits
from ....schema.edits.offer.strict import among, closed
from ....schema.team.task import Task
from ....schema.team.team import Agent, Team
from ...core.answers import InvalidAnswer, child_of, reason_schema, structured
from ...core.material import material, memories_text, models_text, parent_text, task_text
from ...core.meta import OperatorModel, Question, prompt
from ...core.operator import Operator
from ...core.proposal import Parent, Proposal, RejectedProposal
from ..search.positions import counterparts

OPERATOR = "crossover"
Side = Literal["first", "second"]
SIDES: tuple[Side, Side] = ("first", "second")
WHOLE = "agent of {}"
HYBRID = "prompt of {}, the rest of {}"


async def crossover(
    model: OperatorModel,
    path: str,
    task: Task,
    first: Parent,
    second: Parent,
    *,
    topology: Side | None = None,
    memories: Sequence[Learnt] = (),
) -> Proposal | RejectedProposal:
    """Ask for a child of two parents.

    Args:
        task: The task that the child should do better than both.
        first: A team, with the digest of its run on the task.
        topology: The parent that gives the topology. None: the model chooses, if either can.

    Returns:
        The child. Its first parent is the one that gave the topology.
    """
    names = (first.team.name, second.team.name)
    sides = (topology,) if topology else SIDES
    crosses = {side: _Cross.of(first.team, second.team, side) for side in sides}
    crosses = {side: cross for side, cross in crosses.items() if cross.has_child}
    if not crosses:
        why = (
            "whatever agents are taken from either parent, the child is no other than one of them."
        )
        return model.drop(path, OPERATOR, why, parents=names)
    shown = material(
        task_text(task, model.limits),
        parent_text(first, model.catalogue, model.limits, "first"),
        parent_text(second, model.catalogue, model.limits, "second"),
        models_text(model, _models(first.team) | _models(second.team)),
        memories_text(memories, model.limits),
    )
    was_run = first.was_run or second.was_run
    inputs = {"task": task, "first": first, "second": second, "crosses": crosses}
    chosen = next(iter(crosses))
    if len(crosses) > 1:
        chosen = await _choose(model, f"{path}/topology", shown, inputs)
    if isinstance(chosen, RejectedProposal):
        return chosen
    question = _question(model, crosses[chosen], shown, inputs, was_run=was_run)
    return await model.ask(f"{path}/agents", question)


def can_cross(first: Team, second: Team) -> bool:
    """Return whether a crossover of two teams can make a team that is neither of them."""
    return any(_Cross.of(first, second, side).has_child for side in SIDES)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Cross:
    """A crossover with a given topology.

    Attributes:
        side: Which of the parents `own` is.
        theirs: For each position, the donor's agent as it would work there. Positions where
            that changes nothing are left out.
        places: For each position, the id of the donor's agent.
    """

    own: Team
    donor: Team
    side: Side
    theirs: Mapping[str, Agent]
    places: Mapping[str, str]

    @classmethod
    def of(cls, first: Team, second: Team, side: Side) -> Self:
        own, donor = (first, second) if side == "first" else (second, first)
        places = counterparts(own, donor)
        new_ids = dict.fromkeys(donor.agents) | {there: place for place, there in places.items()}
        moved = {
            place: donor.agents[there].renamed(place, new_ids) for place, there in places.items()
        }
        all_theirs = {name: _settled(agent, donor, own) for name, agent in moved.items()}
        theirs = {name: agent for name, agent in all_theirs.items() if agent != own.agents[name]}
        return cls(own=own, donor=donor, side=side, theirs=theirs, places=places)

    @property
    def options(self) -> Mapping[str, Mapping[str, Agent]]:
        """The options of each position, by their descriptions; no agent is offered twice."""
        return {position: self._offered(position) for position in self.theirs}

    @property
    def has_child(self) -> bool:
        """Whether some choice makes a new team. The choices may include both parents."""
        choices = math.prod(map(len, self.options.values()))
        if choices != len(SIDES):
            return choices > len(SIDES)
        only = replace(self.own, agents={**self.own.agents, **self.theirs})
        return not self.is_parent(only)

    def is_parent(self, child: Team) -> bool:
        """Return whether a child is one of its parents, up to the names of agents."""
        return are_isomorphic(child, self.own) or are_isomorphic(child, self.donor)

    @property
    def renamed(self) -> list[str]:
        """The positions and their counterparts, if their ids differ."""
        pairs = ((own, self.places[own]) for own in self.theirs)
        return [f"{own}: {place}" for own, place in pairs if own != place]

    def edits(self, chosen: Mapping[str, str]) -> Iterator[AgentEdit]:
        for position, source in chosen.items():
            yield from agent_edits(self.own.agents[position], self.options[position][source])

    def _offered(self, position: str) -> Mapping[str, Agent]:
        """Return both agents, and both hybrids if each agent calls a model."""
        here, there = self.own.agents[position], self.theirs[position]
        by_side = {self.side: here, _opposite(self.side): there}
        offered = {WHOLE.format(side): by_side[side] for side in SIDES}
        if not all(map(self.own.asks_model, by_side.values())):
            return offered
        for side in SIDES:
            spoken, rest = by_side[side], by_side[_opposite(side)]
            hybrid = replace(rest, prompt=spoken.prompt, role=spoken.role, notes=spoken.notes)
            if hybrid not in offered.values():
                offered[HYBRID.format(side, _opposite(side))] = hybrid
        return offered


def _settled(agent: Agent, donor: Team, own: Team) -> Agent:
    """Return an agent with its former backend made explicit, if the new team's default differs."""
    backend = donor.backend_of(agent)
    return agent if own.backend_of(agent) == backend else replace(agent, backend=backend)


def _models(team: Team) -> frozenset[str]:
    return frozenset(agent.model_id for agent in team.agents.values())


async def _choose(
    model: OperatorModel,
    path: str,
    shown: str,
    inputs: Mapping[str, Any],
) -> Side | RejectedProposal:
    schema = closed(reason=reason_schema(model.limits), topology=among(SIDES))
    parents: tuple[Parent, Parent] = (inputs["first"], inputs["second"])
    question: Question[Side] = Question(
        operator=OPERATOR,
        instructions=prompt("choose_topology", was_run=any(parent.was_run for parent in parents)),
        material=shown,
        schema=schema,
        read=lambda text: structured(text, schema, model.limits)["topology"],
        parents=tuple(parent.team.name for parent in parents),
        inputs=inputs,
    )
    return await model.ask(path, question)


def _question(
    model: OperatorModel, cross: _Cross, shown: str, inputs: Mapping[str, Any], *, was_run: bool
) -> Question[Proposal]:
    return Question(
        operator=OPERATOR,
        instructions=prompt(
            "crossover", topology=cross.side, places=cross.renamed, was_run=was_run
        ),
        material=shown,
        schema=_schema(model, cross),
        read=functools.partial(_child, model, cross),
        parents=(cross.own.name, cross.donor.name),
        inputs={**inputs, "side": cross.side},
    )


def _schema(model: OperatorModel, cross: _Cross) -> Mapping[str, Any]:
    positions = {position: among(offered) for position, offered in cross.options.items()}
    return closed(reason=reason_schema(model.limits), positions=closed(**positions))


def _child(model: OperatorModel, cross: _Cross, text: str) -> Proposal:
    answer = structured(text, _schema(model, cross), model.limits)
    edits = tuple(cross.edits(answer["positions"]))
    child = child_of(cross.own, edits, model.catalogue, model.ceiling)
    if cross.is_parent(child):
        raise InvalidAnswer(
            "the child is no other than one of its parents. Take something of both."
        )
    return Proposal.of(
        OPERATOR, cross.own, edits, reason=answer["reason"], child=child, others=(cross.donor,)
    )


def _opposite(side: Side) -> Side:
    return "second" if side == "first" else "first"


CROSSOVER = Operator(
    name="crossover",
    scale="team",
    act=crossover,
    about="Let a model make a child of two teams: the topology of one, agents of both.",
)

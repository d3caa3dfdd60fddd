"""Instantiation: adapts a selected team to the current task (EvoMAS §3.2.1, App. C.1).

It may change prompts, models and topology and, unlike a mutation, add and remove agents. A team
that already fits may stay unchanged.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ....schema.edits.offer.strict import closed
from ...core.answers import child_of, edits_in, reason_schema
from ...core.material import material, memories_text, models_text, parent_text, task_text
from ...core.meta import Question, prompt
from ...core.operator import Operator
from ...core.proposal import Proposal, RejectedProposal
from ..search.components import MUTABLE, newcomer_ceiling, offer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....pool.ledger.learnt import Learnt
    from ....schema.edits import Component
    from ....schema.loading.ceiling import CapabilityPolicy
    from ....schema.team.task import Task
    from ....schema.team.team import Team
    from ...core.meta import OperatorModel
    from ...core.proposal import Parent

OPERATOR = "instantiate"
ADAPTED: tuple[Component, ...] = ("prompts", "model_id", "topology")
"""What it may change, if allowed; the roster counts with the topology."""


async def instantiate(
    model: OperatorModel,
    path: str,
    task: Task,
    parent: Parent,
    *,
    components: Sequence[Component] = MUTABLE,
    memories: Sequence[Learnt] = (),
) -> Proposal | RejectedProposal:
    """Ask for a team that is adapted to a task.

    Args:
        components: The allowed components. Agents may be added and removed if these include the
            topology or the roster. If models or tools are not among them, new agents get only those
            that the team already has.

    Returns:
        The team with edits, or without any. If nothing can be adapted, no model is called.
    """
    allowed = _adapted(components)
    ceiling = newcomer_ceiling(model.ceiling, parent.team, components)
    schema = offer(model, parent.team, *allowed, ceiling=ceiling, least=0)
    if schema is None:
        why = "There is nothing to adapt."
        return Proposal.of(OPERATOR, parent.team, (), reason=why, child=parent.team)
    sets_models = not {"model_id", "roster"}.isdisjoint(allowed)
    question = Question(
        operator=OPERATOR,
        instructions=prompt(
            "instantiate", components=allowed, edits=model.limits.edits, was_run=parent.was_run
        ),
        material=material(
            task_text(task, model.limits),
            parent_text(parent, model.catalogue, model.limits),
            models_text(model, ceiling.models) if sets_models else "",
            memories_text(memories, model.limits),
        ),
        schema=closed(reason=reason_schema(model.limits), **schema["properties"]),
        read=functools.partial(_child, model, parent.team, allowed, ceiling),
        inputs={"task": task, "parent": parent, "memories": memories},
        parents=(parent.team.name,),
        team=parent.team,
    )
    return await model.ask(path, question)


def _adapted(components: Sequence[Component]) -> tuple[Component, ...]:
    allowed: list[Component] = [component for component in ADAPTED if component in components]
    if not {"topology", "roster"}.isdisjoint(components):
        allowed.append("roster")
    return tuple(allowed)


def _child(
    model: OperatorModel,
    team: Team,
    allowed: Sequence[Component],
    ceiling: CapabilityPolicy,
    text: str,
) -> Proposal:
    reason, edits = edits_in(text, model.limits, allowed)
    child = child_of(team, edits, model.catalogue, ceiling)
    return Proposal.of(OPERATOR, team, edits, reason=reason, child=child)


INSTANTIATE = Operator(
    name="instantiate",
    scale="team",
    act=instantiate,
    about="Let a model adapt a team to a task; it may add and remove agents.",
)

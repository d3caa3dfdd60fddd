"""Decision: the move of the next step of an evolution (EvoMAS §3.2.2, App. C.1 and D.3).

A step mutates one component of a team, or crosses the team with another one. The model chooses from
the results of their runs, with a single question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ....schema.edits.offer.strict import among, closed
from ...core.answers import reason_schema, structured
from ...core.material import material, memories_text, models_text, parent_text, task_text
from ...core.meta import Question, prompt
from .components import open_components

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....pool.ledger.learnt import Learnt
    from ....schema.edits import Component
    from ....schema.team.task import Task
    from ...core.meta import OperatorModel
    from ...core.proposal import Parent, RejectedProposal

OPERATOR = "decide"
Crossing = Literal["crossover"]
CROSSOVER: Crossing = "crossover"
"""The option that is not a component."""


async def decide(
    model: OperatorModel,
    path: str,
    task: Task,
    parent: Parent,
    partner: Parent | None,
    *,
    components: Sequence[Component],
    memories: Sequence[Learnt] = (),
) -> Component | Crossing | RejectedProposal:
    """Choose the move of a step.

    Args:
        partner: The team to cross it with. None: a crossover is not an option.
        components: The components that a mutation may touch. Components in which the team has
            nothing to change are not options.

    Returns:
        The component to mutate, or `crossover`. A single option is returned without a model call.
    """
    names = tuple(item.team.name for item in (parent, partner) if item is not None)
    options: list[Component | Crossing] = [*open_components(model, parent, components)]
    if partner is not None:
        options.append(CROSSOVER)
    if not options:
        why = "there is nothing in it that may be changed, and nothing to cross it with."
        return model.drop(path, OPERATOR, why, parents=names)
    if len(options) == 1:
        return options[0]
    schema = closed(reason=reason_schema(model.limits), change=among(options))
    was_run = parent.was_run or (partner is not None and partner.was_run)
    question: Question[Component | Crossing] = Question(
        operator=OPERATOR,
        instructions=prompt("decide", options=options, was_run=was_run),
        material=material(
            task_text(task, model.limits),
            parent_text(parent, model.catalogue, model.limits),
            parent_text(partner, model.catalogue, model.limits, "partner") if partner else "",
            models_text(model) if "model_id" in options else "",
            memories_text(memories, model.limits),
        ),
        schema=schema,
        read=lambda text: structured(text, schema, model.limits)["change"],
        parents=names,
        inputs={"task": task, "parent": parent, "partner": partner, "memories": memories},
    )
    return await model.ask(path, question)

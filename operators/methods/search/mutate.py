"""Mutation: edits of exactly one component of one parent (EvoMAS §3.2.2, Eq. 2).

The component is chosen first, then edits of that component only, on as many agents as necessary.
Agents are added or removed only as a component of its own, `roster`. The paper's mutations do not
have it (App. C.1), although its evolved teams differ in number and roles of agents (App. D.1, D.4).
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from ....schema.edits import Mutation
from ....schema.edits.offer.strict import closed
from ...core.answers import InvalidAnswer, child_of, edits_in, reason_schema
from ...core.material import material, memories_text, models_text, parent_text, task_text
from ...core.meta import Question, prompt
from ...core.operator import Operator, OperatorSetting
from ...core.proposal import Proposal, RejectedProposal
from .components import CHANGEABLE, MUTABLE, newcomer_ceiling, offer
from .decide import decide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....pool.ledger.learnt import Learnt
    from ....schema.edits import Component
    from ....schema.loading.ceiling import CapabilityPolicy
    from ....schema.team.task import Task
    from ...core.meta import OperatorModel
    from ...core.proposal import Parent

__all__ = ["MUTABLE", "MUTATE", "mutate", "mutation", "nothing_to_change"]

OPERATOR = "mutate"


async def mutate(
    model: OperatorModel,
    path: str,
    task: Task,
    parent: Parent,
    *,
    component: Component | None = None,
    components: Sequence[Component] = MUTABLE,
    memories: Sequence[Learnt] = (),
) -> Proposal | RejectedProposal:
    """Ask for a child with edits of one component.

    Args:
        component: The component to edit. None: `decide` chooses it first.
        components: The allowed components. If models or tools are not among them, new agents get
            only those that the team already has.

    Raises:
        ValueError: Mutations never touch this component, or it is not allowed here.
    """
    if component is None:
        chosen = await decide(
            model, f"{path}/component", task, parent, None, components=components, memories=memories
        )
        if isinstance(chosen, RejectedProposal):
            return chosen
        component = cast("Component", chosen)  # without a partner, a crossover is no option
    allowed = [item for item in CHANGEABLE if item in components]
    if component not in allowed:
        raise ValueError(f"a mutation touches one of {', '.join(allowed)}, not {component!r}.")
    is_roster = component == "roster"
    ceiling = (
        newcomer_ceiling(model.ceiling, parent.team, components) if is_roster else model.ceiling
    )
    shown = material(
        task_text(task, model.limits),
        parent_text(parent, model.catalogue, model.limits),
        models_text(model, ceiling.models) if component in {"model_id", "roster"} else "",
        memories_text(memories, model.limits),
    )
    question = mutation(model, parent, component, shown, ceiling=ceiling)
    if question is None:
        return model.drop(path, OPERATOR, nothing_to_change(component), parents=(parent.team.name,))
    inputs = {**question.inputs, "task": task, "memories": memories}
    return await model.ask(f"{path}/edits", replace(question, inputs=inputs))


def mutation(
    model: OperatorModel,
    parent: Parent,
    component: Component,
    shown: str = "",
    *,
    ceiling: CapabilityPolicy | None = None,
) -> Question[Proposal] | None:
    """Return the question for edits of one component; None if there is nothing to choose.

    Args:
        ceiling: The ceiling of the child, if it is lower than the model's.
    """
    ceiling = ceiling or model.ceiling
    schema = offer(model, parent.team, component, ceiling=ceiling)
    if schema is None:
        return None
    instructions = prompt(
        "mutate", component=component, edits=model.limits.edits, was_run=parent.was_run
    )
    return Question(
        operator=OPERATOR,
        instructions=instructions,
        material=shown,
        schema=closed(reason=reason_schema(model.limits), **schema["properties"]),
        read=functools.partial(_child, model, parent, component, ceiling),
        parents=(parent.team.name,),
        team=parent.team,
        inputs={"parent": parent, "component": component},
    )


def nothing_to_change(component: Component) -> str:
    """Return the reason why a component cannot be mutated."""
    return f"there is nothing to change about {component} that is known and below the ceiling."


def _child(
    model: OperatorModel,
    parent: Parent,
    component: Component,
    ceiling: CapabilityPolicy,
    text: str,
) -> Proposal:
    """Parse an answer as a mutation; its type makes edits of two components impossible."""
    reason, read = edits_in(text, model.limits, (component,))
    if not read:
        raise InvalidAnswer(f"there is no edit. Change something about {component}.")
    edits: tuple[Any, ...] = read  # of one component, which `Mutation` checks at run time
    result: Mutation[Any] = Mutation(component=component, edits=edits)
    child = child_of(parent.team, result.edits, model.catalogue, ceiling)
    if child.content_hash == parent.team.content_hash:
        raise InvalidAnswer("the edits change nothing that is run. Change something.")
    return Proposal.of(
        OPERATOR, parent.team, result.edits, reason=reason, child=child, component=result.component
    )


MUTATE = Operator(
    name="mutate",
    scale="team",
    act=mutate,
    about="Let a model change one component of a team, on as many agents as it takes.",
    inputs={
        "component": OperatorSetting(
            about="What to change.  [default: the model chooses]", choices=MUTABLE
        )
    },
)

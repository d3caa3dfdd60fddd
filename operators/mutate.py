"""Mutation: edits of exactly one component of one parent (EvoMAS §3.2.2, Eq. 2).

The component comes first, then the edits, of that component only: on as many agents as it takes,
and never adding or removing one (EvoMAS App. C.1).
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..schema.edits import Mutation, component_schema
from .answers import Unfit, child_of, closed, edits_in, reason_schema, structured
from .components import MUTABLE
from .material import material, memories_text, parent_text, task_text
from .meta import Question, prompt
from .proposal import Dropped, Proposal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..pool.experience import Experience
    from ..schema.edits import Component
    from ..schema.task import Task
    from .bounds import Bounds
    from .meta import Meta
    from .proposal import Parent

__all__ = ["MUTABLE", "mutate", "open_components"]

OPERATOR = "mutate"


async def mutate(
    meta: Meta,
    path: str,
    task: Task,
    parent: Parent,
    *,
    component: Component | None = None,
    memories: Sequence[Experience] = (),
) -> Proposal | Dropped:
    """Make a child by edits of one component.

    Args:
        meta: The model to ask.
        path: Which mutation this is: `task 12/step 2/mutate`.
        task: What the team is to do better. Its reference answer is not shown.
        parent: The team, with the digest of its run on the task.
        component: What may be touched. None: the model is asked first.
        memories: What was learnt on similar tasks.

    Raises:
        ValueError: Mutations do not touch this component.
        CoterieError: As for `Meta.ask`.
    """
    shown = material(
        task_text(task, meta.limits),
        parent_text(parent, meta.catalogue, meta.limits),
        memories_text(memories, meta.limits),
    )
    if component is None:
        chosen = await _choose(meta, f"{path}/component", parent, shown)
        if isinstance(chosen, Dropped):
            return chosen
        component = chosen
    schema = _schema(meta, parent, component)
    if schema is None:
        why = f"there is nothing to change about {component} that is known and below the ceiling."
        return meta.drop(path, OPERATOR, why, parents=(parent.team.name,))
    question = Question(
        operator=OPERATOR,
        instructions=prompt("mutate", component=component, edits=meta.limits.edits),
        material=shown,
        schema=_with_reason(schema, meta.limits),
        read=functools.partial(_child, meta, parent, component),
        parents=(parent.team.name,),
    )
    return await meta.ask(f"{path}/edits", question)


def open_components(meta: Meta, parent: Parent) -> tuple[Component, ...]:
    """Give the components of a team in which a mutation has something to change."""
    return tuple(one for one in MUTABLE if _schema(meta, parent, one) is not None)


def _schema(meta: Meta, parent: Parent, component: Component) -> Mapping[str, Any] | None:
    if component not in MUTABLE:
        raise ValueError(f"a mutation touches one of {', '.join(MUTABLE)}, not {component!r}.")
    limits = meta.limits
    return component_schema(
        component,
        parent.team,
        meta.catalogue,
        meta.ceiling,
        most=limits.edits,
        characters=limits.characters,
    )


async def _choose(meta: Meta, path: str, parent: Parent, shown: str) -> Component | Dropped:
    """Ask which component matters most; there is always one, since every team has parameters."""
    open_to = open_components(meta, parent)
    if len(open_to) == 1:
        return open_to[0]
    schema = closed(
        reason=reason_schema(meta.limits),
        component={"type": "string", "enum": list(open_to)},
    )
    question: Question[Component] = Question(
        operator=OPERATOR,
        instructions=prompt("choose_component", components=open_to),
        material=shown,
        schema=schema,
        read=lambda text: structured(text, schema, meta.limits)["component"],
        parents=(parent.team.name,),
    )
    return await meta.ask(path, question)


def _child(meta: Meta, parent: Parent, component: Component, text: str) -> Proposal:
    """Read an answer as a mutation; its type makes edits of two components impossible."""
    reason, read = edits_in(text, meta.limits, (component,))
    if not read:
        raise Unfit(f"there is no edit. Change something about {component}.")
    edits: tuple[Any, ...] = read  # of one component; that `Mutation` checks when it is run
    mutation: Mutation[Any] = Mutation(component=component, edits=edits)
    child = child_of(parent.team, mutation.edits, meta.catalogue, meta.ceiling)
    if child.content_hash == parent.team.content_hash:
        raise Unfit("the edits change nothing that is run. Change something.")
    return Proposal(
        operator=OPERATOR,
        parents=(parent.team.name,),
        edits=mutation.edits,
        reason=reason,
        child=child,
        component=mutation.component,
    )


def _with_reason(schema: Mapping[str, Any], bounds: Bounds) -> Mapping[str, Any]:
    return closed(reason=reason_schema(bounds), **schema["properties"])

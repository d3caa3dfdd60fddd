"""Instantiation: adapts a team that was selected to the task at hand (EvoMAS §3.2.1, App. C.1).

Prompts, models and topology may change, and unlike a mutation it may take in or leave out agents.
A team that fits as it is may stay so.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..schema.edits import component_schema
from .answers import child_of, closed, edits_in, reason_schema
from .material import material, memories_text, parent_text, task_text
from .meta import Question, prompt
from .proposal import Dropped, Proposal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..pool.experience import Experience
    from ..schema.edits import Component
    from ..schema.task import Task
    from .meta import Meta
    from .proposal import Parent

__all__ = ["instantiate"]

OPERATOR = "instantiate"
ADAPTED: tuple[Component, ...] = ("prompts", "model_id", "topology", "roster")


async def instantiate(
    meta: Meta,
    path: str,
    task: Task,
    parent: Parent,
    *,
    memories: Sequence[Experience] = (),
) -> Proposal | Dropped:
    """Adapt a team to a task.

    Args:
        meta: The model to ask.
        path: Which instantiation this is: `task 12/select/debate`.
        task: The task. Its reference answer is not shown.
        parent: The team.
        memories: What was learnt on similar tasks.

    Raises:
        CoterieError: As for `Meta.ask`.
    """
    if not (kinds := list(_kinds(meta, parent))):
        return _child(meta, parent, '{"reason": "There is nothing to adapt.", "edits": []}')
    question = Question(
        operator=OPERATOR,
        instructions=prompt("instantiate", edits=meta.limits.edits),
        material=material(
            task_text(task, meta.limits),
            parent_text(parent, meta.catalogue, meta.limits),
            memories_text(memories, meta.limits),
        ),
        schema=_schema(meta, kinds),
        read=functools.partial(_child, meta, parent),
        parents=(parent.team.name,),
    )
    return await meta.ask(path, question)


def _kinds(meta: Meta, parent: Parent) -> Iterator[Mapping[str, Any]]:
    """Give the schemas of all edits that there are to choose from."""
    limits = meta.limits
    for component in ADAPTED:
        schema = component_schema(
            component,
            parent.team,
            meta.catalogue,
            meta.ceiling,
            most=limits.edits,
            characters=limits.characters,
        )
        if schema is not None:
            items = schema["properties"]["edits"]["items"]
            yield from items.get("anyOf", [items])


def _schema(meta: Meta, kinds: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Offer them in one list, which may be empty."""
    edits = {"type": "array", "items": {"anyOf": kinds}, "maxItems": meta.limits.edits}
    return closed(reason=reason_schema(meta.limits), edits=edits)


def _child(meta: Meta, parent: Parent, text: str) -> Proposal:
    reason, edits = edits_in(text, meta.limits, ADAPTED)
    return Proposal(
        operator=OPERATOR,
        parents=(parent.team.name,),
        edits=edits,
        reason=reason,
        child=child_of(parent.team, edits, meta.catalogue, meta.ceiling),
    )

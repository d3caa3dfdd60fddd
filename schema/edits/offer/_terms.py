"""When agents may work, and on which lists, in a team that has such terms already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...checking._shape import shape_schema
from ...team._conditional import goes_by, works_whole
from ...values.values import is_mapping
from ._strict import closed, edit, one_of, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...team.team import Agent
    from ._offer import Offer
    from ._strict import Schema

NOTHING: Schema = {"type": "null"}


def terms(offer: Offer) -> Iterator[Schema]:
    """Offer other conditions, lists and numbers of items.

    A team of which no agent has any is offered none. What is offered of lists fits together with
    all else: how many items are worked on may change, and whole lists only where one edit is asked
    for and nobody goes by the agent's answer.
    """
    agents = offer.team.agents.values()
    if not any(agent.is_conditional for agent in agents):
        return
    ancestors = offer.team.ancestors
    named = {name for agent in agents for name in goes_by(agent)}
    for agent in offer.asking:
        earlier = [offer.team.agents[name] for name in sorted(ancestors[agent.id])]
        conditions = [] if agent.id == offer.team.output else [*_conditions(earlier)]
        yield from _choices(agent, "when", [*conditions, *([NOTHING] if agent.when else [])])
        lists = [*_most(offer, agent.each.agent, agent.each.field)] if agent.each else []
        is_free = agent.id not in named and not works_whole(offer.team, agent)
        has_a_say = agent.can_finalize or agent.consults or agent.reviews or agent.chooses
        if not offer.together and is_free and not has_a_say:
            lists += [NOTHING] if agent.each else [*_lists(offer, earlier)]
        yield from _choices(agent, "each", lists)


def _choices(agent: Agent, field: str, choices: list[Schema]) -> Iterator[Schema]:
    for choice in choices:
        yield edit("set_parameter", agent=one_of([agent.id]), **{field: choice})


def _conditions(earlier: list[Agent]) -> Iterator[Schema]:
    """Write a condition for each field of theirs that is one of a few texts."""
    for agent in earlier:
        for name, schema in _fields(agent):
            labels: list[Any] = schema.get("enum", [])
            if labels and all(isinstance(label, str) for label in labels):
                value = {"agent": one_of([agent.id]), "field": one_of([name]), "is": one_of(labels)}
                yield closed(**value)


def _lists(offer: Offer, earlier: list[Agent]) -> Iterator[Schema]:
    for agent in earlier:
        for name, schema in _fields(agent):
            if schema.get("type") == "array":
                yield from _most(offer, agent.id, name)


def _fields(agent: Agent) -> list[tuple[str, dict[str, Any]]]:
    fields = (agent.output_schema or {}).get("properties") if agent.each is None else None
    return (
        [(name, field) for name, field in fields.items() if is_mapping(field)]
        if is_mapping(fields)
        else []
    )


def _most(offer: Offer, agent: str | None, field: str | None) -> Iterator[Schema]:
    """Write a list, with the numbers of items that may be worked on."""
    known = shape_schema("team")["$defs"]["agent"]["properties"]["each"]["properties"]["most"]
    most = whole(known, offer.most_of("items"))
    named = {key: one_of([name]) for key, name in (("agent", agent), ("field", field)) if name}
    if most:
        yield closed(**named, most=most)

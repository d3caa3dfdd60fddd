"""Edits of an agent's instructions, its model and its parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ...checking._shape import shape_schema
from ...team._conditional import goes_by, works_whole
from ...values.values import is_mapping, plain
from ..components import AGENT_FIELDS
from ..offer._structure import is_arranged
from ..offer.strict import PROMPT, closed, edit, one_of, pairs, text, whole
from .kind import OfAgent, check_field, put

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ...team.team import Agent
    from ...values.problems import Path
    from ..changes import FieldChange
    from ..components import Component
    from ..offer._offer import Offer
    from ..offer.strict import Schema
    from .kind import Objection, Value

TEMPERATURES = (0, 0.3, 0.5, 0.7, 1)
"""Fixed choices, because a small model may write a fraction without end."""

_PARAMETERS = frozenset(
    field for field, component in AGENT_FIELDS.items() if component == "parameters"
)
NOTHING: Schema = {"type": "null"}


@dataclass(frozen=True, kw_only=True, slots=True)
class OneField(OfAgent):
    """An edit that sets the agent field named in `sets` to its own field of that name."""

    sets: ClassVar[str]

    @property
    def claims(self) -> tuple[Path, ...]:
        """The field."""
        return (("agents", self.agent, self.sets),)

    def make_to(self, agent: Value) -> Iterator[Objection]:
        """Set the field."""
        put(agent, self.sets, getattr(self, self.sets))
        return iter(())

    @classmethod
    def making(cls, change: FieldChange) -> Iterator[OfAgent]:
        """Yield an edit if a change concerns this field."""
        match change.path:
            case ("agents", str(agent), cls.sets):
                yield cls(agent=agent, **{cls.sets: change.after})
            case _:
                pass


@dataclass(frozen=True, kw_only=True, slots=True)
class SetPrompt(OneField):
    """Replaces an agent's instructions by a text or the id of a prompt file. Empty: none."""

    component: ClassVar[Component] = "prompts"
    sets: ClassVar[str] = "prompt"

    prompt: str

    @classmethod
    def offers(cls, offer: Offer) -> Iterator[Schema]:
        """Offer any text."""
        if offer.asking:
            prompt = text(offer.characters, PROMPT)
            yield edit(
                "set_prompt", agent=one_of(agent.id for agent in offer.asking), prompt=prompt
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class SetRole(OneField):
    """Sets an agent's role in the team. Empty: no role."""

    component: ClassVar[Component] = "prompts"
    sets: ClassVar[str] = "role"

    role: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SetModel(OneField):
    """Gives an agent another backbone model, by its alias."""

    component: ClassVar[Component] = "model_id"
    sets: ClassVar[str] = "model_id"

    model_id: str

    @classmethod
    def offers(cls, offer: Offer) -> Iterator[Schema]:
        """Offer every other model."""
        options = {agent.id: offer.models - {agent.model_id} for agent in offer.asking}
        yield from pairs("set_model", "agent", "model_id", options)


@dataclass(frozen=True, kw_only=True, slots=True)
class SetParameter(OfAgent):
    """Sets a field of the component `parameters`: how an agent works and what it may spend.

    None restores the default.

    Raises:
        ValueError: The field is of another component, or an agent has no such field.
    """

    component: ClassVar[Component] = "parameters"

    field: str
    value: Any

    def __post_init__(self) -> None:
        check_field(self, self.field, _PARAMETERS)

    @property
    def claims(self) -> tuple[Path, ...]:
        """The field."""
        return (("agents", self.agent, self.field),)

    def make_to(self, agent: Value) -> Iterator[Objection]:
        """Set the field."""
        put(agent, self.field, self.value)
        return iter(())

    @classmethod
    def making(cls, change: FieldChange) -> Iterator[OfAgent]:
        """Yield an edit if a change concerns a parameter."""
        match change.path:
            case ("agents", str(agent), str(field)) if field in _PARAMETERS:
                yield cls(agent=agent, field=field, value=change.after)
            case _:
                pass

    def to_json(self) -> dict[str, Any]:
        """Return the agent, and the value under the field's name."""
        return {"agent": self.agent, self.field: plain(self.value)}

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Self:
        """Build the edit; the only key other than `agent` is the field's name."""
        (field,) = written.keys() - {"agent"}
        return cls(agent=written["agent"], field=field, value=written[field])

    @classmethod
    def offers(cls, offer: Offer) -> Iterator[Schema]:
        """Offer limits, temperatures, efforts, answer labels and conditions."""
        asking = [agent.id for agent in offer.asking]
        properties = shape_schema("team")["$defs"]["agent"]["properties"]
        if asking:
            temperature = {"type": "number", "enum": list(TEMPERATURES)}
            yield edit("set_parameter", agent=one_of(asking), temperature=temperature)
            if efforts := offer.efforts:
                schema: Schema = {"type": "string", "enum": list(efforts)}
                yield edit("set_parameter", agent=one_of(asking), effort=schema)
        others = () if is_arranged(offer.team) else offer.asking
        if labelled := [agent.id for agent in others if not offer.objects(_labelled(agent))]:
            yield edit("set_parameter", agent=one_of(labelled), output_schema=_labels_schema())
        limited = {"max_tokens": asking, "timeout": asking, "max_steps": offer.looping}
        for field, agents in limited.items():
            number = whole(properties[field], offer.most_of(field))
            if agents and number:
                yield edit("set_parameter", agent=one_of(agents), **{field: number})
        yield from terms(offer)


def _labelled(agent: Agent) -> Agent:
    return replace(agent, output_schema={"type": "object"})


def _labels_schema() -> Schema:
    """Return the schema of output schemas that limit an answer to a few labels."""
    labels = {"type": "array", "items": text(40), "minItems": 2, "maxItems": 8}
    return closed(
        type=one_of(["object"]),
        properties=closed(answer=closed(type=one_of(["string"]), enum=labels)),
        required={"type": "array", "items": one_of(["answer"]), "minItems": 1, "maxItems": 1},
        additionalProperties={"type": "boolean", "enum": [False]},
    )


def terms(offer: Offer) -> Iterator[Schema]:
    """Offer conditions, lists and maximum numbers of items.

    A team without conditional agents gets no such offer. Offers fit together with all others: a
    list's maximum may always change. A whole list may change only if the answer has one edit and no
    agent depends on this agent's answer.
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
    """Yield a condition for each field of earlier agents that is one of a few texts."""
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
    """Yield a list with its possible maximum numbers of items."""
    number = shape_schema("team")["$defs"]["agent"]["properties"]["each"]["properties"]["most"]
    most = whole(number, offer.most_of("items"))
    named = {key: one_of([name]) for key, name in (("agent", agent), ("field", field)) if name}
    if most:
        yield closed(**named, most=most)

"""Edits of what an agent is told, which model it asks, and how it works."""

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
"""Choices, since a small model that writes a fraction may not find its end."""

_PARAMETERS = frozenset(
    field for field, component in AGENT_FIELDS.items() if component == "parameters"
)
NOTHING: Schema = {"type": "null"}


@dataclass(frozen=True, kw_only=True, slots=True)
class OneField(OfAgent):
    """An edit that sets a field of an agent to what it has under that name itself."""

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
        """Set the field anew where it changed."""
        match change.path:
            case ("agents", str(agent), cls.sets):
                yield cls(agent=agent, **{cls.sets: change.after})
            case _:
                pass


@dataclass(frozen=True, kw_only=True, slots=True)
class SetPrompt(OneField):
    """Gives an agent other instructions: a text, or the id of a prompt file. Empty for none."""

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
    """Says anew what an agent is in the team. Empty for nothing."""

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
    """Sets how an agent works and what it may spend: a field whose component is `parameters`.

    None goes back to the default.

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
        """Set the field anew where it changed."""
        match change.path:
            case ("agents", str(agent), str(field)) if field in _PARAMETERS:
                yield cls(agent=agent, field=field, value=change.after)
            case _:
                pass

    def to_json(self) -> dict[str, Any]:
        """Return the field's name as the key of its value."""
        return {"agent": self.agent, self.field: plain(self.value)}

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Self:
        """Take the one key beside the agent for the field's name."""
        (field,) = written.keys() - {"agent"}
        return cls(agent=written["agent"], field=field, value=written[field])

    @classmethod
    def offers(cls, offer: Offer) -> Iterator[Schema]:
        """Offer limits, the temperature, efforts, and a choice of labels for the answer."""
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
    """Write the schema of schemas that hold an answer to one of a few labels."""
    labels = {"type": "array", "items": text(40), "minItems": 2, "maxItems": 8}
    return closed(
        type=one_of(["object"]),
        properties=closed(answer=closed(type=one_of(["string"]), enum=labels)),
        required={"type": "array", "items": one_of(["answer"]), "minItems": 1, "maxItems": 1},
        additionalProperties={"type": "boolean", "enum": [False]},
    )


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
    number = shape_schema("team")["$defs"]["agent"]["properties"]["each"]["properties"]["most"]
    most = whole(number, offer.most_of("items"))
    named = {key: one_of([name]) for key, name in (("agent", agent), ("field", field)) if name}
    if most:
        yield closed(**named, most=most)

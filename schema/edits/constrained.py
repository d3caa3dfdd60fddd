"""The JSON Schema that a model is held to when it is asked for edits of a team.

It has the shape of `edits.schema.json`, narrowed to what may be true of this team: ids of agents,
models and tools are choices, and what would change nothing is left out. Whatever it lets through
makes a team that loads and is below the ceiling, however many edits there are: what is offered
together is chosen so that any of it fits together. It keeps to what strict decoding takes
everywhere: closed objects with every field required, `anyOf`, `enum`, bounds and plain patterns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .._meaning import objections
from .._shape import shape_schema
from ..catalogue import tool_identifier
from ._newcomers import NAMES, Newcomers
from ._strict import PROMPT, closed, edit, listed, one_of, pairs, text, whole
from ._structure import is_tied, new_edges, spare_agents, spare_edges

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ..catalogue import Catalogue
    from ..ceiling import Ceiling
    from ..team import Agent, Team
    from ._strict import Schema
    from .kinds import Component

__all__ = ["component_schema", "components_schema"]

TEMPERATURES = (0, 0.3, 0.5, 0.7, 1)
"""Choices, since a small model that writes a fraction may not find its end."""

MOST_AGENTS, MOST_EDGES, MOST_TOOLS = 256, 4_096, 64
"""Of a team, of a team that is offered more, and of an agent."""

FEW = 8
"""Edits. Rather than fewer of every kind, no edge is offered beside other edits."""


def component_schema(
    component: Component,
    team: Team,
    catalogue: Catalogue,
    ceiling: Ceiling | None = None,
    *,
    most: int = 1,
    characters: int = 800,
) -> Mapping[str, Any] | None:
    """Write the schema of edits of one component of a team; the rest is as `components_schema`.

    Args:
        component: What may be edited.
        team: The team that is to change. It loads, and is below the ceiling.
        catalogue: What names are known.
        ceiling: What a person lets teams ask for. None: whatever the catalogue has.
        most: The most edits in one answer.
        characters: The most characters of a text.
    """
    return components_schema(
        (component,), team, catalogue, ceiling, most=most, characters=characters
    )


def components_schema(
    components: Sequence[Component],
    team: Team,
    catalogue: Catalogue,
    ceiling: Ceiling | None = None,
    *,
    least: int = 1,
    most: int = 1,
    characters: int = 800,
) -> Mapping[str, Any] | None:
    """Write the schema of edits of some components of a team, in one list.

    What it lets through is read by `edits_from_json` without a problem, and `apply` makes a team of
    it that is below the ceiling. A text that looks like a secret key is the one exception: no
    pattern keeps it out.

    Args:
        components: What may be edited.
        team: The team that is to change. It loads, and is below the ceiling.
        catalogue: What names are known.
        ceiling: What a person lets teams ask for. None: whatever the catalogue has.
        least: The fewest edits in one answer.
        most: The most edits in one answer. There may be room for fewer.
        characters: The most characters of a text.

    Returns:
        The schema, or None where there is nothing to choose: no tool that could be granted, no edge
        that could come or go.

    Raises:
        InputError: A function of the team cannot be imported.
    """
    offer = _Offer(
        team=team,
        catalogue=catalogue,
        ceiling=ceiling,
        components=frozenset(components),
        most=most,
        characters=characters,
    )
    choices = [one for component in offer.ordered for one in _OFFERS[component](offer)]
    if not choices:
        return None
    return closed(edits=listed(choices, least=least, most=offer.room_for_edits))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Offer:
    """What there is to choose from; the fields are the arguments of `components_schema`."""

    team: Team
    catalogue: Catalogue
    ceiling: Ceiling | None
    components: frozenset[Component]
    most: int
    characters: int

    @property
    def ordered(self) -> Sequence[Component]:
        return [one for one in _OFFERS if one in self.components]

    @property
    def together(self) -> bool:
        return self.most > 1

    @property
    def models(self) -> frozenset[str]:
        aliases = self.catalogue.aliases
        return aliases & self.ceiling.models if self.ceiling else aliases

    @property
    def tools(self) -> frozenset[str]:
        tools = self.catalogue.tools
        return tools & self.ceiling.tools if self.ceiling else tools

    @property
    def asking(self) -> Sequence[Agent]:
        """The agents that ask a model."""
        team = self.team
        return [one for one in team.agents.values() if team.backend_of(one) != "function"]

    def objects(self, agent: Agent) -> bool:
        """Tell whether the agent's backend cannot run it."""
        return bool(objections(agent, self.team.backend_of(agent)))

    def most_of(self, limit: str) -> Any:
        return getattr(self.ceiling, limit) if self.ceiling else None

    @property
    def room_for_agents(self) -> int:
        limit = self.most_of("agents")
        return min(MOST_AGENTS, MOST_AGENTS if limit is None else limit) - len(self.team.agents)

    @property
    def room_for_edges(self) -> int:
        limit = self.most_of("edges")
        return (MOST_EDGES if limit is None else limit) - len(self.team.edges)

    @property
    def newcomers(self) -> Newcomers:
        """Share the room for edges out: half to new agents, where there are new edges as well."""
        agents, edges = self.room_for_agents, self.room_for_edges
        if self.together and "topology" in self.components:
            edges //= 2
        fit = min(agents, edges // 3, len(NAMES), self.most) if self.together else 1
        count = max(fit, 1) if "roster" in self.components and min(agents, edges) > 0 else 0
        return Newcomers(
            team=self.team,
            catalogue=self.catalogue,
            ceiling=self.ceiling,
            models=self.models,
            tools=frozenset(_distinct(self.tools)),
            characters=self.characters,
            count=count,
            edges=edges // count if count else 0,
            together=self.together,
        )

    @property
    def room_for_new_edges(self) -> int:
        """The most new edges beside those of new agents; 0 where it would leave few edits."""
        taken = self.newcomers.count * self.newcomers.edges if self.together else 0
        room = self.room_for_edges - taken
        is_alone = len(self.components) == 1
        return room if room >= min(FEW, self.most, self.new_edges) or is_alone else 0

    @property
    def new_edges(self) -> int:
        """How many edges there are to choose from."""
        return sum(map(len, new_edges(self.team, together=self.together).values()))

    @property
    def room_for_edits(self) -> int:
        """Every edit might be a new edge, where more are offered than there is room for."""
        if "topology" not in self.components or not is_tied(self.team):
            return self.most
        room = self.room_for_new_edges
        return min(self.most, room) if 0 < room < self.new_edges else self.most


def _prompts(offer: _Offer) -> Iterator[Schema]:
    if offer.asking:
        prompt = text(offer.characters, PROMPT)
        yield edit("set_prompt", agent=one_of(one.id for one in offer.asking), prompt=prompt)


def _models(offer: _Offer) -> Iterator[Schema]:
    options = {one.id: offer.models - {one.model_id} for one in offer.asking}
    yield from pairs("set_model", "agent", "model_id", options)


def _tools(offer: _Offer) -> Iterator[Schema]:
    able = [one for one in offer.asking if not offer.objects(replace(one, tools=("some_tool",)))]
    missing = {
        one.id: _distinct(offer.tools - {*one.tools}, one.tools)[: MOST_TOOLS - len(one.tools)]
        for one in able
    }
    granted = {agent_id: {*one.tools} for agent_id, one in offer.team.agents.items()}
    yield from pairs("grant_tool", "agent", "tool", missing)
    yield from pairs("revoke_tool", "agent", "tool", granted)


def _distinct(tools: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Leave out tools that a model could not tell from others."""
    known = {"final_answer", *map(tool_identifier, taken)}
    kept: list[str] = []
    for tool in sorted(tools):
        if tool_identifier(tool) not in known:
            known.add(tool_identifier(tool))
            kept.append(tool)
    return kept


def _topology(offer: _Offer) -> Iterator[Schema]:
    team, together = offer.team, offer.together
    if is_tied(team):
        if offer.room_for_new_edges > 0:
            new = new_edges(team, together=together)
            yield from pairs("add_edge", "sender", "receiver", new)
        spare = spare_edges(team, together=together)
        yield from pairs("remove_edge", "sender", "receiver", spare)


def _roster(offer: _Offer) -> Iterator[Schema]:
    if is_tied(offer.team):
        yield from offer.newcomers.offers()
        if rest := spare_agents(offer.team, together=offer.together):
            yield edit("remove_agent", agent=one_of(rest))


def _parameters(offer: _Offer) -> Iterator[Schema]:
    """Offer limits, the temperature, a choice of labels for the answer, and how a team is run."""
    asking = [one.id for one in offer.asking]
    known = shape_schema("team")["$defs"]["agent"]["properties"]
    if asking:
        temperature = {"type": "number", "enum": list(TEMPERATURES)}
        yield edit("set_parameter", agent=one_of(asking), temperature=temperature)
    if labelled := [one.id for one in offer.asking if not offer.objects(_labelled(one))]:
        yield edit("set_parameter", agent=one_of(labelled), output_schema=_labels_schema())
    limited = {"max_tokens": asking, "timeout": asking, "max_steps": list(_looping(offer))}
    for field, agents in limited.items():
        number = whole(known[field], offer.most_of(field))
        if agents and number:
            yield edit("set_parameter", agent=one_of(agents), **{field: number})
    yield from _execution(offer)


def _execution(offer: _Offer) -> Iterator[Schema]:
    limits: Mapping[str, Any] = {
        "timeout": _longest_run(offer),
        "max_retries": offer.most_of("max_retries"),
    }
    for field, schema in shape_schema("team")["properties"]["execution"]["properties"].items():
        now = getattr(offer.team.execution, field)
        if schema.get("type") == "object":
            continue  # how often agents work is for people to say
        if "enum" in schema:
            others = [one for one in schema["enum"] if one != now]
            if field != "context" or is_tied(offer.team):
                yield edit("set_execution", **{field: one_of(others)})
        elif "boolean" in schema["type"]:
            others = [one for one in (True, False) if one is not now]
            yield edit("set_execution", **{field: {"type": "boolean", "enum": others}})
        elif number := whole(schema, limits[field]):
            yield edit("set_execution", **{field: number})


def _longest_run(offer: _Offer) -> float | None:
    """Give the most seconds of a run; an agent that writes none of its own has as many."""
    limits = [offer.most_of("run_timeout")]
    if any(one.timeout is None for one in offer.asking):
        limits.append(offer.most_of("timeout"))
    return min((limit for limit in limits if limit is not None), default=None)


def _looping(offer: _Offer) -> Iterator[str]:
    team = offer.team
    return (one.id for one in offer.asking if team.backend_of(one) != "llm")


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


def _notes(offer: _Offer) -> Iterator[Schema]:
    yield edit("set_note", constitution=text(offer.characters))


def _metadata(offer: _Offer) -> Iterator[Schema]:
    yield edit("set_metadata", description=text(offer.characters))


_OFFERS: Mapping[Component, Callable[[_Offer], Iterator[Schema]]] = {
    "prompts": _prompts,
    "model_id": _models,
    "tools": _tools,
    "topology": _topology,
    "parameters": _parameters,
    "roster": _roster,
    "notes": _notes,
    "metadata": _metadata,
}

"""The JSON Schema that a model is held to when it is asked for edits of one component of a team.

It has the shape of `edits.schema.json`, narrowed to what may be true of this team: ids of agents,
models and tools are choices, and what would change nothing is left out. It keeps to what strict
decoding takes everywhere: closed objects with every field required, `anyOf`, `enum`, bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .._meaning import objections
from .._shape import shape_schema
from ..team import natural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ..catalogue import Catalogue
    from ..ceiling import Ceiling
    from ..team import Agent, Team
    from .kinds import Component

__all__ = ["component_schema"]

Schema = dict[str, Any]

NOT_A_PROMPT_ID = "^[A-Z\u00c0-\ud7ff]"
"""How the text of a prompt begins: with a letter. One small word alone would name a prompt file,
and small models that begin with a number go on to count."""

NEW_IDS = ("solver", "checker", "critic", "planner", "researcher", "editor")
"""What new agents are called, with the next free number; what they are stands in their role."""

TEMPERATURES = (0, 0.3, 0.5, 0.7, 1)
"""Choices, since a small model that writes a fraction may not find its end."""


def component_schema(
    component: Component,
    team: Team,
    catalogue: Catalogue,
    ceiling: Ceiling | None = None,
    *,
    most: int = 1,
    characters: int = 800,
) -> Mapping[str, Any] | None:
    """Write the schema of edits of one component of a team.

    What it lets through is read by `edits_from_json` without a problem. Whether `apply` then makes
    a team of it depends on the edits together. With `most=1` nearly every edit does.

    Args:
        component: What may be edited.
        team: The team that is to change.
        catalogue: What names are known.
        ceiling: What a person lets teams ask for. None: whatever the catalogue has.
        most: The most edits in one answer.
        characters: The most characters of a text.

    Returns:
        The schema, or None where there is nothing to choose: no tool that could be granted, say.
    """
    offer = _Offer(
        team=team, catalogue=catalogue, ceiling=ceiling, most=most, characters=characters
    )
    if not (choices := list(_OFFERS[component](offer))):
        return None
    items = choices[0] if len(choices) == 1 else {"anyOf": choices}
    return _closed(edits={"type": "array", "items": items, "minItems": 1, "maxItems": most})


@dataclass(frozen=True, kw_only=True, slots=True)
class _Offer:
    """What there is to choose from; the fields are the arguments of `component_schema`."""

    team: Team
    catalogue: Catalogue
    ceiling: Ceiling | None
    most: int
    characters: int

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

    def text(self, **bounds: Any) -> Schema:
        return {"type": "string", "minLength": 1, "maxLength": self.characters, **bounds}

    def objects(self, agent: Agent) -> bool:
        """Tell whether the agent's backend cannot run it."""
        return bool(objections(agent, self.team.backend_of(agent)))

    def most_of(self, limit: str) -> Any:
        return getattr(self.ceiling, limit) if self.ceiling else None


def _prompts(offer: _Offer) -> Iterator[Schema]:
    if offer.asking:
        text = offer.text(pattern=NOT_A_PROMPT_ID)
        yield _edit("set_prompt", agent=_one_of(one.id for one in offer.asking), prompt=text)


def _models(offer: _Offer) -> Iterator[Schema]:
    options = {one.id: offer.models - {one.model_id} for one in offer.asking}
    yield from _pairs("set_model", "agent", "model_id", options)


def _tools(offer: _Offer) -> Iterator[Schema]:
    able = [one for one in offer.asking if not offer.objects(replace(one, tools=("some_tool",)))]
    missing = {one.id: offer.tools - {*one.tools} for one in able}
    granted = {agent_id: {*one.tools} for agent_id, one in offer.team.agents.items()}
    yield from _pairs("grant_tool", "agent", "tool", missing)
    yield from _pairs("revoke_tool", "agent", "tool", granted)


def _topology(offer: _Offer) -> Iterator[Schema]:
    """Offer edges that close no cycle, and, for a single edit, removals that lose nobody."""
    team, limit = offer.team, offer.most_of("edges")
    ancestors = _ancestors(team)
    new = {
        one: {*team.agents} - {one, *ancestors[one], *team.reports_to.get(one, ())}
        for one in team.agents
    }
    spare = {
        sender: {*receivers}
        for sender, receivers in team.reports_to.items()
        if offer.most > 1 or len(receivers) > 1
    }
    if limit is None or len(team.edges) < limit:
        yield from _pairs("add_edge", "sender", "receiver", new)
    yield from _pairs("remove_edge", "sender", "receiver", spare)


def _parameters(offer: _Offer) -> Iterator[Schema]:
    """Offer limits, the temperature, a choice of labels for the answer, and how a team is run."""
    asking, looping = _one_of(one.id for one in offer.asking), _one_of(_looping(offer))
    known = shape_schema("team")["$defs"]["agent"]["properties"]
    if offer.asking:
        temperature = {"type": "number", "enum": list(TEMPERATURES)}
        yield _edit("set_parameter", agent=asking, temperature=temperature)
        for field in ("max_tokens", "timeout"):
            bounds = _whole(known[field], offer.most_of(field))
            yield _edit("set_parameter", agent=asking, **{field: bounds})
        labels = _one_of(one.id for one in offer.asking if not offer.objects(_labelled(one)))
        if labels["enum"]:
            yield _edit("set_parameter", agent=labels, output_schema=_labels_schema())
    if looping["enum"]:
        bounds = _whole(known["max_steps"], offer.most_of("max_steps"))
        yield _edit("set_parameter", agent=looping, max_steps=bounds)
    limits = {"timeout": "run_timeout", "max_retries": "max_retries"}
    for field, schema in shape_schema("team")["properties"]["execution"]["properties"].items():
        limit = offer.most_of(limits[field]) if field in limits else None
        yield _edit("set_execution", **{field: _whole(schema, limit)})


def _roster(offer: _Offer) -> Iterator[Schema]:
    """Offer agents of one chat call; for a single edit, part only with those nobody needs."""
    team, limit = offer.team, offer.most_of("agents")
    everyone = _one_of(team.agents)
    if offer.models and (limit is None or len(team.agents) < limit):
        yield _edit(
            "add_agent",
            agent=_one_of(_free(name, team) for name in NEW_IDS),
            fields=_new_agent(offer),
            reports_to={"type": "array", "items": everyone, "minItems": 1, "maxItems": 1},
        )
    rest = [
        one
        for one, reporters in team.predecessors.items()
        if one != team.output
        and (offer.most > 1 or all(len(team.reports_to[each]) > 1 for each in reporters))
    ]
    if rest:
        yield _edit("remove_agent", agent=_one_of(rest))


def _free(name: str, team: Team) -> str:
    ids = (f"{name}_{number}" for number in range(1, len(team.agents) + 2))
    return next(agent_id for agent_id in ids if agent_id not in team.agents)


def _new_agent(offer: _Offer) -> Schema:
    max_tokens = shape_schema("team")["$defs"]["agent"]["properties"]["max_tokens"]
    return _closed(
        role=offer.text(maxLength=40),
        agent_type=_one_of(["LLM"]),
        model_id=_one_of(offer.models),
        prompt=offer.text(pattern=NOT_A_PROMPT_ID),
        max_tokens=_whole(max_tokens, offer.most_of("max_tokens")),
    )


def _notes(offer: _Offer) -> Iterator[Schema]:
    yield _edit("set_note", constitution=offer.text())


def _metadata(offer: _Offer) -> Iterator[Schema]:
    yield _edit("set_metadata", description=offer.text())


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


def _looping(offer: _Offer) -> Iterator[str]:
    team = offer.team
    return (one.id for one in offer.asking if team.backend_of(one) != "llm")


def _labelled(agent: Agent) -> Agent:
    return replace(agent, output_schema={"type": "object"})


def _labels_schema() -> Schema:
    """Write the schema of schemas that hold an answer to one of a few labels."""
    label = {"type": "string", "minLength": 1, "maxLength": 40}
    labels = {"type": "array", "items": label, "minItems": 2, "maxItems": 8}
    return _closed(
        type=_one_of(["object"]),
        properties=_closed(answer=_closed(type=_one_of(["string"]), enum=labels)),
        required={"type": "array", "items": _one_of(["answer"]), "minItems": 1, "maxItems": 1},
        additionalProperties={"type": "boolean", "enum": [False]},
    )


def _ancestors(team: Team) -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for one in (agent_id for level in team.levels for agent_id in level):
        reporters = team.predecessors[one]
        found[one] = frozenset(reporters).union(*(found[reporter] for reporter in reporters))
    return found


def _pairs(
    kind: str, chooser: str, chosen: str, options: Mapping[str, Iterable[str]]
) -> Iterator[Schema]:
    """Offer every agent its own options; agents with the same ones share a choice."""
    groups: dict[frozenset[str], list[str]] = {}
    for agent_id, open_to in options.items():
        groups.setdefault(frozenset(open_to), []).append(agent_id)
    for open_to, agents in groups.items():
        if open_to:
            yield _edit(kind, **{chooser: _one_of(agents), chosen: _one_of(open_to)})


def _edit(kind: str, **fields: Schema) -> Schema:
    return _closed(**{kind: _closed(**fields)})


def _closed(**fields: Schema) -> Schema:
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def _one_of(names: Iterable[str]) -> Schema:
    return {"type": "string", "enum": sorted(names, key=natural)}


def _whole(schema: Mapping[str, Any], limit: float | None) -> Schema:
    """Narrow a field of the team file to choices, or to whole numbers up to a limit."""
    if "enum" in schema:
        return {"type": "string", "enum": list(schema["enum"])}
    if "boolean" in schema["type"]:
        return {"type": "boolean"}
    least = schema.get("minimum", 1)
    most = int(schema["maximum"] if limit is None else min(limit, schema["maximum"]))
    return {"type": "integer", "minimum": least, "maximum": max(least, most)}

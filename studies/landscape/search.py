"""How changes of teams are found in the landscape: the same way for mutations and for crossovers.

A change is one edit, or one position of a crossover. Those that there are to choose from are tried
one by one. Who knows takes the best; who may change all agents goes on, agent after agent in the
order of what their best single changes are worth, and keeps each that makes the team worth more.
Who does not know draws from the same changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from coterie.operators.methods.search.chance import STOCK
from coterie.operators.methods.search.positions import counterparts

from .world import Mind, Shape, sentences

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from coterie.schema.host.catalogue import Catalogue
    from coterie.schema.team.team import Team

__all__ = ["Change", "Found", "by_chance", "crossings", "known_best", "offered"]

NEWCOMER = "Solve the task."
NEIGHBOURS = ("reports_to", "receives_from")
DRAWS = 20


@dataclass(frozen=True, slots=True)
class Change:
    """A change that may be made of a team.

    Attributes:
        place: The agent, or the position. None is changed twice.
        value: How an answer says it.
        made: What it makes of a team's shape; None where that is no team.
    """

    place: str
    value: Any
    made: Callable[[Shape], Shape | None]


@dataclass(frozen=True, slots=True)
class Found:
    """Changes that were chosen, and what they make of the team."""

    changes: tuple[Change, ...]
    shape: Shape


def known_best(
    begun: Shape,
    changes: Sequence[Change],
    worth: Callable[[Shape], float],
    *,
    everywhere: bool,
    is_parent: Callable[[Shape], bool],
) -> Found | None:
    """Find the changes that are worth most; None where all of them make one of the parents.

    Args:
        begun: The team to change.
        changes: What there is to choose from.
        worth: What a team is worth.
        everywhere: Whether every agent may change, or one only.
        is_parent: Whether a child would be no other than a parent.
    """
    tried = [Found((one,), shape) for one in changes if (shape := one.made(begun)) is not None]
    tried.sort(key=lambda one: -worth(one.shape))
    best_of: dict[str, Change] = {}
    for one in tried:
        best_of.setdefault(one.changes[0].place, one.changes[0])
    if everywhere and tried:
        grown = tried[0]
        for change in list(best_of.values())[1:]:
            shape = change.made(grown.shape)
            if shape is not None and worth(shape) > worth(grown.shape):
                grown = Found((*grown.changes, change), shape)
                tried.append(grown)
    children = (one for one in tried if not is_parent(one.shape))
    return max(children, key=lambda one: worth(one.shape), default=None)


def by_chance(
    begun: Shape,
    changes: Sequence[Change],
    source: random.Random,
    *,
    everywhere: bool,
    is_parent: Callable[[Shape], bool],
) -> Found | None:
    """Draw changes, of one agent or of some; None where no draw makes a child."""
    by_place: dict[str, list[Change]] = {}
    for one in changes:
        by_place.setdefault(one.place, []).append(one)
    for _ in range(DRAWS if changes else 0):
        most = len(by_place) if everywhere else 1
        places = source.sample(list(by_place), source.randint(1, most))
        drawn = tuple(source.choice(by_place[one]) for one in places)
        shape: Shape | None = begun
        for one in drawn:
            shape = one.made(shape) if shape is not None else None
        if shape is not None and not is_parent(shape):
            return Found(drawn, shape)
    return None


def offered(items: Mapping[str, Any], team: Team) -> Iterator[Change]:
    """Give the changes that a schema of edits lets through and that matter in the landscape."""
    for kind in _kinds(items):
        [(name, schema)] = kind["properties"].items()
        yield from _edits(name, schema["properties"], team)


def _edits(name: str, fields: Mapping[str, Any], team: Team) -> Iterator[Change]:
    match name:
        case "set_prompt":
            for agent, sentence in product(fields["agent"]["enum"], STOCK):
                if not (prompt := _turned(team.agents[agent].prompt, sentence)):
                    continue
                said = {name: {"agent": agent, "prompt": prompt}}
                yield Change(agent, said, _told(agent, sentences(prompt)))
        case "set_model":
            for agent, model in product(fields["agent"]["enum"], fields["model_id"]["enum"]):
                said = {name: {"agent": agent, "model_id": model}}
                yield Change(agent, said, _remodelled(agent, model))
        case "add_edge" | "remove_edge":
            ends = product(fields["sender"]["enum"], fields["receiver"]["enum"])
            for sender, receiver in ends:
                said = {name: {"sender": sender, "receiver": receiver}}
                yield Change(receiver, said, _rewired(sender, receiver, on=name == "add_edge"))
        case "add_agent":
            yield from _newcomers(name, fields)
        case "remove_agent":
            for agent in fields["agent"]["enum"]:
                yield Change(agent, {name: {"agent": agent}}, _without(agent))
        case _:
            return


def _turned(prompt: str, sentence: str) -> str:
    """Take a sentence out of a prompt, or in where it is missing."""
    lines = [line for line in prompt.splitlines() if line != sentence]
    return "\n".join(lines if sentence in prompt.splitlines() else [*lines, sentence])


def _told(agent: str, words: frozenset[str]) -> Callable[[Shape], Shape | None]:
    return lambda shape: shape.minded(agent, replace(shape.minds[agent], sentences=words))


def _remodelled(agent: str, model: str) -> Callable[[Shape], Shape | None]:
    return lambda shape: shape.minded(agent, replace(shape.minds[agent], model=model))


def _rewired(sender: str, receiver: str, *, on: bool) -> Callable[[Shape], Shape | None]:
    def made(shape: Shape) -> Shape | None:
        others = tuple(one for one in shape.heard[receiver] if one != sender)
        heard = {**shape.heard, receiver: (*others, sender) if on else others}
        return Shape.made(shape.minds, heard)

    return made


def _without(agent: str) -> Callable[[Shape], Shape | None]:
    def made(shape: Shape) -> Shape | None:
        heard = {
            one: tuple(other for other in ears if other != agent)
            for one, ears in shape.heard.items()
            if one != agent
        }
        return Shape.made({one: shape.minds[one] for one in heard}, heard)

    return made


def _newcomers(name: str, fields: Mapping[str, Any]) -> Iterator[Change]:
    """Add an agent with a plain prompt: of each model, and in each place that is offered."""
    [agent, *_] = fields["agent"]["enum"]
    asking = [one for one in _kinds(fields["fields"]) if "model_id" in one["properties"]]
    for kind, place in product(asking, _places(fields)):
        for model in kind["properties"]["model_id"]["enum"]:
            said = {"agent": agent, "fields": _filled(kind, model), **place}
            yield Change(
                agent, {name: said}, _joined(agent, Mind(model), place.get("place", place))
            )


def _kinds(schema: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return schema.get("anyOf", [schema])


def _places(fields: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the places in which a newcomer may stand: with no more neighbours than it needs."""
    if "place" in fields:
        for kind in _kinds(fields["place"]):
            yield from ({"place": one} for one in _places(kind["properties"]))
        return
    lists = {one: _lists(fields[one]) for one in NEIGHBOURS if one in fields}
    rest: dict[str, Any] = {"is_output": True} if "is_output" in fields else {}
    for chosen in product(*lists.values()):
        yield {**dict(zip(lists, chosen, strict=True)), **rest}


def _lists(schema: Mapping[str, Any]) -> list[list[str]]:
    """Give the shortest lists of a schema: none where that may be, and each single one."""
    none: list[list[str]] = [] if schema.get("minItems") else [[]]
    return [*none, *([one] for one in schema["items"]["enum"])]


def _filled(schema: Mapping[str, Any], model: str) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for name, field in schema["properties"].items():
        match name, field:
            case "model_id", _:
                said[name] = model
            case "prompt", _:
                said[name] = NEWCOMER
            case _, {"enum": [first, *_]}:
                said[name] = first
            case _, {"type": "integer", "maximum": most}:
                said[name] = most
            case _, {"type": "array"}:
                said[name] = []
            case _:
                said[name] = "worker"
    return said


def _joined(agent: str, mind: Mind, place: Mapping[str, Any]) -> Callable[[Shape], Shape | None]:
    to, of = (place.get(one, []) for one in NEIGHBOURS)

    def made(shape: Shape) -> Shape | None:
        if agent in shape.minds or not {*to, *of} <= {*shape.minds}:
            return None
        hears = dict.fromkeys([shape.output, *of] if place.get("is_output") else of)
        heard = {one: (*ears, agent) if one in to else ears for one, ears in shape.heard.items()}
        return Shape.made({**shape.minds, agent: mind}, {**heard, agent: (*hears,)})

    return made


def crossings(own: Team, other: Team, side: str, catalogue: Catalogue) -> Iterator[Change]:
    """Give what the positions of a team may get from another: its agent, or a hybrid.

    Args:
        own: The team that gives the topology.
        other: The other one.
        side: Which of the two `own` is, as the answer calls it: `first` or `second`.
        catalogue: What names are known.
    """
    theirs = "second" if side == "first" else "first"
    for position, there in counterparts(own, other).items():
        mine = Mind.of(own.agents[position], catalogue)
        yours = Mind.of(other.agents[there], catalogue)
        options = {
            f"agent of {theirs}": yours,
            f"prompt of {theirs}, the rest of {side}": replace(mine, sentences=yours.sentences),
            f"prompt of {side}, the rest of {theirs}": replace(yours, sentences=mine.sentences),
        }
        seen = {mine}
        for said, mind in options.items():
            if mind not in seen:
                seen.add(mind)
                yield Change(position, said, _put(position, mind))


def _put(position: str, mind: Mind) -> Callable[[Shape], Shape | None]:
    return lambda shape: shape.minded(position, mind)

"""How changes of teams are found: all that a question offers, the best of them, or any of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from .world import Crew, Member

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .sheets import Sheet

    Made = Iterator[tuple[dict[str, Any], Callable[[Crew], Crew | None]]]
    """Changes as an answer says them, and what they make of a team."""

__all__ = ["Change", "by_chance", "known_best", "offered"]

AGENTS, EDGES = "agents", "edges"


@dataclass(frozen=True, slots=True)
class Change:
    """A change that may be made of a team.

    Attributes:
        kind: The list of the answer to which it belongs.
        value: How the answer says it.
        made: What it makes of a team; None where that is no team.
    """

    kind: str
    value: Mapping[str, Any]
    made: Callable[[Crew], Crew | None]


def known_best(
    begun: Crew,
    changes: Sequence[Change],
    worth: Callable[[Crew], float],
    bounds: Mapping[str, int],
) -> list[Change]:
    """Choose the best change, then the next best that adds to it, and so on; maybe none.

    Args:
        begun: The team to change.
        changes: What there is to choose from.
        worth: What a team is worth.
        bounds: How many changes of each kind there may be.
    """
    tried = [(worth(crew), one) for one in changes if (crew := one.made(begun)) is not None]
    tried.sort(key=lambda pair: -pair[0])
    chosen: list[Change] = []
    crew, value = begun, worth(begun)
    for _, one in tried:
        if sum(other.kind == one.kind for other in chosen) >= bounds[one.kind]:
            continue
        grown = one.made(crew)
        if grown is not None and worth(grown) > value + 1e-9:
            chosen.append(one)
            crew, value = grown, worth(grown)
    return chosen


def by_chance(lists: Mapping[str, Any], source: random.Random) -> dict[str, list[Any]]:
    """Draw changes: of each list as many as there may be or fewer, none of them twice."""
    drawn: dict[str, list[Any]] = {}
    for name, schema in lists.items():
        values = (
            _any_of(schema["items"], source) for _ in range(source.randint(0, schema["maxItems"]))
        )
        kept: list[Any] = []
        for value in values:
            if value not in kept:
                kept.append(value)
        drawn[name] = kept
    return drawn


def _any_of(schema: Mapping[str, Any], source: random.Random) -> Any:
    """Draw a value of a schema of changes."""
    match schema:
        case {"anyOf": kinds}:
            return _any_of(source.choice(kinds), source)
        case {"enum": values}:
            return source.choice(values)
        case {"items": items, "minItems": least, "maxItems": most}:
            names = items["enum"]
            return sorted(source.sample(names, source.randint(least, min(most, len(names)))))
        case _:
            fields = schema["properties"]
            return {name: _any_of(field, source) for name, field in fields.items()}


def offered(lists: Mapping[str, Any], crew: Crew, sheet: Sheet) -> Iterator[Change]:
    """Give the changes that the lists of an answer let through, newcomers as few as matter."""
    for kind, schema in lists.items():
        items = schema["items"]
        for one in items.get("anyOf", [items]):
            [(name, fields)] = one["properties"].items()
            for value, made in _made(name, fields["properties"], crew, sheet):
                yield Change(kind, {name: value}, made)


def _made(name: str, fields: Mapping[str, Any], crew: Crew, sheet: Sheet) -> Made:
    match name:
        case "add_edge" | "remove_edge":
            for sender, receiver in product(fields["sender"]["enum"], fields["receiver"]["enum"]):
                value = {"sender": sender, "receiver": receiver}
                yield value, _rewired(sender, receiver, on=name == "add_edge")
        case "remove_agent":
            for agent in fields["agent"]["enum"]:
                yield {"agent": agent}, _without(agent)
        case _:
            yield from _newcomers(fields, crew, sheet)


def _rewired(sender: str, receiver: str, *, on: bool) -> Callable[[Crew], Crew | None]:
    def made(crew: Crew) -> Crew | None:
        if not {sender, receiver} <= {*crew.members}:
            return None
        others = tuple(one for one in crew.heard[receiver] if one != sender)
        return Crew.made(
            crew.members, {**crew.heard, receiver: (*others, sender) if on else others}
        )

    return made


def _without(agent: str) -> Callable[[Crew], Crew | None]:
    """Take an agent out; who reported to it alone reports to those that it reported to."""

    def made(crew: Crew) -> Crew | None:
        if agent not in crew.members or agent == crew.output:
            return None
        said_to = {one for one, ears in crew.heard.items() if agent in ears}
        left = {name: ears for name, ears in crew.heard.items() if name != agent}
        alone = [one for one in crew.heard[agent] if not any(one in ears for ears in left.values())]
        heard = {
            name: tuple(
                dict.fromkeys(
                    (*(one for one in ears if one != agent), *(alone if name in said_to else ()))
                )
            )
            for name, ears in left.items()
        }
        return Crew.made({one: crew.members[one] for one in heard}, heard)

    return made


def _newcomers(fields: Mapping[str, Any], crew: Crew, sheet: Sheet) -> Made:
    """Add agents of the crafts that are missing, beside those whose working is needed."""
    present = {one.craft for one in crew.members.values()}
    for number, part in enumerate(sheet.parts):
        if part.craft in present or part.craft not in fields["role"]["enum"]:
            continue
        sources = {sheet.parts[need].craft for need in part.needs}
        takers = {one.craft for one in sheet.parts if number in one.needs}
        wanted = {"receives_from": sources, "reports_to": takers}
        places = [
            [*_neighbours(fields[name], crafts, crew)]
            for name, crafts in wanted.items()
            if name in fields
        ]
        names = [name for name in wanted if name in fields]
        last: dict[str, Any] = {"is_output": True} if "is_output" in fields else {}
        for chosen in product(*places):
            place = dict(zip(names, chosen, strict=True))
            value = {"role": part.craft, **place, **last}
            yield value, _joined(part.craft, is_last=bool(last), **place)


def _neighbours(field: Mapping[str, Any], crafts: set[str], crew: Crew) -> Iterator[list[str]]:
    """Give the neighbours of the crafts that matter; each single one, where there are none."""
    names = field["items"]["enum"]
    fitting = [one for one in names if crew.members[one].craft in crafts][: field["maxItems"]]
    if fitting:
        yield fitting
    else:
        yield from ([one] for one in names)


def _joined(
    craft: str,
    *,
    is_last: bool,
    receives_from: Sequence[str] = (),
    reports_to: Sequence[str] = (),
) -> Callable[[Crew], Crew | None]:
    def made(crew: Crew) -> Crew | None:
        name = next(one for one in _ids(craft) if one not in crew.members)
        if not {*receives_from, *reports_to} <= {*crew.members}:
            return None
        hears = dict.fromkeys([crew.output, *receives_from] if is_last else receives_from)
        heard = {
            one: (*ears, name) if one in reports_to else ears for one, ears in crew.heard.items()
        }
        return Crew.made({**crew.members, name: Member(craft)}, {**heard, name: (*hears,)})

    return made


def _ids(craft: str) -> Iterator[str]:
    yield craft
    yield from (f"{craft}_{number}" for number in range(2, 100))

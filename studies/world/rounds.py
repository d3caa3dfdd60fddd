"""Teams of crafts that work on a task in rounds, and are coached and rebuilt between them.

A task has `PARTS` parts, each of another craft. An agent answers the parts of its craft and those
of which it hears no answer; it hands on what it hears of all others, an answer by somebody of the
part's craft first. A part may need an earlier one: whoever answers it and does not hear directly
who worked that out, of its craft, is right less often (`MISSING`). So is a stranger, and whoever
hears reports of no use (`dilution`).

Coaching says one of `ASPECTS`, and in whose hearing: three of them help with a part (twice
`habit`), others take a little away. Where an agent hears others than these, a share of its effect
is lost: all of `loss` where no neighbour is the same.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ..simulated import in_order
from .forms import filled, variants
from .marks import mark, marked, marks, padded
from .minds import without
from .tasks import seen
from .worlds import chance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from coterie.operators.core.account import RoundAccount
    from coterie.runtime.gateway import ChatRequest
    from coterie.schema.team.team import Team

    from .gateway import Asked
    from .minds import Problem
    from .worlds import World

CRAFTS = ("checker", "coder", "comparer", "planner", "reader", "reckoner", "searcher", "writer")
ASPECTS = ("units", "order", "names", "dates", "signs", "limits", "sources", "doubts")
PARTS, APT = 5, 3
NEEDED, MISSING = 0.45, 0.8
LEVELS = 10
NOBODY = "-"


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A part of a task.

    Attributes:
        craft: Whose it is.
        need: The earlier part whose working it needs; None: none.
        apt: What coaching helps with it.
    """

    craft: str
    need: int | None
    apt: frozenset[str]


@dataclass(frozen=True, slots=True)
class Said:
    """What an agent says of a part: whose craft the answer is of, how often it is right, by whom.

    `by` is "-" for who says it, and else who was heard.
    """

    craft: str
    odds: float
    by: str = NOBODY
    letter: str = ""


Coaching = tuple[tuple[str, frozenset[str]], ...]
"""What somebody was told, each with the crafts in whose hearing."""


@functools.lru_cache(maxsize=2_000)
def parts_of(title: str) -> tuple[Part, ...]:
    """Return the parts of a task."""
    source = chance("parts", title)
    crafts = source.sample(CRAFTS, PARTS)
    return tuple(
        Part(
            craft=craft,
            need=source.randrange(number) if number and source.random() < NEEDED else None,
            apt=frozenset(source.sample(ASPECTS, APT)),
        )
        for number, craft in enumerate(crafts)
    )


def says(
    world: World,
    problem: Problem,
    craft: str,
    coaching: Coaching,
    heard: Mapping[str, Sequence[Said]],
) -> list[Said]:
    """Return what an agent says of each part.

    Args:
        world: Where.
        problem: The task.
        craft: The agent's.
        coaching: What it was told.
        heard: What colleagues say of each part, by their crafts.
    """
    parts, own, used = parts_of(problem.title), list[Said | None](), set[str]()
    for number, part in enumerate(parts):
        suited = [name for name, said in heard.items() if said[number].craft == part.craft]
        if part.craft == craft or not heard:
            own.append(None)
            continue
        name = suited[0] if suited else next(iter(heard))
        used.add(name)
        item = heard[name][number]
        own.append(replace(item, by=name if item.by == NOBODY else item.by))
    worker = _Worker(world=world, problem=problem, craft=craft, coaching=coaching, heard=heard)
    return [said or Said(craft, worker.odds(n, used)) for n, said in enumerate(own)]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Worker:
    """An agent that answers parts itself: its craft, what it was told, and what it hears."""

    world: World
    problem: Problem
    craft: str
    coaching: Coaching
    heard: Mapping[str, Sequence[Said]]

    def odds(self, number: int, used: set[str]) -> float:
        """Return how often it answers a part rightly.

        Args:
            number: Which part.
            used: Whose answers to other parts it hands on.
        """
        world, parts, heard = self.world, parts_of(self.problem.title), {*self.heard}
        part, able = parts[number], world.niches[self.problem.niche].able
        odds = math.log(able / (1 - able)) - world.stranger * (part.craft != self.craft)
        working = _working(parts, part.need, self.heard)
        odds -= MISSING * bool(world.stranger) * (part.need is not None and not working)
        odds -= world.dilution * len(heard - used - working)
        for aspect, neighbours in self.coaching:
            every = neighbours | heard
            alike = len(neighbours & heard) / len(every) if every else 1.0
            share = 1 - world.loss * (1 - alike)
            odds += share * (2 * world.habit if aspect in part.apt else -world.dilution)
        return 1 / (1 + math.exp(-odds))


def _working(
    parts: Sequence[Part], need: int | None, heard: Mapping[str, Sequence[Said]]
) -> set[str]:
    """Return who reports the working of a part: those of its craft who worked it out."""
    if need is None:
        return set()
    return {
        name
        for name, said in heard.items()
        if said[need].by == NOBODY and said[need].craft == parts[need].craft
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class Graph:
    """What matters of a team: crafts, who hears whom, and what each was told.

    Attributes:
        crafts: Of each agent, by id.
        heard: Of whom each hears.
        coaching: What each was told.
    """

    crafts: Mapping[str, str]
    heard: Mapping[str, tuple[str, ...]]
    coaching: Mapping[str, Coaching]

    @classmethod
    def of(cls, team: Team, *, coached: bool = True) -> Graph:
        """Read a team."""
        agents = team.agents.values()
        return cls(
            crafts={agent.id: agent.role for agent in agents},
            heard={agent.id: tuple(team.predecessors[agent.id]) for agent in agents},
            coaching={
                agent.id: coaching_in(agent.notes.coaching) if coached else () for agent in agents
            },
        )

    def changed(self, edit: Mapping[str, Any]) -> Graph | None:
        """Return the team with an edit of it; None where that is no team with one output."""
        [(kind, about)] = edit.items()
        crafts, heard = {**self.crafts}, {**self.heard}
        if kind == "add_agent":
            new = about["role"] if about["role"] not in crafts else f"{about['role']} again"
            crafts[new], heard[new] = about["role"], (*about.get("receives_from", ()),)
            for item in about.get("reports_to", ()):
                heard[item] = (*heard[item], new)
            if about.get("is_output"):
                heard[new] = tuple(dict.fromkeys((*heard[new], self.output)))
        elif kind == "remove_agent":
            gone, before = about["agent"], heard.pop(about["agent"])
            del crafts[gone]
            for item, of in heard.items():
                if gone in of:
                    heard[item] = tuple(dict.fromkeys((*without(of, gone), *before)))
        elif not {about["sender"], about["receiver"]} <= heard.keys():
            return None  # one of them has just gone
        elif kind == "add_edge":
            heard[about["receiver"]] = (*heard[about["receiver"]], about["sender"])
        else:
            heard[about["receiver"]] = (*without(heard[about["receiver"]], about["sender"]),)
        coaching = {craft: self.coaching.get(craft, ()) for craft in crafts}
        graph = Graph(crafts=crafts, heard=heard, coaching=coaching)
        return graph if in_order(heard) else None

    @property
    def output(self) -> str:
        """Who gives the answer."""
        order = in_order(self.heard)
        return order[1] if order else [*self.crafts][-1]


def said_by_all(world: World, problem: Problem, graph: Graph) -> dict[str, list[Said]]:
    """Return what each agent of a team says of each part."""
    order, fields = in_order(graph.heard), dict[str, list[Said]]()
    for name in order[0] if order else ():
        heard = {graph.crafts[word]: fields[word] for word in graph.heard[name]}
        fields[name] = says(world, problem, graph.crafts[name], graph.coaching[name], heard)
    return fields


def worth(world: World, problem: Problem, graph: Graph) -> float:
    """Return the share of letters that a team can be expected to get right."""
    fields = said_by_all(world, problem, graph)
    return fmean(item.odds for item in fields[graph.output]) if fields else 0.0


def coaching_in(text: str) -> Coaching:
    """Return what a text tells an agent."""
    pairs = ((aspect, frozenset(of.split(",")) - {NOBODY}) for aspect, of in marks(text, "coach"))
    return tuple(pairs)


def solved_by_parts(world: World, request: ChatRequest) -> str:
    """Answer as an agent of a craft does."""
    instructions, shown = (str(message["content"]) for message in request.messages[:2])
    problem, [(craft,)] = seen(world, shown), marks(instructions, "craft")[:1]
    heard: dict[str, list[Said]] = {}
    for sender, *texts in marks(shown, "said"):
        of, odds, by, letter = texts
        heard.setdefault(sender, []).append(Said(of, float(odds), by, letter))
    lines, answer = list[str](), ""
    for number, say in enumerate(says(world, problem, craft, coaching_in(instructions), heard)):
        letter = say.letter or _letter(world, problem, number, say.odds, str(request.seed))
        lines.append(mark("said", craft, say.craft, f"{say.odds:.6f}", say.by, letter))
        answer += letter
    return padded((*lines, f"Answer: {answer}"), world.answer_tokens)


def _letter(world: World, problem: Problem, number: int, odds: float, place: str) -> str:
    """Answer a part: a share of answers comes out the same each time."""
    shared = chance(world.name, world.luck, problem.title, number)
    is_alike = shared.random() < world.alike
    source = shared if is_alike else chance(world.name, world.luck, problem.title, number, place)
    return (problem.answers if source.random() < odds else problem.lures)[number]


def _judged(asked: Asked) -> Mapping[str, Any]:
    """Estimate what each agent contributed, and how good the answer is."""
    account: RoundAccount = asked["account"]
    results = {name: agent.result for name, agent in account.run.agents.items()}
    output = results.get(account.team.output)
    textses = marks(output.content if output else "", "said")
    roles = {agent.id: agent.role for agent in account.team.agents.values()}
    odds: dict[str, list[float]] = {}
    for sender, _, value, by, _ in textses:
        odds.setdefault(sender if by == NOBODY else by, []).append(float(value))
    of = {name: fmean(odds.get(role, [0.0])) for name, role in roles.items()}
    agents = {
        name: {"reason": "So it seems.", "contribution": _estimate(asked, value)}
        for name, value in of.items()
    }
    whole = fmean([float(value) for _, _, value, *_ in textses] or [0.0])
    score = _estimate(asked, whole)
    return {"reason": "So it seems.", "agents": agents, "score": score, "converged": False}


def _estimate(asked: Asked, true: float) -> float:
    error = asked.source.uniform(-asked.world.judging, asked.world.judging)
    return round(min(1.0, max(0.0, true + error)) * LEVELS) / LEVELS


def _coached(asked: Asked) -> Mapping[str, Any]:
    """Tell an agent one thing more: what helps most with its parts, or anything."""
    account: RoundAccount = asked["account"]
    agent, graph = account.team.agents[asked["agent"]], Graph.of(account.team)
    near = ",".join(sorted(graph.crafts[name] for name in graph.heard[agent.id])) or NOBODY
    before = marked(agent.notes.coaching, "coach")
    parts = [part for part in parts_of(asked.problem.title) if part.craft == agent.role]
    apt = sorted({it for part in parts for it in part.apt if before.get(it) != near})
    aspect = asked.source.choice(apt if apt and asked.knows else ASPECTS)
    texts = [mark("coach", *item) for item in ({**before, aspect: near}).items()]
    room = asked.fields["plan"]["maxLength"]
    while len(texts) > 1 and len(" ".join(texts)) > room:
        del texts[0]
    plan = " ".join(texts) if len(texts[0]) <= room else "Go on."
    return {"wrong": "Not all."[: asked.fields["wrong"]["maxLength"]], "plan": plan[:room]}


def _restructured(asked: Asked) -> Mapping[str, Any]:
    """Make the best single change of agents and the best of edges, or any."""
    lists = {name: asked.fields[name] for name in ("agents", "edges") if name in asked.fields}
    graph, world, problem = Graph.of(asked.question.team, coached=False), asked.world, asked.problem  # type: ignore[arg-type]
    knows, answer = asked.knows, dict[str, Any]()
    for name, schema in lists.items():
        kinds = variants(schema["items"])
        if not knows:
            drawn = filled(asked.source.choice(kinds), "", asked.source)
            answer[name] = [drawn] if asked.source.random() < 1 / 2 else []
            continue
        options = [(edit, graph.changed(edit)) for kind in kinds for edit in _edits(kind)]
        known = [
            (worth(world, problem, result), edit, result) for edit, result in options if result
        ]
        best = max(known, key=lambda row: row[0], default=None)
        answer[name] = []
        if best is not None and best[0] > worth(world, problem, graph):
            answer[name], graph = [best[1]], best[2]
    return {"reason": "It is better so.", **answer}


def _edits(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Return the edits that a schema offers, with one neighbour on either side."""
    [(kind, fields)] = schema["properties"].items()
    names = [*fields["properties"]]

    def chosen(left: Sequence[str], record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        if not left:
            yield {kind: record}
            return
        name, *rest = left
        field = fields["properties"][name]
        several = field.get("type") == "array"
        for item in (field["items"] if several else field)["enum"]:
            yield from chosen(rest, {**record, name: [item] if several else item})

    yield from chosen(names, {})


def _enlisted(asked: Asked) -> Mapping[str, Any]:
    """Choose crafts that the task needs, and edges along its needs, as far as these are known."""
    agents, parts, source = asked.fields["agents"], parts_of(asked.problem.title), asked.source
    chosen: list[str] = []
    for _ in range(source.randint(agents["minItems"], agents["maxItems"])):
        left = [item for item in agents["items"]["enum"] if item not in chosen]
        needed = [part.craft for part in parts if part.craft in left]
        chosen.append(needed[0] if needed and asked.knows else source.choice(left))
    needs = {(parts[part.need].craft, part.craft) for part in parts if part.need is not None}
    pairs = [(name, other) for n, name in enumerate(chosen) for other in chosen[n + 1 :]]
    edges = [
        {"sender": name, "receiver": other}
        for name, other in pairs
        if ((name, other) in needs if asked.knows else source.random() < 1 / 2)
    ]
    return {"reason": "They suit.", "agents": chosen, "edges": edges}


ROUNDS: Mapping[str, Callable[[Asked], Mapping[str, Any]]] = {
    "contributions": _judged,
    "coach": _coached,
    "restructure": _restructured,
    "enlist": _enlisted,
}
"""Who answers TacoMAS's operators."""

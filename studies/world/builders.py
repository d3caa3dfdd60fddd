"""Who answers EvoMAS's operators in a world: teams, and what they are worth.

An agent is as often right as its model is on a niche. A *hint* in its prompt for that niche adds to
the log odds (three times `habit`), one for another niche takes away (twice `dilution`), and so does
a trap (`elsewhere`). An agent that hears reports takes, letter by letter, what most say, itself
included; one that counts takes only others' letters; one that checks takes the first letter that
it judges to be right, as often rightly as `checking` says. A share of the letters of agents of one
model (`alike`) is the same, mistakes included.
"""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ..simulated import in_order
from .forms import filled, variants
from .marks import mark, marks, padded
from .minds import LETTERS, problem_of, shifted
from .tasks import answer_in, seen
from .worlds import NICHES, chance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from coterie.runtime.gateway import ChatRequest
    from coterie.schema.team.team import Agent, Team

    from .gateway import Asked
    from .minds import Problem
    from .worlds import World

MODELS = ("weak", "middle", "strong")
"""Aliases; which one is best at what is drawn."""
TRAPS = ("haste", "style")
HINTS = (*NICHES, *TRAPS)
ACCURACY = (0.2, 0.7)
PARTS = 10
KNOWN, FRESH = 16, 60
"""Tasks of a niche by which a team is measured: by who answers operators, and by the study."""
Edit = dict[str, Any]


@functools.lru_cache(maxsize=2_000)
def accuracy(world: World, niche: str, model: str) -> float:
    """Return how often an agent of a model is right; in a level world that is the niche's."""
    if not world.habit:
        return world.niches[niche].alone
    return chance(world.name, niche, model).uniform(*ACCURACY)


@dataclass(frozen=True, slots=True)
class Built:
    """What matters of an agent: its model, the hints in its prompt, its duty, and whom it hears."""

    model: str
    hints: frozenset[str]
    duty: str
    heard: tuple[str, ...] = ()


def built_of(agent: Agent, heard: Sequence[str]) -> Built:
    """Read an agent."""
    text = agent.prompt or ""
    duties = [duty for (duty,) in marks(text, "duty")]
    hints = frozenset(hint for (hint,) in marks(text, "hint"))
    return Built(agent.model_id, hints, duties[-1] if duties else "", (*heard,))


@dataclass(frozen=True, slots=True)
class Shape:
    """What matters of a team: its agents by id."""

    agents: tuple[tuple[str, Built], ...]

    @classmethod
    def of(cls, team: Team) -> Shape:
        """Read a team."""
        agents = team.agents.values()
        return cls(
            tuple((agent.id, built_of(agent, team.predecessors[agent.id])) for agent in agents)
        )

    def changed(self, **agents: Built) -> Shape:
        """Return it with other agents."""
        return Shape(tuple((name, agents.get(name, item)) for name, item in self.agents))


def worth(world: World, shape: Shape, niche: str, many: int = FRESH) -> float:
    """Return the share of letters that a team gets right on tasks that nobody works on."""
    return _worth(replace(world, answer_tokens=0, skill=0.0), shape, niche, many)


@functools.lru_cache(maxsize=20_000)
def _worth(world: World, shape: Shape, niche: str, many: int) -> float:
    order = in_order({name: item.heard for name, item in shape.agents})
    if order is None:
        return 0.0
    agents, split = dict(shape.agents), "known" if many == KNOWN else "fresh"
    scores: list[float] = []
    for number in range(many):
        problem = problem_of(f"Problem {split}/{number} of the {niche}", world.parts)
        fields: dict[str, str] = {}
        for name in order[0]:
            entry = agents[name]
            heard = [fields[other] for other in entry.heard]
            fields[name] = _answered(world, problem, name, entry, heard)
        pairs = zip(fields[order[1]], problem.answers, strict=True)
        scores.append(fmean(given == right for given, right in pairs))
    return fmean(scores)


def built(world: World, request: ChatRequest) -> str:
    """Answer as an agent of a team does."""
    instructions, shown = (str(message["content"]) for message in request.messages[:2])
    problem = seen(world, shown)
    duties = [duty for (duty,) in marks(instructions, "duty")]
    hints = frozenset(hint for (hint,) in marks(instructions, "hint"))
    item = Built(request.model, hints, duties[-1] if duties else "")
    heard = [letters for (letters,) in marks(shown, "letters")]
    letters = _answered(world, problem, str(request.seed), item, heard)
    return padded((mark("letters", letters), f"Answer: {letters}"), world.answer_tokens)


def _answered(world: World, problem: Problem, place: str, item: Built, heard: Sequence[str]) -> str:
    """Return an agent's letters."""
    own = _attempt(world, problem, place, replace(item, heard=()))
    if not heard:
        return own
    if item.duty == "check":
        return _checked(world, problem, place, [own, *heard])
    voices = [*heard] if item.duty == "count" else [own, *heard]
    return "".join(Counter(of).most_common(1)[0][0] for of in zip(*voices, strict=True))


@functools.lru_cache(maxsize=50_000)
def _attempt(world: World, problem: Problem, place: str, item: Built) -> str:
    niche = problem.niche
    odds = sum(
        3 * world.habit
        if hint == niche
        else -world.elsewhere
        if hint in TRAPS
        else -2 * world.dilution
        for hint in item.hints
    )
    right = shifted(accuracy(world, niche, item.model), odds)
    model = item.model if world.habit else ""
    shared = chance(world.name, problem.title, model)
    own = chance(world.name, problem.title, model, place)
    letters = ""
    for answer, lure in zip(problem.answers, problem.lures, strict=True):
        alike, luck, other, trapped = (shared.random() for _ in range(4))
        single, another = own.random(), own.random()
        luck, other = (luck, other) if alike < world.alike else (single, another)
        wrong = lure if trapped < world.lure else LETTERS[int(other * len(LETTERS))]
        letters += answer if luck < right else wrong
    return letters


def _checked(world: World, problem: Problem, place: str, voices: Sequence[str]) -> str:
    """Take of each part the first letter that is judged to be right, else what most say."""
    source = chance(world.name, problem.title, place, "checks")
    checking = world.niches[problem.niche].checking
    letters = ""
    for answer, *of in zip(problem.answers, *voices, strict=True):
        passed = [it for it in of if (it == answer) == (source.random() < checking)]
        letters += passed[0] if passed else Counter(of).most_common(1)[0][0]
    return letters


def _edited(asked: Asked) -> Mapping[str, Any]:
    """Make the best single kind of change that is offered, or any."""
    schema = asked.fields["edits"]
    team: Team = asked["parent"].team
    shape, niche = Shape.of(team), asked.problem.niche
    knows = asked.knows
    options = [*_options(schema, team, niche, all_hints=not knows)]
    if not options:
        least = filled(schema["items"], "Solve it.", asked.source)
        return {"reason": "So be it.", "edits": [least]}
    if not knows:
        return {
            "reason": "Let us try.",
            "edits": asked.source.choice(options)[: schema["maxItems"]],
        }
    known = [(_value(asked, _made(shape, edits), niche), n) for n, edits in enumerate(options)]
    best, number = max(known)
    if not schema.get("minItems") and best <= _value(asked, shape, niche):
        return {"reason": "It fits.", "edits": []}
    return {"reason": "It will do better.", "edits": options[number][: schema["maxItems"]]}


def _value(asked: Asked, shape: Shape, niche: str) -> float:
    return worth(asked.world, shape, niche, KNOWN)


def _options(
    schema: Mapping[str, Any], team: Team, niche: str, *, all_hints: bool
) -> Iterator[list[Edit]]:
    """Return what there is to change: each a list of edits."""
    for kind in variants(schema["items"]):
        [(name, fields)] = kind["properties"].items()
        about = fields["properties"]
        if name == "set_prompt":
            yield from _prompts(about["agent"]["enum"], team, HINTS if all_hints else (niche,))
        elif name == "set_model":
            for agent in about["agent"]["enum"]:
                for model in about["model_id"]["enum"]:
                    if model in MODELS and model != team.agents[agent].model_id:
                        yield [{name: {"agent": agent, "model_id": model}}]
        elif name in {"add_edge", "remove_edge"}:
            for sender in about["sender"]["enum"]:
                for receiver in about["receiver"]["enum"]:
                    yield [{name: {"sender": sender, "receiver": receiver}}]


def _prompts(agents: Sequence[str], team: Team, hints: Sequence[str]) -> Iterator[list[Edit]]:
    """Return new prompts: a hint more for one agent or for all, or the duty to check."""

    def with_mark(agent: str, kind: str, label: str) -> Edit | None:
        before = (team.agents[agent].prompt or "").strip()
        new = mark(kind, label)
        edit = {"agent": agent, "prompt": f"{before} {new}"}
        return None if new in before else {"set_prompt": edit}

    for hint in hints:
        each = [with_mark(agent, "hint", hint) for agent in agents]
        given = [edit for edit in each if edit is not None]
        yield from ([edit] for edit in given)
        if len(given) > 1:
            yield given
    checks = [with_mark(agent, "duty", "check") for agent in agents]
    yield from ([check] for check in checks if check is not None)


def _made(shape: Shape, edits: Sequence[Edit]) -> Shape:
    """Return a team with edits."""
    agents = dict(shape.agents)
    for edit in edits:
        [(kind, about)] = edit.items()
        if kind == "set_prompt":
            text = about["prompt"]
            hints = frozenset(hint for (hint,) in marks(text, "hint"))
            duties = [duty for (duty,) in marks(text, "duty")]
            old = agents[about["agent"]]
            agents[about["agent"]] = replace(old, hints=hints, duty=duties[-1] if duties else "")
        elif kind == "set_model":
            agents[about["agent"]] = replace(agents[about["agent"]], model=about["model_id"])
        else:
            old, sender = agents[about["receiver"]], about["sender"]
            heard = (*(name for name in old.heard if name != sender),)
            heard = (*heard, sender) if kind == "add_edge" else heard
            agents[about["receiver"]] = replace(old, heard=heard)
    return shape.changed(**agents)


def _crossed(asked: Asked) -> Mapping[str, Any]:
    """Choose for each position the agent that is worth most, or any."""
    fields, source = asked.fields, asked.source
    if "topology" in fields:
        parents = [asked["first"].team, asked["second"].team]
        values = [_value(asked, Shape.of(parent), asked.problem.niche) for parent in parents]
        sides = fields["topology"]["enum"]
        side = sides[values.index(max(values))] if asked.knows else source.choice(sides)
        return {"reason": "So be it.", "topology": side}
    cross = asked["crosses"][asked["side"]]
    shape, niche = Shape.of(cross.own), asked.problem.niche
    agents, chosen = dict(shape.agents), dict[str, str]()
    for position, offered in cross.options.items():
        words = [*offered]
        if asked.knows:

            def value(word: str, position: str = position, offered: Any = offered) -> float:
                result = built_of(offered[word], agents[position].heard)
                return _value(asked, shape.changed(**{position: result}), niche)

            chosen[position] = max(words, key=value)
        else:
            chosen[position] = source.choice(words)
    own = {word for of in cross.options.values() for word in of if word.startswith(asked["side"])}
    if {*chosen.values()} <= own or len({*chosen.values()}) == 1:
        position = source.choice([*chosen])
        others = [word for word in cross.options[position] if word != chosen[position]]
        chosen[position] = source.choice(others)
    return {"reason": "They fit.", "positions": chosen}


def _decided(asked: Asked) -> Mapping[str, Any]:
    """Choose what to change: a hint that is missing first, then models, or anything."""
    options: Sequence[str] = asked.fields["change"]["enum"]
    shape = Shape.of(asked["parent"].team)
    lacking = any(asked.problem.niche not in item.hints for _, item in shape.agents)
    wanted = "prompts" if lacking else "model_id"
    known = wanted if wanted in options and asked.knows else asked.source.choice(options)
    return {"reason": "That is what it lacks.", "change": known}


def _selected(asked: Asked) -> Mapping[str, Any]:
    """Choose the teams that are expected to do best, or any."""
    names: Sequence[str] = asked.fields["selected"]["items"]["enum"]
    members = {item.name: known.score for item, known in asked["members"].items()}
    best = sorted(names, key=lambda name: -members[name])
    several = best if asked.knows else asked.source.sample(names, len(names))
    return {"reason": "They did well.", "selected": several[: asked.most("selected")]}


def _judged(asked: Asked) -> Mapping[str, Any]:
    """Score an answer by the share that is right, with an error."""
    given, right = answer_in(asked["answer"]), asked.problem.answers
    share = fmean(name == it for name, it in zip(given.ljust(len(right), "-"), right, strict=False))
    share += asked.source.uniform(-asked.world.judging, asked.world.judging)
    return {"reason": "So it seems.", "score": round(min(1.0, max(0.0, share)), 1)}


def _summed_up(asked: Asked) -> Mapping[str, Any]:
    """Return how many steps there were, and nothing more."""
    return {"summary": f"{len(asked['steps'])} steps were made."}


BUILDERS: Mapping[str, Callable[[Asked], Mapping[str, Any]]] = {
    "mutate": _edited,
    "instantiate": _edited,
    "crossover": _crossed,
    "decide": _decided,
    "select": _selected,
    "judge": _judged,
    "consolidate": _summed_up,
}
"""Who answers EvoMAS's operators."""

"""A ward: specialists who say what they read off slides, and what each of them is worth.

Each case has a letter for each of `PARTS` findings. A slide shows each finding with a chance
(`COVERAGE`); a reading of it is right as often as its reader is reliable, else it is the lure. Who
is of which kind is drawn for a world: two share a slide and say the same, one reads a slide of its
own, one has no slide, and one reads wrongly more often than not. A report has every reading once,
and of each finding the majority of slides counts.

An utterance shows by which method it was read: by the right one where most of it is right, else by
a wrong one. Whoever is reminded of the right method for a case's niche and sign reads better
(`habit`), of a wrong one worse.
"""

from __future__ import annotations

import functools
import json
import math
from collections import Counter
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from coterie.schema.team.team import Agent, Execution, Recall, Rounds, Team

from .gateway import MODEL
from .marks import FILLER, mark, marks
from .minds import METHODS, Lesson, lessons_in, right_method, shifted, without
from .tasks import seen
from .worlds import chance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from coterie.operators.core.utterances import Utterance
    from coterie.runtime.gateway import ChatRequest

    from .gateway import Asked
    from .minds import Problem
    from .worlds import World

AGENTS = ("amber", "birch", "cedar", "delta", "ember")
KINDS = ("copied", "redundant", "helpful", "idle", "misleading")
REPORTER, CHIEF = "reporter", "chief"
PARTS, A_ROUND, COVERAGE = 4, 2, 0.75
RELIABLE, MISLEADING = (0.65, 0.9), (0.1, 0.4)
HALF, CHARACTERS = 0.5, 4
FORM: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "opinion": {"type": "string"},
        "increment": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["opinion", "increment"],
    "additionalProperties": False,
}


@functools.lru_cache(maxsize=200)
def kinds(name: str) -> Mapping[str, str]:
    """Return of which kind each specialist of a world is."""
    order = chance(name, "kinds").sample(KINDS, len(KINDS))
    return MappingProxyType(dict(zip(AGENTS, order, strict=True)))


@functools.lru_cache(maxsize=1_000)
def _reader(name: str, agent: str, *, level: bool) -> tuple[str, float, float]:
    """Return a specialist's slide, how reliable it is, and how loud; no slide: ""."""
    kind = kinds(name)[agent]
    loudness = chance(name, agent, "loudness").random()
    if level:
        return agent, chance(name, "reliable").uniform(*RELIABLE), HALF
    if kind == "idle":
        return "", HALF, loudness
    slide = "shared" if kind in {"copied", "redundant"} else agent
    bounds = MISLEADING if kind == "misleading" else RELIABLE
    return slide, chance(name, slide, "reliable").uniform(*bounds), loudness


def reader(world: World, agent: str) -> tuple[str, float, float]:
    """Return a specialist's slide, how reliable it is, and how loud."""
    return _reader(world.name, agent, level=world.stranger == 0)


def ward() -> Team:
    """Return the team: five specialists, who consult in rounds, a reporter and a chief."""
    recall = Recall(k=3, of="pool", kinds=("experience",), niche=True)
    agents = {
        name: Agent(
            id=name,
            role=name,
            agent_type="LLM",
            model_id=MODEL,
            prompt=mark("specialist", name),
            output_schema=FORM,
            recall=recall,
        )
        for name in AGENTS
    }
    for name in (REPORTER, CHIEF):
        prompt = mark("duty", name)
        agents[name] = Agent(id=name, role=name, agent_type="LLM", model_id=MODEL, prompt=prompt)
    return Team(
        name="ward_round",
        agents=agents,
        reports_to={**dict.fromkeys(AGENTS, (REPORTER,)), REPORTER: (CHIEF,)},
        execution=Execution(rounds=Rounds(most=3, until="converged", closing=(REPORTER, CHIEF))),
    )


def consulted(world: World, request: ChatRequest) -> str:
    """Answer as a specialist, as the reporter or as the chief."""
    instructions, shown = (str(message["content"]) for message in request.messages[:2])
    problem = seen(world, shown)
    for (agent,) in marks(instructions, "specialist"):
        return _spoken(world, problem, agent, shown)
    if (REPORTER,) in marks(instructions, "duty"):
        read = dict.fromkeys(marks(shown, "read"))
        return "\n".join(mark("read", *texts) for texts in read) or "Nothing was read."
    return f"Answer: {_decision(world, problem, marks(shown, 'read'))}"


def _spoken(world: World, problem: Problem, agent: str, shown: str) -> str:
    """Return what a specialist still has to say, at most two readings a round."""
    slide, reliable, loudness = reader(world, agent)
    numbers = {
        int(part) for part, _, of, who in marks(shown, "read") if (of, who) == (slide, agent)
    }
    source = chance(world.name, problem.title, slide, "shows")
    visible = [n for n in range(PARTS) if source.random() < COVERAGE] if slide else []
    new = [number for number in visible if number not in numbers][:A_ROUND]
    odds = _reminded(world, problem, lessons_in(shown))
    heard = sorted({texts for texts in marks(shown, "read") if texts[3] != agent})
    letters = {n: _read(world, problem, (slide, n), shifted(reliable, odds), heard) for n in new}
    lines = [mark("read", n, letter, slide, agent) for n, letter in letters.items()]
    if new:
        lines.append(mark("way", _way(world, problem, letters, slide)))
    elif not numbers and not slide and not marks(shown, "bare"):
        lines.append(mark("bare", agent))
    filler = FILLER * (world.answer_tokens * CHARACTERS // len(FILLER))
    opinion = f"{mark('sure', f'{loudness:.2f}')} {filler}".strip()
    return json.dumps({"opinion": opinion, "increment": lines})


def _reminded(world: World, problem: Problem, lessons: Sequence[Lesson]) -> float:
    """Return what experience adds to the log odds of a reading; each method counts once."""
    right = right_method(world.name, problem.niche, problem.sign)
    methods = {lesson.method for lesson in lessons if lesson.fits(problem)}
    signs = sum(1 if method == right else -1 for method in methods)
    return world.habit * signs - world.dilution * sum(
        not lesson.fits(problem) for lesson in lessons
    )


def _read(
    world: World, problem: Problem, place: tuple[str, int], right: float, heard: Sequence[object]
) -> str:
    """Read a finding; a share of readings comes out the same whatever was heard."""
    slide, number = place
    source = chance(world.name, world.luck, problem.title, slide, number)
    is_fixed, luck = source.random() < world.alike, source.random()
    if not is_fixed:
        luck = chance(world.name, world.luck, problem.title, slide, number, heard).random()
    return (problem.answers if luck < right else problem.lures)[number]


def _way(world: World, problem: Problem, letters: Mapping[int, str], slide: str) -> str:
    """Return the method of an utterance: the right one where most of it is right."""
    balance = sum(1 if problem.answers[n] == letter else -1 for n, letter in letters.items())
    right = right_method(world.name, problem.niche, problem.sign)
    source = chance(world.name, problem.title, slide, "way", balance)
    is_right = balance > 0 or (balance == 0 and source.random() < HALF)
    return right if is_right else source.choice(without(METHODS[problem.niche], right))


def _decision(world: World, problem: Problem, read: Sequence[tuple[str, ...]]) -> str:
    """Decide on each finding by the majority of slides, by a coin where there is none."""
    first: dict[tuple[str, str], str] = {}
    for part, letter, slide, _ in read:
        first.setdefault((slide, part), letter)
    votes = Counter[str]()
    for (_, part), letter in first.items():
        votes[part] += 1 if letter == problem.answers[int(part)] else -1
    answer = ""
    for number in range(PARTS):
        source, lead = chance(world.name, world.luck, problem.title, number), votes[str(number)]
        is_right = lead > 0 if lead else source.random() < HALF
        slips = source.random() < world.mishearing
        answer += (problem.answers if is_right != slips else problem.lures)[number]
    return answer


def worth(world: World, group: Iterable[str]) -> float:
    """Return the share of findings that a group gets right over all cases, without experience."""
    slides = {slide: right for slide, right, _ in (reader(world, name) for name in group) if slide}
    lead: Mapping[int, float] = {0: 1.0}
    for right in slides.values():
        more: dict[int, float] = {}
        steps = {1: COVERAGE * right, 0: 1 - COVERAGE, -1: COVERAGE * (1 - right)}
        for votes, share in lead.items():
            for step, part in steps.items():
                more[votes + step] = more.get(votes + step, 0.0) + share * part
        lead = more
    won = sum(share for votes, share in lead.items() if votes > 0) + lead.get(0, 0.0) / 2
    return won * (1 - world.mishearing) + (1 - won) * world.mishearing


def shapley(world: World, agent: str) -> float:
    """Return a specialist's true Shapley value (Shapley 1953), from all groups of the others."""
    others, total = without(AGENTS, agent), 0.0
    for size in range(len(AGENTS)):
        share = 1 / (len(AGENTS) * math.comb(len(others), size))
        for group in combinations(others, size):
            total += share * (worth(world, [*group, agent]) - worth(world, group))
    return total


def _appraised(asked: Asked) -> Mapping[str, Any]:
    """Score utterances by what is right in them, by how sure they sound, and by chance."""
    world, source, problem = asked.world, asked.source, asked.problem

    def scored(utterance: Utterance) -> float:
        read = [
            problem.answers[int(n)] == letter for n, letter, *_ in marks(_new(utterance), "read")
        ]
        balance = sum(1 if is_right else -1 for is_right in read) / PARTS
        [(loudness,)] = marks(utterance.text, "sure")[:1] or [("0.5",)]
        value = HALF + world.skill * balance + world.vanity * (float(loudness) - HALF)
        value += source.uniform(-world.judging, world.judging)
        return round(min(1.0, max(0.0, value)), 1)

    agents = {
        item.agent: {"reason": "So it seems.", "score": scored(item)} for item in asked["said"]
    }
    return {"reason": "So it seems.", "agents": agents}


def _new(utterance: Utterance) -> str:
    """Return what an utterance says that is new."""
    try:
        return " ".join(json.loads(utterance.text)["increment"])
    except ValueError:
        return utterance.text


def _distilled(asked: Asked) -> Mapping[str, Any]:
    """Return the method by which an utterance was read, for tasks of its niche and sign."""
    problem, utterance = asked.problem, asked["utterance"]
    [(method,)] = marks(_new(utterance), "way")[-1:] or [("",)]
    lesson = Lesson(problem.niche, problem.sign, method, 1)
    return {
        "context": f"{problem.sign} of the {problem.niche}",
        "action": mark("lesson", *lesson.fields) if method else "Nothing to do.",
        "rationale": "It was worth it.",
    }


WARD: Mapping[str, Callable[[Asked], Mapping[str, Any]]] = {
    "appraise": _appraised,
    "distil": _distilled,
}
"""Who answers MATTRL's operators."""

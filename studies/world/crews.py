"""A crew: a lead and a member for each craft, with known defects, and how it works on an order.

Each task is an order of `PARTS` parts, each of a craft. The first part is of a craft that nobody
has, unless the world is sound: the lead works on it, as a stranger. Two members count letters from
another place than the lead, which takes theirs wrongly unless it has noted their place. Two others
leave out a detail that their part needs, unless it is a rule of theirs; all others tell theirs but
for what they forget.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coterie.schema.team.team import Agent, Team

from .gateway import MODEL
from .marks import mark, marked, marks, padded
from .minds import LETTERS, shifted
from .tasks import seen
from .worlds import chance

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coterie.runtime.gateway import ChatRequest

    from .minds import Problem
    from .worlds import World

LEAD, PARTS, NONE = "lead", 8, "-"
CRAFTS = ("mason", "weaver", "tanner", "cooper", "glazier", "smith", "potter", "dyer")
PLACES = ("door", "window", "hearth", "stair", "gate", "well")
"""From where somebody counts."""
DETAILS = ("grain", "thickness", "season", "colour", "weight", "origin")


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """Somebody of a craft.

    Attributes:
        craft: The craft, by which it is called.
        place: From where it counts.
        detail: What its parts need.
        omits: Whether it leaves that out by itself.
    """

    craft: str
    place: str
    detail: str
    omits: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Crew:
    """Who there is at first, and who is missing.

    Attributes:
        members: The members; the first two may count from elsewhere, the last two may omit.
        missing: The craft that is wanted and not there; "" where there is none.
        place: From where the lead counts.
    """

    members: Sequence[Member]
    missing: str
    place: str

    def of_part(self, number: int) -> str:
        """Return the craft of a part: the missing one first, then of each member in turn."""
        wanted = [self.missing] if self.missing else []
        wanted += [member.craft for member in self.members]
        return wanted[number % len(wanted)]


@functools.lru_cache(maxsize=100)
def crew_of(world: World) -> Crew:
    """Return the crew of a world."""
    source = chance(world.name, "crew")
    crafts, places = source.sample(CRAFTS, 5), source.sample(PLACES, len(PLACES))
    details = source.sample(DETAILS, 5)
    members = [
        Member(craft=craft, place=places[0], detail=detail)
        for craft, detail in zip(crafts[:4], details, strict=False)
    ]
    if world.sound:
        members.append(Member(craft=crafts[4], place=places[0], detail=details[4]))
        return Crew(members=members, missing="", place=places[0])
    members[:2] = [
        replace(member, place=place) for member, place in zip(members[:2], places[1:], strict=False)
    ]
    members[2:] = [replace(member, omits=True) for member in members[2:]]
    return Crew(members=members, missing=crafts[4], place=places[0])


def prompt_of(member: Member) -> str:
    """Write who a member is, so that it reads that itself."""
    return mark("member", member.craft, member.place, member.detail, int(member.omits))


def team_of(world: World) -> Team:
    """Return the crew as a team: all report to the lead."""
    crew = crew_of(world)
    prompts = {LEAD: mark("lead", crew.place), **{m.craft: prompt_of(m) for m in crew.members}}
    return Team(
        name="yard",
        agents={
            name: Agent(id=name, role=name, agent_type="LLM", model_id=MODEL, prompt=prompt)
            for name, prompt in prompts.items()
        },
        reports_to={member.craft: (LEAD,) for member in crew.members},
        declared_output=LEAD,
    )


def worked(world: World, request: ChatRequest) -> str:
    """Answer as a member, or as the lead, does."""
    instructions, shown = (str(message["content"]) for message in request.messages[:2])
    problem = seen(world, shown)
    for craft, place, detail, omits in marks(instructions, "member"):
        member = Member(craft=craft, place=place, detail=detail, omits=omits == "1")
        return padded(
            (*_parts(world, problem, member, instructions), "That is all."), world.answer_tokens
        )
    return _handed_in(world, problem, instructions, shown)


def _parts(world: World, problem: Problem, member: Member, instructions: str) -> list[str]:
    """Return what a member reports of its parts: number, letter, place and detail."""
    rules = {rule for (rule,) in marks(instructions, "rule")}
    idle = len(rules - {member.detail}) + len(marks(instructions, "order"))
    reports = [mark("at", member.craft, member.place)]
    for number in range(PARTS):
        if crew_of(world).of_part(number) != member.craft:
            continue
        source = chance(world.name, world.luck, problem.title, number, "tells")
        forgets, overlooks = source.random(), source.random()
        tells = not member.omits and forgets >= world.forgetting
        tells = tells or (member.detail in rules and overlooks >= world.forgetting)
        letter = _letter(world, problem, number, is_able=tells, odds=-world.dilution * idle)
        detail = member.detail if tells else NONE
        reports.append(mark("part", number, letter, member.craft, detail))
    return reports


def _handed_in(world: World, problem: Problem, instructions: str, shown: str) -> str:
    """Take members' letters as one understands them, and work on what nobody reported."""
    [(place,)] = marks(instructions, "lead")
    known = marked(instructions, "counts")
    places: Mapping[str, str] = marked(shown, "at")
    reported_parts = {int(texts[0]): texts for texts in marks(shown, "part")}
    idle = len(places.keys() - {crew_of(world).of_part(n) for n in range(PARTS)})
    idle += len(marks(instructions, "rule", "order"))
    answer, lines = "", [mark("at", LEAD, place)]
    for number in range(PARTS):
        if number not in reported_parts:
            letter = _letter(world, problem, number, is_able=False, odds=-world.dilution * idle)
            lines.append(mark("alone", number))
        else:
            _, letter, craft, _ = reported_parts[number]
            if known.get(craft, place) != places[craft]:
                letter = _letter(world, problem, number, is_able=False, odds=0.0)
            letter = _misheard(world, problem, number, letter)
        answer += letter
    return padded((*lines, f"Answer: {answer}"), world.answer_tokens)


def _letter(world: World, problem: Problem, number: int, *, is_able: bool, odds: float) -> str:
    niche = world.niches[problem.niche]
    source = chance(world.name, world.luck, problem.title, number)
    right = source.random() < shifted(niche.able if is_able else niche.unable, odds)
    answer = problem.answers[number]
    return answer if right else source.choice([letter for letter in LETTERS if letter != answer])


def _misheard(world: World, problem: Problem, number: int, letter: str) -> str:
    source = chance(world.name, world.luck, problem.title, number, "hears")
    return source.choice(LETTERS) if source.random() < world.mishearing else letter


def reported(text: str) -> Mapping[int, tuple[str, str]]:
    """Return whose each part of a report is, and which detail was told."""
    return {int(number): (craft, detail) for number, _, craft, detail in marks(text, "part")}

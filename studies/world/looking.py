"""Who answers Meta-Team's operators in a world: a crew that looks back on an order.

Everybody sees which parts are wrong, since the right letters are shown, and not why. Whoever is
asked gets it right as often as `skill` says; else it names something else of the kind.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .crews import CRAFTS, DETAILS, LEAD, PARTS, PLACES, Member, crew_of, prompt_of, reported
from .forms import filled
from .marks import mark, marked, marks
from .minds import without
from .tasks import answer_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from coterie.operators.methods.meta_team.evidence.ground import Ground
    from coterie.schema.team.team import Notes

    from .gateway import Asked

NOTHING = "nothing"
CHARACTERS = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class _Looking:
    """An operator's question about an order that is done."""

    asked: Asked

    @property
    def ground(self) -> Ground:
        """What it stands on."""
        return self.asked["ground"]

    @property
    def agent(self) -> str:
        """Who is asked."""
        return self.asked["agent"]

    @property
    def wrong(self) -> list[int]:
        """The parts that were wrong."""
        report = self.ground.feedback
        given = answer_in(report.answer or "").ljust(PARTS, "-")
        return [n for n, letter in enumerate(report.reference) if given[n] != letter]

    def said(self, agent: str) -> str:
        """Return what an agent said."""
        outcome = self.ground.run.agents.get(agent)
        return outcome.result.content if outcome and outcome.result else ""

    @property
    def trace(self) -> str:
        """Return what all said."""
        return "\n".join(map(self.said, self.ground.run.agents))

    def notes(self, agent: str) -> Notes:
        """Return what an agent has noted."""
        return self.ground.team.agents[agent].notes

    def rules(self, agent: str) -> set[str]:
        """Return the details that an agent made it a rule to tell."""
        return {rule for (rule,) in marks("\n".join(self.notes(agent).patches.values()), "rule")}

    def own_wrong(self, agent: str) -> list[int]:
        """Return the wrong parts that an agent reported."""
        own = reported(self.said(agent))
        return [number for number in self.wrong if number in own]

    def pick(self, right: str, several: Sequence[str]) -> str:
        """Return what is right where whoever answers knows it, else something else."""
        asked = self.asked
        return right if asked.knows else asked.source.choice(without(several, right))


def _questioned(asked: Asked) -> Mapping[str, Any]:
    """Answer as somebody who looks back: ask, answer a colleague, or note; orders have no files."""
    looking, fields = _Looking(asked=asked), asked.fields
    if "looks" in fields:
        return {"looks": []}
    if "questions" in fields:
        return {"questions": _questions(looking)[: asked.most("questions")]}
    if "answer" in fields:
        return {"answer": _evidence(looking)}
    return {
        "reason": "That is what I saw.",
        "notes": [_patch(rule) for rule in _rules(looking)][: asked.most("notes")],
        "summary": " ".join(_summary(looking)),
    }


def _questions(looking: _Looking) -> list[Mapping[str, Any]]:
    """Ask the lead what one's wrong parts lacked."""
    asked = looking.asked
    if LEAD not in asked["others"]:
        return []
    wrong = [number for number in looking.own_wrong(looking.agent) if asked.knows]
    return [{"to": LEAD, "question": mark("lacks", number)} for number in wrong[:1]]


def _evidence(looking: _Looking) -> str:
    """Return which detail a report lacked, by what one heard."""
    asked, asker = looking.asked, looking.asked["asker"]
    [(number,)] = marks(asked["question"], "lacks") or [(0,)]
    _, detail = reported(looking.said(asker)).get(int(number), ("", NOTHING))
    members = {member.craft: member for member in crew_of(asked.world).members}
    needed = members[asker].detail if asker in members else NOTHING
    lacked = needed if detail == "-" else NOTHING
    return mark("lacked", looking.pick(lacked, (*DETAILS, NOTHING)))


def _rules(looking: _Looking) -> Iterator[str]:
    """Make rules of what one was told; who was told nothing guesses now and then."""
    asked, agent = looking.asked, looking.agent
    texts = [what for item in asked["evidence"] for (what,) in marks(item.answer, "lacked")]
    if not texts and looking.own_wrong(agent) and not asked.knows:
        texts = [asked.source.choice(DETAILS)]
    new = [fromkey for fromkey in dict.fromkeys(texts) if fromkey != NOTHING]
    yield from (name for name in new if name not in looking.rules(agent))


def _patch(rule: str) -> Mapping[str, Any]:
    return {"patch": {"name": f"tell_{rule}", "text": mark("rule", rule)}}


def _summary(looking: _Looking) -> Iterator[str]:
    """Yield what went wrong; the lead says which craft was missing."""
    yield "Some parts were wrong." if looking.wrong else "All was well."
    alone = {int(number) for (number,) in marks(looking.said(looking.agent), "alone")}
    for number in looking.wrong:
        if number in alone:
            craft = crew_of(looking.asked.world).of_part(number)
            yield mark("absent", looking.pick(craft, CRAFTS))


def _settled(asked: Asked) -> Mapping[str, Any]:
    """Say from where one counts, or note from where the other does."""
    looking, other = _Looking(asked=asked), asked["other"]
    if "account" in asked.fields:
        failed = {*looking.own_wrong(looking.agent), *looking.own_wrong(other)}
        places = marked(looking.said(looking.agent), "at")
        place = places.get(looking.agent, "")
        counts = mark("place", place) if failed and place else "We did well together."
        return {"account": counts}
    own = marked(looking.said(looking.agent), "at").get(looking.agent, "")
    profile = ""
    for (place,) in marks(asked["accounts"].get(other, ""), "place"):
        known = marked(looking.notes(looking.agent).teammates.get(other, ""), "counts")
        if looking.agent == LEAD and place != known.get(other, own):
            profile = mark("counts", other, looking.pick(place, PLACES))
    return {"reason": "So we agreed.", "profile": profile, "together": ""}


def _absent(asked: Asked) -> list[str]:
    """Return the crafts that summaries say are missing."""
    return [craft for item in asked["reflected"] for (craft,) in marks(item.summary, "absent")]


def _discussed(asked: Asked) -> Mapping[str, Any]:
    """Return which craft is missing, where a summary says that one is; else nothing."""
    looking, missing = _Looking(asked=asked), crew_of(asked.world).missing
    is_open = bool(missing and _absent(asked))
    return {"statement": mark("absent", looking.pick(missing, CRAFTS)) if is_open else ""}


def _reorganised(asked: Asked) -> Mapping[str, Any]:
    """Take in the craft that most say is missing; else change something now and then."""
    looking = _Looking(asked=asked)
    statements = asked["discussion"].statements
    spoken = [craft for statement in statements for (craft,) in marks(statement.text, "absent")]
    named = [craft for craft, _ in Counter([*_absent(asked), *spoken]).most_common()]
    here, source = {*looking.ground.team.agents}, asked.source
    rules: list[str] = []
    if not named and looking.wrong and not asked.knows and source.random() < 1 / 2:
        rules = [mark("order", source.randrange(1_000))]
    return _of_team(asked, [name for name in named if name not in here], rules)


def _of_team(asked: Asked, crafts: Sequence[str], rules: Sequence[str]) -> Mapping[str, Any]:
    """Write what changes in the team as a whole; whatever else is asked gets the least."""
    fields = asked.fields
    coming = [_newcomer(asked, fromkey) for fromkey in dict.fromkeys(crafts)][: asked.most("come")]
    wanted: dict[str, Any] = {"rules": [*rules], "come": coming, "retry": bool(coming)}
    least = {name: filled(schema, "So be it.", asked.source) for name, schema in fields.items()}
    return {**least, **{name: value for name, value in wanted.items() if name in fields}}


def _newcomer(asked: Asked, craft: str) -> Mapping[str, Any]:
    """Write somebody of a craft who counts as the lead does."""
    fields = asked.fields["come"]["items"]["properties"]
    place = crew_of(asked.world).place
    member = Member(craft=craft, place=place, detail=DETAILS[0])
    known: Mapping[str, Any] = {
        "id": craft,
        "role": craft,
        "prompt": prompt_of(member),
        "like": next(item for item in fields["like"]["enum"] if item != LEAD),
        "tools": [],
        "hears": [],
        "reports_to": [LEAD],
    }
    return {name: known[name] for name in fields}


def _centralised(asked: Asked) -> Mapping[str, Any]:
    """Propose what mends each wrong part, the less often the longer the trace; else guess."""
    looking, crew = _Looking(asked=asked), crew_of(asked.world)
    tokens = sum(len(looking.said(agent)) for agent in looking.ground.run.agents) / CHARACTERS
    clear = asked.world.skill * math.exp(-tokens / asked.world.span)
    members = {item.craft: item for item in crew.members}
    own: dict[str, list[str]] = {agent: [] for agent in asked["agents"]}
    pairs: dict[tuple[str, str], str] = {}
    crafts: list[str] = []
    parts = {k: v for agent in own for k, v in reported(looking.said(agent)).items()}
    for number in looking.wrong:
        craft, sees = crew.of_part(number), asked.source.random() < clear
        member = members.get(craft)
        if number not in parts:
            crafts.append(craft if sees else asked.source.choice(CRAFTS))
        elif member and parts[number][1] == "-":
            own.get(craft, []).append(member.detail if sees else asked.source.choice(DETAILS))
        elif member and member.place != crew.place:
            place = member.place if sees else asked.source.choice(PLACES)
            pairs[LEAD, craft] = mark("counts", craft, place)
    listed = [
        {"of": of, "about": about, "profile": text, "together": ""}
        for (of, about), text in pairs.items()
        if (of, about) in {*asked["pairs"]}
    ]
    noted = {
        agent: [_patch(rule) for rule in dict.fromkeys(rules) if rule not in looking.rules(agent)]
        for agent, rules in own.items()
    }
    here = {*looking.ground.team.agents}
    changes = _of_team(asked, [name for name in crafts if name not in here], [])
    answer: Mapping[str, Any] = {"agents": noted, "pairs": listed[: asked.most("pairs")]}
    return {**changes, **{name: value for name, value in answer.items() if name in asked.fields}}


def kinds_of_notes(asked_world: Any, team: Any) -> Mapping[str, int]:
    """Count the notes of a team that mend something, and those that do not."""
    crew = crew_of(asked_world)
    members, counts = (
        {member.craft: member for member in crew.members},
        {"useful": 0, "idle": 0, "wrong": 0},
    )
    for agent in team.agents.values():
        needed = members[agent.id].detail if agent.id in members else ""
        for (rule,) in marks("\n".join(agent.notes.patches.values()), "rule"):
            counts["useful" if rule == needed else "idle"] += 1
        for craft, place in marks("\n".join(agent.notes.teammates.values()), "counts"):
            right = craft in members and members[craft].place == place
            counts["useful" if right else "wrong"] += 1
    newcomers = team.agents.keys() - members.keys() - {LEAD}
    for craft in newcomers:
        counts["useful" if craft == crew.missing else "idle"] += 1
    counts["idle"] += len(marks(team.constitution, "order"))
    return counts


LOOKING: Mapping[str, Callable[[Asked], Mapping[str, Any]]] = {
    "retrospect": _questioned,
    "settle": _settled,
    "discuss": _discussed,
    "reorganise": _reorganised,
    "centralise": _centralised,
}

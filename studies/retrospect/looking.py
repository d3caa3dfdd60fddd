"""What those who look back answer: from what stands in their questions, and by chance.

Which question it is follows from the shape of the answer that is wanted, not from its words.
"""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..fences import fenced_texts
from . import minds
from .landscapes import CRAFTS, Member
from .minds import Remedy
from .names import LEAD
from .texts import (
    absent_in,
    absent_said,
    counted_in,
    counted_said,
    craft_in,
    handed_in,
    idle_in,
    idle_said,
    instructions,
    lacked_in,
    lacked_said,
    letters_in,
    measures_in,
    other_counted_said,
    others_counted_in,
    rule_said,
    rules_in,
    title_in,
)
from .world import order_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from coterie.runtime.gateway import ChatRequest, Message

    from .landscapes import Landscape
    from .world import Order, Part

__all__ = ["looked_back", "operator_of"]

PART = re.compile(r"part (\d)", re.IGNORECASE)


def operator_of(schema: Mapping[str, Any] | None) -> str | None:
    """Name who asks, by the parts of the answer that is wanted; None: no operator does."""
    parts = {*(schema or {}).get("properties", ())}
    return next((name for name, own in SHAPES.items() if own <= parts), None)


def looked_back(world: Landscape, request: ChatRequest) -> str:
    """Answer an operator's question.

    Args:
        world: Where.
        request: The question.
    """
    schema: Any = request.schema
    operator = operator_of(schema)
    messages = _asked_first(request.messages)
    texts = [str(one["content"]) for one in messages]
    named = title_in("\n".join(texts))
    if operator is None or named is None:
        raise ValueError(f"nobody in the world asks this: {texts[-1]!r}")
    asked = _Asked(
        world=world,
        order=order_of(world, named),
        instructions=texts[0],
        before=[(str(one["role"]), text) for one, text in zip(messages[:-1], texts, strict=False)],
        shown=texts[-1],
        schema=schema,
    )
    return json.dumps(ANSWERS[operator](asked))


def _asked_first(messages: Sequence[Message]) -> Sequence[Message]:
    """Leave out that something was wrong with an answer: who is told so says the same again."""
    shown = str(messages[-1]["content"])
    return messages if fenced_texts(shown, "task") else messages[:-2]


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """An operator's question.

    Attributes:
        world: Where.
        order: The task.
        instructions: What who is asked reads ahead of everything.
        before: Its conversation, with who said what; of an operator's own question the
            instructions alone.
        shown: The question.
        schema: The shape of the answer.
    """

    world: Landscape
    order: Order
    instructions: str
    before: Sequence[tuple[str, str]]
    shown: str
    schema: Any

    def texts(self, *kinds: str) -> list[str]:
        """Give the texts in fences of some kinds."""
        return [text for _, text in self.titled(*kinds)]

    def titled(self, *kinds: str) -> list[tuple[str, str]]:
        """Give them with what their fences are titled with."""
        return fenced_texts(self.shown, *kinds)

    @functools.cached_property
    def agent(self) -> str:
        """Who is asked."""
        return craft_in(self.instructions) or LEAD

    @functools.cached_property
    def wrong(self) -> Sequence[Part]:
        """The parts whose letter was wrong, as anybody sees who is shown the right ones."""
        given = letters_in("\n".join(self.texts("team_answer")))
        right = letters_in("\n".join(self.texts("right_answer")))
        return [one for one in self.order.parts if given.get(one.number) != right.get(one.number)]

    @property
    def heard(self) -> str:
        """What who is asked was told."""
        return "\n".join(text for role, text in self.before if role == "user")

    @property
    def said(self) -> str:
        """What who is asked said itself."""
        return "\n".join(text for role, text in self.before if role == "assistant")

    @property
    def measured_for(self) -> Iterator[Part]:
        """The wrong parts for which who is asked gave a measure."""
        gave = {one.part for one in measures_in(self.said)}
        return (one for one in self.wrong if one.number in gave)

    @property
    def other(self) -> str:
        """The colleague that the question is about: whom it names beside who is asked."""
        words, *_ = self.shown.partition("\n<")
        known = [one for one in (*CRAFTS, LEAD) if re.search(rf"\b{one}\b", words)]
        return next(one for one in known if one != self.agent)

    def most(self, name: str) -> int:
        """Give how many items a list of the answer may have; 0: there is none."""
        return self.schema["properties"].get(name, {}).get("maxItems", 0)

    def fields(self, name: str) -> Sequence[str]:
        """Name the fields of a part of the answer."""
        return [*self.schema["properties"][name]["properties"]]


def _questions(asked: _Asked) -> Mapping[str, Any]:
    """Ask those who worked with one's measure on a part that is wrong what it lacked."""
    known = asked.schema["properties"]["questions"]["items"]["properties"]["to"]["enum"]
    questions = [
        {"to": one.craft, "question": f"Part {one.number} is wrong. What did you lack?"}
        for one in asked.measured_for
        if one.craft in known and minds.asks(asked.world, asked.order, asked.agent, one)
    ]
    return {"questions": questions[: asked.most("questions")]}


def _evidence(asked: _Asked) -> Mapping[str, Any]:
    """Say what a measure lacked, by one's own conversation."""
    number = int(PART.findall("\n".join(asked.texts("question")))[0])
    part = asked.order.parts[number - 1]
    measure = next((one for one in measures_in(asked.heard) if one.part == number), None)
    detail = minds.lacked(asked.world, asked.order, part, measure)
    return {"answer": lacked_said(number, detail)}


def _noted(asked: _Asked) -> Mapping[str, Any]:
    """Make rules of what one's measures lacked, and tell the team which parts went wrong."""
    told = lacked_in("\n".join(asked.texts("evidence")))
    has = rules_in("\n".join([asked.instructions, *asked.texts("own_notes")]))
    for one in asked.measured_for:
        said = [told[one.number]] if one.number in told else []
        detail = minds.rule_for(asked.world, asked.order, asked.agent, one, told=said, has=has)
        if detail is not None:
            has.append(detail)
    known = rules_in("\n".join([asked.instructions, *asked.texts("own_notes")]))
    new = [one for one in has if one not in known]
    notes = [{"patch": _patch(one)} for one in new]
    return {
        "reason": "That is what I found.",
        "notes": notes[: asked.most("notes")],
        "summary": " ".join(_summary(asked)),
    }


def _patch(detail: str) -> Mapping[str, str]:
    return {"name": f"tell_{detail}", "text": rule_said(detail)}


def _summary(asked: _Asked) -> Iterator[str]:
    """Tell one's team which parts were wrong, and for which craft there was nobody."""
    numbers = ", ".join(str(one.number) for one in asked.wrong)
    yield f"Wrong were: {numbers}." if numbers else "All parts were right."
    if asked.agent == LEAD:
        heard, said = asked.heard, asked.said
        others = {*letters_in(heard), *handed_in(said)}
        for one in asked.wrong:
            if one.number not in others:
                yield absent_said(minds.missed(asked.world, asked.order, one))


def _account(asked: _Asked) -> Mapping[str, Any]:
    """Tell a colleague from where one counts, where work with it went wrong."""
    pair = {asked.agent, asked.other}
    failed = [one for one in asked.wrong if one.source and {one.source, one.craft} == pair]
    rod = counted_in(asked.instructions)
    if failed and rod:
        return {"account": f"Part {failed[0].number} is wrong. {counted_said(rod)}"}
    return {"account": "Our work together went well."}


def _settled(asked: _Asked) -> Mapping[str, Any]:
    """Note from where a colleague counts, as it said."""
    other, own = asked.other, counted_in(asked.instructions)
    accounts = dict(asked.titled("account"))
    rod = counted_in(accounts.get(other, ""))
    profile = ""
    if rod and own:
        known = others_counted_in("\n".join([asked.instructions, *asked.texts("profile")]))
        noted = minds.understood(
            asked.world, asked.order, asked.agent, other, rod=rod, taken=known.get(other, own)
        )
        profile = other_counted_said(other, noted) if noted else ""
    return {"reason": "That is what we told each other.", "profile": profile, "together": ""}


def _reorganised(asked: _Asked) -> Mapping[str, Any]:
    """Take in who is said to be missing, or change something without a reason."""
    named = absent_in("\n".join(asked.texts("found")))
    remedy = minds.reorganised(asked.world, asked.order, named, _crafts(asked))
    return {"reason": "So we found.", **_of_team(asked, [remedy] if remedy else [])}


def _crafts(asked: _Asked) -> Sequence[str]:
    """Name the crafts that are in the team, as an operator is shown it."""
    team = "\n".join(asked.texts("team"))
    return [one for one in CRAFTS if re.search(rf"^{one}\b", team, re.MULTILINE)]


def _of_team(asked: _Asked, remedies: Sequence[Remedy]) -> Mapping[str, Any]:
    """Write what changes in the team as a whole."""
    here = _crafts(asked)
    crafts = [one.craft for one in remedies if one.kind == "newcomer" and one.craft not in here]
    wanted = [*dict.fromkeys(crafts)][: asked.most("come")]
    coming = [_newcomer(asked, one) for one in wanted]
    ruled = any(one.kind == "rule" for one in remedies)
    number = len(idle_in("\n".join(asked.texts("constitution")))) + 1
    answer: dict[str, Any] = {"rules": [idle_said(number)] if ruled else []}
    for name in ("come", "go", "outdated"):
        if name in asked.schema["properties"]:
            answer[name] = coming if name == "come" else []
    return {**answer, "retry": bool(coming)}


def _newcomer(asked: _Asked, craft: str) -> Mapping[str, Any]:
    """Write somebody of a craft, in the shape that is wanted."""
    fields = asked.schema["properties"]["come"]["items"]["properties"]
    member = asked.world.member(craft) or Member(craft=craft, rod=asked.world.members[0].rod)
    said: Mapping[str, Any] = {
        "id": craft,
        "role": craft,
        "prompt": instructions(member),
        "like": fields["like"]["enum"][-1],
        "tools": [],
        "hears": [],
        "reports_to": [LEAD],
    }
    return {name: said[name] for name in fields}


def _centralised(asked: _Asked) -> Mapping[str, Any]:
    """Propose what mends each part that is wrong, as far as its cause is known, or guess."""
    length = sum(len(text) for _, text in asked.before) + len(asked.shown)
    found = (
        minds.analysed(asked.world, asked.order, one, _remedy(asked, one), length)
        for one in asked.wrong
    )
    remedies = [*dict.fromkeys(one for one in found if one is not None)]
    pairs = [_noted_pair(one) for one in remedies if one.kind == "profile"]
    sides = {(one["of"], one["about"]): one for one in pairs}
    return {
        "reason": "That is what I found.",
        "agents": {one: _own(asked, one, remedies) for one in asked.fields("agents")},
        "pairs": [*sides.values()][: asked.most("pairs")],
        **_of_team(asked, remedies),
    }


def _noted_pair(remedy: Remedy) -> Mapping[str, Any]:
    profile = other_counted_said(remedy.other, remedy.says)
    return {"of": remedy.craft, "about": remedy.other, "profile": profile, "together": ""}


def _own(asked: _Asked, agent: str, remedies: Sequence[Remedy]) -> Sequence[Mapping[str, Any]]:
    """Write the rules of conduct that an analyser wants an agent to have."""
    known = rules_in("\n".join(text for of, text in asked.titled("own_notes") if of == agent))
    new = [one.says for one in remedies if one.kind == "patch" and one.craft == agent]
    return [{"patch": _patch(one)} for one in dict.fromkeys(new) if one not in known]


def _remedy(asked: _Asked, part: Part) -> Remedy | None:
    """Find what would mend a wrong part, by all that was said; None: it was bad luck."""
    if part.craft not in _crafts(asked):
        return Remedy(kind="newcomer", craft=part.craft)
    trace = dict(asked.titled("conversation"))
    source, reader = asked.world.member(str(part.source)), asked.world.member(part.craft)
    measure = next((one for one in measures_in(asked.shown) if one.part == part.number), None)
    if source is None or reader is None or measure is None:
        return None
    if reader.need is not None and reader.need not in measure.details:
        return Remedy(kind="patch", craft=source.craft, says=reader.need)
    taken = others_counted_in(trace.get(reader.craft, "")).get(source.craft, reader.rod)
    if taken != source.rod:
        return Remedy(kind="profile", craft=reader.craft, other=source.craft, says=source.rod)
    return None


ANSWERS: Mapping[str, Callable[[_Asked], Mapping[str, Any]]] = {
    "questions": _questions,
    "evidence": _evidence,
    "retrospect": _noted,
    "account": _account,
    "settle": _settled,
    "centralise": _centralised,
    "reorganise": _reorganised,
}
SHAPES: Mapping[str, frozenset[str]] = {
    "questions": frozenset({"questions"}),
    "evidence": frozenset({"answer"}),
    "retrospect": frozenset({"reason", "notes", "summary"}),
    "account": frozenset({"account"}),
    "settle": frozenset({"reason", "profile", "together"}),
    "centralise": frozenset({"reason", "agents", "pairs"}),
    "reorganise": frozenset({"reason", "rules", "retry"}),
}
"""Who asks, by the parts of the answer that is wanted; the first that fits."""

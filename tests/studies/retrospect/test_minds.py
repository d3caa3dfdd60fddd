"""What those who look back make of what they are shown, by hand; and what they write and read."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from studies.fences import fenced_texts
from studies.retrospect import minds, texts
from studies.retrospect.landscapes import CRAFTS, DETAILS, RODS, Landscape, drawn
from studies.retrospect.minds import Remedy
from studies.retrospect.world import Measure, Order, Part, order_of, title

WORLD = drawn(2)
ORDERS = [order_of(WORLD, title("learn", 2, number)) for number in range(300)]
SURE = replace(WORLD, **dict.fromkeys(("curious", "candid", "heed", "frank", "heard"), 1.0))
NEVER = replace(
    WORLD, **dict.fromkeys(("curious", "candid", "heed", "frank", "heard", "understood"), 0.0)
)
FAR = 0.1
"""Further than the mean of so many coins strays in a lifetime of tests."""


def part(order: Order, sort: str) -> Part:
    return next(one for one in order.parts if one.sort == sort)


def vague(order: Order, *details: str) -> tuple[Order, Part, Measure]:
    one = part(order, "vague")
    return (
        order,
        one,
        Measure(part=one.number, source=str(one.source), number=3, details=details),
    )


def share(world: Landscape, name: str, marks: list[bool]) -> bool:
    return abs(sum(marks) / len(marks) - getattr(world, name)) < FAR


def test_a_colleague_says_what_a_measure_lacked_or_names_another_detail() -> None:
    for order in ORDERS[:20]:
        [_, one, measure] = vague(order)
        member = WORLD.member(one.craft)
        assert member is not None
        assert member.need is not None
        assert minds.lacked(SURE, order, one, measure) == member.need
        assert minds.lacked(SURE, *vague(order, member.need)) is None
        assert minds.lacked(SURE, order, one, None) is None
        assert minds.lacked(NEVER, order, one, measure) not in {member.need, None}
    needs = [(one, minds.lacked(WORLD, *one)) for one in map(vague, ORDERS)]
    right = [
        said == (member.need if member else None)
        for (_, one, _), said in needs
        if (member := WORLD.member(one.craft)) or member is None
    ]
    assert share(WORLD, "candid", right)


def test_a_rule_follows_from_what_was_said_and_is_guessed_where_nothing_was() -> None:
    of = [(order, "mason", part(order, "vague")) for order in ORDERS]
    heeded = [minds.rule_for(WORLD, *one, told=["seam"], has=[]) for one in of]
    assert {*heeded} == {"seam", None}
    assert share(WORLD, "heed", [one is not None for one in heeded])
    assert {minds.rule_for(SURE, *one, told=["seam"], has=["seam"]) for one in of} == {None}
    assert {minds.rule_for(SURE, *one, told=[None], has=[]) for one in of} == {None}
    guessed = [minds.rule_for(WORLD, *one, told=[], has=["seam"]) for one in of]
    assert {*guessed} == {*DETAILS, None} - {"seam"}
    assert share(WORLD, "rash", [one is not None for one in guessed])
    assert {minds.rule_for(SURE, *one, told=[], has=DETAILS) for one in of} == {None}
    asked = [minds.asks(WORLD, order, "mason", part(order, "vague")) for order in ORDERS]
    assert share(WORLD, "curious", asked)


def test_who_hears_from_where_a_colleague_counts_notes_what_it_did_not_know() -> None:
    first, second, *_ = RODS
    noted = [
        minds.understood(WORLD, one, "mason", "smith", rod=first, taken=second) for one in ORDERS
    ]
    assert share(WORLD, "understood", [one == first for one in noted])
    known = [
        minds.understood(WORLD, one, "mason", "smith", rod=first, taken=first) for one in ORDERS
    ]
    assert share(WORLD, "understood", [one is None for one in known])
    assert minds.understood(NEVER, ORDERS[0], "mason", "smith", rod=first, taken=second) != first


def test_a_team_takes_in_who_is_said_to_be_missing() -> None:
    here, missing = [one.craft for one in WORLD.members], str(WORLD.missing)
    [one, *_] = ORDERS
    assert minds.missed(SURE, one, part(one, "missing")) == missing
    assert minds.missed(NEVER, one, part(one, "missing")) in {*CRAFTS} - {missing}
    came = [minds.reorganised(WORLD, order, [missing], here) for order in ORDERS]
    assert share(WORLD, "heard", [one == Remedy(kind="newcomer", craft=missing) for one in came])
    assert {one.craft for one in came if one} == {*CRAFTS} - {*here}
    idle = [minds.reorganised(WORLD, order, [here[0]], here) for order in ORDERS]
    assert share(WORLD, "hasty", [one is not None for one in idle])
    assert Counter(one.kind for one in idle if one).keys() == {"newcomer", "rule"}
    kept = minds.reorganised(NEVER, ORDERS[0], ["painter"], {*CRAFTS} - {"painter"})
    assert kept == Remedy(kind="newcomer", craft="painter")


def test_what_an_analyser_knows_surely_falls_with_the_length_of_what_it_reads() -> None:
    truth = Remedy(kind="patch", craft="mason", says="seam")
    of = [(WORLD, order, part(order, "vague"), truth) for order in ORDERS]
    assert {minds.analysed(*one, 0) for one in of} == {truth}
    span = int(WORLD.span)
    sure = [minds.analysed(*one, span) == truth for one in of]
    assert abs(sum(sure) / len(sure) - 1 / 2.718) < FAR
    lost = [minds.analysed(*one, span * 50) for one in of]
    assert share(WORLD, "rash", [one is not None for one in lost])
    assert {one.kind for one in lost if one} == {"patch", "profile", "newcomer", "rule"}
    assert all(one.craft != one.other for one in lost if one and one.kind == "profile")


def test_what_is_said_is_found_again() -> None:
    one = WORLD.members[2]
    told = texts.instructions(one)
    assert (texts.craft_in(told), texts.counted_in(told)) == (one.craft, one.rod)
    assert texts.counted_in(texts.counted_said("from the well")) == "from the well"
    noted = " ".join(texts.other_counted_said("smith", rod) for rod in RODS[:2])
    assert texts.others_counted_in(noted) == {"smith": RODS[1]}
    assert texts.others_counted_in(told) == {}
    rules = " ".join(texts.rule_said(one) for one in ("seam", "grade", "seam"))
    assert texts.rules_in(rules) == ["seam", "grade"]
    measures = [
        Measure(part=2, source="smith", number=40, details=("seam", "slope")),
        Measure(part=3, source="mason", number=4),
    ]
    assert texts.measures_in(" ".join(map(texts.measure_said, measures))) == measures
    letters = {1: "C", 3: "-"}
    assert texts.letters_in(texts.letters_said(letters)) == letters
    lacked = {2: "seam", 5: None}
    said = " ".join(texts.lacked_said(number, it) for number, it in lacked.items())
    assert texts.lacked_in(said) == lacked
    assert texts.absent_in(texts.absent_said("glazier") * 2) == ["glazier"]
    assert texts.title_in(texts.posed(ORDERS[7])) == ORDERS[7].title == "Order learn 2/7"
    handed = {1: "smith", 2: "smith"}
    assert texts.handed_in(" ".join(texts.handed_said(*one) for one in handed.items())) == handed
    assert texts.idle_in(" ".join(map(texts.idle_said, (1, 12)))) == [1, 12]
    fence = '<found s1 "all">\nwords\n</found s1>'
    assert fenced_texts(fence, "found") == [("all", "words")]
    assert fenced_texts(fence, "other") == []

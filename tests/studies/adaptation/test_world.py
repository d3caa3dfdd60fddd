"""The landscape of rounds: its rules as they are told, and nothing found where nothing is."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studies.adaptation.landscapes import LEVEL, RANGES, Landscape, drawn, level
from studies.adaptation.sheets import ASPECTS, CRAFTS, SIZE, Sheet, sheet
from studies.adaptation.world import Crew, Lesson, Member, contributions, said_by_all, worth

numbers = st.integers(0, 10_000)


def a_sheet(number: int, coupling: float = 0.5) -> Sheet:
    return sheet(f"Sheet 7/{number}", coupling, 0.5)


def a_crew(source: random.Random) -> Crew:
    """Draw a team: up to six agents of any crafts, each with any lessons, hearing earlier ones."""
    names = [f"agent_{one}" for one in range(source.randint(1, 6))]
    members = {
        name: Member(
            source.choice(CRAFTS),
            tuple(
                Lesson(aspect, frozenset(source.sample(names, source.randint(0, len(names)))))
                for aspect in source.sample(ASPECTS, source.randint(0, 5))
            ),
        )
        for name in names
    }
    heard = {
        name: tuple(source.sample(names[:at], source.randint(min(at, 1), at)))
        for at, name in enumerate(names)
    }
    silent = {*names[:-1]} - {one for ears in heard.values() for one in ears}
    heard[names[-1]] = tuple(dict.fromkeys((*heard[names[-1]], *sorted(silent))))
    made = Crew.made(members, heard)
    assert made is not None
    return made


def a_chain(task: Sheet) -> Crew:
    """Give the team that has every craft once, in the order of the parts, all hearing all."""
    names = [part.craft for part in task.parts]
    made = Crew.made(
        {name: Member(name) for name in names},
        {name: tuple(names[:at]) for at, name in enumerate(names)},
    )
    assert made is not None
    return made


def coached(crew: Crew, name: str, *lessons: Lesson) -> Crew:
    members = {**crew.members, name: Member(crew.members[name].craft, lessons)}
    return replace(crew, members=members)


@given(numbers)
@settings(max_examples=30)
def test_drawn_landscapes_keep_to_the_ranges_that_are_told(number: int) -> None:
    landscape = drawn(number)
    assert landscape == drawn(number) != drawn(number + 1)
    for name, (lowest, highest) in RANGES.items():
        assert lowest <= getattr(landscape, name) <= highest


@given(numbers, numbers, numbers, st.booleans())
@settings(max_examples=30)
def test_in_a_level_landscape_all_teams_are_worth_the_same(
    number: int, task: int, team: int, again: bool
) -> None:
    landscape = level(number)
    crew = a_crew(random.Random(team))
    value = worth(crew, a_sheet(task), landscape, again=again)
    assert value == pytest.approx(landscape.strength)
    assert LEVEL[0] <= value <= LEVEL[1]


@given(numbers)
@settings(max_examples=30)
def test_a_sheet_has_as_many_letters_whatever_its_parts(number: int) -> None:
    task = a_sheet(number)
    assert len(task.answer) == SIZE
    assert len({part.craft for part in task.parts}) == len(task.parts)
    assert all(need < at for at, part in enumerate(task.parts) for need in part.needs)


@given(numbers, numbers, numbers)
@settings(max_examples=30)
def test_what_helps_helps_and_the_less_the_more_there_is(
    number: int, task: int, place: int
) -> None:
    landscape, given_sheet = replace(drawn(number), spread=0.0), a_sheet(task)
    crew = a_chain(given_sheet)
    part = given_sheet.parts[place % len(given_sheet.parts)]
    lessons = [Lesson(one, frozenset(crew.heard[part.craft])) for one in part.apt]
    odds = [
        said_by_all(coached(crew, part.craft, *lessons[:count]), given_sheet, landscape)
        for count in range(len(lessons) + 1)
    ]
    own = [said[part.craft][given_sheet.parts.index(part)].odds for said in odds]
    steps = [math.log(one / (1 - one)) for one in own]
    gains = [after - before for before, after in itertools.pairwise(steps)]
    assert gains[0] == pytest.approx(landscape.lesson)
    assert all(0 < after < before for before, after in itertools.pairwise(gains))


@given(numbers, numbers, numbers)
@settings(max_examples=30)
def test_single_things_help_whatever_they_are_worth(number: int, task: int, place: int) -> None:
    landscape, given_sheet = drawn(number), a_sheet(task)
    crew = a_chain(given_sheet)
    part = given_sheet.parts[place % len(given_sheet.parts)]
    for aspect in part.apt:
        told = coached(crew, part.craft, Lesson(aspect, frozenset(crew.heard[part.craft])))
        assert worth(told, given_sheet, landscape) > worth(crew, given_sheet, landscape)


@given(numbers, numbers, st.lists(st.floats(0, 1), min_size=2, max_size=5))
@settings(max_examples=30)
def test_the_more_is_lost_among_others_the_less_coaching_is_worth(
    number: int, task: int, losses: list[float]
) -> None:
    given_sheet = a_sheet(task)
    part = given_sheet.parts[-1]
    [aspect, *_] = part.apt
    lesson = Lesson(aspect, frozenset({"somebody else"}))
    crew = coached(a_chain(given_sheet), part.craft, lesson)
    values = [
        worth(crew, given_sheet, replace(drawn(number), loss=loss)) for loss in sorted(losses)
    ]
    assert values == sorted(values, reverse=True)
    none, everything = (replace(drawn(number), loss=loss) for loss in (0.0, 1.0))
    present = Lesson(aspect, frozenset(crew.heard[part.craft]))
    assert worth(crew, given_sheet, none) == worth(
        coached(crew, part.craft, present), given_sheet, none
    )
    assert worth(crew, given_sheet, everything) == worth(
        crew.without_lessons(), given_sheet, everything
    )


@given(numbers, numbers, numbers)
@settings(max_examples=30)
def test_who_hears_nobody_new_loses_nothing(number: int, task: int, team: int) -> None:
    crew, given_sheet = a_crew(random.Random(team)), a_sheet(task)
    for name in crew.members:
        present = frozenset(crew.heard[name])
        crew = coached(crew, name, *(Lesson(aspect, present) for aspect in ASPECTS[:3]))
    one, other = (replace(drawn(number), loss=loss) for loss in (0.0, 1.0))
    assert worth(crew, given_sheet, one) == worth(crew, given_sheet, other)


@given(numbers, numbers, numbers)
@settings(max_examples=30)
def test_a_craft_that_is_missing_costs(number: int, task: int, place: int) -> None:
    given_sheet, crew = a_sheet(task), a_chain(a_sheet(task))
    gone = given_sheet.parts[place % len(given_sheet.parts)].craft
    left = {name: one for name, one in crew.members.items() if name != gone}
    heard = {name: tuple(one for one in crew.heard[name] if one != gone) for name in left}
    fewer = Crew.made(left, heard)
    assert fewer is not None
    landscape = replace(drawn(number), distraction=0.0)
    assert worth(fewer, given_sheet, landscape) < worth(crew, given_sheet, landscape)


@given(numbers, numbers)
@settings(max_examples=30)
def test_an_edge_that_carries_what_is_needed_is_worth_something(number: int, task: int) -> None:
    given_sheet = a_sheet(task, coupling=1.0)
    names = [part.craft for part in given_sheet.parts]
    members = {name: Member(name) for name in names}
    line = {name: tuple(names[max(0, at - 1) : at]) for at, name in enumerate(names)}
    thin, thick = Crew.made(members, line), a_chain(given_sheet)
    assert thin is not None
    assert worth(thin, given_sheet, drawn(number)) < worth(thick, given_sheet, drawn(number))


@given(numbers, numbers)
@settings(max_examples=30)
def test_a_report_that_brings_nothing_distracts_a_little(number: int, task: int) -> None:
    given_sheet = a_sheet(task)
    spare = next(one for one in CRAFTS if one not in {part.craft for part in given_sheet.parts})
    crew = a_chain(given_sheet)
    heard = {**crew.heard, spare: (), crew.output: (*crew.heard[crew.output], spare)}
    more = Crew.made({**crew.members, spare: Member(spare)}, heard)
    assert more is not None
    landscape = drawn(number)
    assert worth(more, given_sheet, landscape) < worth(crew, given_sheet, landscape)
    calm = replace(landscape, distraction=0.0)
    assert worth(more, given_sheet, calm) == pytest.approx(worth(crew, given_sheet, calm))


@given(numbers, numbers, numbers)
@settings(max_examples=30)
def test_contributions_are_of_what_agents_worked_out(number: int, task: int, team: int) -> None:
    crew, given_sheet, landscape = a_crew(random.Random(team)), a_sheet(task), drawn(number)
    said = said_by_all(crew, given_sheet, landscape)
    of = contributions(said, crew.output)
    assert {*of} == {*crew.members}
    assert all(0 <= one <= 1 for one in of.values())
    by = {one.by or crew.output for one in said[crew.output]}
    assert {name for name, one in of.items() if one > 0} == by


def test_having_answered_before_helps_where_it_does() -> None:
    landscape: Landscape = replace(drawn(3), again=0.3)
    crew = a_chain(a_sheet(1))
    assert worth(crew, a_sheet(1), landscape, again=True) > worth(crew, a_sheet(1), landscape)

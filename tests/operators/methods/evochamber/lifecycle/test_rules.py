"""What is due when the roster is looked at: on whom, why, and on what numbers."""

import random
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.operators.methods.evochamber.lifecycle.rules import ORDER, LifecycleEvent, due
from coterie.operators.methods.evochamber.settings import PopulationSettings
from coterie.pool.ledger.changes import EventNoted, Retired
from coterie.pool.ledger.ledger import LedgerEntry
from coterie.pool.population.population import LIFECYCLE, Grown, Population, RankingScore, Rates

from .....pool.populations import NAMES, born, folded, happenings, of_agent, said, town, worked

FEW = PopulationSettings(pool_size=3, largest=9)
"""Settings of a town that is as large as it is to be."""


def agent(total: int = 10, rolling: float | None = 0.5, **given: Any) -> RankingScore:
    """An agent that has worked in one niche, if nothing else is said."""
    rewards = () if rolling is None else (rolling,) * min(total, 10)
    fields: dict[str, Any] = {"competence": {"code": 0.5}, "tasks": {"code": total}, **given}
    return RankingScore(rewards=rewards, **fields)


def idle() -> RankingScore:
    return RankingScore()


def of(*recent: str, **agents: RankingScore) -> Population:
    rolling = {name: score.rolling for name, score in agents.items() if score.rolling is not None}
    niches = tuple(dict.fromkeys(recent))
    return Population(
        agents=agents, everybody=agents, rolling=rolling, history=Grown(recent), niches=niches
    )


def look(
    population: Population, settings: PopulationSettings = FEW, seed: int = 0
) -> tuple[LifecycleEvent, ...]:
    return due(population, settings, random.Random(seed))


def fired(population: Population, settings: PopulationSettings = FEW) -> list[tuple[str, ...]]:
    return [(event.operator, *event.agents) for event in look(population, settings)]


# Fork


def test_the_best_tenth_is_forked_and_at_least_one() -> None:
    others = {name: agent(rolling=0.4) for name in "bcde"}
    [event] = look(of(a=agent(rolling=0.9, competence={"code": 0.7}), **others))
    assert (event.operator, event.agents, event.niche) == ("fork", ("a",), "code")
    assert event.why == (
        "rolling reward 0.9 over 10 tasks, among the best 1 of 5 (a share of 0.1, rounded up);"
        " 'code' is its dominant niche: competence 0.7 after 10 tasks"
    )
    assert event.numbers["rolling"] == pytest.approx(0.9)
    twenty = {f"s{n}": agent(rolling=n / 20) for n in range(20)}
    assert fired(of(**twenty), replace(FEW, largest=40)) == [("fork", "s19"), ("fork", "s18")]


def test_any_operator_can_be_left_out() -> None:
    like = {"code": 0.3, "law": 0.3}
    agents = {
        "a": agent(rolling=1.0, competence={"code": 0.9}),
        "b": agent(lagging=30, rolling=0.1),
    }
    population = of("law", **agents, c=skilled(20, **like), d=skilled(20, **like), e=idle())
    assert {name for name, *_ in fired(population)} == {"fork", "merge", "prune", "genesis"}
    without = replace(
        FEW,
        fork_top=0,
        merge_similarity=1,
        prune_tasks=99,
        genesis_affinity=0,
        specialize_above=1.1,
    )
    assert fired(population, without) == []


def test_who_has_hardly_worked_is_neither_forked_nor_counted() -> None:
    population = of(a=agent(4, rolling=1.0), b=agent(5, rolling=0.6), c=agent(9, rolling=0.1))
    [event] = look(population)
    assert event.agents == ("b",)
    assert event.numbers["of"] == 2


def test_nobody_stands_out_where_all_do_alike() -> None:
    assert fired(of(a=agent(rolling=0.7), b=agent(rolling=0.7), c=agent(rolling=0.7))) == []
    assert fired(of(a=agent(rolling=0.0), b=agent(rolling=0.0), c=idle())) == []


def test_nobody_is_forked_again_without_having_worked_as_much_again() -> None:
    others = {name: agent(rolling=0.4) for name in "bc"}
    assert fired(of(a=agent(12, rolling=0.9, forked=8), **others)) == []
    assert fired(of(a=agent(13, rolling=0.9, forked=8), **others)) == [("fork", "a")]


def test_forks_leave_places_to_those_who_are_made_for_new_niches() -> None:
    agents = {name: agent(rolling=0.4) for name in "bcdefg"}
    town_of_seven = of(a=agent(rolling=0.9), **agents)
    assert fired(town_of_seven, replace(FEW, largest=10)) == []
    assert fired(town_of_seven, replace(FEW, largest=11)) == [("fork", "a")]
    weak = {name: agent(rolling=0.4, competence={"code": 0.2}) for name in "bcdefg"}
    assert fired(of("code", **weak), replace(FEW, largest=7)) == [("genesis",)]
    assert fired(of("code", **weak), replace(FEW, largest=6)) == []


# Merge


def skilled(total: int = 12, *, rolling: float | None = None, **q: float) -> RankingScore:
    return agent(total, rolling, competence=q, tasks={"code": total})


def test_the_closest_pair_is_merged_and_no_other() -> None:
    population = of(
        a=skilled(10, code=0.5, law=0.4),
        b=skilled(11, code=0.5, law=0.42),
        c=skilled(12, code=0.6, law=0.2),
        d=skilled(13, code=0.6, law=0.21),
        e=skilled(12, code=0.1, law=0.5),
    )
    [event] = look(population)
    assert (event.operator, event.agents) == ("merge", ("d", "c"))
    assert event.why == (
        "overlap 1.000 above 0.95, the closest pair of 5 agents with 10 tasks or more; 2 niches in"
        " common, after 13 and 12 tasks"
    )
    assert event.numbers["overlap"] == pytest.approx(0.99988, abs=1e-5)


def test_two_that_have_not_both_worked_enough_or_are_unlike_stay_two() -> None:
    like = {"code": 0.5, "law": 0.4}
    assert fired(of(a=skilled(9, **like), b=skilled(30, **like), c=idle(), d=idle())) == []
    unlike = skilled(30, code=0.5, law=0.05)
    assert fired(of(a=skilled(10, **like), b=unlike, c=idle(), d=idle())) == []


def test_agents_of_a_town_of_one_niche_are_not_merged() -> None:
    """Any two of them overlap by 1, also an able one and one that is not."""
    agents = {name: skilled(30, code=place / 10) for place, name in enumerate("abcd", 1)}
    assert fired(of(**agents)) == []
    also = skilled(30, code=0.7, law=0.01)
    assert fired(of(**agents, e=also)) == []


def test_a_pair_is_not_merged_where_too_few_would_be_left() -> None:
    like = {name: skilled(10, code=0.5, law=0.4) for name in "abc"}
    assert fired(of(**like)) == []
    assert [name for name, *_ in fired(of(**like, d=idle()))] == ["merge"]


def test_who_is_forked_is_left_alone_by_the_rest_of_the_look() -> None:
    agents = {name: skilled(10, rolling=0.5, code=0.8, law=0.8) for name in "abcd"}
    best = skilled(10, rolling=0.9, code=0.9, law=0.9)
    settings = replace(FEW, largest=20)
    events = look(
        of(a=best, **{name: score for name, score in agents.items() if name != "a"}), settings
    )
    assert [event.operator for event in events] == ["fork", "merge", "specialize"]
    named = [name for event in events for name in event.agents]
    assert sorted(named) == ["a", "b", "c", "d"]


# Prune


def test_who_has_lagged_long_enough_is_retired() -> None:
    lazy = agent(rolling=0.2, lagging=12)
    population = of(a=agent(), b=agent(), c=agent(lagging=9), d=lazy, e=idle())
    [event] = [item for item in look(population) if item.operator == "prune"]
    assert event.agents == ("d",)
    assert event.why == (
        "12 tasks in a row with a rolling reward below 0.8 x the population's mean, which is 0.425"
        " now; rolling reward 0.2 over 10 tasks"
    )


@pytest.mark.parametrize(("by", "gone"), [("recent_mean", ["b"]), ("each_task", [])])
def test_one_success_saves_nobody_whose_recent_mean_lags(by: Any, gone: list[str]) -> None:
    """EvoChamber App. J: one retired after six tasks on which it lagged."""
    settings = replace(FEW, team_size=1, prune_by=by, prune_tasks=6)
    rates = Rates.of(settings)
    tasks = [worked("a", "code", 1.0), *(worked("b", "code", x) for x in (0, 0, 0, 1, 0, 0))]
    events = look(folded([*town("a", "b"), *tasks], Population(rates=rates)), settings)
    assert [name for event in events if event.operator == "prune" for name in event.agents] == gone


def test_who_lagged_longest_goes_first_and_a_team_is_left() -> None:
    lagging = {name: agent(lagging=10 + place) for place, name in enumerate("abcde")}
    assert fired(of(**lagging)) == [("prune", "e"), ("prune", "d")]


# Genesis


def test_one_is_made_where_there_are_too_few_for_the_weakest_niche() -> None:
    settings = PopulationSettings(tau=4, merge_tasks=99)
    agents = {f"s{n}": skilled(code=0.9, law=0.45, art=0.8) for n in range(14)}
    events = look(of("code", "law", "code", "art", **agents), settings)
    [event] = [item for item in events if item.operator == "genesis"]
    assert (event.agents, event.niche) == ((), "law")
    assert event.why == (
        "'law', 1 of the last 4 tasks, best competence 0.45: 14 agents, fewer than 15"
    )
    enough = fired(of("code", **agents, s=idle()), settings)
    assert ("genesis",) not in enough


def test_fewer_than_at_first_is_enough_where_that_is_less() -> None:
    settings = replace(FEW, pool_size=4)
    assert fired(of(a=idle(), b=idle(), c=idle()), settings) == [("genesis",)]
    assert fired(of(a=idle(), b=idle(), c=idle(), d=idle()), settings) == []


def test_one_is_made_for_a_niche_that_nobody_is_good_at() -> None:
    agents = {name: skilled(code=0.4, law=0.41) for name in "abc"}
    [event] = look(of("law", "code", "code", "", **agents))
    assert (event.operator, event.niche) == ("genesis", "code")
    assert event.why == (
        "'code', 2 of the last 4 tasks, best competence 0.4: nobody is above 0.4 there"
    )
    assert fired(of("law", "", **agents)) == []


def test_niches_that_were_not_met_lately_call_for_nobody() -> None:
    agents = {name: skilled(code=0.1, law=0.9) for name in "abc"}
    recent = ["code", *["law"] * 10]
    assert not any(texts == ("genesis",) for texts in fired(of(*recent, **agents)))


def test_who_was_made_for_a_niche_is_waited_for_until_it_has_met_it() -> None:
    agents = {name: skilled(code=0.2) for name in "abc"}
    waiting = RankingScore(aims=frozenset({"code"}))
    assert fired(of("code", **agents, d=waiting)) == []
    failed = replace(waiting, competence={"code": 0.35}, tasks={"code": 1})
    assert fired(of("code", **agents, d=failed)) == [("genesis",)]


def test_two_are_made_at_a_look_for_two_niches_at_most() -> None:
    settings = replace(FEW, pool_size=8)
    agents = {name: skilled(code=0.2, law=0.1, art=0.3) for name in "abc"}
    events = look(of("code", "law", "art", "art", **agents), replace(settings, merge_tasks=99))
    assert [(event.operator, event.niche) for event in events] == [
        ("genesis", "law"),
        ("genesis", "art"),
    ]


def test_a_niche_whose_only_expert_goes_is_open_in_the_same_look() -> None:
    others = {name: agent(rolling=None, competence={"law": 0.5}) for name in "bcd"}
    expert = agent(rolling=0.1, lagging=10, competence={"code": 0.9})
    events = look(of("code", "law", a=expert, **others))
    assert [(event.operator, event.niche) for event in events] == [
        ("prune", None),
        ("genesis", "code"),
    ]


# Specialize


def test_a_persona_is_written_for_what_its_agent_is_good_at_and_once() -> None:
    able = skilled(7, code=0.83, law=0.9)
    [event] = look(of(a=able, b=idle(), c=idle()))
    assert (event.operator, event.agents, event.niche) == ("specialize", ("a",), "code")
    assert event.why == (
        "competence 0.83 in 'code', its dominant niche, after 7 tasks there; 0.8 is enough"
    )
    assert fired(of(a=able.aiming("law"), b=idle(), c=idle())) == [("specialize", "a")]
    assert fired(of(a=able.aiming("code"), b=idle(), c=idle())) == []
    assert fired(of(a=skilled(7, code=0.79), b=idle(), c=idle())) == []


def test_tasks_of_no_niche_make_nobody_a_specialist() -> None:
    fields: dict[str, Any] = {"competence": {"": 1.0}, "tasks": {"": 9}}
    assert (
        fired(of("", a=agent(rolling=1.0, **fields), b=agent(rolling=0.5, **fields), c=idle()))
        == []
    )


# What comes of it


def told(event: LifecycleEvent) -> LedgerEntry:
    about = {"operator": event.operator, "agents": list(event.agents), "niche": event.niche}
    return said(EventNoted(what=LIFECYCLE, about=about))


def lines_of(
    events: Iterable[LifecycleEvent], place: int = 0, lost: frozenset[int] = frozenset()
) -> Any:
    """What a pool would write of events, of which some newcomers do not come about."""
    for number, event in enumerate(events):
        name = f"new_{place}_{number}"
        if number in lost and event.operator in {"fork", "genesis"}:
            continue
        if event.operator in {"fork", "merge", "genesis"}:
            yield born(name, *event.agents)
        if event.operator in {"merge", "prune"}:
            yield from (of_agent(Retired(member=word, reason="due")) for word in event.agents)
        yield told(event)


def after(population: Population, *events: LifecycleEvent) -> Population:
    return folded(lines_of(events), population)


def test_a_fork_is_remembered_of_the_parent_and_shapes_the_child() -> None:
    best = agent(20, rolling=0.9, competence={"code": 0.9}, aims=frozenset({"law"}))
    population = of(a=best, b=agent(rolling=0.4), c=agent(rolling=0.4))
    [event] = look(population)
    child = after(population, event)
    assert child.agents["a"].forked == 20
    assert child.agents["a"].aims == {"law"}
    assert child.agents["new_0_0"].aims == {"code", "law"}
    assert fired(child) == [("specialize", "a")]


def test_a_birth_in_another_evolution_does_not_take_the_place_of_the_child() -> None:
    best = agent(20, rolling=0.9, competence={"code": 0.9})
    population = of(a=best, b=agent(rolling=0.4), c=agent(rolling=0.4))
    [event] = look(population)
    birth, event_told = lines_of([event])
    lines = [
        birth._replace(op="town/10/lifecycle 0 fork 0"),
        born("stranger")._replace(op="city/3/lifecycle 0 genesis 0"),
        event_told._replace(op="town/10/lifecycle 0 fork told"),
    ]
    child = folded(lines, population)
    assert (child.agents["new_0_0"].aims, child.agents["stranger"].aims) == ({"code"}, frozenset())


def test_who_was_specialized_is_so_until_another_niche_dominates() -> None:
    population = of(a=skilled(7, code=0.9, law=0.9), b=idle(), c=idle())
    shaped = after(population, *look(population))
    assert fired(shaped) == []
    for _ in range(8):
        shaped = shaped.after(worked(["a"], "law", 1.0))
    assert fired(shaped) == [("specialize", "a")]


def test_what_two_were_shaped_for_their_heir_is() -> None:
    like = {"code": 0.5, "law": 0.4}
    a, b = skilled(10, **like).aiming("code"), skilled(10, **like).aiming("law")
    population = of(a=a, b=b, c=idle(), d=idle())
    merged = after(population, *look(population))
    assert [*merged.agents] == ["c", "d", "new_0_0"]
    assert merged.agents["new_0_0"].aims == {"code", "law"}


def test_another_seed_chooses_other_ones_of_equals() -> None:
    agents = {name: agent(rolling=0.9) for name in "abcd"}
    population = of(**agents, e=agent(rolling=0.1))
    chosen = {look(population, seed=seed)[0].agents for seed in range(20)}
    assert chosen == {("a",), ("b",), ("c",), ("d",)}
    assert look(population, seed=3) == look(population, seed=3)


SETTINGS = st.builds(
    PopulationSettings,
    pool_size=st.integers(2, 8),
    team_size=st.integers(1, 4),
    tau=st.integers(1, 5),
    fork_top=st.floats(0, 1),
    fork_tasks=st.integers(1, 3),
    merge_similarity=st.floats(0, 1),
    merge_tasks=st.integers(1, 4),
    prune_tasks=st.integers(1, 3),
    genesis_below=st.integers(0, 9),
    genesis_affinity=st.floats(0, 1),
    specialize_above=st.floats(0, 1),
    largest=st.integers(8, 12),
)


@given(st.lists(happenings, max_size=4), SETTINGS, st.randoms(), st.sets(st.integers(0, 9)))
def test_the_roster_stays_fit_whatever_happens(
    looks: list[list[LedgerEntry]],
    settings: PopulationSettings,
    chance: random.Random,
    lost: set[int],
) -> None:
    population = folded(town(*NAMES))
    for place, lines in enumerate(looks):
        population = folded(lines, population)
        before = len(population.agents)
        events = due(population, settings, chance)
        named = [name for event in events for name in event.agents]
        assert len({*named}) == len(named)
        assert {*named} <= population.agents.keys()
        assert [*map(ORDER.index, (event.operator for event in events))] == sorted(
            ORDER.index(event.operator) for event in events
        )
        assert all(event.why and all(map(_is_plain, event.numbers.values())) for event in events)
        population = folded(lines_of(events, place, frozenset(lost)), population)
        assert len(population.agents) >= min(before, settings.team_size)
        assert len(population.agents) <= max(before, settings.largest)


def _is_plain(number: float) -> bool:
    return abs(number) < 1e9

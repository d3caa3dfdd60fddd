"""Who works on a task: EvoChamber's Equations 3 to 5."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.operators.methods.evochamber.compose import as_complement, as_scout, compose, seats
from coterie.operators.methods.evochamber.settings import PopulationSettings
from coterie.pool.ledger.ledger import LedgerEntry
from coterie.pool.population.population import Pair, Population, RankingScore
from coterie.schema.values.errors import InputError

from ....pool.populations import NAMES, folded, happenings, town

PAPER = PopulationSettings()


def of(**competence: dict[str, float]) -> Population:
    """Agents that have worked once in each niche in which they are competent."""
    agents = {
        name: RankingScore(competence=known, tasks=dict.fromkeys(known, 1))
        for name, known in competence.items()
    }
    return Population(agents=agents, everybody=agents)


def chosen(population: Population, size: int = 3, seed: int = 0) -> list[str]:
    return list(compose(population, "code", size, PAPER, random.Random(seed)).values())


# By hand


def test_the_anchor_is_the_best_of_the_niche() -> None:
    population = of(a={"code": 0.6}, b={"code": 0.7}, c={"law": 1.0})
    assert chosen(population, 1) == ["b"]


def test_the_complement_is_able_and_unlike_the_anchor() -> None:
    # b: 0.60 + 0.5 (1 - 1) = 0.600;  c: 0.50 + 0.5 (1 - 0.5 / sqrt 0.5) = 0.646
    population = of(a={"code": 0.9}, b={"code": 0.6}, c={"code": 0.5, "law": 0.5})
    assert chosen(population, 2) == ["a", "c"]
    [a, b, c] = population.agents.values()
    assert as_complement(b, a, 0, "code", PAPER) == pytest.approx(0.6)
    assert as_complement(c, a, 0, "code", PAPER) == pytest.approx(0.5 + 0.5 * (1 - 0.5**0.5))


def test_the_complement_may_be_who_went_well_with_the_anchor() -> None:
    # b: 0.60 + 0.3 * 0.9 = 0.87, which is more than c has
    population = of(a={"code": 0.9}, b={"code": 0.6}, c={"code": 0.5, "law": 0.5})
    tried = replace(population.agents["b"], pairs={("a", "code"): Pair(tasks=5, reward=0.9)})
    assert chosen(replace(population, agents={**population.agents, "b": tried}), 2) == ["a", "b"]
    few = replace(tried, pairs={("a", "code"): Pair(tasks=4, reward=0.9)})
    assert chosen(replace(population, agents={**population.agents, "b": few}), 2) == ["a", "c"]


def test_the_scout_is_who_knows_the_niche_least_and_is_unlike_both() -> None:
    population = of(a={"code": 0.9}, b={"code": 0.8}, c={"code": 0.1, "law": 0.1}, d={"law": 0.1})
    [a, b, c, d] = population.agents.values()
    # c: 0.3 / 2 + 0.5 (1 - 1 / sqrt 2) = 0.296;  d: 0.3 / 1 + 0.5 (1 - 0) = 0.8
    assert as_scout(c, [a, b], "code", PAPER) == pytest.approx(0.15 + 0.5 * (1 - 0.5**0.5))
    assert as_scout(d, [a, b], "code", PAPER) == pytest.approx(0.8)
    half = as_scout(c, [a, d], "code", PAPER)
    assert half == pytest.approx(0.15 + 0.5 * (1 - (0.5**0.5 + 0.5**0.5) / 2))
    # d is the complement, by 0.5 + 0.5, and then b: 0.3 / 2 + 0.5 (1 - (1 + 0) / 2) = 0.4
    assert chosen(population) == ["a", "d", "b"]


def test_seats_by_size() -> None:
    assert seats(1) == ("anchor",)
    assert seats(2) == ("anchor", "complement")
    assert seats(5) == ("anchor", "complement", "scout", "scout_2", "scout_3")
    population = folded(town(*NAMES))
    for size in range(1, len(NAMES) + 1):
        team = compose(population, "code", size, PAPER, random.Random(1))
        assert tuple(team) == seats(size)
        assert len(set(team.values())) == size


@pytest.mark.parametrize(("size", "agents"), [(0, 3), (4, 3), (1, 0)])
def test_a_team_needs_as_many_agents_as_it_has_seats(size: int, agents: int) -> None:
    population = folded(town(*NAMES[:agents]))
    with pytest.raises(InputError, match=f"a team of {size} cannot be made of {agents} agent"):
        compose(population, "code", size, PAPER, random.Random(0))


# Chance


def test_equals_are_drawn_uniformly() -> None:
    population = folded(town("a", "b", "c", "d"))
    chance = random.Random(7)
    teams = [compose(population, "code", 3, PAPER, chance) for _ in range(2000)]
    for seat in seats(3):
        assert min(Counter(team[seat] for team in teams).values()) > 430  # 500 each, 3.6 sigma
    assert len({tuple(team.values()) for team in teams}) == 24


def test_at_random_it_is_anybody() -> None:
    population = of(a={"code": 1.0}, b={"code": 0.2}, c={"code": 0.1}, d={})
    chance, anybody = random.Random(7), replace(PAPER, selector="random")
    teams = [compose(population, "code", 3, anybody, chance) for _ in range(500)]
    assert len({tuple(team.values()) for team in teams}) == 24
    assert all(tuple(team) == seats(3) for team in teams)


# Laws


@given(happenings, st.integers(1, 3), st.integers(), st.randoms(use_true_random=False))
def test_the_order_of_agents_does_not_matter(
    lines: list[LedgerEntry], size: int, seed: int, shuffling: random.Random
) -> None:
    population = folded([*town(*NAMES), *lines, *town(*"xyz")])
    agents = list(population.agents.items())
    shuffling.shuffle(agents)
    shuffled = replace(population, agents=dict(agents))
    assert chosen(population, size, seed) == chosen(shuffled, size, seed)


@given(happenings, st.integers())
def test_nobody_is_better_in_the_niche_than_the_anchor(lines: list[LedgerEntry], seed: int) -> None:
    population = folded([*town(*NAMES), *lines, *town(*"xyz")])
    anchor, *_ = chosen(population, seed=seed)
    best = max(agent.q("code") for agent in population.agents.values())
    assert population.agents[anchor].q("code") == best

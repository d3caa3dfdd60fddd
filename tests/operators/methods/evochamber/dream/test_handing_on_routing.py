"""Who an insight is for, by hand and as laws."""

from statistics import median
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.operators.methods.evochamber.dream.handing_on import below, recipients
from coterie.operators.methods.evochamber.dream.ideas import Difference, Insight, Level
from coterie.operators.methods.evochamber.settings import PopulationSettings
from coterie.pool.population.population import Population

from .....pool.populations import NAMES, NICHES, folded, happenings, town, worked

NAME = st.sampled_from(NAMES)
LEVELS: tuple[Level, ...] = get_args(Level)


def insight(level: Level, niche: str | None = "algebra", giver: str = "a") -> Insight:
    niche = None if level == "cross_domain" else niche
    of = Difference(giver=giver, failed="b", text="d")
    return Insight(text="t", level=level, niche=niche, of=of)


def to(
    population: Population, level: Level, *failed: str, niche: str = "algebra", **how: Any
) -> str:
    giver = how.pop("giver", "a")
    item = insight(level, niche, giver)
    return "".join(recipients(population, item, failed, PopulationSettings(**how)))


# By hand


def test_on_the_first_task_it_goes_to_the_other_members_of_a_team_that_failed() -> None:
    """All stand at 0.5 before it; with the trial, those who worked stand at 0.35, below them all.

    The reward is the team's, so its competence falls for who succeeded as well (Eq. 2).
    """
    before = folded(town(*"abcdef"))
    assert to(before, "subdomain", "b", "c", deficit="niche") == ""
    after = folded([worked("abc", "algebra", 0.0)], before)
    assert to(after, "subdomain", "b", "c") == "bc"
    assert to(after, "cross_domain", "b", "c") == "bcdef"
    assert to(after, "cross_domain", "b", "c", cross_domain="deficit") == "bc"
    assert to(after, "task", "b", "c") == "bc"
    assert to(after, "subdomain", niche="code") == ""


def test_a_team_that_was_right_and_disagreed_teaches_who_failed_on_the_first_task() -> None:
    after = folded([*town(*"abcdefg"), worked("abc", "algebra", 1.0)])
    assert to(after, "subdomain", "b") == to(after, "task", "b") == "b"
    # three at 0.65, and four at the median, 0.5: the paper's gate is shut
    assert to(after, "subdomain", "b", deficit="niche") == ""


def test_who_found_its_own_fault_keeps_what_helped_it() -> None:
    after = folded([*town(*"abcde"), worked("abc", "algebra", 0.0)])
    assert to(after, "subdomain", "a", "b", "c") == "abc"


def test_by_recent_reward_it_goes_to_whoever_did_badly_lately_in_any_niche() -> None:
    tasks = [worked("a", "algebra", 1.0), worked("b", "code", 0.0), worked("c", "algebra", 0.0)]
    population = folded([*town(*"abcd"), *tasks])  # rolling: 1, 0, 0, and d has the initial 0.5
    assert to(population, "subdomain", "c", deficit="recent") == "bc"
    assert to(population, "subdomain", "c", deficit="niche") == "c"


def test_where_most_are_good_at_a_niche_it_goes_to_those_who_never_met_it() -> None:
    tasks = [worked(team, "algebra", 1.0) for team in ("ab", "cd")]
    assert to(folded([*town(*"abcdef"), *tasks]), "subdomain") == "ef"


def test_the_median_itself_is_not_below_it() -> None:
    assert below({"a": 0.1, "b": 0.5, "c": 0.9}) == {"a"}
    assert below({"a": 0.1, "b": 0.5}) == {"a"}
    assert below({"a": 0.5, "b": 0.5, "c": 0.9}) == set()
    assert below({}) == set()


def test_an_insight_for_all_tasks_goes_by_the_mean_over_all_niches() -> None:
    tasks = [worked("a", "algebra", 1.0), worked("b", "code", 0.0), worked("c", "code", 1.0)]
    population = folded([*town(*"abc"), *tasks])  # means: a 0.575, b 0.425, c 0.575
    strict = {"giver": "c", "cross_domain": "deficit"}
    assert to(population, "cross_domain", **strict) == "b"
    assert to(folded(town(*"abc")), "cross_domain", **strict) == ""
    assert to(population, "cross_domain", giver="c") == "ab"


# Laws


@given(
    happenings,
    st.builds(
        insight, st.sampled_from(LEVELS), st.sampled_from(["algebra", "code", None]), giver=NAME
    ),
    st.sets(NAME),
    st.builds(
        PopulationSettings,
        transfer=st.sampled_from(["asymmetric", "symmetric"]),
        cross_domain=st.just("deficit"),
        deficit=st.just("niche"),
    ),
)
def test_only_those_who_live_and_lack_it_and_never_the_giver(
    lines: Any, item: Insight, failed: set[str], settings: PopulationSettings
) -> None:
    population = folded([*town(*NAMES), *lines])
    giver, level, niche = item.of.giver, item.level, item.niche or ""
    failed -= {giver}
    chosen = recipients(population, item, failed, settings)
    everybody = recipients(population, item, failed, PopulationSettings(transfer="symmetric"))
    assert giver not in chosen
    assert list(chosen) == [name for name in population.agents if name in chosen]
    assert {*chosen} <= {*everybody} == {*population.agents} - {giver}
    if settings.transfer == "symmetric":
        return
    if level == "task":
        assert {*chosen} == {*everybody} & failed
    else:
        assert 2 * len(chosen) <= len(population.agents)  # as no more can be below a median
    if level == "subdomain":
        known = {name: agent.q(niche) for name, agent in population.agents.items()}
        middle = median(known.values()) if known else 0
        assert {*chosen} == {name for name in everybody if known[name] < middle}


@given(happenings, st.sampled_from(["subdomain", "cross_domain"]), st.sampled_from(NICHES))
def test_whoever_stands_alike_is_treated_alike(lines: Any, level: Level, niche: str) -> None:
    population = folded([*town(*NAMES), *lines])
    settings = PopulationSettings(cross_domain="deficit")
    chosen = recipients(population, insight(level, niche or None, "nobody"), (), settings)
    for name, agent in population.agents.items():
        for other, its in population.agents.items():
            if agent.competence == its.competence:
                assert (name in chosen) == (other in chosen)


@pytest.mark.parametrize("level", LEVELS)
def test_an_empty_population_is_told_nothing(level: Level) -> None:
    assert recipients(Population(), insight(level), ("b",), PopulationSettings()) == ()

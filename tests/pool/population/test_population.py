"""What agents are good at, alone and together, follows from the lines of the ledger."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.operators.methods.evochamber.settings import PopulationSettings
from coterie.pool.ledger.changes import EventNoted, Restored, Retired
from coterie.pool.ledger.ledger import LedgerEntry
from coterie.pool.population.population import Grown, Pair, Population, RankingScore, Rates, overlap

from ..populations import (
    NAMES,
    NICHES,
    born,
    folded,
    happenings,
    line,
    of_agent,
    said,
    town,
    worked,
)

# Competence, synergy and overlap, by hand


def test_competence_moves_from_a_half_by_thirty_percent_of_the_way() -> None:
    result = folded([*town("a", "b"), worked("a", "algebra", 1.0), worked("a", "algebra", 0.0)])
    assert result.agents["a"].q("algebra") == pytest.approx(0.7 * (0.7 * 0.5 + 0.3))  # 0.455
    assert result.agents["a"].q("code") == result.agents["b"].q("algebra") == 0.5
    assert (result.agents["a"].n("algebra"), result.agents["a"].n("code")) == (2, 0)


def test_all_who_worked_learn_from_the_reward_of_the_team() -> None:
    result = folded([*town("a", "b", "c", "d"), worked("abc", "code", 1.0)])
    assert [round(agent.q("code"), 9) for agent in result.agents.values()] == [
        0.65,
        0.65,
        0.65,
        0.5,
    ]
    assert [agent.total for agent in result.agents.values()] == [1, 1, 1, 0]


def test_synergy_is_nothing_until_five_tasks_were_shared_and_then_their_mean_and_moves() -> None:
    scores = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0]
    population, seen = folded(town("a", "b")), list[float]()
    for score in scores:
        population = population.after(worked("ab", "code", score))
        seen.append(population.agents["a"].sigma("b", "code"))
    assert seen == pytest.approx([0, 0, 0, 0, 0.6, 0.7 * 0.6 + 0.3, 0.7 * 0.72 + 0.3])
    assert population.agents["b"].pairs["a", "code"] == Pair(tasks=7, reward=seen[-1])
    assert population.agents["a"].sigma("b", "algebra") == 0


def test_overlap_is_the_cosine_over_all_niches_of_either() -> None:
    item = RankingScore(competence={"algebra": 0.6, "code": 0.8})
    other = RankingScore(competence={"code": 0.5, "law": 0.5})
    assert overlap(item, other) == pytest.approx(0.4 / (1.0 * 0.5**0.5))
    assert overlap(item, item) == pytest.approx(1)
    assert overlap(item, RankingScore()) == overlap(RankingScore(), RankingScore()) == 0
    assert overlap(item, RankingScore(competence={"code": 0.0})) == 0


# What counts


@pytest.mark.parametrize(
    "said_so",
    [
        worked("ab", "code", None, reason="the provider failed"),
        worked("ab", "code", 1.0, split="test"),
        worked("ab", "code", 1.0, chosen=True),
        worked("ab", "code", 1.0, adapted=True),
        worked("", "code", 1.0),
        said(EventNoted(what="dream", about={"niche": "code"})),
    ],
    ids=["failed", "held out", "chosen", "adapted", "no agents", "told"],
)
def test_what_does_not_count_leaves_all_as_it_is(said_so: LedgerEntry) -> None:
    population = folded(town("a", "b"))
    assert population.after(said_so) is population


def test_it_knows_which_niches_came_lately() -> None:
    lines = [worked("a", niche, 1.0) for niche in ("code", "law", "code", None)]
    population = folded([*town("a"), *lines])
    assert population.trials == 4
    assert population.recent(3) == ["law", "code", ""]
    assert population.recent(0) == []
    assert population.recent(9) == ["code", "law", "code", ""]
    assert population.niches == ("code", "law", "")


def test_rewards_are_rolling_and_the_mean_is_of_who_lives_and_worked() -> None:
    lines = [worked("a", "code", score) for score in (0.0, 1.0, 1.0)]
    population = folded([*town("a", "b", "c"), *lines, worked("b", "code", 0.5)], rolling=2)
    a, b, c = population.agents.values()
    assert (a.rewards, a.rolling, b.rolling, c.rolling) == ((1.0, 1.0), 1.0, 0.5, None)
    assert population.mean == 0.75
    gone = population.after(of_agent(Retired(member="b", reason="lags")))
    assert gone.mean == 1.0
    assert folded(town("a")).mean is None


@pytest.mark.parametrize(
    ("by", "expected"), [("each_task", [1, 2, 3, 0, 1]), ("recent_mean", [1, 2, 3, 4, 5])]
)
def test_who_is_below_the_mean_lags_until_it_is_above(by: str, expected: list[int]) -> None:
    population = folded([*town("a", "b"), worked("b", "code", 1.0)], prune_by=by)
    lagging = list[int]()
    for score in (0.0, 0.1, 0.39, 0.9, 0.0):
        population = population.after(worked("a", "code", score))
        lagging.append(population.agents["a"].lagging)
    assert lagging == expected
    assert population.agents["b"].lagging == 0
    for _ in range(9):
        population = population.after(worked("a", "code", 1.0))
    assert population.agents["a"].lagging == 0


def test_who_led_and_where_it_is_at_home() -> None:
    lines = [worked("ab", "law", 1.0), worked("ba", "code", 0.0), worked("b", "code", 0.0)]
    population = folded([*town("a", "b", "c"), *lines])
    a, b, c = population.agents.values()
    assert (a.anchored, b.anchored, c.anchored) == ({"law": 1}, {"code": 2}, {})
    assert (a.dominant, b.dominant, c.dominant) == ("law", "code", None)


def test_rounds_of_leadership_are_banked_in_order() -> None:
    rounds = [{"structure": "voting", "reward": n} for n in range(3)]
    population = folded(said(EventNoted(what="leadership", about=fields)) for fields in rounds)
    assert list(population.rounds) == rounds
    assert population.rounds[-2:] == rounds[1:]
    assert population.rounds[0] == rounds[0]


def test_rates_come_from_settings_that_have_them() -> None:
    assert Rates.of(PopulationSettings()) == Rates()
    assert Rates.of(PopulationSettings(alpha=0.1, initial=0.2)).alpha == 0.1
    assert folded(town("a"), initial=0.2).agents["a"].q("code") == 0.2


# The roster


def test_a_fork_begins_with_its_parents_competence_and_no_tasks() -> None:
    population = folded([*town("a", "b"), *[worked("ab", "code", 1.0)] * 6, born("a_1", "a")])
    parent, fork = population.agents["a"], population.agents["a_1"]
    assert fork.competence == parent.competence
    assert (fork.total, fork.n("code"), fork.rolling, fork.anchored) == (0, 0, None, {})
    assert fork.sigma("b", "code") == 0 < parent.sigma("b", "code")
    apart = population.after(worked(["a_1"], "code", 0.0))
    assert apart.agents["a"] is parent
    assert apart.agents["a_1"].q("code") == pytest.approx(0.7 * parent.q("code"))


def test_who_inherits_nothing_begins_anew_whoever_its_parents_are() -> None:
    lines = [*town("a"), worked("a", "code", 1.0)]
    value = {key: report for key, report in born("a_1", "a").value.items() if key != "inherits"}
    newcomer = folded(lines).after(line(value))
    assert newcomer.agents["a_1"] == RankingScore()


def test_a_merged_agent_has_the_means_by_tasks_and_the_tasks_of_both() -> None:
    lines = [worked("a", "code", 1.0)] * 3 + [worked("b", "code", 0.0), worked("b", "law", 1.0)]
    population = folded([*town("a", "b"), *lines, born("ab", "a", "b")])
    a, b, both = population.agents.values()
    assert both.q("code") == pytest.approx((3 * a.q("code") + 1 * b.q("code")) / 4)
    assert both.q("law") == b.q("law")
    assert both.tasks == {"code": 4, "law": 1}
    forks = folded([born("c", "a"), born("d", "b"), born("cd", "c", "d")], population)
    assert forks.agents["cd"].q("code") == pytest.approx((a.q("code") + b.q("code")) / 2)


def test_who_is_retired_lives_no_more_and_is_where_it_was_when_restored() -> None:
    before = folded([*town("a", "b", "c"), worked("ab", "code", 1.0)])
    without = before.after(of_agent(Retired(member="a", reason="lags")))
    assert list(without.agents) == ["b", "c"]
    late = without.after(worked("ab", "code", 1.0))  # of an episode that was at work meanwhile
    assert list(late.agents) == ["b", "c"]
    again = late.after(of_agent(Restored(member="a")))
    assert list(again.agents) == ["a", "b", "c"]
    assert again.agents["a"].n("code") == 2
    assert without.after(of_agent(Restored(member="a"))) == before


def test_teams_come_and_go_without_it() -> None:
    population = folded(town("a"))
    for kind in ("born", "retired", "restored", "learnt", "revised"):
        assert population.after(line({"kind": kind, "team": "a"})) is population


# Laws


@given(happenings)
def test_all_numbers_are_within_bounds_and_symmetric(lines: list[LedgerEntry]) -> None:
    population = folded([*town(*NAMES), *lines])
    everybody = population.everybody
    for item in everybody.values():
        assert all(0 <= item.q(niche) <= 1 for niche in NICHES)
        assert 0 <= (item.rolling or 0) <= 1
    for first, second in combinations(everybody, 2):
        assert 0 <= overlap(everybody[first], everybody[second]) <= 1
        assert overlap(everybody[first], everybody[second]) == overlap(
            everybody[second], everybody[first]
        )
        for niche in NICHES:
            synergy = everybody[first].sigma(second, niche)
            assert 0 <= synergy == everybody[second].sigma(first, niche) <= 1
    assert 0 <= (population.mean or 0) <= 1


@given(happenings, st.integers(0, 30))
def test_a_prefix_and_the_rest_are_as_all_lines(lines: list[LedgerEntry], cut: int) -> None:
    whole = folded([*town(*NAMES), *lines])
    before = folded([*town(*NAMES), *lines[:cut]])
    seen = (dict(before.agents), list(before.rounds), before.recent(99), before.mean)
    assert folded(lines[cut:], before) == whole
    assert folded(lines[cut:], before) == whole  # also where somebody went on from there already
    assert seen == (dict(before.agents), list(before.rounds), before.recent(99), before.mean)


@given(st.lists(st.integers(), max_size=5), st.integers(), st.integers())
def test_lists_that_grow_apart_keep_apart(items: list[int], number: int, other: int) -> None:
    first = Grown(items)
    mine, others = first.with_(number), first.with_(other)
    assert [list(first), list(mine), list(others)] == [items, [*items, number], [*items, other]]
    assert mine.with_(other)[-2:] == [number, other]
    assert (mine == others) == (number == other)
    assert mine != [*items, number]


def test_a_line_touches_nobody_else() -> None:
    before = folded(town("a", "b", "c"))
    after = before.after(worked("ab", "code", 1.0))
    assert after.agents["c"] is before.agents["c"]
    assert before == folded(town("a", "b", "c")) != after
    assert isinstance(after, Population)

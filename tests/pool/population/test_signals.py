"""What became of a population: who led, who specialised, who taught whom, and when."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.pool.ledger.changes import EventNoted, Learnt, Retired
from coterie.pool.ledger.ledger import LedgerEntry
from coterie.pool.population.population import Rates
from coterie.pool.population.signals import WorkedTask, by_chance, signals, specialization
from coterie.runtime.values.usage import Usage

from ..populations import NAMES, folded, happenings, line, of_agent, said, town, worked


def led(anchors: str, niches: str = "", alive: str = "abcd") -> list[WorkedTask]:
    """Tasks by who led, and the niche of each."""
    niches = niches or "x" * len(anchors)
    return [
        WorkedTask(
            task="t",
            niche=niche,
            anchor=anchor,
            roster=frozenset(alive),
            score=1.0,
            tokens=0,
            structure=None,
        )
        for anchor, niche in zip(anchors, niches, strict=True)
    ]


# Specialization, by hand


def test_one_leader_for_each_niche_is_all_there_can_be_and_everybody_equally_is_none() -> None:
    assert specialization(led("abab", "xyxy"), 4) == [1.0]
    assert specialization(led("abcd"), 4) == pytest.approx([0.0])


def test_the_entropy_is_that_within_niches_by_their_shares_of_the_window() -> None:
    # x: a a b, y: c. H = 3/4 (2/3 log 3/2 + 1/3 log 3), of log 4 at most
    unsure = 0.75 * (2 / 3 * math.log(1.5) + 1 / 3 * math.log(3))
    assert specialization(led("aabc", "xxxy"), 4) == pytest.approx([1 - unsure / math.log(4)])


def test_without_niches_it_is_of_who_led_alone() -> None:
    assert specialization(led("abab", "xyxy"), 4, by_niche=False) == pytest.approx([0.5])
    assert by_chance(led("abab", "xyxy"), 4, by_niche=False) == by_chance(led("abab"), 4)


def test_the_window_moves_with_each_task_and_is_the_stream_where_that_is_shorter() -> None:
    assert specialization(led("aab"), 2) == pytest.approx([1, 1 - math.log(2) / math.log(4)])
    assert specialization(led("aa"), 32) == [1.0]
    assert specialization([], 32) == []


def test_who_led_counts_where_it_lives_no_more_and_one_alone_does_not() -> None:
    tasks = [*led("c", alive="abc"), *led("a", alive="ab")]
    assert specialization(tasks, 2) == pytest.approx([1 - math.log(2) / math.log(3)])
    assert specialization(led("aaa", alive="a"), 2) == []


def test_by_chance_few_tasks_of_many_agents_look_specialized() -> None:
    town = "abcdefghijklmnopqrst"
    anybody = random.Random(3)
    drawn = led("".join(anybody.choices(town, k=400)), alive=town)
    expected = by_chance(drawn)
    assert expected is not None
    index = specialization(drawn)
    assert sum(index) / len(index) == pytest.approx(expected, abs=0.02)
    assert 0.05 < expected < 0.2
    assert by_chance(drawn) == expected
    assert by_chance([]) is None


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy")), min_size=1, max_size=40),
    st.integers(1, 40),
)
def test_the_index_is_bounded_whatever_the_names(tasks: list[tuple[str, str]], window: int) -> None:
    anchors, niches = ("".join(each) for each in zip(*tasks, strict=True))
    index = specialization(led(anchors, niches), window)
    assert len(index) == max(1, len(tasks) - window + 1)
    assert all(0 <= item <= 1 for item in index)
    renamed = anchors.translate(str.maketrans("abc", "cdb"))
    assert specialization(led(renamed, niches), window) == pytest.approx(index)


# What the ledger says


def lesson(text: str, op: str, **fields: object) -> LedgerEntry:
    learnt = Learnt(kind="lesson", task="t", text=text, **fields)  # pyright: ignore[reportArgumentType]
    return line(learnt.value(), op)


def test_who_gave_to_whom_and_who_has_its_own() -> None:
    result = signals(
        [
            *town("a", "b", "c"),
            lesson("one", "1", owner="a"),
            lesson("two", "2", giver="a", to=("b", "c")),
            lesson("three", "3", giver="a", to=("a", "b")),
            lesson("four", "4", giver="c", owner="a"),
            lesson("five", "5"),
        ],
        Rates(),
    )
    assert result.flow == {("a", "b"): 2, ("a", "c"): 1, ("c", "a"): 1}
    assert result.own == {"a": 2}  # one of them it found by itself, with others
    assert (result.shared, result.received) == ({"a": 3, "c": 1}, {"a": 1, "b": 2, "c": 1})


def test_who_led_in_which_niche_by_which_structure_and_what_came_of_it() -> None:
    usage = Usage(calls=1, prompt_tokens=90, completion_tokens=10)
    result = signals(
        [
            *town("a", "b", "c"),
            worked("ab", "law", 1.0, structure="voting", usage=usage),
            worked("bc", "law", 0.0, structure="debate"),
            worked("ba", "law", 1.0, structure="debate"),
            worked("a", "", 0.5),
            worked("a", "law", 1.0, split="test"),
            worked("a", "law", None, reason="the provider failed"),
        ],
        Rates(),
    )
    assert result.niches == ("law", "")
    assert result.anchors == {"law": {"b": 2, "a": 1}, "": {"a": 1}}
    assert result.structures == {"law": {"debate": 2, "voting": 1}, "": {}}
    assert [item.tokens for item in result.worked] == [100, 0, 0, 0]
    mean, (low, high) = result.accuracy("law")
    assert (mean, round(low, 3), round(high, 3)) == (pytest.approx(2 / 3), 0.208, 0.939)
    assert result.accuracy() == (pytest.approx(0.625), result.accuracy()[1])


def test_events_are_told_with_the_number_of_tasks_before_them() -> None:
    lines = [
        *town("a", "b"),
        worked("a", "law", 0.0),
        said(EventNoted(what="dream", about={"niche": "law", "came": 2})),
        worked("b", "law", 0.0),
        said(EventNoted(what="lifecycle", about={"operator": "prune", "agents": ["a"]})),
        of_agent(Retired(member="a", reason="lags")),
        worked("b", "law", 0.0),
    ]
    result = signals(lines, Rates())
    [dream], [event] = result.dreams, result.lifecycle
    assert (dream.tasks, dream.about["came"]) == (1, 2)
    assert (event.tasks, event.about["operator"]) == (2, "prune")
    assert [sorted(item.roster) for item in result.worked] == [["a", "b"], ["a", "b"], ["b"]]


def test_who_is_retired_while_it_leads_counts_among_those_who_might_have_led() -> None:
    gone = of_agent(Retired(member="a", reason="lags"))
    [item] = signals([*town("a", "b"), gone, worked("ab", "law", 1.0)], Rates()).worked
    assert (item.anchor, item.roster) == ("a", {"a", "b"})


@given(happenings)
def test_the_population_is_the_fold_of_the_same_lines(lines: list[LedgerEntry]) -> None:
    result = signals([*town(*NAMES), *lines], Rates())
    assert result.population == folded([*town(*NAMES), *lines])
    assert len(result.worked) == result.population.trials
    everybody = result.population.everybody.values()
    led_by_all = sum(sum(anchor.values()) for anchor in result.anchors.values())
    assert led_by_all == sum(sum(item.anchored.values()) for item in everybody)

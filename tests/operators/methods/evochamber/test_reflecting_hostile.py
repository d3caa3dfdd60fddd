"""Hostile answers in what agents learn: short entries of the right agent, all counted."""

from dataclasses import replace
from typing import Any

import pytest

from coterie.operators import MetaModel
from coterie.operators.methods.evochamber.dream.contrast import dream_contrast
from coterie.operators.methods.evochamber.dream.crystallize import dream_crystallize
from coterie.operators.methods.evochamber.dream.debate import dream_debate
from coterie.operators.methods.evochamber.dream.ideas import (
    LONGEST_IDEA,
    Difference,
    Idea,
    Insight,
    Opinions,
)
from coterie.operators.methods.evochamber.dream.imagine import dream_imagine
from coterie.operators.methods.evochamber.dream.reflect import dream_reflect
from coterie.operators.methods.evochamber.lifecycle.fusing import LONGEST_ENTRY, fuse
from coterie.operators.methods.evochamber.reflecting import Reflection, reflect
from coterie.pool.ledger.learnt import Learnt

from ....support.hostile_answers import Count, examples, hostile
from ...asking import TASK
from .test_reflecting import WORK

SHARES = {
    "reflect": 2_000,
    "fuse": 1_000,
    "dream_reflect": 1_000,
    "dream_contrast": 1_000,
    "dream_imagine": 2_000,
    "dream_debate": 1_000,
    "dream_crystallize": 2_000,
}
"""How many answers each has to live through, at night."""
LONGEST = {"fuse": LONGEST_ENTRY, "dream_reflect": LONGEST_IDEA, "dream_contrast": LONGEST_IDEA}
"""The most characters of operators that give one text."""
NICHES = ("sums", "words")
DIFFERENCES = [Difference(giver=word, failed="cyn", text="It counted.") for word in ("ada", "ben")]
IDEAS = [
    Idea(text=f"Count {difference.giver}.", niches=("sums",), of=difference)
    for difference in DIFFERENCES
]


def enough(count: Count, operator: str, part: int, text: str) -> None:
    count.enough(SHARES[operator] // part, text, usable=part == 1, refused=0.1 / part)


def test_reflections(part: int) -> None:
    async def work(meta_model: MetaModel, _: Any) -> Any:
        return await reflect(meta_model, "r", TASK, WORK, reward=0.5)

    def are_short_and_of_their_agent(reflection: Reflection) -> None:
        for entry in reflection.entries(TASK, "ada", credit=0.5, run="here"):
            again = Learnt.of(entry.value())
            assert (again.owner, again.giver, again.case) == ("ada", None, TASK.id)
            assert (again.credit, again.replaces) == (0.5, ())
            assert 0 < len(again.text) <= LONGEST_ENTRY
            assert "\n" not in again.text

    count = hostile(examples(SHARES["reflect"], part), work, are_short_and_of_their_agent)
    enough(count, "reflect", part, "Reflection")


@pytest.mark.parametrize("operator", LONGEST)
def test_single_texts(part: int, operator: str) -> None:
    async def work(meta_model: MetaModel, _: Any) -> Any:
        if operator == "fuse":
            return await fuse(meta_model, "f", "Carry.", "Carry on.")
        if operator == "dream_reflect":
            return await dream_reflect(meta_model, "d", TASK, WORK)
        return await dream_contrast(meta_model, "d", TASK, WORK, replace(WORK, agent="ben"))

    def is_short(result: Any) -> None:
        if isinstance(result, Difference):
            assert (result.giver, result.failed) == ("ben", "ada")
        text = result.text if isinstance(result, Difference) else result
        assert 0 < len(text) <= LONGEST[operator]
        assert "\n" not in text

    count = hostile(examples(SHARES[operator], part), work, is_short)
    enough(count, operator, part, "Difference" if operator == "dream_contrast" else "str")


def test_imaginings(part: int) -> None:
    async def work(meta_model: MetaModel, _: Any) -> Any:
        return await dream_imagine(meta_model, "d", TASK, DIFFERENCES, niches=NICHES, most=4)

    def are_few_and_of_these_differences(ideas: tuple[Idea, ...]) -> None:
        assert 1 <= len(ideas) <= 4
        assert len({item.text for item in ideas}) == len(ideas)
        for entry in ideas:
            assert entry.of in DIFFERENCES
            assert {*entry.niches} <= {*NICHES}
            assert len(entry.niches) == len({*entry.niches})
            assert 0 < len(entry.text) <= 600
            assert "\n" not in entry.text

    count = hostile(
        examples(SHARES["dream_imagine"], part),
        work,
        are_few_and_of_these_differences,
    )
    enough(count, "dream_imagine", part, "tuple")


def test_opinions(part: int) -> None:
    async def work(meta_model: MetaModel, _: Any) -> Any:
        return await dream_debate(meta_model, "d", TASK, WORK, IDEAS)

    def are_one_for_each(result: Opinions) -> None:
        assert [type(item.keep) for item in result.opinions] == [bool] * len(IDEAS)
        assert all(len(item.reason) <= 600 for item in result.opinions)
        assert all("\n" not in item.reason for item in result.opinions)

    count = hostile(examples(SHARES["dream_debate"], part), work, are_one_for_each)
    enough(count, "dream_debate", part, "Opinions")


def test_crystals(part: int) -> None:
    task = replace(TASK, niche="sums")

    async def work(meta_model: MetaModel, _: Any) -> Any:
        return await dream_crystallize(meta_model, "d", task, IDEAS, niches=NICHES, most=3)

    def are_insights_of_these_ideas(insights: tuple[Insight, ...]) -> None:
        assert 1 <= len(insights) <= 3
        for item in insights:
            assert item.of in DIFFERENCES
            assert 0 < len(item.text) <= LONGEST_ENTRY
            assert "\n" not in item.text
            match item.level:
                case "task":
                    assert item.niche == "sums"
                case "subdomain":
                    assert item.niche in NICHES
                case "cross_domain":
                    assert item.niche is None

    count = hostile(examples(SHARES["dream_crystallize"], part), work, are_insights_of_these_ideas)
    enough(count, "dream_crystallize", part, "tuple")

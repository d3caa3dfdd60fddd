"""Hostile answers in all schemes: no crash, nothing blamed that is not there, all of it counted."""

import asyncio
from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.operators import MetaModel, RejectedProposal
from coterie.operators.blame import BlameVerdict, Scheme, attribute
from coterie.runtime import Calls
from coterie.schema.loading.ceiling import CapabilityPolicy

from ...support.hostile_answers import CATALOGUE, Answering
from .cases import TRACE

PAIRS = {(step.agent, step.number) for step in TRACE.steps if step.agent in TRACE.agents}
EXAMPLES: dict[Scheme, int] = {"global": 20, "local": 20, "collaborative": 34}
LEAST: dict[Scheme, int] = {"global": 20, "local": 80, "collaborative": 260}
"""How many answers each scheme has to live through, of those; nightly, thirty times as many."""
NIGHTLY = 30


def attributed(scheme: Scheme, chance: Random, run: Any, total: Counter[str]) -> None:
    """Attribute with hostile answers; nothing that came may go uncounted."""
    events: Counter[str] = Counter()

    def tell(event: str, /, **_: Any) -> None:
        events[event] += 1

    gateway: Any = Answering(chance)
    calls = Calls(gateway=gateway)
    meta = MetaModel(calls=calls, catalogue=CATALOGUE, ceiling=CapabilityPolicy(), tell=tell)
    result = run(attribute(meta, "a", TRACE, scheme=scheme))
    answered = events["operator_answered"] + events["operator_dropped"]
    assert events["model_call"] == gateway.asked == answered + events["operator_repair"]
    total["answers"] += gateway.asked
    total["dropped"] += events["operator_dropped"]
    total[type(result).__name__] += 1
    if isinstance(result, RejectedProposal):
        assert result.problems
        assert events["operator_answered"] == 0
    else:
        check(result)


def check(verdict: BlameVerdict) -> None:
    """A verdict is one that a person can look up."""
    assert (verdict.agent, verdict.step) in PAIRS
    assert 0 <= verdict.confidence <= 1
    assert len(verdict.why) <= 600
    assert "\n" not in verdict.why
    named = {submission.analyzer for submission in verdict.submissions} | {*verdict.lost}
    assert named == (set() if verdict.scheme == "global" else {*TRACE.agents})
    for vote in verdict.votes:
        assert (vote.agent, vote.step) in PAIRS
        assert 0 <= vote.weight <= 2 * len(TRACE.agents)
    for item in verdict.submissions:
        assert item.accuses is None or item.accuses in PAIRS
        assert item.erred or item.accuses is None or verdict.scheme == "collaborative"


@pytest.mark.parametrize("scheme", [*EXAMPLES])
def test_no_answer_breaks_it(scheme: Scheme, nightly: bool) -> None:
    total: Counter[str] = Counter()
    with asyncio.Runner() as runner:

        @settings(max_examples=EXAMPLES[scheme] * (NIGHTLY if nightly else 1))
        @given(st.randoms(use_true_random=True))
        def many(chance: Random) -> None:
            attributed(scheme, chance, runner.run, total)

        many()
    assert total["answers"] >= LEAST[scheme] * (NIGHTLY if nightly else 1)
    assert total["BlameVerdict"] > 0
    assert total["dropped"] > 0

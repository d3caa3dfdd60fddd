"""Estimates: what is told before a run covers what the run then takes."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime import Plan, Run, Setting, compile, open_services
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.runs.estimate import Estimate, Range, any_of, estimate
from coterie.schema import Catalogue, Model, Task, parse_team

TEAMS = {
    "solo": "name: solo\nagents:\n  one: {prompt: Alone., max_tokens: 50}\n",
    "pair": (
        "name: pair\nagents:\n  a: {prompt: First., max_tokens: 50}\n"
        "  b: {prompt: Second., max_tokens: 20}\ntopology: {reports_to: {a: [b]}}\n"
    ),
    "rounds": (
        "name: rounds\nagents:\n  a: {prompt: First., max_tokens: 50}\n"
        "  b: {prompt: Second., max_tokens: 20}\ntopology: {reports_to: {a: [b]}}\n"
        "execution: {rounds: {most: 3}}\n"
    ),
}
PRICED = {"usd_per_mtok_input": 1.0, "usd_per_mtok_output": 4.0}
TASK = Task(id="t", query="How much is 1 + 1?", context="Nobody knows. " * 20)

ranges = st.builds(
    lambda least, more: Range(least=least, most=None if more is None else least + more),
    st.integers(0, 100),
    st.none() | st.integers(0, 100),
)
estimates = st.builds(Estimate, calls=ranges, tokens=ranges, usd=ranges)


def known(**fields: Any) -> Catalogue:
    model = Model(alias="default", model="m", api_base="http://127.0.0.1:9/v1", **fields)
    return replace(Catalogue.of_host(), models={"default": model})


async def made(plan: Plan, catalogue: Catalogue) -> Run:
    async with open_services(catalogue, Setting()) as services:
        await services.prepare(plan)
        return await services.execute(plan, TASK)


@pytest.mark.parametrize("name", TEAMS)
def test_a_run_takes_what_was_estimated(name: str) -> None:
    with ScriptedModel(Reply(text="word " * 20)) as model:
        catalogue = known(**PRICED)
        there = replace(catalogue.models["default"], api_base=model.api_base)
        catalogue = replace(catalogue, models={"default": there})
        plan = compile(parse_team(TEAMS[name].encode(), "t.yaml", catalogue), catalogue)
        report = estimate(plan, [TASK])
        run = asyncio.run(made(plan, catalogue))
    taken = (run.usage.calls, run.usage.tokens, run.usage.usd)
    for item, part in zip((report.calls, report.tokens, report.usd), taken, strict=True):
        assert part is not None
        assert item.least <= part <= (item.most or 0)
    assert not report.unpriced


def test_an_unknown_price_is_said_and_a_free_model_is_free() -> None:
    catalogue = known()
    plan = compile(parse_team(TEAMS["solo"].encode(), "t.yaml", catalogue), catalogue)
    assert "the price of m is unknown" in str(estimate(plan, [TASK]))
    free = replace(catalogue, models={"default": Model(alias="default", model="local")})
    assert ", free, " in str(estimate(compile(plan.team, free), [TASK]))


@given(estimates, estimates)
def test_either_of_two_is_within_any_and_both_are_their_sum(a: Estimate, b: Estimate) -> None:
    either, both = any_of([a, b]), a + b
    for word in ("calls", "tokens", "usd"):
        mine, theirs, joint = (getattr(each, word) for each in (a, either, both))
        assert theirs.least <= mine.least <= joint.least
        if mine.most is None:
            assert theirs.most is None
            assert joint.most is None
        elif theirs.most is not None:
            assert mine.most <= theirs.most


def test_a_range_without_an_end_says_so() -> None:
    report = Estimate(calls=Range(least=1, most=1)) * Range(least=2, most=None)
    assert str(report).startswith("2 or more calls, 0 tokens")

"""Policies choose among what is open, and the same for the same arguments."""

from collections import Counter
from collections.abc import Sequence

import pytest

from coterie.operators import MUTABLE, ByChance, ByOutcome, BySchedule, ComponentPolicy
from coterie.schema.edits import Component

Outcomes = tuple[tuple[Component, float], ...]

POLICIES = [
    BySchedule(),
    BySchedule(stages=("tools",)),
    ByChance(),
    ByChance(weights={"tools": 1}),
    ByOutcome(),
    ByOutcome(outcomes=(("prompts", 0.5), ("tools", -0.1))),
]


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_a_policy_keeps_its_word(policy: ComponentPolicy) -> None:
    sets: list[Sequence[Component]] = [MUTABLE, ("topology",), ("model_id", "parameters")]
    for open_to in sets:
        for step in range(6):
            chosen = policy.choose(f"step {step}", step, open_to)
            assert chosen in open_to
            assert chosen == policy.choose(f"step {step}", step, open_to)


def test_a_schedule_goes_round_and_passes_over_what_is_not_open() -> None:
    policy = BySchedule(stages=("prompts", "model_id", "topology"))
    open_to = ("prompts", "topology")
    chosen = [policy.choose("", step, open_to) for step in range(4)]
    assert chosen == ["prompts", "topology", "topology", "prompts"]


def test_chance_draws_as_often_as_the_weights_say() -> None:
    drawn = Counter(ByChance().choose(f"{number}", 0, MUTABLE[:3]) for number in range(3_000))
    assert 0.46 < drawn["prompts"] / 3_000 < 0.55
    assert 0.27 < drawn["model_id"] / 3_000 < 0.36
    assert ByChance(seed=1).choose("a", 0, MUTABLE) in MUTABLE
    others = [ByChance(seed=seed).choose("a", 0, MUTABLE) for seed in range(20)]
    assert len(set(others)) > 1


def test_what_paid_off_is_taken_but_everything_is_tried_first() -> None:
    tried: Outcomes = (("prompts", 0.4), ("prompts", 0.2), ("topology", -0.3))
    assert ByOutcome(outcomes=tried).choose("", 3, ("prompts", "topology", "tools")) == "tools"
    assert ByOutcome(outcomes=tried).choose("", 3, ("prompts", "topology")) == "prompts"
    often: Outcomes = tuple(("prompts", 0.1) for _ in range(50))
    seldom: Outcomes = (*often, ("topology", 0.0))
    assert ByOutcome(outcomes=seldom).choose("", 9, ("prompts", "topology")) == "topology"

"""A ward: who is worth what, and what a consultation learns."""

from dataclasses import replace
from statistics import fmean

import pytest

from studies.consulting import world_of
from studies.world.trials import DRAWN, LEVEL, Job, work
from studies.world.ward import AGENTS, KINDS, kinds, reader, shapley, worth

WORLD = replace(world_of(DRAWN, 0, ""), mishearing=0.0)
OF = {kind: agent for agent, kind in kinds(WORLD.name).items()}


def test_shapley_values_share_out_what_all_are_worth() -> None:
    values = {kind: shapley(WORLD, OF[kind]) for kind in KINDS}
    assert sum(values.values()) == pytest.approx(worth(WORLD, AGENTS) - worth(WORLD, ()))
    assert values["copied"] == pytest.approx(values["redundant"])
    assert values["idle"] == pytest.approx(0.0)
    assert values["misleading"] < 0 < values["helpful"]


def test_of_two_that_say_the_same_either_can_be_spared() -> None:
    for kind in ("copied", "redundant", "idle"):
        spared = worth(WORLD, {*AGENTS} - {OF[kind]})
        assert spared == pytest.approx(worth(WORLD, AGENTS))
    assert worth(WORLD, ()) == 0.5


def test_in_a_level_world_nobody_differs_from_anybody() -> None:
    world = world_of(LEVEL, 0, "")
    assert len({reader(world, agent)[1:] for agent in AGENTS}) == 1
    assert len({reader(world, agent)[0] for agent in AGENTS}) == len(AGENTS)


def test_a_fair_judge_keeps_what_is_right_and_difference_sees_who_misleads() -> None:
    job = Job(study="consulting", world=DRAWN, row="difference, fair", seed=1, tasks=6)
    figures = work(job).figures
    assert figures["kept"] >= 4
    assert figures["sound"] > 0.7
    others = fmean(figures[f"credit of {kind}"] for kind in ("copied", "redundant", "helpful"))
    assert figures["credit of misleading"] < others
    assert figures["credit of idle"] == pytest.approx(0.0, abs=0.05)

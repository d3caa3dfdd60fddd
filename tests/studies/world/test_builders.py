"""Teams that are built: what models, hints, structures and checks are worth."""

from dataclasses import replace

import pytest

from studies.landscape import SEEDS, world_of
from studies.world.builders import HINTS, MODELS, PARTS, Built, Shape, accuracy, worth
from studies.world.trials import DRAWN, LEVEL, Job, work

WORLD = replace(world_of(DRAWN, 0, ""), habit=0.4, dilution=0.1, elsewhere=0.4, alike=0.2)
BEST = max(MODELS, key=lambda model: accuracy(WORLD, "harbour", model))


def solo(*hints: str, model: str = BEST) -> Shape:
    return Shape((("one", Built(model, frozenset(hints), "")),))


def value(shape: Shape) -> float:
    return worth(WORLD, shape, "harbour")


def three(duty: str = "", *, of: str = "") -> Shape:
    """Two that answer alone, and a third that hears both and does its duty."""
    workers = [(name, Built(BEST, frozenset(), of)) for name in ("one", "two")]
    return Shape((*workers, ("last", Built(BEST, frozenset(), duty, ("one", "two")))))


def test_a_single_agent_is_worth_its_model_and_hints_help_in_their_niche() -> None:
    assert value(solo()) == pytest.approx(accuracy(WORLD, "harbour", BEST), abs=0.08)
    assert value(solo("orchard")) < value(solo()) < value(solo("harbour"))
    assert value(solo("haste")) < value(solo())
    assert {"haste", "harbour"} <= {*HINTS}


def test_several_are_worth_more_than_one_and_a_good_checker_still_more() -> None:
    niches = {**WORLD.niches, "harbour": replace(WORLD.niches["harbour"], checking=0.9)}
    careful = replace(WORLD, niches=niches, lure=0.0)
    vote, check = (worth(careful, three(duty), "harbour") for duty in ("", "check"))
    assert worth(careful, solo(), "harbour") < vote < check


def test_in_a_level_world_every_team_is_equally_good() -> None:
    level = world_of(LEVEL, 0, "")
    shapes = (solo(), solo("harbour", model=MODELS[0]), three("check"), three("count"))
    assert len({worth(level, shape, "harbour") for shape in shapes}) == 1


def test_a_search_stops_at_its_calls_and_finds_a_better_team() -> None:
    outcome = work(Job(study="landscape", world=DRAWN, row="EvoMAS", seed=0, tasks=60))
    assert sum(outcome.calls.values()) == 240
    assert len(outcome.scores) < 60
    assert outcome.figures["before"] + 0.1 < outcome.figures["held out"]
    assert {*outcome.figures} > {"mutate", "instantiate", "select", "decide"}
    assert (len(SEEDS), PARTS) == (3, 10)

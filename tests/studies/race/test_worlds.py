"""The worlds: they draw as their rules say, for who computes a team's worth and for who runs it."""

import statistics

import pytest

from coterie.runtime.plan.plan import compile
from coterie.schema.edits import AddAgent, SetParameter, SetPrompt, apply
from coterie.schema.team.team import Agent, Team
from studies.race.gateway import Simulated, letters
from studies.race.worlds import AGENT, CHECKER, MAKERS, World, catalogue
from studies.simulated import services_of

BUDGETS = {"sentence": 320, "graded": 130, "structure": 500, "two-gains": 500}


def changed(world: World, *edits: SetPrompt | AddAgent | SetParameter) -> Team:
    child = apply(world.team, edits, catalogue())
    assert isinstance(child, Team)
    return child


def best(world: World) -> Team:
    """The original with every good sentence."""
    good = {each.agent: each.text for each in world.hypotheses if each.lift}
    edits = [
        SetPrompt(agent=agent, prompt=f"{world.prompts[agent]}\n{text}")
        for agent, text in good.items()
    ]
    return changed(world, *edits)


def checked(world: World, prompt: str = CHECKER) -> Team:
    checker = Agent(id="helper", model_id=AGENT, prompt=prompt)
    return changed(world, AddAgent(agent=checker, receives_from=("solver",)))


async def measured(world: World, team: Team) -> float:
    """The mean score of a team on all tasks, run by the engine."""
    services = services_of(Simulated(world), world.seed)
    plan = compile(team, catalogue())
    runs = [await services.execute(plan, task, path=task.id) for task in world.tasks]
    return statistics.fmean(run.score.value for run in runs if run.score)


@pytest.mark.parametrize("name", BUDGETS)
def test_a_world_offers_what_is_to_be_found(name: str) -> None:
    world = MAKERS[name](3)
    assert world.budget == BUDGETS[name]
    assert not world.is_found(world.team)
    assert world.worth_of(world.team) == world.base == pytest.approx(0.4)


@pytest.mark.parametrize("name", ["sentence", "graded", "two-gains"])
async def test_the_good_sentences_lift_to_point_eight(name: str) -> None:
    world = MAKERS[name](5)
    assert world.is_found(best(world))
    assert world.worth_of(best(world)) == pytest.approx(0.8)
    assert await measured(world, best(world)) == pytest.approx(0.8, abs=0.1)
    assert await measured(world, world.team) == pytest.approx(0.4, abs=0.1)


async def test_a_check_lifts_whoever_hears_a_colleague_only() -> None:
    world = MAKERS["structure"](1)
    alone = changed(world, SetPrompt(agent="solver", prompt="Check the answer."))
    deaf = checked(world, "Say it again.")
    assert [world.is_found(team) for team in (checked(world), alone, deaf)] == [True, False, False]
    assert await measured(world, checked(world)) == pytest.approx(0.7, abs=0.1)
    assert await measured(world, deaf) == pytest.approx(0.4, abs=0.1)


async def test_any_change_hurts_in_the_harm_world() -> None:
    world = MAKERS["harm"](0)
    warm = changed(world, SetParameter(agent="solver", field="temperature", value=1.0))
    assert world.worth_of(warm) == pytest.approx(0.3)
    assert await measured(world, warm) == pytest.approx(0.3, abs=0.12)
    assert await measured(world, world.team) == pytest.approx(0.5, abs=0.12)


def test_nothing_helps_in_the_null_world() -> None:
    worlds = [MAKERS["null"](seed) for seed in range(6)]
    assert {(world.base, world.graded) for world in worlds} == {
        (base, graded) for base in (0.2, 0.5, 0.8) for graded in (False, True)
    }
    assert all(not any(each.lift for each in world.hypotheses) for world in worlds)


def test_lifts_of_the_coverage_world_are_drawn() -> None:
    lifts = [sum(each.lift for each in MAKERS["coverage"](n).hypotheses) for n in range(40)]
    assert {*lifts} == {0.0, 0.1, 0.2, 0.4}


def test_repeated_runs_draw_anew_and_the_same_run_the_same() -> None:
    world = MAKERS["sentence"](0)
    draws = [world.score(0.5, (), "a task", seed) for seed in range(200)]
    assert draws == [world.score(0.5, (), "a task", seed) for seed in range(200)]
    assert statistics.fmean(draws) == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("answer", ["B (1, 4)", '{"answer": "B"}'])
def test_a_letter_counts_however_it_is_handed_in(answer: str) -> None:
    assert letters(answer, "B", {}).value == 1.0
    assert letters(answer, "C", {}).value == 0.0

"""Who is asked in the world answers as its rules say, and by what stands in the question."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import pytest

from coterie.operators.methods.evochamber.lifecycle.founding import founders
from coterie.operators.methods.evochamber.seating import STRUCTURES, seated
from coterie.operators.methods.evochamber.settings import PopulationSettings
from coterie.pool.teams.sources import load_source
from coterie.runtime.agents.outcomes import Run
from coterie.runtime.messages.recall import MemoryEntry, nothing
from coterie.runtime.plan.plan import compile
from coterie.runtime.runs.whole import perform
from coterie.schema.team.team import Team
from studies.chamber.gateway import Simulated
from studies.chamber.landscapes import NICHES, Ground, Landscape, drawn
from studies.chamber.names import CEILING, catalogue
from studies.chamber.tasks import graded, tasks
from studies.chamber.texts import (
    PLAN,
    attempt_in,
    diagnosed,
    lesson_said,
    persona,
    said,
    sight_in,
    verdict_in,
)
from studies.chamber.world import HABITS, METHODS, Attempt, Lesson, problem_of, right_method, title
from studies.simulated import services_of

Came = TypeVar("Came")

SEATS = ("anchor", "complement", "scout")
EASY = Ground(able=1 - 1e-9, unable=1e-9, found=0.0, convincing=1.0, checking=1.0, parts=0.0)
SURE = replace(
    drawn(1),
    grounds=MappingProxyType(dict.fromkeys(NICHES, EASY)),
    trust=1.0,
    dilution=0.0,
    habit=0.0,
)
"""Where who knows the right method is right, and nobody else."""
[TASK] = tasks(1, 1)
PROBLEM = problem_of(title(1, 0, str(TASK.niche)))
TRUE = lesson_said(
    Lesson(PROBLEM.niche, PROBLEM.sign, right_method(SURE.name, PROBLEM.niche, PROBLEM.sign), 1)
)


def done(work: Callable[[], Awaitable[Came]]) -> Came:
    async def whole() -> Came:
        return await work()

    return asyncio.run(whole())


def team_of(structure: str) -> Team:
    one, *_ = founders(PopulationSettings(), Path(), catalogue())
    members = {seat: replace(one, id=f"solver_{seat}") for seat in SEATS}
    template = load_source(f"seed:seats_{structure}", catalogue())
    return seated(template, members, PopulationSettings(), catalogue(), CEILING).team


def ran(
    structure: str, world: Landscape = SURE, knowing: Sequence[str] = ()
) -> tuple[Run, Mapping[str, str]]:
    """Have a team work, of whom some were taught the right method."""

    async def recalled(_query: str, _k: int, where: Mapping[str, Any], /) -> Sequence[MemoryEntry]:
        knows = where["owner"].removeprefix("solver_") in knowing
        return [MemoryEntry(source="a lesson", task=TASK.text, text=TRUE)] if knows else []

    services = replace(services_of(Simulated(world), 1), recaller=recalled)
    plan = compile(team_of(structure), catalogue())
    run = done(lambda: perform(plan, TASK, services.context()))
    texts = {name: one.result.content for name, one in run.agents.items() if one.result}
    return run, texts


def is_right(text: str | None) -> bool:
    return graded(text or "", TASK.answer, {}).value == 1


def test_all_structures_are_answered_in_each_of_their_positions() -> None:
    for structure in (one.removeprefix("seed:seats_") for one in STRUCTURES):
        run, texts = ran(structure, drawn(2))
        assert run.status == "done"
        for position, text in texts.items():
            told = attempt_in(text) is not None or text == PLAN or verdict_in(text) is not None
            assert told, (structure, position, text)


def test_a_vote_goes_by_most_and_a_debate_by_who_convinces() -> None:
    assert not is_right(ran("voting", replace(SURE, lure=1.0), ["anchor"])[0].answer)
    assert is_right(ran("voting", SURE, ["anchor", "scout"])[0].answer)
    assert is_right(ran("debate", SURE, ["scout"])[0].answer)
    assert not is_right(ran("debate", SURE)[0].answer)


def test_critics_have_the_anchor_try_again_and_whoever_plans_attempts_nothing() -> None:
    run, texts = ran("generator_critic", SURE, ["anchor"])
    assert is_right(run.answer)
    assert verdict_in(texts["complement"]) is True
    run, texts = ran("generator_critic", SURE)
    assert verdict_in(texts["scout"]) is False
    assert not is_right(run.answer)
    run, texts = ran("decompose", SURE, ["complement"])
    assert texts["anchor"] == PLAN
    assert is_right(texts["complement"])
    assert not is_right(texts["scout"])
    assert is_right(run.answer)


def test_an_agents_persona_is_read_and_what_it_is_told_beside() -> None:
    world = replace(SURE, persona=40.0)
    one = replace(team_of("voting").agents["anchor"], recall=None)
    for prompt, right in (
        (persona(PROBLEM.niche), True),
        (f"Solve it. You have learnt: {TRUE}", True),
        (persona(next(one for one in NICHES if one != PROBLEM.niche)), False),
    ):
        team = Team(name="alone", agents={"anchor": replace(one, prompt=f"{prompt} Go on.")})
        plan = compile(team, catalogue())
        run = done(
            lambda plan=plan: perform(plan, TASK, services_of(Simulated(world), 1).context())
        )
        assert is_right(run.answer) == right, prompt


def test_the_world_shows_what_a_task_is_recognised_by_and_no_more() -> None:
    assert sight_in(TASK.query) == (PROBLEM.niche, PROBLEM.sign)
    assert PROBLEM.answer not in TASK.query.split()[:-3]
    made = Attempt(method=METHODS[PROBLEM.niche][0], habit=HABITS[0], letter="A")
    assert "Answer" not in diagnosed(made, right=True)
    assert attempt_in(said(made)) == made


def test_a_question_about_no_task_of_the_world_is_not_passed_over() -> None:
    plan = compile(team_of("voting"), catalogue())
    context = replace(services_of(Simulated(SURE), 1), recaller=nothing).context()
    with pytest.raises(ExceptionGroup) as raised:
        done(lambda: perform(plan, replace(TASK, query="What is 1 + 1?"), context))
    assert raised.group_contains(ValueError, match="no task of the world")

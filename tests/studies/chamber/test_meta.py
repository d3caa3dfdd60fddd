"""What operators are answered in the world comes from what stands in their questions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from coterie.operators.core.account import Account
from coterie.operators.core.meta import MetaModel
from coterie.operators.core.proposal import RejectedProposal
from coterie.operators.methods.evochamber.dream.contrast import dream_contrast
from coterie.operators.methods.evochamber.dream.crystallize import dream_crystallize
from coterie.operators.methods.evochamber.dream.debate import dream_debate
from coterie.operators.methods.evochamber.dream.ideas import Difference, Idea
from coterie.operators.methods.evochamber.dream.imagine import dream_imagine
from coterie.operators.methods.evochamber.dream.reflect import dream_reflect
from coterie.operators.methods.evochamber.leading import Leader, StructureChoice, lead
from coterie.operators.methods.evochamber.lifecycle.founding import founders
from coterie.operators.methods.evochamber.lifecycle.fusing import fuse
from coterie.operators.methods.evochamber.lifecycle.personas import Persona
from coterie.operators.methods.evochamber.lifecycle.personas import persona as written
from coterie.operators.methods.evochamber.lifecycle.rules import LifecycleEvent
from coterie.operators.methods.evochamber.reflecting import Reflection, reflect
from coterie.operators.methods.evochamber.seating import STRUCTURES
from coterie.operators.methods.evochamber.settings import PopulationSettings
from coterie.operators.methods.evochamber.work import MemberWork
from coterie.pool.teams.sources import load_source
from coterie.runtime.agents.outcomes import AgentOutcome, Run
from coterie.runtime.agents.runner import AgentResult
from coterie.schema.team.team import Team
from studies.chamber.gateway import Simulated
from studies.chamber.landscapes import NICHES, Landscape, drawn
from studies.chamber.names import CEILING, META, catalogue
from studies.chamber.tasks import tasks
from studies.chamber.texts import (
    habit_lesson,
    habits_in,
    lesson_said,
    lessons_in,
    persona,
    personas_in,
    said,
)
from studies.chamber.world import HABITS, METHODS, Attempt, Lesson, problem_of, title
from studies.simulated import services_of

Came = TypeVar("Came")

[TASK] = tasks(1, 1)
PROBLEM = problem_of(title(1, 0, str(TASK.niche)))
ONE, OTHER, *_ = METHODS[PROBLEM.niche]
"""Methods; which is the right one makes no difference here."""
MINE = Attempt(method=ONE, habit=HABITS[0], letter="A")
THEIRS = Attempt(method=OTHER, habit=HABITS[1], letter="B")


def done(work: Awaitable[Came]) -> Came:
    async def whole() -> Came:
        return await work

    return asyncio.run(whole())


def meta(world: Landscape | None = None) -> MetaModel:
    services = services_of(Simulated(world or drawn(1)), 1)
    return MetaModel(calls=services.calls(), catalogue=catalogue(), ceiling=CEILING, model=META)


def lesson(method: str, held: int) -> Lesson:
    return Lesson(PROBLEM.niche, PROBLEM.sign, method, held)


def work(
    name: str, own: Attempt | None, *, team: Attempt, score: float | None = None
) -> MemberWork:
    """What a member did in a team that came to an answer."""
    [agent] = founders(replace(PopulationSettings(), pool_size=1, team_size=1), Path(), catalogue())
    text = "I find it wrong." if own is None else said(own)
    outcome = AgentOutcome(status="done", result=AgentResult(content=text))
    run = Run(status="done", answer=said(team), agents={"anchor": outcome})
    member = replace(agent, id="anchor", member=name)
    account = Account(team=Team(name="alone", agents={"anchor": member}), run=run)
    return MemberWork(
        agent=name, persona=agent.prompt, account=account, positions=("anchor",), score=score
    )


def reflected(one: MemberWork, reward: float) -> tuple[list[Lesson], list[tuple[str, int]]]:
    came = done(reflect(meta(), f"{one.agent} {reward}", TASK, one, reward=reward))
    assert isinstance(came, Reflection)
    return lessons_in(came.lesson), habits_in(came.insight)


def test_who_was_right_keeps_to_its_own_method_and_habit() -> None:
    told = reflected(work("a", MINE, team=THEIRS, score=1.0), 0.0)
    assert told == ([lesson(ONE, 1)], [(HABITS[0], 1)])
    assert reflected(work("b", MINE, team=MINE), 1.0) == told


def test_who_was_wrong_takes_the_method_of_the_right_answer_or_guesses_another() -> None:
    taken = [lesson(OTHER, 1)], [(HABITS[1], 1)]
    assert reflected(work("a", MINE, team=THEIRS, score=0.0), 1.0) == taken
    assert reflected(work("critic", None, team=THEIRS), 1.0) == taken
    guesses = [reflected(work(f"{n}", MINE, team=THEIRS, score=0.0), 0.0) for n in range(40)]
    assert {one.method for told, _ in guesses for one in told} == {*METHODS[PROBLEM.niche]} - {ONE}
    assert {habit for _, told in guesses for habit in told} == {(one, 0) for one in HABITS[1:]}
    assert {one.held for told, _ in guesses for one in told} == {0}


def test_what_says_the_same_is_fused_to_what_held_as_often_as_both() -> None:
    def fused(one: str, two: str) -> str:
        return str(done(fuse(meta(), f"{one}/{two}", one, two)))

    assert fused(lesson_said(lesson(ONE, 3)), lesson_said(lesson(ONE, 2))).endswith("Held 5")
    several = lesson_said(lesson(ONE, 3)), lesson_said(lesson(OTHER, 4))
    assert fused(*several) == several[1]
    assert fused(*reversed(several)) == several[1]
    assert fused(habit_lesson(HABITS[0], 1), habit_lesson(HABITS[0], 0)).endswith("Held 1")


def led(rounds: Sequence[tuple[str, str, float]], number: int = 0, **changes: float) -> str:
    """Have a leader choose, who is shown such rounds: niche, structure and reward."""
    [agent] = founders(replace(PopulationSettings(), pool_size=1, team_size=1), Path(), catalogue())
    leader = Leader(agent=agent, able={"anchor": 0.5}, names={"anchor": agent.id})
    known = [
        (
            {"niche": niche, "structure": by, "reward": worth, "profile": [0.5], "reflection": ""},
            0.9,
        )
        for niche, by, worth in rounds
    ]
    world = replace(drawn(1), **{"whim": 0.0, **changes})
    teams = (load_source(one, catalogue()) for one in STRUCTURES)
    offered = {one.name: one for one in teams}
    chosen = done(lead(meta(world), f"{number}", TASK, leader, offered, known=known))
    assert isinstance(chosen, StructureChoice)
    return chosen.structure


def test_a_leader_goes_by_what_did_well_on_the_niche_else_tries_something_else() -> None:
    niche, other = PROBLEM.niche, next(one for one in NICHES if one != PROBLEM.niche)
    well = [(niche, "debate", 1.0), (niche, "voting", 0.5), (other, "decompose", 1.0)]
    assert led(well) == "debate"
    assert led([(other, "decompose", 1.0)]) == "decompose"
    badly = [(niche, "debate", 0.0), (niche, "voting", 0.0), (niche, "decompose", 0.0)]
    assert led(badly) == "generator_critic"
    drawn_ones = {led([], number) for number in range(20)}
    assert len(drawn_ones) == len(STRUCTURES)
    assert len({led(well, number, whim=1.0) for number in range(20)}) == len(STRUCTURES)


def test_a_dream_carries_the_right_method_from_who_had_it_to_insights() -> None:
    failed = work("solver_1", MINE, team=THEIRS, score=0.0)
    succeeded = work("solver_2", THEIRS, team=THEIRS, score=1.0)
    method, habit = lesson_said(lesson(OTHER, 1)), habit_lesson(HABITS[1], 1)
    difference = done(dream_contrast(meta(), "contrast", TASK, failed, succeeded))
    assert isinstance(difference, Difference)
    assert difference.text == f"{method}; {habit}"
    niches = [PROBLEM.niche, *NICHES]
    ideas = done(dream_imagine(meta(), "imagine", TASK, [difference], niches=niches, most=6))
    assert not isinstance(ideas, RejectedProposal)
    assert [one.text for one in ideas] == [method, habit]
    made = dream_crystallize(meta(), "crystallize", TASK, [*ideas][::-1], niches=niches, most=3)
    insights = done(made)
    assert not isinstance(insights, RejectedProposal)
    assert [(one.text, one.level, one.niche) for one in insights] == [
        (method, "subdomain", PROBLEM.niche),
        (habit, "cross_domain", None),
    ]


def test_who_criticises_drops_what_it_did_itself_and_was_wrong() -> None:
    of = Difference(giver="a", failed="b", text="")
    ideas = [Idea(text=lesson_said(lesson(one, 1)), niches=(), of=of) for one in (ONE, OTHER)]
    for score, kept in ((0.0, [False, True]), (1.0, [True, True])):
        own = work("solver_1", MINE, team=THEIRS, score=score)
        diagnosis = done(dream_reflect(meta(), f"reflect {score}", TASK, own))
        own = replace(own, diagnosis=str(diagnosis))
        opinions = done(dream_debate(meta(), f"debate {score}", TASK, own, ideas))
        assert not isinstance(opinions, RejectedProposal)
        assert [one.keep for one in opinions] == kept


def test_a_persona_names_the_niche_it_is_for_or_those_of_both() -> None:
    [agent] = founders(replace(PopulationSettings(), pool_size=1, team_size=1), Path(), catalogue())
    fork = LifecycleEvent(operator="fork", agents=("a",), why="", niche="glacier")
    twin = done(written(meta(), "fork", fork, [agent]))
    assert isinstance(twin, Persona)
    assert personas_in(twin.agent.prompt) == ["glacier"]
    other = replace(twin.agent, prompt=f"{persona('harbour')}\n\nEnd with the answer.")
    both = LifecycleEvent(operator="merge", agents=("a", "b"), why="")
    one = done(written(meta(), "merge", both, [twin.agent, other]))
    assert isinstance(one, Persona)
    assert personas_in(one.agent.prompt) == ["glacier", "harbour"]
    none = done(written(meta(), "merge", both, [agent, agent]))
    assert isinstance(none, Persona)
    assert not personas_in(none.agent.prompt)

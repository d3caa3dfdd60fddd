"""Who answers operators in the landscape: rightly as often as is told, and always validly."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.operators import Account, Bounds, Contributions, MetaModel, Proposal
from coterie.operators.credit.contributions import contributions
from coterie.operators.methods.tacomas.coach import Coaching, coach
from coterie.operators.methods.tacomas.enlist import enlist
from coterie.operators.methods.tacomas.restructure import restructure
from coterie.runtime.engine.engine import Run
from coterie.runtime.jail import Jails
from coterie.runtime.plan.plan import compile
from coterie.runtime.runs.services import Services, Setting
from coterie.runtime.tools import Toolbox
from coterie.schema import Notes, Team
from studies.adaptation.gateway import Simulated, graded, tasks
from studies.adaptation.landscapes import Landscape, drawn, level
from studies.adaptation.names import CEILING, META, ROLES, catalogue
from studies.adaptation.sheets import ASPECTS, CRAFTS, Sheet, sheet
from studies.adaptation.texts import lessons_in, letters_in, outlined, taught
from studies.adaptation.world import Crew, Lesson, worth

Came = TypeVar("Came")
FRAME = Team(name="frame", agents={"writer": ROLES["writer"]})
LINE = replace(
    FRAME,
    agents={one: ROLES[one] for one in CRAFTS},
    reports_to={one: (other,) for one, other in itertools.pairwise(CRAFTS)},
)
"""A team of all crafts in a line."""
numbers = st.integers(0, 500)


class Host:
    """A landscape, and what asks and runs in it."""

    def __init__(self, landscape: Landscape, skill: float = 1.0, calls: int = 200) -> None:
        self.landscape = landscape
        self.gateway = Simulated(landscape, skill, calls)
        self.services = Services(
            setting=Setting(seed=3),
            gateway=self.gateway,
            toolbox=Toolbox(),
            jails=Jails(),
            cache=None,
        )
        self.meta = MetaModel(
            calls=self.services.calls(), catalogue=catalogue(), ceiling=CEILING, model=META
        )
        [self.task] = tasks(landscape, 1, 1)

    @property
    def sheet(self) -> Sheet:
        return sheet("Sheet 1/0", self.landscape.coupling, self.landscape.alike)

    async def works(self, team: Team, what: str = "round 1") -> Account:
        plan = compile(team, catalogue())
        return Account(team=team, run=await self.services.execute(plan, self.task, path=what))

    async def judges(self, account: Account) -> Contributions:
        said = await contributions(self.meta, "judge", self.task, account)
        assert isinstance(said, Contributions)
        return said

    async def coaches(
        self, account: Account, agent: str, before: str = "", room: int = 900
    ) -> Coaching:
        said = await self.judges(account)
        team = account.team
        told = replace(team.agents[agent], notes=Notes(coaching=before))
        came = await coach(
            self.meta, f"coach {before}", self.task,
            replace(account, team=replace(team, agents={**team.agents, agent: told})),
            agent=agent, contribution=said.of[agent], share=1, room=room,
        )  # fmt: skip
        assert isinstance(came, Coaching)
        return came

    async def restructures(self, account: Account, dying: list[str], edges: int = 4) -> Team:
        came = await restructure(
            self.meta, f"restructure {edges}", self.task, account, [await self.judges(account)],
            team=account.team, roles=ROLES, dying=dying, agents=2, edges=edges,
        )  # fmt: skip
        assert isinstance(came, Proposal), came
        return came.child

    def worth(self, team: Team) -> float:
        return worth(crew_of(team), self.sheet, self.landscape)


def crew_of(team: Team) -> Crew:
    found = outlined(Account(team=team, run=Run(status="done")).outline(Bounds()))
    assert found is not None
    return found


def done(work: Callable[[], Awaitable[Came]]) -> Came:
    async def main() -> Came:
        return await work()

    return asyncio.run(main())


@given(st.lists(st.tuples(st.sampled_from(ASPECTS), st.sets(st.sampled_from(CRAFTS)))))
def test_what_is_taught_is_what_is_read(lessons: list[tuple[str, set[str]]]) -> None:
    told = tuple(Lesson(aspect, frozenset(beside)) for aspect, beside in lessons)
    assert lessons_in(f"You are the coder of a team.\nPlan: {taught(told)}") == told


def test_agents_answer_the_whole_sheet_and_hand_on_what_they_hear() -> None:
    host = Host(replace(drawn(1), alike=1.0))
    run = done(lambda: host.works(LINE)).run
    assert run.answer is not None
    assert len(letters_in(run.answer)) == len(host.sheet.answer)
    for number, part in enumerate(host.sheet.parts, 1):
        name = f"part {number}: "
        own = next(one for one in _said(run, part.craft) if one.startswith(name))
        last = next(one for one in run.answer.splitlines() if one.startswith(name))
        assert last.split(" by ")[0] == own.split(" by ")[0]
    assert run.score is not None
    assert run.score == graded(run.answer, host.sheet.answer, {})


def _said(run: Any, agent: str) -> list[str]:
    return run.agents[agent].result.content.splitlines()


@given(numbers)
@settings(max_examples=10)
def test_a_judge_is_off_by_no_more_than_is_told(number: int) -> None:
    landscape = replace(drawn(number), sight=0.0)
    host = Host(landscape)
    said = done(lambda: judged_line(host))
    assert abs(said.score - host.worth(LINE)) <= landscape.noise + 0.05 + 1e-9
    parts = {part.craft for part in host.sheet.parts}
    for agent, one in said.of.items():
        if agent not in parts:
            assert one.value <= landscape.noise + 0.05


async def judged_line(host: Host) -> Contributions:
    return await host.judges(await host.works(LINE))


def test_a_judge_who_sees_luck_sees_what_came_out() -> None:
    host = Host(replace(drawn(2), sight=1.0, noise=0.0))

    async def main() -> tuple[float, float]:
        account = await host.works(LINE)
        assert account.run.score is not None
        return account.run.score.value, (await host.judges(account)).score

    came, said = done(main)
    assert abs(came - said) <= 0.05 + 1e-9


@pytest.mark.parametrize("calls", [20, 30, 44])
def test_a_judge_ends_a_task_before_it_takes_more_calls(calls: int) -> None:
    host = Host(drawn(1), calls=calls)

    async def main() -> int:
        for number in range(1, 9):
            said = await contributions(
                host.meta, f"judge {number}", host.task, await host.works(LINE, f"round {number}")
            )
            assert isinstance(said, Contributions)
            if said.converged:
                return number
        return 0

    assert done(main) == calls // (len(CRAFTS) + 1)


@given(numbers)
@settings(max_examples=10)
def test_a_coach_who_knows_teaches_what_helps_one_thing_at_a_time(number: int) -> None:
    host = Host(replace(drawn(number), misfit=-0.1))
    part = host.sheet.parts[-1]

    async def main() -> list[str]:
        account, said = await host.works(LINE), ""
        told: list[str] = []
        for _ in range(4):
            said = (await host.coaches(account, part.craft, before=said)).text
            told.append(said)
        return told

    for count, text in enumerate(done(main), 1):
        lessons = lessons_in(text)
        assert len(lessons) == count
        assert {one.aspect for one in lessons} <= {*part.apt}
        assert {one.neighbours for one in lessons} == {frozenset(crew_of(LINE).heard[part.craft])}


@pytest.mark.parametrize("skill", [0.0, 1.0])
def test_a_coach_writes_no_more_than_fits(skill: float) -> None:
    host = Host(drawn(4), skill=skill)
    before = taught(Lesson(one, frozenset({"planner"})) for one in ASPECTS[:5])

    async def main() -> Coaching:
        return await host.coaches(await host.works(LINE), "coder", room=200, before=before)

    came = done(main)
    lessons = lessons_in(came.plan)
    assert 1 <= len(lessons) < 5
    assert came.plan == taught(lessons)


def test_what_an_agent_is_coached_to_do_reaches_it_by_its_instructions_only() -> None:
    host = Host(replace(drawn(5), lesson=1.0, alike=1.0, spread=0.0))
    part = host.sheet.parts[0]
    notes = Notes(coaching=taught(Lesson(one, frozenset()) for one in part.apt))
    told = replace(ROLES[part.craft], notes=notes)
    plain = replace(LINE, agents={part.craft: ROLES[part.craft]}, reports_to={})
    alone = replace(plain, agents={part.craft: told})
    coached, before = (done(lambda one=one: host.works(one)) for one in (alone, plain))
    assert coached.run.answer is not None
    assert before.run.answer is not None
    assert host.gateway.worth(coached.run.answer) > host.gateway.worth(before.run.answer)


@given(numbers)
@settings(max_examples=10)
def test_who_knows_makes_teams_better_or_leaves_them(number: int) -> None:
    host = Host(drawn(number))
    enlisted = done(lambda: enlist(host.meta, "e", host.task, FRAME, ROLES, most=5))
    assert isinstance(enlisted, Proposal)

    async def main() -> Team:
        return await host.restructures(await host.works(enlisted.child), [*enlisted.child.agents])

    made = done(main)
    assert host.gateway.repairs == 0
    before, after = host.worth(enlisted.child), host.worth(made)
    assert after >= before
    assert after > before or made == enlisted.child


@given(numbers)
@settings(max_examples=10)
def test_who_draws_stays_within_bounds_and_is_understood(number: int) -> None:
    host = Host(drawn(number), skill=0.0)
    enlisted = done(lambda: enlist(host.meta, "e", host.task, FRAME, ROLES, most=5))
    assert isinstance(enlisted, Proposal)
    assert 2 <= len(enlisted.child.agents) <= 5

    async def main() -> None:
        account = await host.works(enlisted.child)
        for edges in range(1, 6):
            await host.restructures(account, [*enlisted.child.agents], edges)

    done(main)


def test_in_a_level_landscape_nothing_is_known_to_be_better() -> None:
    host = Host(level(3))

    async def main() -> Team:
        return await host.restructures(await host.works(LINE), [*LINE.agents])

    assert done(main) == LINE


def test_letters_that_are_fixed_come_out_the_same() -> None:
    host = Host(replace(level(2), alike=1.0))

    async def main() -> list[str | None]:
        return [(await host.works(LINE, f"round {one}")).run.answer for one in (1, 2)]

    first, second = done(main)
    assert first == second
    lively = Host(replace(level(2), alike=0.0))
    first, second = done(lambda: _twice(lively))
    assert first != second


async def _twice(host: Host) -> list[str | None]:
    return [(await host.works(LINE, f"round {one}")).run.answer for one in (1, 2)]


def test_a_team_is_read_from_its_outline() -> None:
    crew = crew_of(LINE)
    assert [*crew.members] == [*CRAFTS]
    assert crew.output == CRAFTS[-1]
    assert crew.heard[CRAFTS[1]] == (CRAFTS[0],)

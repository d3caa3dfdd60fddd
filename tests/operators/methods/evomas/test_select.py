"""Selection: statistics and memory make a shortlist, a model chooses; it works without one."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.operators import RejectedProposal, Selection, select
from coterie.operators.methods.evomas.select import shortlist
from coterie.pool import Pool, Trial
from coterie.pool.ledger.changes import Evaluated, Retired
from coterie.pool.ledger.learnt import Learnt
from coterie.runtime.doubles import Reply
from coterie.schema import Lineage, SolvedTask, Task, Team

from ...asking import TASK, Asked, asking, catalogue, llm, team

NICHE = replace(TASK, niche="sums")
TEAMS = [
    team(name, llm("solver", prompt=f"You are of {name}. Solve it.", role="solver"))
    for name in ("ants", "bees", "cats", "dogs", "eels", "frogs", "gnus", "hens")
]


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    pool = Pool.init(tmp_path / "pool", catalogue=catalogue())
    for item in TEAMS:
        pool.add(item, Lineage(operator="seed"), op=item.name)
    return pool


def scored(pool: Pool, name: str, *scores: float | None, niche: str | None = None) -> None:
    for number, score in enumerate(scores):
        trial = Trial(task=f"{niche} {number}", score=score, niche=niche)
        pool.commit(Evaluated(member=name, trial=trial), op=f"{name} {niche} {number}")


def members(pool: Pool) -> list[Any]:
    return list(pool.members.values())


def names(pool: Pool, task: Task = NICHE, *, k: int = 3, most: int = 3) -> list[str]:
    return [item.name for item in shortlist(task, members(pool), k=k)][:most]


def hit(pool: Pool, name: str, reward: float, similarity: float) -> tuple[Learnt, float]:
    team_hash = pool.members[name].content_hash
    entry = Learnt(id=name, kind="evolution", task="t", text="s", team=team_hash, reward=reward)
    return entry, similarity


def test_with_nothing_known_the_first_born_come_first(pool: Pool) -> None:
    assert names(pool) == ["ants", "bees", "cats"]


def test_the_niche_counts_more_than_the_rest(pool: Pool) -> None:
    scored(pool, "dogs", 1, 1, 1, 1, niche="dates")
    scored(pool, "eels", 1, 1, 1, niche="sums")
    scored(pool, "ants", 0, 0, 0, niche="sums")
    assert names(pool, most=3) == ["eels", "dogs", "bees"]
    assert "ants" not in names(pool, most=7)
    assert names(pool, TASK, most=1) == ["dogs"]  # as good, and tried more often


def test_a_failed_run_speaks_against_a_team(pool: Pool) -> None:
    scored(pool, "ants", None, None)
    assert names(pool, k=8, most=8)[-1] == "ants"


def test_a_trial_counts_once_though_memory_has_it_too(pool: Pool) -> None:
    scored(pool, "gnus", 1, niche="sums")
    hits = [hit(pool, "gnus", 1, 0.9), hit(pool, "hens", 1, 1)]
    without, alike = chosen(pool, ["gnus"]), chosen(pool, ["gnus"], hits=hits)
    assert isinstance(without.result, Selection)
    assert without.result == alike.result
    word = "reward 1.00 on a task of similarity 0.90"
    assert [word in done.calls[0].text for done in (without, alike)] == [False, True]
    expected = [expectation(done.calls[0].text, "gnus") for done in (without, alike)]
    assert expected[0] == expected[1]


def expectation(text: str, name: str) -> str:
    line = next(line for line in text.splitlines() if line.startswith(f"{name}: "))
    return line.split("; ")[1]


def test_every_kth_place_is_for_who_may_be_best(pool: Pool) -> None:
    """Those that were tried are good, but of the others only a trial can tell."""
    for name in ("ants", "bees", "cats", "dogs"):
        scored(pool, name, *[0.8] * 9)
    newcomer = pool.add(
        team("eels", llm("solver", prompt="Swim.")),
        Lineage(operator="mutate", parents=("eels",)), op="child",
    ).name  # fmt: skip
    scored(pool, "eels", *[0.1] * 9)
    listed = names(pool, TASK, k=2, most=4)
    assert {listed[0], listed[2]} <= {"ants", "bees", "cats", "dogs"}
    assert listed[1] in {"frogs", "gnus", "hens"}
    assert newcomer not in listed


async def test_of_teams_that_are_alike_none_is_forgotten(pool: Pool) -> None:
    """Whoever is chosen scores the same: within a few tasks all teams are tried."""
    for number in range(20):
        for name in (await select(None, "s", TASK, members(pool), k=2)).names:  # type: ignore[union-attr]
            trial = Trial(task=str(number), score=number % 2)
            pool.commit(Evaluated(member=name, trial=trial), op=f"{name} {number}")
    assert all(member.statistics.n for member in members(pool))


def test_retired_teams_count_and_are_not_chosen(pool: Pool) -> None:
    child = pool.add(
        team("ants", llm("solver", prompt="Twice.")),
        Lineage(operator="mutate", parents=("ants",)), op="child",
    ).name  # fmt: skip
    scored(pool, "ants", 1, 1, 1, 1, 1, 1)
    scored(pool, "bees", *[0.4] * 6)
    pool.commit(Retired(member="ants", reason="dear"), op="retire")
    everyone = list(pool.teams.values())
    listed = [item.name for item in shortlist(TASK, everyone, k=3)]
    assert listed[0] == child
    assert "ants" not in listed


def test_relatives_of_a_chosen_team_come_later(pool: Pool) -> None:
    child = team("ants", llm("solver", prompt="Solve it twice."))
    name = pool.add(child, Lineage(operator="mutate", parents=("ants",)), op="child").name
    scored(pool, "ants", 1, 1, 1, 1, niche="sums")
    scored(pool, name, 1, 1, 1, 1, niche="sums")
    scored(pool, "cats", 1, 1, 1, 0.9, niche="sums")
    assert names(pool)[:2] == [name, "cats"]


def test_a_task_with_files_wants_a_team_that_can_open_them(pool: Pool) -> None:
    reader = llm("solver", agent_type="ToolCallingAgent", tools=("read_file",))
    pool.add(team("readers", reader), Lineage(operator="seed"), op="readers")
    scored(pool, "readers", 0, 0, 0)
    assert names(pool, replace(TASK, files={"a.csv": "1"}), most=1) == ["readers"]
    assert names(pool, replace(TASK, repo=Path()), most=1) == ["readers"]
    assert "readers" not in names(pool, TASK, most=3)


def chosen(
    pool: Pool, *answers: Any, k: int = 2, **options: Any
) -> Asked[Selection | RejectedProposal]:
    replies = [Reply.json({"reason": "why not", "selected": answer}) for answer in answers]
    return asking(replies, lambda meta: select(meta, "s", NICHE, members(pool), k=k, **options))


def test_a_model_chooses_among_the_shortlist(pool: Pool) -> None:
    scored(pool, "eels", 1, 0.5, niche="sums")
    scored(pool, "dogs", None)
    done = chosen(pool, ["cats", "eels"])
    assert done.result == Selection(
        names=("cats", "eels"),
        reason="why not",
    )
    [call] = done.calls
    assert (
        "eels: 1 agent, 0 edges, roles solver; expected to score 0.58, between 0.12 and 1.00;"
        " score 0.75 of 2; in this niche 0.75 of 2" in call.text
    )
    assert (
        "ants: 1 agent, 0 edges, roles solver; expected to score 0.54, between 0.00 and 1.00;"
        " never evaluated" in call.text
    )
    assert "The order of the list and of your names means nothing." in call.text
    assert TASK.answer not in call.text


def test_the_model_sees_failures_and_memory(pool: Pool) -> None:
    scored(pool, "ants", None)
    scored(pool, "ants", 1, niche="dates")
    entry = Learnt(
        id="1", kind="evolution", task="t", text="s",
        team=pool.members["ants"].content_hash, reward=0.9,
    )  # fmt: skip
    [call] = chosen(pool, ["ants", "bees"], hits=[(entry, 0.8)]).calls
    assert "score 1.00 of 1; failed 1 time; reward 0.90 on a task of similarity 0.80" in call.text


def test_a_team_named_twice_counts_once_and_the_next_follow(pool: Pool) -> None:
    result = chosen(pool, ["cats", "cats"]).result
    assert isinstance(result, Selection)
    assert result.names == ("cats", "ants")


def test_a_team_that_is_not_listed_is_handed_back(pool: Pool) -> None:
    done = chosen(pool, ["unicorns"], ["cats"])
    assert isinstance(done.result, Selection)
    assert len(done.events_of("operator_repair")) == 1
    assert isinstance(chosen(pool, ["unicorns"], ["hens"]).result, RejectedProposal)
    assert isinstance(chosen(pool, ["ants", "bees", "cats"], []).result, RejectedProposal)


async def test_without_a_model_the_first_are_taken(pool: Pool) -> None:
    result = await select(None, "s", NICHE, members(pool), k=2)
    assert isinstance(result, Selection)
    assert result.names == ("ants", "bees")
    assert result.reason == "The first by statistics."


def test_where_there_is_no_choice_no_model_is_asked(pool: Pool) -> None:
    done = chosen(pool, k=8)
    assert isinstance(done.result, Selection)
    assert set(done.result.names) == {item.name for item in TEAMS}
    assert len(done.calls) == 0


def test_the_model_sees_the_last_tasks_that_a_team_solved(pool: Pool) -> None:
    solved = tuple(SolvedTask(q=f"Task {n}: {'why ' * 100}", notes="n") for n in range(9))
    able = replace(team("solvers", llm("solver")), successful_tasks=solved)
    pool.add(able, Lineage(operator="seed"), op="solvers")
    scored(pool, "solvers", 1, 1, niche="sums")
    [call] = chosen(pool, ["solvers"]).calls
    line = next(line for line in call.text.splitlines() if line.startswith("solvers: "))
    assert "solved 'Task 8: why" in line
    assert "Task 6: why" in line
    assert "Task 5: why" not in line
    assert len(line) < 700


def a_team_without_roles() -> Team:
    return team("plain", llm("solver"))


def test_a_team_without_roles_is_told_too(tmp_path: Path) -> None:
    pool = Pool.init(tmp_path / "pool", catalogue=catalogue())
    for item in (a_team_without_roles(), *TEAMS[:2]):
        pool.add(item, Lineage(operator="seed"), op=item.name)
    [call] = chosen(pool, ["plain"], k=1).calls
    assert (
        "plain: 1 agent, 0 edges; expected to score 0.50, between 0.00 and 1.00; never" in call.text
    )

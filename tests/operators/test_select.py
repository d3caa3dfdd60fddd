"""Selection: statistics and memory make a shortlist, a model chooses; it works without one."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.operators import Dropped, Selection, select
from coterie.operators.select import shortlist
from coterie.pool.experience import Experience
from coterie.pool.pool import Pool
from coterie.pool.statistics import Trial
from coterie.runtime.doubles import Reply
from coterie.schema import Lineage, Task, Team

from .asking import TASK, Asked, asking, catalogue, llm, team

NICHE = replace(TASK, niche="sums")
TEAMS = [
    team(name, llm("solver", prompt=f"You are of {name}. Solve it.", role="solver"))
    for name in ("ants", "bees", "cats", "dogs", "eels", "frogs", "gnus", "hens")
]


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    pool = Pool.init(tmp_path / "pool", catalogue=catalogue())
    for one in TEAMS:
        pool.add(one, Lineage(operator="seed"), op=one.name)
    return pool


def scored(pool: Pool, name: str, *scores: float | None, niche: str | None = None) -> None:
    for number, score in enumerate(scores):
        trial = Trial(task=f"{niche} {number}", score=score, niche=niche)
        pool.record(name, trial, op=f"{name} {niche} {number}")


def members(pool: Pool) -> list[Any]:
    return list(pool.members.values())


def names(pool: Pool, task: Task = NICHE, most: int = 3, **options: Any) -> list[str]:
    return [one.name for one in shortlist(task, members(pool), most=most, **options)]


def test_with_nothing_known_the_first_born_come_first(pool: Pool) -> None:
    assert names(pool) == ["ants", "bees", "cats"]


def test_the_niche_counts_more_than_the_rest(pool: Pool) -> None:
    scored(pool, "dogs", 1, 1, 1, 1, niche="dates")
    scored(pool, "eels", 1, 1, 1, niche="sums")
    scored(pool, "ants", 0, 0, 0, niche="sums")
    assert names(pool, most=3) == ["eels", "dogs", "bees"]
    assert "ants" not in names(pool, most=7)
    assert names(pool, TASK, most=1) == ["dogs"]


def test_a_failed_run_speaks_against_a_team(pool: Pool) -> None:
    scored(pool, "ants", None, None)
    assert names(pool, most=8)[-1] == "ants"


def test_what_worked_on_a_similar_task_comes_first(pool: Pool) -> None:
    def hit(name: str, reward: float | None, similarity: float) -> tuple[Experience, float]:
        team_hash = pool.members[name].content_hash
        entry = Experience(
            id=name, kind="evolution", task="t", summary="s", team=team_hash, reward=reward
        )
        return entry, similarity

    hits = [hit("hens", 1, 0.9), hit("gnus", 1, 0.2), hit("ants", 1, -0.5), hit("bees", None, 1)]
    assert names(pool, most=4, hits=hits) == ["hens", "gnus", "ants", "bees"]


def test_relatives_of_a_chosen_team_come_later(pool: Pool) -> None:
    child = team("ants", llm("solver", prompt="Solve it twice."))
    name = pool.add(child, Lineage(operator="mutate", parents=("ants",)), op="child").name
    scored(pool, "ants", 1, 1, 1, 1)
    scored(pool, name, 1, 1, 1, 1)
    scored(pool, "cats", 1, 1, 1, 0.9)
    assert names(pool) == ["ants", "cats", name]


def test_a_task_with_files_wants_a_team_that_can_open_them(pool: Pool) -> None:
    reader = llm("solver", agent_type="ToolCallingAgent", tools=("read_file",))
    pool.add(team("readers", reader), Lineage(operator="seed"), op="readers")
    scored(pool, "readers", 0, 0, 0)
    assert names(pool, replace(TASK, files={"a.csv": "1"}), most=1) == ["readers"]
    assert names(pool, replace(TASK, repo=Path()), most=1) == ["readers"]
    assert "readers" not in names(pool, TASK, most=3)


def chosen(pool: Pool, *answers: Any, k: int = 2, **options: Any) -> Asked[Selection | Dropped]:
    replies = [Reply.json({"reason": "why not", "selected": one}) for one in answers]
    return asking(replies, lambda meta: select(meta, "s", NICHE, members(pool), k=k, **options))


def test_a_model_chooses_among_the_shortlist(pool: Pool) -> None:
    scored(pool, "eels", 1, 0.5, niche="sums")
    scored(pool, "dogs", None)
    done = chosen(pool, ["cats", "eels"])
    assert done.came == Selection(
        names=("cats", "eels"),
        reason="why not",
        shortlist=("eels", "ants", "bees", "cats", "frogs"),
    )
    [call] = done.calls
    assert (
        "eels: 1 agent, 0 edges, roles solver; expected to score 0.69; score 0.75 of 2; in this"
        " niche 0.75 of 2" in call.text
    )
    assert (
        "ants: 1 agent, 0 edges, roles solver; expected to score 0.50; never evaluated" in call.text
    )
    assert TASK.answer not in call.text


def test_the_model_sees_failures_and_memory(pool: Pool) -> None:
    scored(pool, "ants", None)
    scored(pool, "ants", 1, niche="dates")
    entry = Experience(
        id="1", kind="evolution", task="t", summary="s",
        team=pool.members["ants"].content_hash, reward=0.9,
    )  # fmt: skip
    [call] = chosen(pool, ["ants", "bees"], hits=[(entry, 0.8)]).calls
    assert "score 1.00 of 1; failed 1 time; reward 0.90 on a task of similarity 0.80" in call.text


def test_a_team_named_twice_counts_once_and_the_next_follow(pool: Pool) -> None:
    came = chosen(pool, ["cats", "cats"]).came
    assert isinstance(came, Selection)
    assert came.names == ("cats", "ants")


def test_a_team_that_is_not_listed_is_handed_back(pool: Pool) -> None:
    done = chosen(pool, ["unicorns"], ["cats"])
    assert isinstance(done.came, Selection)
    assert len(done.told("operator_repair")) == 1
    assert isinstance(chosen(pool, ["unicorns"], ["hens"]).came, Dropped)
    assert isinstance(chosen(pool, ["ants", "bees", "cats"], []).came, Dropped)


def test_without_a_model_the_first_are_taken(pool: Pool) -> None:
    came = asyncio.run(select(None, "s", NICHE, members(pool), k=2))
    assert isinstance(came, Selection)
    assert came.names == ("ants", "bees")
    assert came.reason == "The first by statistics and memory."


def test_where_there_is_no_choice_no_model_is_asked(pool: Pool) -> None:
    done = chosen(pool, k=8)
    assert isinstance(done.came, Selection)
    assert set(done.came.names) == {one.name for one in TEAMS}
    assert len(done.calls) == 0


def a_team_without_roles() -> Team:
    return team("plain", llm("solver"))


def test_a_team_without_roles_is_told_too(tmp_path: Path) -> None:
    pool = Pool.init(tmp_path / "pool", catalogue=catalogue())
    for one in (a_team_without_roles(), *TEAMS[:2]):
        pool.add(one, Lineage(operator="seed"), op=one.name)
    [call] = chosen(pool, ["plain"], k=1).calls
    assert "plain: 1 agent, 0 edges; expected to score 0.50; never evaluated" in call.text

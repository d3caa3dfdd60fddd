"""What an episode sees of a pool stays what it was when the episode began."""

from dataclasses import replace
from pathlib import Path

from coterie.pool.ledger.changes import (
    Added,
    Evaluated,
    EventNoted,
    Forgotten,
    Restored,
    Retired,
)
from coterie.pool.memory.memory import open_memory
from coterie.pool.population.population import Population
from coterie.pool.teams.pool import Pool
from coterie.pool.values.statistics import Trial, TrialPart
from coterie.pool.view import PoolView, Views, episode_of, op
from coterie.schema import Agent, Lineage

from .edited_teams import pool_of, vote
from .ledger.test_changes import LESSON


def tried(pool: Pool, episode: int, score: float) -> None:
    trial = Trial(task=f"t{episode}", niche="sums", score=score)
    pool.commit(Evaluated(member="vote", trial=trial), op=op("evomas", episode, "trial 0"))


def learnt(pool: Pool, operation: str, *replaces: str) -> None:
    pool.commit(replace(LESSON, replaces=replaces), op=operation)


def ids(view: PoolView) -> list[str]:
    """What is learnt, by both ways to it."""
    entries = [item.id for item in view.learnt]
    assert sorted(entry.id for entry, _ in view.search(LESSON.task, 9)) == sorted(entries)
    return entries


def test_what_an_episode_sees_does_not_grow_with_later_ones(tmp_path: Path) -> None:
    pool = pool_of(tmp_path, vote())
    views = Views(pool, "evomas")
    for episode, score in enumerate([1.0, 0.0]):
        tried(pool, episode, score)
    seen = views.upto(0).members["vote"]
    later = views.upto(1).members["vote"]
    for known in (seen.statistics, seen.on("sums"), seen.on_task("t0")):
        assert known is not None
        assert (known.n, known.score) == (1, 1.0)
    assert seen.on_task("t1") is None
    assert (later.statistics.n, later.statistics.score) == (2, 0.5)


def test_teams_and_memory_are_seen_as_of_the_same_line(tmp_path: Path) -> None:
    pool = pool_of(tmp_path, vote())
    learnt(pool, "by hand")
    tried(pool, 0, 1.0)
    learnt(pool, op("evomas", 0, "learnt"))
    learnt(pool, op("other", 7, "learnt"))
    tried(pool, 1, 0.0)
    learnt(pool, op("evomas", 1, "learnt"), "by hand")
    views = Views(Pool.open(tmp_path), "evomas", open_memory(pool, embedder="hashing"))
    first, second, third = views.upto(-1), views.upto(0), views.upto(1)
    assert ids(first) == ["by hand"]
    assert ids(second) == ["by hand", "evomas/000000/learnt", "other/000007/learnt"]
    assert ids(third) == ["evomas/000000/learnt", "other/000007/learnt", "evomas/000001/learnt"]
    assert [view.members["vote"].statistics.n for view in (first, second, third)] == [0, 1, 2]


def test_what_was_forgotten_is_seen_no_more(tmp_path: Path) -> None:
    pool = pool_of(tmp_path, vote())
    learnt(pool, "by hand")
    learnt(pool, op("evomas", 0, "learnt"))
    pool.commit(Forgotten(entries=("by hand",)), op="undone")
    views = Views(Pool.open(tmp_path), "evomas", open_memory(pool, embedder="hashing"))
    assert [ids(views.upto(episode)) for episode in (-1, 0)] == [
        ["by hand"],
        ["evomas/000000/learnt"],
    ]


def test_a_view_is_the_same_after_a_crash_and_before(tmp_path: Path) -> None:
    """Whether later episodes are in the ledger yet or not."""
    pool = pool_of(tmp_path, vote())
    memory = open_memory(pool, embedder="hashing")
    views, before = Views(pool, "evomas", memory), list[PoolView]()
    for episode in range(4):
        before.append(views.upto(episode - 1))
        tried(pool, episode, episode / 4)
        learnt(pool, op("evomas", episode, "learnt"), *[item.id for item in before[-1].learnt[:1]])
    again = Views(Pool.open(tmp_path), "evomas", memory)
    for episode, view in enumerate(before):
        after = again.upto(episode - 1)
        assert (ids(after), after.upto) == (ids(view), view.upto)
        assert after.members["vote"].statistics == view.members["vote"].statistics


def test_events_are_seen_as_of_the_same_line_as_all_else(tmp_path: Path) -> None:
    pool = pool_of(tmp_path, vote())
    for episode in range(3):
        for what in ("routed", "fork"):
            pool.commit(EventNoted(what=what, about={"n": episode}), op=op("evomas", episode, what))
    views = Views(Pool.open(tmp_path), "evomas")
    seen = [views.upto(episode) for episode in (-1, 1, 9)]
    numbers = [[item.about["n"] for item in view.events_of("routed")] for view in seen]
    assert numbers == [[], [0, 1], [0, 1, 2]]
    assert seen[2].events_of("merge") == []


def test_views_share_what_no_line_between_them_touched(tmp_path: Path) -> None:
    pool = pool_of(tmp_path, vote(), vote("Think.", name="other"))
    for name in ("ada", "ben"):
        agent = Agent(id=name, prompt="Solve it.")
        pool.commit(Added(member=agent, lineage=Lineage(operator="genesis")), op=name)
    views = Views(pool, "evomas")
    first = views.upto(-1)
    team = first.members["vote"].team
    assert (views.upto(0).members, views.upto(0).agents) == (first.members, first.agents)
    trial = Trial(task="t0", score=1.0, agents={"anchor": TrialPart(member="ada")})
    pool.commit(Evaluated(member="vote", trial=trial), op=op("evomas", 0, "trial 0"))
    second = views.upto(0)
    assert [second.members["other"], second.agents["ben"]] == [
        first.members["other"],
        first.agents["ben"],
    ]
    seen = [
        (view.members["vote"].statistics.n, view.agents["ada"].statistics.n)
        for view in (first, second)
    ]
    assert seen == [(0, 0), (1, 1)]
    assert second.members["vote"].team is team


def test_who_goes_and_comes_back_is_seen_where_it_was_born(tmp_path: Path) -> None:
    pool = pool_of(tmp_path, vote(), vote("Think.", name="other"))
    views = Views(pool, "evomas")
    changes = (Retired(member="vote", reason="old"), Restored(member="vote"))
    seen = [[*views.upto(-1).members]]
    for number, change in enumerate(changes):
        pool.commit(change, op=op("evomas", number, "roster"))
        seen.append([*views.upto(number).members])
    assert seen == [["vote", "other"], ["other"], ["vote", "other"]]


def test_a_fold_is_as_of_the_same_line_and_stays(tmp_path: Path) -> None:
    """However often the pool is opened, and whether later episodes are in the ledger yet or not."""
    pool = pool_of(tmp_path, vote())
    pool.commit(
        Added(member=Agent(id="ada", prompt="Solve it."), lineage=Lineage(operator="genesis")),
        op="ada",
    )
    views, before = Views(pool, "evomas", fold=Population()), list[PoolView]()
    for episode in range(4):
        before.append(views.upto(episode - 1))
        trial = Trial(task=f"t{episode}", score=1.0, agents={"anchor": TrialPart(member="ada")})
        pool.commit(Evaluated(member="vote", trial=trial), op=op("evomas", episode, "trial 0"))
        pool.commit(EventNoted(what="leadership", about={"n": 1}), op=op("evomas", episode, "led"))
    assert [(view.folded.trials, len(view.folded.rounds)) for view in before] == [
        (n, n) for n in range(4)
    ]
    again = Views(Pool.open(tmp_path), "evomas", fold=Population())
    assert [again.upto(n - 1).folded for n in range(4)] == [view.folded for view in before]
    assert Views(pool, "evomas").upto(9).folded is None


def test_without_a_memory_nothing_is_found(tmp_path: Path) -> None:
    pool = pool_of(tmp_path, vote())
    learnt(pool, "by hand")
    assert Views(pool, "evomas").upto(-1).search(LESSON.task, 9) == []


def test_an_operation_tells_whose_episode_made_it() -> None:
    assert op("evomas", 12, "best") == "evomas/000012/best"
    assert episode_of("evomas", "evomas/000012/best") == 12
    assert episode_of("solver", "solver/000012/agent/solver/lesson") == 12, "an agent's name, too"
    assert episode_of("solver", "town/000012/agent/solver/000003") is None
    for other in ("other/000012/best", "evomas/best", "my evomas/000012/best", "seed/vote"):
        assert episode_of("evomas", other) is None

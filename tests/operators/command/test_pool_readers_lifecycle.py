"""`mas-op fork`, `merge`, `genesis`, `specialize` and `prune`: on the agents of a pool."""

from __future__ import annotations

from pathlib import Path

import pytest

from coterie.pool import Pool
from coterie.pool.changes import Born, Retired, Tried
from coterie.pool.ledger import Ledger
from coterie.pool.statistics import Part, Trial
from coterie.runtime.doubles import Reply
from coterie.schema import Agent, Lineage

from ..population.town import person
from .test_readers import Did, mas

TEAM = 'name: solo\nagents: {one: {prompt: "You are alone."}}\n'
SAID = Reply.json({"reason": "it adds", "title": "sum expert", "persona": "You love sums."})


@pytest.fixture(autouse=True)
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pool:
    """A pool of two agents, of whom one has worked."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MAS_HOME", str(tmp_path))
    (tmp_path / "solo.yaml").write_text(TEAM)
    made = Pool.init(tmp_path / "town", [tmp_path / "solo.yaml"])
    for name in ("ada", "ben"):
        born = Born(member=person(name), lineage=Lineage(operator="genesis"))
        made.commit(born, op=f"begin/{name}")
    trial = Trial(task="t", niche="sums", score=1.0, agents={"anchor": Part(member="ada")})
    made.commit(Tried(member="solo", trial=trial), op="tried")
    return made


def agents(pool: Pool) -> dict[str, Agent]:
    pool.refresh()
    return {name: one.agent for name, one in pool.agents.items()}


def op(*words: str, replies: object = SAID) -> Did:
    return mas(*words, replies=[replies])  # type: ignore[list-item]


def test_a_fork_is_shown_with_its_reason_and_nothing_is_kept(pool: Pool) -> None:
    before = agents(pool)
    done = op("fork", "town", "ada")
    assert done.code == 0, done.err
    assert "You love sums." in done.out
    assert (
        "reason: asked for by a person (ada: rolling reward 1 over 1 task, competence 0.65 in"
        " 'sums'). it adds"
    ) in done.out
    assert "sums" in done.calls[0].text
    assert agents(pool) == before


def test_kept_it_is_one_of_the_pool_and_the_ledger_tells_it(pool: Pool) -> None:
    done = op("fork", "town", "ada", "--keep")
    assert done.err.startswith("kept: ada_1 (")
    assert agents(pool)["ada_1"].prompt == "You love sums."
    assert pool.agents["ada_1"].born.parents == ("ada",)
    *_, told = (entry.value for entry in Ledger(pool.folder / "ledger.jsonl").read())
    assert (told["kind"], told["about"]["operator"]) == ("told", "fork")


def test_two_are_merged_and_retired(pool: Pool) -> None:
    done = op("merge", "town", "ben", "ada", "--keep")
    assert done.code == 0, done.err
    assert [*agents(pool)] == ["ben_1"]
    assert "ben: retired, merged: asked for by a person" in done.out
    assert pool.all_agents["ben_1"].born.parents == ("ben", "ada")


def test_one_is_made_like_a_generic_assistant_or_like_a_file(pool: Pool, tmp_path: Path) -> None:
    (tmp_path / "nurse.yaml").write_text('role: nurse\nprompt: "You nurse."\nmax_tokens: 9\n')
    assert op("genesis", "town", "--niche", "care", "--keep").code == 0
    assert op("genesis", "town", "--founder", "nurse.yaml", "--keep").code == 0
    made = agents(pool)
    assert "`Answer:`" in made["solver"].prompt
    assert (made["nurse"].max_tokens, made["nurse"].role) == (9, "sum expert")


def test_an_agent_is_specialized_for_what_is_said_or_for_what_it_worked_on(pool: Pool) -> None:
    done = op("specialize", "town", "ben")
    assert (done.code, done.calls) == (2, [])
    assert "ben has worked on no task of a niche. Name one: --niche NICHE." in done.err
    assert op("specialize", "town", "ben", "--niche", "art", "--keep").code == 0
    assert agents(pool)["ben"].role == "sum expert"
    assert len(pool.agents["ben"].revisions) == 2


def test_how_an_agent_did_is_said_before_it_is_retired(pool: Pool) -> None:
    done = op("prune", "town", "ben")
    assert done.out == "ben: retired, pruned: asked for by a person (ben: it has not worked yet)\n"
    assert [*agents(pool)] == ["ada", "ben"]
    op("prune", "town", "ben", "--keep")
    assert [*agents(pool)] == ["ada"]
    assert not done.calls


def test_who_is_not_there_or_not_any_more_is_refused_before_anything_is_spent(pool: Pool) -> None:
    pool.commit(Retired(member="ben", reason="old"), op="retired")
    done = op("fork", "town", "ben", "--niche", "x")
    assert done.code == 2
    assert "ben is retired. Bring it back: mas-pool restore town ben" in done.err
    assert not done.calls
    assert op("fork", "town", "eve", "--niche", "x").code == 2
    same = op("merge", "town", "ada", "ada")
    assert (same.code, same.calls) == (2, [])
    assert "cannot be merged with itself" in same.err


def test_without_a_persona_of_use_nothing_is_kept(pool: Pool) -> None:
    before = agents(pool)
    done = mas("fork", "town", "ada", "--keep", replies=["well", "done"])
    assert done.code == 1
    assert "fork: the model gave no valid answer, also after one repair." in done.err
    assert agents(pool) == before

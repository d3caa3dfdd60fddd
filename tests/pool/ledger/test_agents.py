"""Agents of a pool: each under its own name, revised in the ledger, with a file that follows."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from coterie.pool import Admission, Pool, repair, verify
from coterie.pool.ledger.changes import Added, Change, Evaluated, Restored, Retired, Revised
from coterie.pool.ledger.shape import misshapen
from coterie.pool.values.statistics import TrialPart
from coterie.pool.view import Views, op
from coterie.schema import Agent, Catalogue, InputError, Lineage, Model, Notes
from coterie.schema.loading.agent_file import AgentFile, load_agent
from coterie.schema.loading.ceiling import CapabilityPolicy
from coterie.schema.values.codec import from_value
from coterie.schema.values.errors import ConfigError, StorageError

from ...support.processes import killed_at
from ..edited_teams import SEED, pool_of, tried, vote
from .test_changes import CHANGES

SOLVER = Agent(id="solver", prompt="Solve it.")
GENESIS = Lineage(operator="genesis")


def born(agent: Agent = SOLVER, *parents: str, name: str | None = None) -> Added:
    lineage = Lineage(operator="fork", parents=parents) if parents else GENESIS
    return Added(member=agent, lineage=lineage, name=name)


def better(pool: Pool, name: str = "solver", **fields: Any) -> Revised:
    now = pool.agent(name).agent
    return Revised(agent=name, to=replace(now, **fields), reason="It rambled.")


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    pool = pool_of(tmp_path / "pool", vote())
    pool.commit(born(), op="genesis")
    return pool


def file(pool: Pool, name: str = "solver") -> Path:
    return pool.folder / "agents" / name / "agent.yaml"


# Births


def test_an_agent_is_a_line_with_all_of_it_and_a_file(pool: Pool) -> None:
    *_, last = pool.entries()
    assert last.value["value"] == {"prompt": "Solve it."}
    assert list(misshapen(last.value)) == []
    assert load_agent(file(pool)) == AgentFile(agent=SOLVER, lineage=GENESIS)
    assert Pool.open(pool.folder).agent("solver").agent == SOLVER
    assert verify(pool.folder).faults == ()


def test_equal_agents_are_all_born_each_under_its_name(pool: Pool) -> None:
    result = [pool.commit(born(), op=f"again {number}") for number in range(3)]
    assert result == [Admission(name=f"solver_{number}", is_new=True) for number in (1, 2, 3)]
    assert pool.commit(born(), op="again 1") == result[1]
    assert list(pool.agents) == ["solver", "solver_1", "solver_2", "solver_3"]
    assert pool.agent("solver_2").agent == replace(SOLVER, id="solver_2")


def test_no_agent_is_called_as_a_team_is(pool: Pool) -> None:
    result = pool.commit(born(replace(SOLVER, id="vote")), op="one")
    assert result.name == "vote_1"
    wished = pool.commit(born(name="vote"), op="two")
    assert wished.name == "solver_1"
    team = pool.commit(Added(member=vote("Guess.", "No.", name="solver"), lineage=SEED), op="three")
    assert team.name == "solver_2"


def test_a_child_is_told_from_its_first_parent(pool: Pool) -> None:
    pool.commit(born(replace(SOLVER, prompt="Solve it twice."), "solver"), op="fork")
    child = pool.agent("solver_1")
    assert (child.lineage.parents, child.stem) == (("solver",), "solver")
    assert any("prompt" in edit for edit in child.lineage.edits)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (born(replace(SOLVER, model_id="unheard-of")), ConfigError, "unheard-of"),
        (born(SOLVER, "nobody"), InputError, "no agent 'nobody'"),
        (born(SOLVER, "vote"), InputError, "no agent 'vote'"),
        (Revised(agent="nobody", to=SOLVER), InputError, "no agent 'nobody'"),
        (Revised(agent="solver", to=replace(SOLVER, tools=("dig",))), ConfigError, "dig"),
    ],
)
def test_nonsense_is_refused(change: Any, error: type[Exception], message: str, pool: Pool) -> None:
    before = len(list(pool.entries()))
    with pytest.raises(error, match=message):
        pool.commit(change, op="one")
    assert len(list(pool.entries())) == before
    assert [path.name for path in file(pool).parent.parent.iterdir()] == ["solver"]


def test_nobody_is_above_the_ceiling(tmp_path: Path) -> None:
    models = {name: Model(alias=name, model="openai/m") for name in ("default", "dear")}
    known = Catalogue.of_host(models=models)
    ceiling = CapabilityPolicy.of(vote())
    pool = Pool.init(tmp_path, catalogue=known, ceiling=ceiling)
    with pytest.raises(ConfigError, match="dear"):
        pool.commit(born(replace(SOLVER, model_id="dear")), op="one")
    assert not pool.agents


# Revisions


def test_an_agent_is_revised_under_its_name(pool: Pool) -> None:
    notes = Notes(patches={"brevity": "Answer in one line."})
    assert pool.commit(better(pool, prompt="Be brief.", notes=notes), op="one")
    assert pool.commit(better(pool, temperature=0.5), op="two")
    again = Pool.open(pool.folder).agent("solver")
    assert again.agent == replace(SOLVER, prompt="Be brief.", notes=notes, temperature=0.5)
    assert [revision.op for revision in again.revisions] == ["genesis", "one", "two"]
    assert [revision.reason for revision in again.revisions] == ["", "It rambled.", "It rambled."]
    assert again.revisions[0].agent == SOLVER
    assert any("temperature" in edit for edit in again.revisions[2].edits)
    assert load_agent(file(pool)).agent == again.agent
    assert verify(pool.folder).faults == ()


def test_a_revision_counts_once_and_one_that_changes_nothing_is_none(pool: Pool) -> None:
    change = better(pool, prompt="Be brief.")
    assert pool.commit(change, op="one")
    assert not pool.commit(change, op="one")
    assert not pool.commit(better(pool), op="two")
    assert len(pool.agent("solver").revisions) == 2


def test_which_agent_of_the_pool_it_is_goes_without_saying(pool: Pool) -> None:
    placed = replace(SOLVER, id="w1", member="solver", prompt="Be brief.")
    pool.commit(Revised(agent="solver", to=placed), op="one")
    assert pool.agent("solver").agent == replace(SOLVER, prompt="Be brief.")
    assert "member" not in file(pool).read_text()


def test_agents_are_retired_and_restored_as_teams_are(pool: Pool) -> None:
    assert pool.commit(Retired(member="solver", reason="too weak"), op="one")
    assert (list(pool.agents), list(pool.all_agents)) == ([], ["solver"])
    assert Pool.open(pool.folder).agent("solver").retired == "too weak"
    assert pool.commit(Restored(member="solver"), op="two")
    assert not pool.commit(Restored(member="solver"), op="three")
    assert list(Pool.open(pool.folder).agents) == ["solver"]
    for entry in pool.entries():
        assert list(misshapen(entry.value)) == []


# Trials


def test_a_trial_counts_for_every_agent_that_worked(pool: Pool) -> None:
    pool.commit(born(), op="second")
    parts = {
        "w1": TrialPart(member="solver", share=0.75),
        "w2": TrialPart(member="solver_1", share=0.25),
        "judge": TrialPart(member="solver"),
    }
    change = tried("vote", "t", 0.5, niche="sums", agents=parts, rounds=3, structure="debate")
    pool.commit(change, op="one")
    pool.commit(tried("vote", "u", 1.0), op="two")
    again = Pool.open(pool.folder)
    *_, line, _ = again.entries()
    assert list(misshapen(line.value)) == []
    assert line.value["agents"]["w1"] == {"member": "solver", "share": 0.75}
    assert from_value(Evaluated, line.value) == change
    for name in ("solver", "solver_1"):
        known = again.agent(name)
        assert (known.statistics.n, known.on("sums").score) == (1, 0.5)
    assert again.member("vote").statistics.n == 2


def test_who_works_has_to_be_an_agent_of_the_pool(pool: Pool) -> None:
    with pytest.raises(InputError, match="stranger"):
        pool.commit(tried("vote", "t", 0.5, agents={"w1": TrialPart(member="stranger")}), op="one")


def test_an_episode_sees_agents_as_they_were(pool: Pool) -> None:
    pool.commit(better(pool, prompt="One."), op=op("evo", 0, "revise"))
    pool.commit(born(name="ada"), op=op("evo", 1, "genesis"))
    pool.commit(better(pool, prompt="Two."), op=op("evo", 1, "revise"))
    pool.commit(Retired(member="solver", reason=""), op=op("evo", 2, "retire"))
    views = Views(pool, "evo")
    first, second, third = (views.upto(number) for number in range(3))
    assert first.agents["solver"].agent.prompt == "One."
    assert list(second.agents) == ["solver", "ada"]
    assert second.agents["solver"].agent.prompt == "Two."
    assert list(third.agents) == ["ada"]
    assert first.agents["solver"].agent.prompt == "One."


# Files


def test_a_file_that_a_crash_left_behind_is_brought_up(pool: Pool) -> None:
    prompt, note = file(pool).with_name("prompt.md"), file(pool).parent / "notes/patches/units.md"
    pool.commit(better(pool, notes=Notes(patches={"units": "Write units."})), op="one")
    before = prompt.read_text()
    pool.commit(better(pool, prompt="Be brief.", notes=Notes()), op="two")
    after = prompt.read_text()
    assert not note.parent.parent.exists()
    prompt.write_text(before)
    note.parent.mkdir(parents=True)
    note.write_text("Write units.\n")
    assert "updates it" in " ".join(verify(pool.folder).notes)
    assert verify(pool.folder).faults == ()
    Pool.open(pool.folder)
    assert (prompt.read_text(), note.exists()) == (after, False)
    assert load_agent(file(pool)).agent == pool.agent("solver").agent


def test_a_file_that_a_crash_kept_from_being_is_written(pool: Pool) -> None:
    text = file(pool).read_text()
    file(pool).unlink()
    Pool.open(pool.folder)
    assert file(pool).read_text() == text


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_text(path.read_text() + "temperature: 0\n"),
        lambda path: path.write_bytes(b"\xff\xfe"),
    ],
)
def test_any_other_difference_is_damage(spoil: Callable[[Path], object], pool: Pool) -> None:
    pool.commit(better(pool, prompt="Solve all."), op="one")
    text = file(pool).read_text()
    spoil(file(pool))
    with pytest.raises(
        StorageError, match=r"solver/agent\.yaml: this agent differs .* verify --repair"
    ):
        Pool.open(pool.folder)
    assert "solver/agent.yaml" in verify(pool.folder).faults[0]
    [done] = repair(pool.folder)
    assert "solver/agent.yaml" in done
    assert file(pool).read_text() == text
    assert verify(pool.folder).faults == ()


def test_the_file_of_who_was_retired_keeps_nobody_from_opening(pool: Pool) -> None:
    pool.commit(Retired(member="solver", reason=""), op="one")
    file(pool).write_text("")
    assert list(Pool.open(pool.folder).agents) == []
    result = verify(pool.folder)
    assert (result.faults, len(result.notes)) == ((), 1)


def test_files_of_nobody_are_found_and_removed(pool: Pool) -> None:
    file(pool, "stranger").parent.mkdir()
    file(pool, "stranger").write_text("role: stranger\n")
    assert "agents/stranger/agent.yaml: belongs to no agent" in " ".join(verify(pool.folder).notes)
    assert pool.remove_orphans(dry_run=True) == ["agents/stranger/agent.yaml"]
    assert pool.remove_orphans() == ["agents/stranger/agent.yaml"]
    assert [path.name for path in file(pool).parent.parent.iterdir()] == ["solver"]


# Crashes

ALL: dict[str, Callable[[Pool], Change]] = {
    **{what: partial(lambda change, _: change, change) for what, change in CHANGES.items()},
    "born agent": lambda _: born(name="ada"),
    "revised": lambda pool: better(pool, prompt="Be brief."),
    "retired agent": lambda _: Retired(member="solver", reason="too weak"),
}
MOMENTS = [
    *("files.write.before:1", "files.write.flushed:1", "files.write.replaced:1"),
    *("files.append.before:1", "files.append.written:1", "files.append.after:1"),
    *("files.sync.before:1", "files.sync.before:2"),
]


@pytest.mark.parametrize("label", ALL)
def test_a_change_in_a_crash_happens_once_or_never(label: str, pool: Pool, nightly: bool) -> None:
    """Killed at any moment; whoever is not sure whether it happened makes it again."""
    moments = MOMENTS if nightly else MOMENTS[[*ALL].index(label) % 3 :: 3]
    for number, moment in enumerate(moments):
        other = Pool.open(pool.folder)
        operation = f"{label} {number}"
        change = ALL[label](other)
        killed_at(moment, partial(other.commit, change, op=operation))
        again = Pool.open(pool.folder, report=lambda _: None)
        again.commit(change, op=operation)
        ops = [entry.op for entry in again.entries()]
        assert ops.count(operation) == (label != "revised" or number == 0)
        assert verify(pool.folder).faults == ()
        again.remove_orphans()

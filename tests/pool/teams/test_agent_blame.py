"""Who set each field of an agent."""

from dataclasses import replace
from pathlib import Path

import pytest

from coterie.pool import Pool
from coterie.pool.ledger.changes import Added, Revised
from coterie.pool.teams.agent_blame import blame_agent
from coterie.schema import Agent, Lineage, Notes, Recall

ADA = Agent(
    id="ada",
    prompt="Solve it.",
    recall=Recall(k=2),
    notes=Notes(patches={"units": "Write units.", "zero": "Check zero."}, coaching="Be brief."),
)


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    pool = Pool.init(tmp_path)
    for name in ("ada", "ben"):
        item = replace(ADA, id=name, role="reader")
        pool.commit(Added(member=item, lineage=Lineage(operator="genesis")), op=name)
    return pool


def origins(pool: Pool, name: str) -> dict[str, tuple[str, int, str]]:
    result = blame_agent(pool.entries(), name)
    return {item.field: (item.agent, item.revision, item.by) for item in result}


def fork(pool: Pool, name: str, *parents: str, **fields: object) -> None:
    child = replace(ADA, **{"role": "reader", **fields})  # type: ignore[arg-type]
    lineage = Lineage(operator="fork", parents=parents, reason="It leads.")
    pool.commit(Added(member=child, lineage=lineage, name=name), op=name)


def test_each_note_has_its_own_origin(pool: Pool) -> None:
    patches = {"units": "Write units.", "zero": "Check zero twice."}
    to = replace(ADA, role="reader", notes=Notes(patches=patches, coaching="Be brief."))
    pool.commit(Revised(agent="ada", to=to, reason="It erred."), op="one")
    fields = origins(pool, "ada")
    assert fields["notes.patches.zero"] == ("ada", 1, "revised")
    assert fields["notes.patches.units"] == fields["notes.coaching"] == ("ada", 0, "genesis")
    assert fields["recall"] == ("ada", 0, "genesis")


def test_what_an_heir_has_as_its_parent_had_it_comes_from_there(pool: Pool) -> None:
    fork(pool, "cleo", "ada", prompt="Solve sums.")
    later = replace(ADA, role="expert")
    pool.commit(Revised(agent="ada", to=later, reason="It grew."), op="later")
    fork(pool, "dot", "cleo", prompt="Solve sums.", role="expert")
    assert origins(pool, "cleo")["role"] == ("ada", 0, "genesis")
    fields = origins(pool, "dot")
    assert fields["prompt"] == ("cleo", 0, "fork")
    assert fields["role"] == ("dot", 0, "fork")
    assert fields["recall"] == ("ada", 0, "genesis")


def test_of_several_parents_it_is_the_first_that_had_it_so(pool: Pool) -> None:
    fork(pool, "cleo", "ada", prompt="Solve sums.")
    fork(pool, "dot", "ben", "cleo", prompt="Solve sums.")
    fields = origins(pool, "dot")
    assert fields["role"] == ("ben", 0, "genesis")
    assert fields["prompt"] == ("cleo", 0, "fork")


def test_who_undoes_a_change_set_the_field_anew(pool: Pool) -> None:
    for number, role in enumerate(["expert", "reader"], 1):
        to = replace(pool.agent("ada").agent, role=role)
        pool.commit(Revised(agent="ada", to=to, reason=f"{number}"), op=f"{number}")
    [role] = [item for item in blame_agent(pool.entries(), "ada") if item.field == "role"]
    assert (role.value, role.revision, role.op, role.reason) == ("reader", 2, "2", "2")

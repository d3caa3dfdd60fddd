"""Ten thousand hostile answers: no invalid team, no capability gained, all counted.

The model is a function in this process; everything from its answer on is real.
"""

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from coterie.operators import (
    MUTABLE,
    MetaModel,
    Proposal,
    consolidate,
    crossover,
    instantiate,
    judge,
    mutate,
    select,
)
from coterie.pool.ledger.changes import ChildRejected
from coterie.pool.ledger.learnt import Learnt
from coterie.pool.teams.pool import Pool
from coterie.schema import Lineage
from coterie.schema.edits import components
from coterie.schema.loading.loading import check_team

from ...support.hostile_answers import CATALOGUE, CEILING, FIRST, SECOND, check, hostile
from ..asking import TASK, llm, parent, team
from ..methods.search.test_consolidate import STEPS


def check_mutation(proposal: Proposal) -> None:
    assert components(proposal.edits) == {proposal.component}
    assert list(proposal.child.agents) == list(FIRST.agents)
    assert proposal.child.name == FIRST.name


def check_crossover(proposal: Proposal) -> None:
    base = FIRST if proposal.parents[0] == "first" else SECOND
    assert (proposal.child.reports_to, proposal.child.output) == (base.reports_to, base.output)
    assert list(proposal.child.agents) == list(base.agents)


NIGHTLY = 250
SHARES = {
    **dict.fromkeys(MUTABLE, 60),
    "instantiate": 60,
    "crossover": 20,
    "component": 20,
    "select": 20,
    "judge": 20,
    "consolidate": 15,
}
"""How many hostile answers each operator has to live through."""


@pytest.fixture
def times(nightly: bool) -> int:
    return NIGHTLY if nightly else 1


@pytest.mark.parametrize("component", MUTABLE)
def test_mutations(component: Any, times: int) -> None:
    async def work(meta_model: MetaModel, _: Any) -> Any:
        return await mutate(meta_model, "m", TASK, parent(FIRST), component=component)

    share = SHARES[component] * times
    count = hostile(share * 3 // 4, work, check, check_mutation)
    count.enough(share, "Proposal", usable=times > 1, refused=0.25)


def test_instantiations(times: int) -> None:
    async def work(meta_model: MetaModel, _: Any) -> Any:
        return await instantiate(meta_model, "i", TASK, parent(FIRST))

    share = SHARES["instantiate"] * times
    count = hostile(share * 3 // 4, work, check)
    count.enough(share, "Proposal", usable=times > 1, refused=0.25)


def test_crossovers(times: int) -> None:
    async def work(meta_model: MetaModel, side: Any) -> Any:
        return await crossover(meta_model, "c", TASK, parent(FIRST), parent(SECOND), topology=side)

    share = SHARES["crossover"] * times
    sides = st.sampled_from(["first", "second"])
    count = hostile(share * 3 // 4, work, check, check_crossover, options=sides)
    count.enough(share, "Proposal", usable=times > 1, refused=0.25)


def test_choices_of_a_component(times: int) -> None:
    async def work(meta_model: MetaModel, _: Any) -> Any:
        return await mutate(meta_model, "m", TASK, parent(FIRST))

    share = SHARES["component"] * times
    count = hostile(share * 3 // 4, work, check, check_mutation)
    assert count.answers >= share
    assert count.counts["RejectedProposal"] > 0


def test_selections(times: int, tmp_path: Path) -> None:
    pool = Pool.init(tmp_path / "pool", catalogue=CATALOGUE)
    for name in ("ants", "bees", "cats", "dogs"):
        item = team(name, llm("a", prompt=f"You are of {name}. Solve it."))
        pool.add(item, Lineage(operator="seed"), op=name)
    members = list(pool.members.values())

    async def work(meta_model: MetaModel, _: Any) -> Any:
        return await select(meta_model, "s", TASK, members, k=2)

    def are_two_that_there_are(result: Any) -> None:
        assert len(set(result.names)) == 2
        assert set(result.names) <= set(pool.members)

    share = SHARES["select"] * times
    count = hostile(share * 3 // 4, work, are_two_that_there_are)
    count.enough(share, "Selection", usable=times > 1, refused=0.25)


def test_verdicts(times: int) -> None:
    async def work(meta_model: MetaModel, _: Any) -> Any:
        return await judge(meta_model, "j", TASK, "7")

    def is_a_score(result: Any) -> None:
        assert 0 <= result.score.value <= 1

    share = SHARES["judge"] * times
    count = hostile(share * 3 // 4, work, is_a_score)
    count.enough(share, "JudgeVerdict", usable=times > 1, refused=0.25)


def test_summaries(times: int) -> None:
    async def work(meta_model: MetaModel, _: Any) -> Any:
        return await consolidate(meta_model, "c", TASK, STEPS)

    def is_an_entry(result: Any) -> None:
        assert 0 < len(Learnt.of(result.value()).text) <= 2_000

    share = SHARES["consolidate"] * times
    count = hostile(share, work, is_an_entry)
    count.enough(share, "Learnt", usable=times > 1, refused=0.25)


@pytest.mark.damaged_pool  # its models are of another host
def test_a_pool_holds_the_children_and_counts_the_rest(tmp_path: Path, times: int) -> None:
    pool = Pool.init(tmp_path / "pool", catalogue=CATALOGUE, ceiling=CEILING)
    pool.add(FIRST, Lineage(operator="seed"), op="seed")
    numbers = itertools.count()

    async def work(meta_model: MetaModel, component: Any) -> Any:
        result = await mutate(meta_model, "m", TASK, parent(FIRST), component=component)
        op = f"{next(numbers)}"
        if isinstance(result, Proposal):
            born = Lineage(operator="mutate", parents=("first",), reason=result.reason)
            pool.add(result.child, born, op=op)
        else:
            pool.commit(
                ChildRejected(
                    operator=result.operator,
                    reason=result.reason,
                    problems=result.problems,
                    parents=result.parents,
                ),
                op=op,
            )
        return result

    components_ = st.sampled_from(MUTABLE)
    count = hostile(50 * times, work, check, options=components_)
    assert pool.rejections == {"mutate": count.counts["RejectedProposal"]}
    assert len(pool.members) - 1 + pool.duplicates.get("mutate", 0) == count.counts["Proposal"]
    again = Pool.open(tmp_path / "pool", catalogue=CATALOGUE, ceiling=CEILING)
    assert again.members.keys() == pool.members.keys()
    for member in again.members.values():
        loaded, problems = check_team(member.path.read_bytes(), "child.yaml", CATALOGUE)
        assert problems == []
        assert CEILING.problems(loaded) == []

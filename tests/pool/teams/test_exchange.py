"""Teams that go from pool to pool, with their lineage."""

from contextlib import suppress
from pathlib import Path

import pytest

from coterie.pool import Pool, import_teams, verify
from coterie.pool.ledger.changes import Added, ChildRejected
from coterie.pool.values.statistics import TrialPart
from coterie.schema import Agent, ConfigError, InputError, Lineage
from coterie.schema.loading.ceiling import CapabilityPolicy
from coterie.schema.values.errors import StorageError

from ...support.failpoints import armed
from ..edited_teams import SEED, child_of, pool_of, scored, tried, vote


@pytest.fixture
def source(tmp_path: Path) -> Pool:
    pool = pool_of(tmp_path / "source", vote(), vote("Guess.", name="guess"))
    child_of(pool, "vote", max_tokens=9)
    child_of(pool, "vote_1", "guess", prompt="Solve it well.", operator="crossover")
    scored(pool, "vote", 0.2, 0.4)
    scored(pool, "vote_2", 1, niche="dates")
    pool.commit(tried("vote_2", "x", reason="down"), op="x")
    return pool


@pytest.fixture
def target(tmp_path: Path) -> Pool:
    return pool_of(tmp_path / "target")


def test_a_team_brings_its_ancestors_and_all_their_scores(source: Pool, target: Pool) -> None:
    (admission,) = import_teams(target, source, ["vote_2"])
    assert (admission.name, admission.is_new) == ("vote_2", True)
    for pool in (target, Pool.open(target.folder)):
        assert list(pool.members) == ["vote_2"]
        assert list(pool.teams) == list(source.teams)
        for name, member in source.teams.items():
            assert pool.teams[name].lineage == member.lineage
            assert pool.teams[name].team == member.team
            assert pool.teams[name].statistics == member.statistics
    assert target.member("vote").retired == "came along as an ancestor of vote_2"
    assert verify(target.folder).faults == ()


def test_importing_again_changes_nothing(source: Pool, target: Pool) -> None:
    import_teams(target, source, ["vote_2"])
    ledger = (target.folder / "ledger.jsonl").read_bytes()
    (admission,) = import_teams(target, source, ["vote_2"])
    assert not admission.is_new
    assert (target.folder / "ledger.jsonl").read_bytes() == ledger


def test_an_import_that_was_interrupted_goes_on(source: Pool, target: Pool) -> None:
    number = 0
    for number in range(1, 100):
        with suppress(StorageError), armed(f"files.append.before:{number}:raise-eio"):
            import_teams(target, source, ["vote_2"])
            break
    assert number > 5
    target.refresh()
    assert list(target.members) == ["vote_2"]
    assert [str(team.statistics) for team in target.teams.values()] == [
        str(team.statistics) for team in source.teams.values()
    ]


def test_what_comes_home_is_not_counted_again(source: Pool, target: Pool) -> None:
    import_teams(target, source, ["vote_2"])
    scored(target, "vote_2", 0, niche="abroad")
    before = source.teams["vote_2"].statistics.n
    import_teams(source, target, ["vote_2"])
    assert source.teams["vote_2"].statistics.n == before + 1
    assert source.teams["vote"].statistics.n == 2
    assert len(source.teams) == 4


def test_a_twin_stands_for_what_is_imported(source: Pool, target: Pool) -> None:
    target.add(vote("Solve it twice.", "Solve it.", name="mine"), SEED, op="mine")
    scored(target, "mine", 1)
    import_teams(target, source, ["vote_1"])
    assert target.member("vote_1").lineage.parents == ("mine",)
    assert "vote" not in target.teams
    assert target.members["mine"].statistics.n == 3


def test_names_stay_where_they_are_free(source: Pool, target: Pool) -> None:
    late = child_of(source, "vote", max_tokens=77)
    (admission,) = import_teams(target, source, [late])
    assert admission.name == late == "vote_3"
    assert child_of(target, late, max_tokens=78) == "vote_2"
    assert child_of(target, late, max_tokens=79) == "vote_4"


def test_names_that_are_taken_are_changed(source: Pool, target: Pool) -> None:
    target.add(vote("Another.", name="vote"), SEED, op="vote")
    (admission,) = import_teams(target, source, ["vote_2"])
    member = target.member(admission.name)
    assert admission.name.startswith("vote_")
    assert member.team.agents["w1"].prompt == "Solve it well."
    first, second = (target.member(name) for name in member.lineage.parents)
    assert (first.identity, second.name) == (source.teams["vote_1"].identity, "guess")
    assert verify(target.folder).faults == ()


def test_an_ancestor_that_is_asked_for_becomes_a_member(source: Pool, target: Pool) -> None:
    import_teams(target, source, ["vote_2"])
    (admission,) = import_teams(target, source, ["vote_1"])
    assert (admission.name, admission.is_new) == ("vote_1", False)
    assert list(target.members) == ["vote_1", "vote_2"]


def test_rejections_stay_where_they_were(source: Pool, target: Pool) -> None:
    source.commit(ChildRejected(operator="mutate", reason="bad", parents=("vote",)), op="r")
    source.add(vote(), Lineage(operator="mutate"), op="twin")
    import_teams(target, source, ["vote_2"])
    assert (target.rejections, target.duplicates) == ({}, {})


def test_only_teams_of_the_source_can_be_imported(source: Pool, target: Pool) -> None:
    with pytest.raises(InputError, match="no team 'vote_9'"):
        import_teams(target, source, ["vote_2", "vote_9"])
    assert not target.teams


def test_a_ceiling_holds_for_what_is_imported(source: Pool, tmp_path: Path) -> None:
    target = Pool.init(tmp_path / "low", ceiling=CapabilityPolicy(max_tokens=5))
    with pytest.raises(ConfigError, match="the ceiling allows 5"):
        import_teams(target, source, ["vote_2"])


def test_what_agents_had_a_share_in_comes_without_them(tmp_path: Path) -> None:
    source, target = pool_of(tmp_path / "source", vote()), Pool.init(tmp_path / "target")
    ada = Agent(id="ada", prompt="Solve it.")
    source.commit(Added(member=ada, lineage=Lineage(operator="genesis")), op="genesis")
    trial = tried("vote", "t", 0.5, agents={"w1": TrialPart(member="ada")}, rounds=2)
    source.commit(trial, op="try")
    import_teams(target, source, ["vote"])
    assert target.member("vote").statistics.n == 1
    assert not target.agents

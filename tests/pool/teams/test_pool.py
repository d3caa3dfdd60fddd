"""A pool: only valid teams, each once, and every update exactly once."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.pool import Pool, verify
from coterie.pool.ledger.changes import ChildRejected, Restored, Retired
from coterie.pool.values.layout import has_begun
from coterie.runtime.values.usage import Usage
from coterie.schema import (
    Agent,
    Catalogue,
    ConfigError,
    InputError,
    Lineage,
    Model,
    Team,
    load_team,
)
from coterie.schema.loading.ceiling import CapabilityPolicy
from coterie.schema.values.errors import StorageError

from ...support.failpoints import armed
from ..edited_teams import SEED, child_of, edited, pool_of, scored, tried, vote
from ..values.test_identity import ONE_RING, TWO_RINGS


def lines(pool: Pool) -> list[str]:
    return [f"{entry.op}: {entry.value['kind']}" for entry in pool.entries()]


def files(pool: Pool) -> set[str]:
    return {path.name for path in (pool.folder / "teams").iterdir()}


# Opening


def test_a_new_pool_is_a_folder_of_text(tmp_path: Path) -> None:
    pool = Pool.init(tmp_path / "a" / "pool", ["seed:debate_3", "seed:majority_vote_3"])
    assert list(pool.members) == ["debate_3", "majority_vote_3"]
    assert sorted(path.name for path in pool.folder.iterdir() if path.name[0] != ".") == [
        "ledger.jsonl",
        "teams",
    ]
    team = load_team(pool.folder / "teams" / "debate_3.yaml")
    assert team == load_team(Path(__file__).parents[3] / "seeds" / "debate_3.yaml")
    assert team.lineage == Lineage(operator="seed")


def test_beginning_again_adds_only_what_is_missing(tmp_path: Path) -> None:
    Pool.init(tmp_path, ["seed:debate_3"])
    pool = Pool.init(tmp_path, ["seed:debate_3", "seed:single_agent"])
    assert list(pool.members) == ["debate_3", "single_agent"]
    assert list(Pool.init(tmp_path).members) == ["debate_3", "single_agent"]
    assert len(lines(pool)) == 3


@pytest.mark.parametrize("write", [1, 2, 3])
def test_a_pool_has_begun_when_all_its_first_teams_are_there(tmp_path: Path, write: int) -> None:
    seeds = ["seed:debate_3", "seed:single_agent"]
    with armed(f"files.append.after:{write}:raise-eio"), pytest.raises(StorageError):
        Pool.init(tmp_path, seeds)
    assert not has_begun(tmp_path)
    [note] = [note for note in verify(tmp_path).notes if ".seeds.pending" in note]
    assert "Repeat the command" in note
    assert list(Pool.init(tmp_path, seeds).members) == ["debate_3", "single_agent"]
    assert has_begun(tmp_path)
    assert verify(tmp_path).notes == ()


def test_what_else_is_in_the_folder_stays(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("mine\n")
    Pool.init(tmp_path)
    assert (tmp_path / ".gitignore").read_text() == "mine\n"


def test_a_seed_that_does_not_load_makes_no_pool(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no seed team 'seed:debat'\. Seeds: "):
        Pool.init(tmp_path / "pool", ["seed:debate_3", "seed:debat"])
    assert not (tmp_path / "pool").exists()


def test_teams_without_a_ledger_are_not_made_a_pool(tmp_path: Path) -> None:
    (tmp_path / "teams").mkdir()
    (tmp_path / "teams" / "mine.yaml").write_text("name: mine\n")
    with pytest.raises(InputError, match="restore its ledger"):
        Pool.init(tmp_path)


def test_where_no_folder_can_be_made_there_is_no_pool(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file/pool: cannot be created: Not a directory"):
        Pool.init(tmp_path / "file" / "pool")


def test_a_folder_that_is_no_pool_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no pool in .* mas-pool init"):
        Pool.open(tmp_path)


def test_prompts_that_only_their_writer_has_are_written_out(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "my_way.md").write_text("---\nversion: 1\n---\nDo it my way.\n")
    text = "name: mine\nagents:\n  a: {prompt: my_way}\n  b: {prompt: solve_alone}\n"
    reports = "topology:\n  reports_to: {a: [b]}\n"
    (tmp_path / "mine.yaml").write_text(text + reports)
    Pool.init(tmp_path / "pool", [tmp_path / "mine.yaml"])
    agents = Pool.open(tmp_path / "pool").members["mine"].team.agents
    assert (agents["a"].prompt, agents["b"].prompt) == ("Do it my way.", "solve_alone")


# Adding


def test_a_child_is_a_file_with_its_lineage(pool: Pool) -> None:
    child = edited(vote(), max_tokens=99)
    born = Lineage(
        operator="mutate", parents=("vote",), reason="It rambles.", task="t-1", run="runs/1"
    )
    admission = pool.add(child, born, op="t-1/mutate")
    assert (admission.name, admission.is_new) == ("vote_1", True)
    written = load_team(pool.folder / "teams" / "vote_1.yaml")
    assert written == replace(child, name="vote_1")
    assert written.lineage == replace(born, edits=("w1: max_tokens 4096 -> 99",))
    member = Pool.open(pool.folder).members["vote_1"]
    assert member.lineage == written.lineage
    assert member.team == written


def test_names_come_from_the_first_ancestor(pool: Pool) -> None:
    assert child_of(pool, "vote", max_tokens=1) == "vote_1"
    assert child_of(pool, "vote_1", max_tokens=2) == "vote_2"
    pool.add(vote("Guess.", name="guess"), SEED, op="guess")
    assert child_of(pool, "guess", "vote_2", max_tokens=3) == "guess_1"
    long = "x" * 64
    pool.add(vote("Go on.", name=long), SEED, op="long")
    assert child_of(pool, long, max_tokens=4) == f"{'x' * 62}_1"


def test_a_name_that_is_taken_is_not_taken_again(pool: Pool) -> None:
    assert pool.add(vote("Guess."), SEED, op="a").name == "vote_1"
    assert child_of(pool, "vote", max_tokens=1) == "vote_2"
    assert child_of(pool, "vote_1", max_tokens=1) == "vote_1_1"


def test_a_team_is_there_once_whatever_its_agents_are_called(pool: Pool) -> None:
    twin = vote("Solve it twice.", "Solve it.", name="other")
    admission = pool.add(twin, Lineage(operator="mutate", parents=("vote",)), op="again")
    assert (admission.name, admission.is_new) == ("vote", False)
    assert files(pool) == {"vote.yaml"}
    assert pool.duplicates == {"mutate": 1}
    assert pool.duplicate_of(twin) == "vote"
    assert pool.duplicate_of(vote("Guess.")) is None


def test_teams_of_one_identity_that_are_no_twins_are_both_there(tmp_path: Path) -> None:
    pool = pool_of(tmp_path, replace(TWO_RINGS, name="two"), replace(ONE_RING, name="one"))
    assert list(pool.members) == ["two", "one"]
    assert len({member.identity for member in pool.members.values()}) == 1
    assert pool.duplicate_of(ONE_RING) == "one"


def test_a_retired_team_is_a_twin_as_well(pool: Pool) -> None:
    pool.commit(Retired(member="vote", reason="weak"), op="prune")
    assert not pool.add(vote(), SEED, op="again").is_new
    assert list(pool.members) == []


CYCLE = replace(vote(), reports_to={"w1": ("w2",), "w2": ("judge",), "judge": ("w1",)})
INVALID = [
    CYCLE,
    replace(vote(), reports_to={"w1": ("nobody",), "w2": ("judge",)}),
    edited(vote(), tools=("launch_missiles",)),
    edited(vote(), model_id="unheard_of"),
    edited(vote(), prompt="\x1b[31mred"),
    edited(vote(), prompt="half \ud800"),
    edited(vote(), prompt="my key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"),
    edited(vote(), max_tokens=-1),
    replace(vote(), agents={}),
    Team(name="../../etc/passwd", agents={"a": Agent(id="a", prompt="Solve it.")}),
]


@pytest.mark.parametrize("team", INVALID)
def test_a_team_that_does_not_load_is_not_added(pool: Pool, team: Team) -> None:
    before = pool.folder.joinpath("ledger.jsonl").read_bytes()
    for born in (SEED, Lineage(operator="mutate", parents=("vote",))):
        if "/" in team.name and born.parents:
            continue  # then the name is the pool's, and the team is fine
        with pytest.raises(ConfigError):
            pool.add(team, born, op="bad")
    assert pool.folder.joinpath("ledger.jsonl").read_bytes() == before
    assert files(pool) == {"vote.yaml"}


def test_a_team_above_the_ceiling_is_not_added(tmp_path: Path) -> None:
    pool = Pool.init(tmp_path, ceiling=CapabilityPolicy(max_tokens=4096))
    pool.add(vote(), SEED, op="a")
    with pytest.raises(ConfigError, match="the ceiling allows 4096"):
        pool.add(edited(vote(), max_tokens=5000), SEED, op="b")
    assert list(pool.members) == ["vote"]


def test_names_are_those_of_the_catalogue(tmp_path: Path) -> None:
    known = Catalogue.of_host(models={"fast": Model(alias="fast", model="openai/m")})
    Pool.init(tmp_path, catalogue=known).add(edited(vote(), model_id="fast"), SEED, op="a")
    assert Pool.open(tmp_path).members["vote"].team.agents["w1"].model_id == "fast"


@given(st.text(), st.lists(st.text(), max_size=3), st.text(), st.text())
def test_nothing_that_a_model_says_about_a_team_makes_it_invalid(
    tmp_path_factory: pytest.TempPathFactory, reason: str, edits: list[str], task: str, run: str
) -> None:
    pool = pool_of(tmp_path_factory.mktemp("pool"))
    born = Lineage(operator="mutate", reason=reason, edits=tuple(edits), task=task, run=run)
    pool.add(vote(), born, op="a")
    team = load_team(pool.folder / "teams" / "vote.yaml")
    assert team.lineage == Pool.open(pool.folder).members["vote"].lineage


def test_keys_commands_and_floods_do_not_get_into_lineage(pool: Pool) -> None:
    secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
    born = Lineage(
        operator="mutate",
        parents=("vote",),
        reason=f"\x1b]0;title\x07{secret} " + "so " * 9999,
        edits=tuple(f"edit {n}" for n in range(200)),
    )
    pool.add(edited(vote(), max_tokens=9), born, op="a")
    written = (pool.folder / "teams" / "vote_1.yaml").read_text()
    for text in (written, (pool.folder / "ledger.jsonl").read_text()):
        assert secret not in text
        assert "\x1b" not in text
    assert len(written) < 20_000
    assert pool.members["vote_1"].lineage.edits[-1] == "and 100 more"


def test_parents_are_teams_of_the_pool(pool: Pool) -> None:
    with pytest.raises(InputError, match=r"no team 'vot' in .*Did you mean 'vote'"):
        pool.add(edited(vote(), max_tokens=9), Lineage(operator="mutate", parents=("vot",)), op="a")


def test_an_operator_has_a_name(pool: Pool) -> None:
    with pytest.raises(ConfigError, match=r"lineage\.operator"):
        pool.add(vote("Guess."), Lineage(operator="rm -rf"), op="a")


# Evaluations


def test_statistics_follow_from_evaluations(pool: Pool) -> None:
    scored(pool, "vote", 1, 0.5, niche="dates", usd=0.01)
    scored(pool, "vote", 0, niche="ages", usd=0.01)
    pool.commit(tried("vote", "x", niche="ages", reason="no model"), op="x")
    for seen in (pool, Pool.open(pool.folder)):
        member = seen.members["vote"]
        assert (member.statistics.n, member.statistics.score) == (3, 0.5)
        assert member.statistics.failures == 1
        assert member.statistics.cost == (pytest.approx(0.01), 100)
        assert {name: known.score for name, known in member.niches.items()} == {
            "ages": 0,
            "dates": 0.75,
        }
        assert member.on("dates").n == 2
        assert member.on("unknown").n == 0


def test_what_is_held_out_does_not_count(pool: Pool) -> None:
    pool.commit(tried("vote", "a", 0.2, niche="n"), op="a")
    pool.commit(tried("vote", "b", 1, niche="n", split="test"), op="b")
    member = pool.members["vote"]
    assert member.statistics.score == member.on("n").score == 0.2
    assert member.on(split="test").score == member.on("n", split="test").score == 1
    assert list(member.niches_of("test")) == ["n"]


def test_what_a_twin_scored_on_a_task_is_known(pool: Pool) -> None:
    pool.commit(tried("vote", "t", 1), op="a")
    pool.commit(tried("vote", "t", 0), op="b")
    pool.commit(tried("vote", "t", reason="no model"), op="c")
    twin = pool.add(vote("Solve it twice.", "Solve it."), SEED, op="d")
    known = pool.member(twin.name).on_task("t")
    assert known is not None
    assert (known.n, known.score) == (2, 0.5)
    assert pool.member("vote").on_task("other") is None


def test_what_a_team_was_taken_in_for_is_kept_apart(pool: Pool) -> None:
    born = Lineage(operator="mutate", parents=("vote",), task="t", run="r")
    name = pool.add(edited(vote(), max_tokens=9), born, op="a").name
    pool.commit(
        tried(name, "t", 1, niche="n", run="r", chosen=True),
        op="b",
    )
    for seen in (pool, Pool.open(pool.folder)):
        member = seen.members[name]
        assert (member.statistics.n, member.on("n").n, member.statistics.chosen) == (0, 0, 1)
        assert seen.member(name).on_task("t") is None
    assert verify(pool.folder).faults == ()


def test_what_a_team_was_adapted_to_is_no_score_of_it(pool: Pool) -> None:
    pool.commit(tried("vote", "t", 1, niche="n", adapted=True), op="a")
    member = Pool.open(pool.folder).members["vote"]
    assert (member.statistics.n, member.on("n").adapted) == (0, 1)
    assert pool.member("vote").on_task("t") is None
    assert verify(pool.folder).faults == ()


def test_a_line_says_what_was_given_and_no_more(pool: Pool) -> None:
    pool.commit(
        tried("vote", "t", 1, reward=0.9, usage=Usage(calls=2, usd=0.5), niche="n", run="r"), op="a"
    )
    *_, last = pool.entries()
    assert last.value == {
        "kind": "evaluated",
        "team": "vote",
        "task": "t",
        "score": 1,
        "reward": 0.9,
        "usage": {"calls": 2, "usd": 0.5},
        "niche": "n",
        "run": "r",
    }


def test_rejections_are_counted_and_change_nothing(pool: Pool) -> None:
    with pytest.raises(ConfigError) as raised:
        pool.add(CYCLE, Lineage(operator="mutate", parents=("vote",)), op="t/mutate")
    assert pool.commit(
        ChildRejected(
            operator="mutate",
            reason="it does not load",
            problems=raised.value.problems,
            parents=("vote",),
            task="t",
        ),
        op="t/mutate",
    )
    assert pool.rejections == {"mutate": 1}
    assert list(pool.members) == ["vote"]
    *_, last = pool.entries()
    assert "a cycle" in last.value["problems"][0]
    assert "run" not in last.value


def test_a_retired_team_is_no_member_and_keeps_its_past(pool: Pool) -> None:
    assert not pool.commit(Restored(member="vote"), op="early")
    child = child_of(pool, "vote", max_tokens=9)
    scored(pool, "vote", 1)
    assert pool.commit(Retired(member="vote", reason="weak"), op="prune")
    for seen in (pool, Pool.open(pool.folder)):
        assert list(seen.members) == [child]
        assert list(seen.teams) == ["vote", child]
        assert seen.member("vote").retired == "weak"
        assert seen.member("vote").statistics.n == 1
    scored(pool, "vote", 1, niche="late")  # it was on its way
    assert pool.commit(Restored(member="vote"), op="back")
    assert not pool.commit(Restored(member="vote"), op="back again")
    assert list(pool.members) == ["vote", child]


# Exactly once

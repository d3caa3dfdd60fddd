"""What children save that reuse answers, and that pools stay true where they share their luck."""

import statistics

import pytest
from click.testing import CliRunner

from studies.reuse.__main__ import main
from studies.reuse.asked import KINDS, asked, teams
from studies.reuse.luck import Luck, evolve


def printed(*words: str) -> str:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_a_child_asks_no_more_than_a_full_run(kind: str) -> None:
    callses = [asked("seats_debate", kind, number) for number in range(4)]
    known = [calls for calls in callses if calls is not None]
    assert all(0 <= calls.asked <= calls.whole for calls in known)
    if kind == "tools":  # its agents have none, and no edit could give them any
        assert not known
    else:
        assert sum(calls.asked for calls in known) < sum(calls.whole for calls in known)


def test_an_edit_of_the_only_agent_saves_nothing_but_its_parameters_may() -> None:
    calls = asked("direct", "model_id", 0)
    assert calls is not None
    assert calls.asked == calls.whole == 1


def test_every_seed_team_that_needs_no_repository_is_measured() -> None:
    assert {"majority_vote", "peer_review", "debate", "workshop"} <= {*teams()}
    assert not {"code_repair", "metagpt", "chatdev"} & {*teams()}


def test_the_table_has_a_row_for_each_team_and_one_for_all() -> None:
    lines = printed("calls", "--team", "seats_voting", "--children", "2").splitlines()
    assert lines[0] == f"| team | {' | '.join(KINDS)} |"
    assert lines[2].startswith("| seats_voting | ")
    assert lines[3].startswith("| mean over all | ")
    assert "(n=2)" in lines[2]
    assert lines[2].count(" - ") == 1  # tools


def test_a_team_that_is_not_there_is_named() -> None:
    result = CliRunner().invoke(main, ["calls", "--team", "nobody"])
    assert result.exit_code == 2
    assert "no seed team 'nobody' here. Known: consultation, " in result.stderr


@pytest.fixture(scope="module")
def null(nightly: bool) -> dict[str, list[Luck]]:
    count = 20 if nightly else 3
    ways = ("never", "auto")
    return {way: [evolve("null", way, 12, seed) for seed in range(count)] for way in ways}


def test_where_nothing_helps_sharing_luck_makes_no_level(null: dict[str, list[Luck]]) -> None:
    shared, fresh = null["auto"], null["never"]
    assert all(luck.better == pytest.approx(0) for luck in shared)
    assert statistics.fmean(luck.pool.covered for luck in shared) >= 0.93
    assert abs(statistics.fmean(luck.pool.bias for luck in shared)) < 0.1
    asked_of = {way: sum(luck.asked for luck in lucks) for way, lucks in null.items()}
    assert asked_of["auto"] < 0.75 * asked_of["never"]
    assert all(luck.asked == luck.whole for luck in fresh)
    assert [luck.whole for luck in shared] == [luck.whole for luck in fresh]
    # A child with the luck of its parent is no further try at the task.
    assert statistics.fmean(luck.online for luck in shared) < statistics.fmean(
        luck.online for luck in fresh
    )


def test_the_table_of_luck_has_a_row_for_each_way() -> None:
    words = ("luck", "--repetitions", "2", "--tasks", "2", "--world", "differing")
    lines = printed(*words).splitlines()
    assert [line.split(" | ")[1] for line in lines[2:4]] == ["never", "always"]
    assert lines[5] == "with reuse less without, paired over repetitions:"
    assert lines[-1].startswith("| differing | ")
    assert lines[2].split(" | ")[3] == "1.00"
    assert float(lines[3].split(" | ")[3]) < 1

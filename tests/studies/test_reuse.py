"""What children save that reuse answers, and that pools stay true where they share their luck."""

from __future__ import annotations

import statistics

import pytest
from click.testing import CliRunner

from studies.reuse.__main__ import main
from studies.reuse.asked import KINDS, asked, teams
from studies.reuse.luck import Luck, evolve


def printed(*words: str) -> str:
    came = CliRunner().invoke(main, words)
    assert came.exit_code == 0, came.output
    return came.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_a_child_asks_no_more_than_a_full_run(kind: str) -> None:
    found = [asked("seats_debate", kind, number) for number in range(4)]
    known = [one for one in found if one is not None]
    assert all(0 <= one.asked <= one.whole for one in known)
    if kind == "tools":  # its agents have none, and no edit could give them any
        assert not known
    else:
        assert sum(one.asked for one in known) < sum(one.whole for one in known)


def test_an_edit_of_the_only_agent_saves_nothing_but_its_parameters_may() -> None:
    found = asked("direct", "model_id", 0)
    assert found is not None
    assert found.asked == found.whole == 1


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
    came = CliRunner().invoke(main, ["calls", "--team", "nobody"])
    assert came.exit_code == 2
    assert "no seed team 'nobody' here. Known: consultation, " in came.stderr


@pytest.fixture(scope="module")
def null(nightly: bool) -> dict[str, list[Luck]]:
    count = 20 if nightly else 3
    ways = ("never", "auto")
    return {way: [evolve("null", way, 12, seed) for seed in range(count)] for way in ways}


def test_where_nothing_helps_sharing_luck_makes_no_level(null: dict[str, list[Luck]]) -> None:
    shared, fresh = null["auto"], null["never"]
    assert all(one.better == pytest.approx(0) for one in shared)
    assert statistics.fmean(one.pool.covered for one in shared) >= 0.93
    assert abs(statistics.fmean(one.pool.bias for one in shared)) < 0.1
    asked_of = {way: sum(one.asked for one in came) for way, came in null.items()}
    assert asked_of["auto"] < 0.75 * asked_of["never"]
    assert all(one.asked == one.whole for one in fresh)
    assert [one.whole for one in shared] == [one.whole for one in fresh]
    # A child with the luck of its parent is no further try at the task.
    assert statistics.fmean(one.online for one in shared) < statistics.fmean(
        one.online for one in fresh
    )


def test_the_table_of_luck_has_a_row_for_each_way() -> None:
    words = ("luck", "--repetitions", "2", "--tasks", "2", "--world", "differing")
    lines = printed(*words).splitlines()
    assert [line.split(" | ")[1] for line in lines[2:4]] == ["never", "always"]
    assert lines[5] == "with reuse less without, paired over repetitions:"
    assert lines[-1].startswith("| differing | ")
    assert lines[2].split(" | ")[3] == "1.00"
    assert float(lines[3].split(" | ")[3]) < 1

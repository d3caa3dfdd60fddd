"""The comparison of ways to adapt: its tables, its command, and the level world at a small size."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from studies.adaptation import __main__ as command
from studies.adaptation import tables
from studies.adaptation.landscapes import Landscape, drawn, level
from studies.adaptation.rows import PACES, REFERENCE, ROWS
from studies.adaptation.trials import CALLS, LEAST, Outcome, Trial, adapt


def outcome(number: float) -> Outcome:
    return Outcome(
        answer=number,
        worth=number,
        first=0.5,
        last=number,
        rounds=9,
        agents=5,
        edges=4,
        calls=118,
        asked={"coach": 3},
        dropped=0,
    )


def test_a_landscape_is_one_unit_however_many_seeds_it_has() -> None:
    found = {
        "joint": {"a": [outcome(0.5), outcome(0.7)], "b": [outcome(0.4), outcome(0.6)]},
        "K = 1": {"a": [outcome(0.4), outcome(0.4)], "b": [outcome(0.2), outcome(0.4)]},
    }
    *_, row = tables.differences(found, "joint")
    assert row == "| K = 1 - joint | -0.200 [-0.200, -0.200] | -0.200 [-0.200, -0.200] |"
    assert tables.covering(found, "joint").startswith("0 of 1 intervals")


def test_paces_are_compared_where_less_is_lost_and_where_more_is() -> None:
    found = {
        "joint": {one: [outcome(0.5)] for one in "abcd"},
        "K = 1": {one: [outcome(0.5 + at / 10)] for at, one in enumerate("abcd")},
    }
    head, _, row = tables.paces(found, ["K = 1"], "joint", {"a": 0.1, "b": 0.9, "c": 0.2, "d": 0.8})
    assert "| loss 0.10 to 0.20 | loss 0.80 to 0.90 |" in head
    assert row.startswith("| K = 1 - joint | +0.100 [")
    assert "| +0.200 [" in row


def test_every_row_differs_from_every_other() -> None:
    assert len({one.name for one in ROWS}) == len(ROWS)
    assert len({repr(replace(one, name="")) for one in ROWS}) == len(ROWS)
    assert all(one in ROWS for one in (REFERENCE, *PACES))


def found(trial: Trial, landscape: Landscape, seed: int, calls: int) -> Outcome:
    """Stand in for a trial."""
    return outcome((seed + calls + len(trial.name + landscape.name)) % 7 / 7)


def test_the_command_prints_what_it_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "adapt", found)
    arguments = ["--landscapes", "3", "--seeds", "2", "--jobs", "1"]
    page = CliRunner().invoke(command.main, arguments)
    assert page.exit_code == 0, page.output
    assert page.stdout.startswith("\n## Level landscapes")
    said = ("| neither - joint |", "cover 0.", "| K = 3 - joint |", "| difference of answer | loss")
    assert all(one in page.stdout for one in said)
    arguments += ["--rows", "neither", "--json"]
    value = json.loads(CliRunner().invoke(command.main, arguments).stdout)
    rows = value["Drawn landscapes"]
    assert rows.keys() == {"joint", "neither"}  # with what it is compared with
    assert {name: len(each) for name, each in rows["neither"].items()} == {
        "drawn 0": 2,
        "drawn 1": 2,
        "drawn 2": 2,
    }


def test_a_row_that_is_not_there_is_told_with_those_that_are() -> None:
    result = CliRunner().invoke(command.main, ["--rows", "Joint"])
    assert result.exit_code == 2
    assert "Rows: joint; K = 1;" in result.stderr


def test_the_same_seed_gives_the_same_outcome_and_no_more_calls_than_were_given() -> None:
    one, again, other = (adapt(REFERENCE, drawn(1), seed, 40) for seed in (1, 1, 2))
    assert one == again != other
    assert one.calls <= 40
    assert one.rounds >= 2
    assert one.dropped == 0


def test_a_skilled_meta_model_makes_teams_better_and_an_unskilled_one_is_told_apart() -> None:
    skilled, unskilled = (adapt(replace(REFERENCE, skill=one), drawn(2), 1, 60) for one in (1, 0))
    assert skilled.last > skilled.first
    assert skilled.worth > unskilled.worth


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_row_works_and_in_a_level_landscape_none_is_worth_more(row: Trial) -> None:
    landscape = level(1)
    came = adapt(row, landscape, 0, LEAST)
    for worth in (came.worth, came.first, came.last):
        assert worth == pytest.approx(landscape.strength)
    assert came.dropped == 0
    assert came.rounds == 1 if row.name == "one round" else came.rounds > 1


def test_nothing_is_found_where_nothing_is(nightly: bool) -> None:
    landscapes, calls = (20, CALLS) if nightly else (3, LEAST)
    rows = ROWS if nightly else ROWS[:3]
    came = {
        row.name: {f"{at}": [adapt(row, level(at), at, calls)] for at in range(landscapes)}
        for row in rows
    }
    said = tables.covering(came, REFERENCE.name)
    covered, _, intervals, *_ = said.split()
    assert int(covered) >= int(intervals) * 0.8

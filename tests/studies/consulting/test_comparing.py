"""The comparison of schemes of credit: its tables, its command, and its trials at a small size."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from click.testing import CliRunner

from coterie.runtime.values.usage import Usage
from studies.consulting import __main__ as command
from studies.consulting import tables
from studies.consulting.landscapes import AGENTS, KINDS, Landscape, drawn, level
from studies.consulting.rows import LEVEL_ROWS, NOTHING, ROWS, Trial
from studies.consulting.trials import Credit, Outcome, Sizes, consult
from studies.consulting.world import by_leaving_out, by_shapley

SMALL = Sizes(cases=2, held_out=2)
WORLDS = {one.name: one for one in (drawn(1), drawn(2), drawn(3))}


def told(said: Mapping[str, float], top: float = 0.3) -> Credit:
    return Credit(worth=said, reward=dict.fromkeys(AGENTS, 0.5), top=top)


def outcome(*said: Credit, answer: float = 0.5) -> Outcome:
    return Outcome(
        credits=said or (told(dict.fromkeys(AGENTS, 0.0)),),
        kept={"copied": 3, "idle": 1},
        sound=2,
        unsound=1,
        paid=Usage(calls=20, prompt_tokens=900, completion_tokens=100),
        spared=Usage(calls=10, prompt_tokens=400, completion_tokens=50),
        answer=answer,
        promised=answer / 2,
    )


def test_who_says_what_is_true_is_right_and_who_says_nothing_is_not() -> None:
    found = {
        "right": {name: outcome(told(by_shapley(of))) for name, of in WORLDS.items()},
        "wrong": {
            name: outcome(told({one: -worth for one, worth in by_leaving_out(of).items()}))
            for name, of in WORLDS.items()
        },
    }
    right, wrong = [*tables.correlations(found, WORLDS)][2:]
    assert right.startswith("| right | +1.000 [+1.000, +1.000] |")
    assert wrong.split(" | ")[2] == "-1.000 [-1.000, -1.000]"
    assert "| 0.000 [0.000, 0.000] | 0.000 [0.000, 0.000] | 0.300 [" in right  # of rewards


def test_what_is_said_of_a_kind_stands_below_it_whoever_is_of_it() -> None:
    said = {
        name: outcome(told({one.agent: KINDS.index(one.kind) / 10 for one in of.seats}))
        for name, of in WORLDS.items()
    }
    *_, row = tables.said_of_kinds({"scheme": said}, WORLDS)
    cells = row.strip("| ").split(" | ")[1:]
    assert [float(cell.split()[0]) for cell in cells] == [0, 0.1, 0.2, 0.3, 0.4]


def test_costs_are_those_of_a_case_and_shares_those_of_the_entries() -> None:
    said = told(dict.fromkeys(AGENTS, 0.0)), told(dict.fromkeys(AGENTS, 1.0))
    found = {"scheme": {"a": outcome(*said), "b": outcome(*said)}, NOTHING.name: {}}
    *_, costs = tables.costs(found)
    assert costs == "| scheme | 10.0 | 500.0 | 5.0 | 225.0 |"
    *_, kept = tables.kept(found)
    assert kept.startswith("| scheme | 4.0 | 0.750 [0.750, 0.750] | 0.000 ")
    assert kept.endswith("| 0.500 [0.500, 0.500] | 0.250 [0.250, 0.250] |")


def test_it_is_counted_where_nothing_is_found() -> None:
    even = [dict.fromkeys(AGENTS, 0.3)] * 2
    odd = [{**one, AGENTS[0]: 0.9} for one in even]
    found = {
        "even": {name: outcome(*map(told, even)) for name in WORLDS},
        "odd": {name: outcome(*map(told, odd)) for name in WORLDS},
    }
    rows = [*tables.covering(found)]
    assert "| even: worth | 5 of 5 | 15 of 15 |" in rows[2]
    assert "| odd: worth | 0 of 5 | 0 of 15 |" in rows[4]


def test_rows_are_compared_landscape_by_landscape() -> None:
    found = {
        "one": {name: outcome(answer=0.5 + at / 10) for at, name in enumerate(WORLDS)},
        "two": {name: outcome(answer=0.3 + at / 10) for at, name in enumerate(WORLDS)},
    }
    *_, row = tables.differences(found, "two")
    assert row == "| one - two | +0.200 [+0.200, +0.200] | +0.100 [+0.100, +0.100] |"


def found(trial: Trial, landscape: Landscape, seed: int, sizes: Sizes) -> Outcome:
    """Stand in for a trial."""
    answer = (seed + sizes.cases + len(trial.name + landscape.name)) % 7 / 7
    return replace(outcome(answer=answer), credits=()) if trial == NOTHING else outcome()


def test_the_command_prints_what_it_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "consult", found)
    arguments = ["--quick", "--jobs", "1"]
    page = CliRunner().invoke(command.main, arguments)
    assert page.exit_code == 0, page.output
    assert page.stdout.startswith("\n## Level landscapes")
    said = ("| cover 0 |", "| true Shapley value |", "| each case |", "- naive, fair |")
    assert all(one in page.stdout for one in said)
    arguments += ["--rows", "naive, *", "--json"]
    value = json.loads(CliRunner().invoke(command.main, arguments).stdout)
    assert {*value["Drawn landscapes"]} == {"naive, fair", "naive, vain", NOTHING.name}
    levels = value["Level landscapes: nobody differs from anybody"]
    assert {*levels} == {"naive, fair", NOTHING.name}
    assert {*levels["naive, fair"]} == {"level 0", "level 1"}


def test_a_row_that_is_not_there_is_told_with_those_that_are() -> None:
    result = CliRunner().invoke(command.main, ["--rows", "Naive"])
    assert result.exit_code == 2
    assert "Rows: naive, fair;" in result.stderr


def test_every_row_differs_from_every_other() -> None:
    assert len({one.name for one in ROWS}) == len(ROWS)
    assert len({repr(replace(one, name="")) for one in ROWS}) == len(ROWS)


def test_the_same_seed_gives_the_same_outcome() -> None:
    one, again, other = (consult(ROWS[0], drawn(1), seed, SMALL) for seed in (1, 1, 2))
    assert one == again != other


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_row_works_and_in_a_level_landscape_experience_promises_nothing(row: Trial) -> None:
    landscape = level(1)
    came = consult(row, landscape, 0, SMALL)
    assert came.promised == pytest.approx(consult(NOTHING, landscape, 0, SMALL).promised)
    assert len(came.credits) == SMALL.cases * row.learns
    assert bool(came.entries) == row.learns
    assert came.sound + came.unsound <= came.entries
    assert bool(came.sampled) == (row.settings.get("credit") == "shapley")
    for one in came.credits:
        assert one.worth.keys() == one.reward.keys() == {*AGENTS}
        assert 0.2 <= one.top <= 1


def test_a_few_orders_share_out_what_all_do_and_cost_less() -> None:
    row = next(one for one in ROWS if one.settings.get("credit") == "shapley")
    came = consult(row, drawn(3), 0, SMALL)
    assert came.sampled is not None
    for exact, few in zip(came.credits, came.sampled.credits, strict=True):
        assert sum(few.worth.values()) == pytest.approx(sum(exact.worth.values()))
    assert 0 < came.sampled.paid.calls < came.paid.calls
    assert 0 < came.sampled.spared.calls < came.spared.calls


def test_nothing_is_found_where_nobody_differs(nightly: bool) -> None:
    seeds, rows = (20, LEVEL_ROWS[:-1]) if nightly else (3, LEVEL_ROWS[:1])
    sizes = Sizes() if nightly else SMALL
    came = {
        row.name: {f"{at}": consult(row, level(at), at, sizes) for at in range(seeds)}
        for row in rows
    }
    for line in [*tables.covering(came)][2:]:
        over, inside = (cell.split(" of ") for cell in line.split(" | ")[1:3])
        assert int(over[0]) >= int(over[1]) * 0.6
        assert int(inside[0]) >= int(inside[1]) * 0.8

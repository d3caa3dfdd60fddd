"""The comparison of rows: its tables, its results, and its trials at a small size."""

from __future__ import annotations

import functools
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from studies.chamber import __main__ as command
from studies.chamber import tables, trials
from studies.chamber.landscapes import NICHES, drawn, level
from studies.chamber.outcomes import Outcome, truths
from studies.chamber.rows import FULL, ROWS, SINGLE
from studies.chamber.texts import habit_lesson, lesson_said
from studies.chamber.trials import Job, work
from studies.chamber.world import HABITS, METHODS, SIGNS, Lesson, habit_worth, right_method, without
from studies.resumable import worked

TASKS = 4


def outcome(*scores: float, anchor: str = "a") -> Outcome:
    """Tasks of all niches in turn."""
    return Outcome(
        scores=scores,
        niches=[NICHES[n % len(NICHES)] for n in range(len(scores))],
        anchors=[anchor] * len(scores),
        structures=["voting"] * len(scores),
        index=[0.25, 0.75],
        chance=0.125,
        left=3,
        lifecycle={"fork": 2},
        dreams={"reward": 3, "abstained": 1, "came": 4},
        routed=[4, 6],
        truths={"harbour": (1, 4), "habits": (1, 2)},
        calls={"default": 16, "meta": 8},
        tokens={"default": 300, "meta": 100},
        seconds=2.0,
    )


BETTER = outcome(1, 1, 1, 1, 0, 1, 1, 0)
WORSE = replace(outcome(0, 1, 1, 1, 0, 1, 0, 0, anchor="b"), tokens={"default": 200})
FOUND = {FULL.name: {0: BETTER, 1: BETTER}, SINGLE.name: {0: WORSE, 1: WORSE}}


def row(lines: list[str], name: str) -> list[str]:
    return next(one for one in lines if one.startswith(f"| {name} |")).strip("| ").split(" | ")


def test_accuracy_is_told_of_the_stream_its_end_and_each_niche() -> None:
    assert [one.split()[0] for one in row([*tables.accuracies(FOUND)], "full")[1:]] == [
        *("0.750", "0.500"),
        *("0.500", "1.000", "1.000", "0.500"),
    ]
    less = row([*tables.differences(FOUND)], "single agent")[1:]
    assert less[0] == "-0.250 [-0.250, -0.250]"
    assert less[-1] == "-0.341 (Table 2)"
    assert row([*tables.covering(FOUND)], "all rows")[1:] == [
        *("0 of 1", "0 of 1", "0 of 1", "1 of 1", "0 of 1", "1 of 1")
    ]


def test_what_became_of_a_population_is_told_on_the_mean() -> None:
    told = [one.split()[0] for one in row([*tables.specialists(FOUND)], "full")[1:]]
    assert told == ["0.500", "0.125", "0.750", "1.000", "3.000"]
    assert row([*tables.rosters(FOUND)], "full")[1:] == [
        *("2.0", "0.0", "0.0", "0.0", "0.0"),
        *("3.0", "1.0", "4.0", "2.0", "5.0"),
    ]
    assert row([*tables.costs(FOUND)], "full")[1:] == [
        *("2.0", "1.0", "38", "12", "2.000 [2.000, 2.000]", "0.250")
    ]
    others = {FULL.name: {0: BETTER, 1: WORSE}}
    assert row([*tables.identities(others)], "full")[1].startswith("2 in 2, 1.000")
    assert row([*tables.chosen(FOUND)], "voting")[1:] == [
        *("1.00, 0.50", "1.00, 1.00", "1.00, 1.00", "1.00, 0.50")
    ]


def test_a_lesson_is_true_where_its_method_is_right_and_a_habit_where_it_is_sound() -> None:
    world, sign = drawn(4), SIGNS["glacier"][0]
    right = right_method(world.name, "glacier", sign)
    wrong = without(METHODS["glacier"], right)[0]
    texts = [lesson_said(Lesson("glacier", sign, one, 1)) for one in (right, wrong, wrong)]
    habits = [habit_lesson(one, 1) for one in HABITS]
    assert sum(habit_worth(world.name, one) == 1 for one in HABITS) == 2
    assert truths(world, [*texts, *habits]) == {"glacier": (1, 3), "habits": (2, 6)}


def test_a_row_comes_out_the_same_again_whoever_works_on_it() -> None:
    job = Job(world="drawn", row=FULL.name, seed=3, tasks=TASKS)
    one = work(job)
    assert replace(work(job), seconds=0.0) == replace(one, seconds=0.0)
    told = json.loads(json.dumps(asdict(one)))
    assert Outcome.of(told).dreams == one.dreams
    assert asdict(Outcome.of(told))["lifecycle"] == one.lifecycle
    assert len(one.scores) == TASKS
    assert {*one.niches} == {*NICHES}
    assert one.calls["default"] >= 2 * TASKS
    assert {*one.truths} <= {*NICHES, "habits"}


def test_in_a_level_world_all_rows_are_one_but_for_their_luck(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trials, "level", lambda seed, _row: level(seed, "one luck for all"))
    jobs = [Job(world="level", row=one.name, seed=1, tasks=2) for one in ROWS]
    assert len({tuple(work(one).scores) for one in jobs}) == 1


def test_what_was_done_is_not_done_again(tmp_path: Path) -> None:
    jobs = [Job(world="drawn", row=FULL.name, seed=seed, tasks=4) for seed in (0, 1)]
    how = functools.partial(worked, jobs=1, folder=tmp_path / "kept", job=Job, outcome=Outcome.of)
    first = dict(how(lambda _job: BETTER, jobs[:1]))
    both = dict(how(lambda _job: WORSE, jobs))
    assert first == {jobs[0]: BETTER}
    assert [both[one].accuracy for one in jobs] == [BETTER.accuracy, WORSE.accuracy]


def test_the_command_prints_tables_or_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "work", lambda _job: BETTER)
    options = ["--jobs", "1", "--seeds", "2", "--rows", "memory*"]
    done = CliRunner().invoke(command.main, options)
    assert done.exit_code == 0
    assert "### Level worlds" in done.stdout
    assert "| memory only - " not in done.stdout
    assert done.stdout.count("| memory only |") > 8
    told = json.loads(CliRunner().invoke(command.main, [*options, "--json"]).stdout)
    assert {*told["drawn"]} == {"full", "single agent", "memory only"}
    wrong = CliRunner().invoke(command.main, ["--rows", "nothing"])
    assert wrong.exit_code == 2
    assert "no row matches" in wrong.stderr

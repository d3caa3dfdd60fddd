"""The landscape: the same for the same seed, with an optimum, and with something to gain in it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from coterie.benchmarks.landscape import __main__ as command
from coterie.benchmarks.landscape.gateway import sheet, tasks
from coterie.benchmarks.landscape.trials import Trial, evolve
from coterie.benchmarks.landscape.world import CHECK, FITTING, NICHES, Mind, Shape, best_value

SMALL = Trial(name="small", skill=1.0, seeds=("peer_review",))


def alone(mind: Mind) -> Shape:
    return Shape({"one": mind}, {"one": ()}, "one")


def test_a_lone_agent_is_right_as_often_as_its_model() -> None:
    for niche, (plain, *_) in NICHES.items():
        value = alone(Mind("sonnet")).value(niche)
        assert value == pytest.approx(plain, abs=0.05)  # three standard errors of 1,000 tasks
        fitting = Mind("sonnet", frozenset({FITTING[niche]}))
        assert alone(fitting).value(niche) > value + 0.1


def test_a_check_helps_whoever_makes_it() -> None:
    niche, values = "boolean_expressions", dict[str, float]()
    worker = Mind("qwen_235b")
    for name, judge in {
        "unchecked": Mind("sonnet"),
        "own": Mind("qwen_235b", frozenset({CHECK})),
        "other": Mind("sonnet", frozenset({CHECK})),
    }.items():
        heard: dict[str, tuple[str, ...]] = {"w": (), "v": (), "j": ("w", "v")}
        shape = Shape({"w": worker, "v": worker, "j": judge}, heard, "j")
        values[name] = shape.value(niche)
    assert values["unchecked"] < values["own"]
    assert values["unchecked"] < values["other"]


def test_a_sheet_scores_the_share_of_its_puzzles_that_is_right() -> None:
    (task,) = tasks(seed=1, count=1, puzzles=4)
    wrong = "A" if task.answer[0] != "A" else "B"
    values = [
        sheet(answer, task.answer, {}).value
        for answer in (task.answer, wrong + task.answer[1:], task.answer[:2], "")
    ]
    assert values == [1, 0.75, 0.5, 0]
    assert {len(one.answer) for one in tasks(seed=1, count=8, puzzles=20)} == {20}


def test_a_shuffled_stream_has_the_same_tasks() -> None:
    plain, shuffled = tasks(1, 12, 20), tasks(1, 12, 20, order=1)
    assert plain != shuffled
    assert sorted(plain, key=lambda one: one.id) == sorted(shuffled, key=lambda one: one.id)


def test_the_same_seed_gives_the_same_outcome_and_another_seed_another() -> None:
    assert evolve(SMALL, 1, 4) == evolve(SMALL, 1, 4)
    assert evolve(SMALL, 1, 4) != evolve(SMALL, 2, 4)


def test_a_skilled_meta_model_improves_its_seeds_and_never_beats_the_optimum() -> None:
    # peer_review has three agents; mutations add none, so the optimum of as many is theirs.
    trial = Trial(name="held", skill=1.0, seeds=("peer_review",), changes={"instantiate": False})
    outcomes = [evolve(trial, seed, 8) for seed in range(2)]
    assert min(one.held_out - one.begun for one in outcomes) > 0
    for one in outcomes:
        for niche, found in one.best.items():
            assert found <= best_value(niche, most=3)


def test_the_command_prints_what_it_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "TRIALS", (*command.TRIALS[:2], *command.TRIALS[-2:]))
    monkeypatch.setattr(command, "MOST_AGENTS", 2)
    arguments = ["--seeds", "2", "--tasks", "4", "--jobs", "1"]
    table = CliRunner().invoke(command.main, arguments)
    assert table.exit_code == 0, table.output
    assert "| EvoMAS - chance, equal calls |" in table.output
    arguments += ["--rows", "EvoMAS"]
    value = json.loads(CliRunner().invoke(command.main, [*arguments, "--json"]).stdout)
    assert {len(rows) for rows in value["rows"].values()} == {2}
    assert value["rows"].keys() == {"EvoMAS"}
    assert value["optimum"].keys() == NICHES.keys()


def test_rows_that_do_not_exist_are_said() -> None:
    result = CliRunner().invoke(command.main, ["--rows", "evomas"])
    assert result.exit_code == 2
    assert "no row matches 'evomas'. Rows: EvoMAS; chance, equal calls;" in result.output

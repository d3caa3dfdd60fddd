"""The comparison of arms: its tables, its results, and what each level mends in a small one."""

from __future__ import annotations

import functools
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from coterie.schema.team.team import Notes
from studies.resumable import worked
from studies.retrospect import __main__ as command
from studies.retrospect import tables, trials
from studies.retrospect.landscapes import drawn, level
from studies.retrospect.outcomes import NOTES, Outcome, marks_of, noted
from studies.retrospect.rows import FULL
from studies.retrospect.tasks import team_of
from studies.retrospect.texts import idle_said, other_counted_said, rule_said
from studies.retrospect.trials import Job, work
from studies.retrospect.world import order_of, title


def outcome(*test: float) -> Outcome:
    return Outcome(
        learning=[0.0, 0.5],
        test=test,
        marks={"plain": (3, 4), "missing": (0, 2), "misread": (1, 4), "vague": (0, 0)},
        notes={**dict.fromkeys(NOTES, 0), "rule, idle": 3},
        lost=1,
        calls={"work": 6, "retrospect": 4, "settle": 8, "test": 10},
        tokens={"work": 60, "retrospect": 40, "settle": 80, "test": 100},
        seconds=2.0,
    )


BETTER, WORSE = outcome(1.0, 0.5), outcome(0.5, 0.5)
FOUND = {FULL.name: {0: BETTER, 1: BETTER}, "no L1": {0: WORSE, 1: WORSE}}


def row(lines: list[str], name: str) -> list[str]:
    return next(one for one in lines if one.startswith(f"| {name} |")).strip("| ").split(" | ")


def test_scores_and_what_is_lost_are_told_of_all_parts_and_of_each_sort() -> None:
    told = [one.split()[0] for one in row([*tables.scores(FOUND)], "full")[1:]]
    assert told == ["0.750", "0.750", "0.000", "0.250", "-", "0.250"]
    less = row([*tables.differences(FOUND)], "no L1")[1:]
    assert less[0] == "-0.250 [-0.250, -0.250]"
    assert less[-1] == "-5.4 (Table 3)"
    covered = row([*tables.covering(FOUND)], "all arms")[1:]
    assert covered == ["0 of 1", *["1 of 1"] * 3, "0 of 1", "1 of 1"]


def test_notes_and_costs_are_told_on_the_mean() -> None:
    assert row([*tables.notes(FOUND)], "full")[1:] == [
        *("0.00", "3.00", "0.00", "0.00", "0.00", "0.00", "0.00", "0.00", "1.00")
    ]
    assert row([*tables.costs(FOUND)], "full")[1:] == [
        *("3.0", "6.0", "5.0", "30", "60", "50", "0.500")
    ]


def test_what_a_team_has_learnt_is_counted_by_whether_it_is_of_use() -> None:
    world = drawn(1)
    team = team_of(world)
    one, other, third, fourth = (team.agents[member.craft] for member in world.members)
    rod = world.members[1].rod
    learnt = [
        replace(one, notes=Notes(teammates={other.id: other_counted_said(other.id, rod)})),
        replace(other, notes=Notes(teammates={one.id: other_counted_said(one.id, rod)})),
        replace(third, notes=Notes(patches={"a": rule_said(str(world.members[3].need))})),
        replace(fourth, notes=Notes(patches={"b": rule_said(str(world.members[3].need))})),
    ]
    agents = {**team.agents, **{it.id: it for it in learnt}}
    for craft in (str(world.missing), "nobody"):
        prompt = f"You are the {craft} of a yard."
        agents[craft] = replace(one, id=craft, prompt=prompt, notes=Notes())
    came = noted(world, replace(team, agents=agents, constitution=f"- {idle_said(1)}"))
    assert came == {**dict.fromkeys(NOTES, 1), "place, idle": 0}
    assert sum(noted(world, team).values()) == 0


def test_right_parts_are_counted_by_sort() -> None:
    order = order_of(drawn(1), title("test", 1, 0))
    missing = next(one for one in order.parts if one.sort == "missing")
    answer = order.answer.replace(f"Part {missing.number}: {missing.answer}", "")
    assert marks_of([(order, answer)]) == {
        "plain": (3, 3),
        "missing": (0, 1),
        "misread": (2, 2),
        "vague": (2, 2),
    }


SURE = replace(
    drawn(4),
    **dict.fromkeys(
        ("able", "curious", "candid", "heed", "frank", "understood", "heard"), 1 - 1e-9
    ),
    **dict.fromkeys(("stranger", "misread", "vague", "rash", "hasty", "stray"), 1e-9),
    span=1e12,
)
"""Where nobody mistakes anything, and no part comes right that something is in the way of."""


def left(monkeypatch: pytest.MonkeyPatch, arm: str) -> set[str]:
    """What is in the way of a team's parts after it has looked back on one order."""
    monkeypatch.setattr(trials, "landscape", lambda *_: SURE)
    one = work(Job(world="drawn", row=arm, seed=4, learning=1, test=1))
    assert one.lost == 0
    return {sort for sort, (right, many) in one.marks.items() if right < many}


def test_each_level_mends_its_kind_and_nothing_else_does(monkeypatch: pytest.MonkeyPatch) -> None:
    assert left(monkeypatch, "full") == left(monkeypatch, "centralised") == set()
    assert left(monkeypatch, "no L1") == {"vague", "missing"}
    assert left(monkeypatch, "no L2") == {"misread"}
    assert left(monkeypatch, "no L3") == {"missing"}
    assert left(monkeypatch, "partitioned") == {"misread", "vague"}


def test_in_a_level_world_all_arms_are_one_but_for_their_luck(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trials, "landscape", lambda _kind, seed, _luck: level(seed, "one for all"))
    jobs = [
        Job(world="level", row=one, seed=1, learning=1, test=1) for one in ("full", "no evolution")
    ]
    assert len({(*one.learning, *one.test) for one in map(work, jobs)}) == 1


def test_an_arm_comes_out_the_same_again() -> None:
    job = Job(world="drawn", row="full", seed=3, learning=1, test=1)
    one = work(job)
    assert replace(work(job), seconds=0.0) == replace(one, seconds=0.0)
    assert Outcome.of(json.loads(json.dumps(asdict(one)))).notes == one.notes
    assert len(one.learning) == len(one.test) == 1
    closed = work(replace(job, row="fixed roster"))
    assert closed.calls["test"] < one.calls["test"]


def test_what_was_done_is_not_done_again(tmp_path: Path) -> None:
    jobs = [Job(world="drawn", row="full", seed=seed, learning=1, test=2) for seed in (0, 1)]
    how = functools.partial(worked, jobs=1, folder=tmp_path / "kept", job=Job, outcome=Outcome.of)
    first = dict(how(lambda _job: BETTER, jobs[:1]))
    both = dict(how(lambda _job: WORSE, jobs))
    assert first == {jobs[0]: BETTER}
    assert [both[one].score for one in jobs] == [BETTER.score, WORSE.score]


def test_the_command_prints_tables_or_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "work", lambda _job: BETTER)
    options = ["--jobs", "1", "--seeds", "2", "--rows", "no L*"]
    done = CliRunner().invoke(command.main, options)
    assert done.exit_code == 0
    assert "### Level worlds" in done.stdout
    assert "| partitioned |" not in done.stdout
    assert done.stdout.count("| no L2 |") == 3 * 4
    told = json.loads(CliRunner().invoke(command.main, [*options, "--json"]).stdout)
    assert {*told["sound"]} == {"full", "no L1", "no L2", "no L3"}
    some = CliRunner().invoke(command.main, [*options, "--worlds", "sound"])
    assert "### Drawn worlds" not in some.stdout
    wrong = CliRunner().invoke(command.main, ["--rows", "nothing"])
    assert wrong.exit_code == 2
    assert "no row matches" in wrong.stderr

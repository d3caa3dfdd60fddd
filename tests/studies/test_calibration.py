"""What a pool says of its teams is true where that is known."""

import statistics
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from studies.calibration import evolving, quick
from studies.calibration.__main__ import main
from studies.calibration.figure import figure
from studies.calibration.measures import Outcome, deciles, told
from studies.calibration.trials import outcome
from studies.calibration.world import WORLDS, World, prompt_of, worth_of

NULL, DIFFERING, *_, NULL_BY_DEGREES, DIFFERING_BY_DEGREES = WORLDS


def outcomes(world: World, repetitions: int, tasks: int = 40) -> list[Outcome]:
    return [outcome(("quick", world.name, tasks, seed)) for seed in range(repetitions)]


def mean(result: list[Outcome], of: Callable[[Outcome], float]) -> float:
    return statistics.fmean(map(of, result))


@pytest.fixture(scope="session")
def repetitions(nightly: bool) -> int:
    return 200 if nightly else 15


def test_where_all_teams_are_equal_the_pool_says_so(repetitions: int) -> None:
    """What winners alone would tell is 0.9 and more."""
    result = outcomes(NULL, repetitions)
    assert mean(result, lambda item: item.covered) >= 0.93
    assert mean(result, lambda item: item.own_covered) >= 0.93
    assert abs(mean(result, lambda item: item.bias)) < 0.05
    assert mean(result, lambda item: item.highest) < 0.55
    assert mean(result, lambda item: item.own_highest) > 0.7
    assert all(item.gain == pytest.approx(0) for item in result)


def test_where_teams_differ_what_is_expected_is_what_comes(repetitions: int) -> None:
    result = outcomes(DIFFERING, repetitions)
    assert mean(result, lambda item: item.covered) >= 0.9
    assert abs(mean(result, lambda item: item.bias)) < 0.05
    assert mean(result, lambda item: item.gain) > 0.02
    assert abs(mean(result, lambda item: item.off)) < 0.12
    tenths = deciles(pair for item in result for pair in item.told)
    assert all(abs(tenth.expected - tenth.worth) < 0.15 for tenth in tenths)
    assert tenths[-1].worth > tenths[0].worth + 0.05


def test_scores_by_degrees_find_the_best_and_raise_no_level(repetitions: int) -> None:
    count = max(4, repetitions // 4)
    equal, differing = outcomes(NULL_BY_DEGREES, count), outcomes(DIFFERING_BY_DEGREES, count)
    assert mean(equal, lambda item: item.covered) >= 0.93
    assert abs(mean(equal, lambda item: item.bias)) < 0.02
    assert mean(equal, lambda item: item.highest) < 0.45
    assert mean(differing, lambda item: item.over_founders) > 0.2


def test_the_whole_loop_and_the_quick_one_are_alike(nightly: bool) -> None:
    """Both run six teams on each task, of which three are of the pool, half of them adapted."""
    repetitions, tasks = (40, 40) if nightly else (2, 6)
    fields: dict[str, list[tuple[int, int, int]]] = {}
    for name, evolve in (("whole", evolving.evolve), ("quick", quick.evolve)):
        for seed in range(repetitions):
            members, worths = evolve(NULL, tasks, seed)
            assert set(worths.values()) == {0.4}
            plain = sum(member.statistics.n for member in members)
            adapted = sum(member.statistics.adapted for member in members)
            assert plain + adapted == 3 * tasks
            assert min(plain, adapted) > 0
            assert sum(member.statistics.chosen for member in members) == len(members) - 3
            fields.setdefault(name, []).append((len(members), plain, adapted))
    whole, fast = (statistics.fmean(row[0] for row in fields[name]) for name in ("whole", "quick"))
    assert abs(whole - fast) < (2 if nightly else 5)


def test_evolutions_are_the_same_for_the_same_arguments() -> None:
    for evolve in (evolving.evolve, quick.evolve):
        (item, worths), (other, again) = (evolve(DIFFERING, 4, 1) for _ in range(2))
        assert worths == again
        assert [str(team.statistics) for team in item] == [str(team.statistics) for team in other]


def test_a_prompt_says_what_its_agent_is_worth() -> None:
    assert worth_of(prompt_of(0.4375, 7)) == 0.4375
    with pytest.raises(ValueError, match="says no worth"):
        worth_of("Answer.")


def test_deciles_are_tenths_by_what_is_expected() -> None:
    groups = deciles([(n / 100, n / 50) for n in reversed(range(40))])
    assert [group.n for group in groups] == [4] * 10
    assert (groups[0].expected, groups[0].worth) == (pytest.approx(0.015), pytest.approx(0.03))
    assert [decile.n for decile in deciles([(0.1, 0.2), (0.3, 0.4)])] == [1, 1]


def test_a_mean_is_told_with_its_interval() -> None:
    assert told([0.5]) == "0.500"
    assert told([-0.0001, 0.0]) == "0.000 ± 0.000"
    assert told([0.25, 0.75]) == "0.500 ± 0.490"


def test_the_figure_has_a_point_for_each_tenth() -> None:
    drawn = figure({"one": deciles([(n / 20, n / 20) for n in range(20)]), "other": []})
    assert drawn.startswith("<svg ")
    assert drawn.count("<circle") == 10 + 2
    assert ">other</text>" in drawn


def test_the_command_prints_tables_and_goes_on_from_what_it_kept(tmp_path: Path) -> None:
    keep, drawn = tmp_path / "kept.jsonl", tmp_path / "figure.svg"
    options = ["--tasks", "3", "--world", "null", "--keep", str(keep), "--figure", str(drawn)]
    first = CliRunner().invoke(main, ["--repetitions", "2", *options])
    assert first.exit_code == 0, first.output
    assert first.stderr.count("done") == 2
    assert "| null | 3 | 2 |" in first.stdout
    assert "| after 3 tasks: expected -> worth |" in first.stdout
    more = CliRunner().invoke(main, ["--repetitions", "3", *options])
    assert more.stderr.count("done") == 1
    again = CliRunner().invoke(main, ["--repetitions", "2", *options])
    assert (again.stdout, again.stderr) == (first.stdout, "")
    assert drawn.read_text(encoding="utf-8").endswith("</svg>\n")

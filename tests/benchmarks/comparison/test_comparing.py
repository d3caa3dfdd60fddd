"""Two evaluations side by side: is the difference more than chance?"""

from collections.abc import Iterable
from pathlib import Path

import pytest

from coterie.benchmarks.comparison import comparing
from coterie.benchmarks.comparison.comparing import compare, compare_all, p_adjusted
from coterie.benchmarks.comparison.comparing import compared as table_of
from coterie.benchmarks.evaluation.samples import Sample
from coterie.runtime.values.usage import Usage

from ..kept import kept, sample


def compared(
    folder: Path, samples: Iterable[Sample], other: Iterable[Sample]
) -> comparing.Comparison:
    return compare(
        kept(folder / "one", samples, team="solo"), kept(folder / "other", other, team="duo")
    )


def scores(values: Iterable[float | None], trial: int = 1) -> list[Sample]:
    usage = Usage(calls=1, prompt_tokens=90, completion_tokens=10, usd=0.5)
    return [sample(f"t{n}", value, trial=trial, usage=usage) for n, value in enumerate(values)]


def test_single_trials_are_compared_task_by_task(tmp_path: Path) -> None:
    from scipy import stats

    before, after = (
        [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0],
    )
    comparison = compared(tmp_path, scores(before), scores(after))
    report = comparison.value()
    assert (report["tasks"], report["better"], report["worse"], report["left_out"]) == (8, 5, 1, 0)
    assert report["scores"] == [0.25, 0.75]
    assert report["difference"] == 0.5
    low, high = report["interval"]
    assert -0.2 < low < 0.5 < high <= 1
    assert report["p"]["mcnemar"] == pytest.approx(2 * 7 / 64)
    assert report["p"]["paired_t"] == pytest.approx(stats.ttest_rel(before, after).pvalue)
    text = str(comparison)
    assert "solo (one)   0.250  $4.0000, 800 tokens, 8 calls" in text
    assert "duo (other)  0.750" in text
    assert "difference +0.500 [" in text
    assert "over 8 tasks: 5 better, 1 worse, 2 the same" in text
    assert "p-values are two-sided, and one task is one pair; Wilcoxon's and McNemar's" in text
    assert report["same"] == 2
    assert "p = 0.219  (exact McNemar; this one decides)" in text
    assert "left out" not in text


def test_several_trials_are_compared_by_their_means(tmp_path: Path) -> None:
    from scipy import stats

    item = [*scores([1.0, 0.0, 0.0]), *scores([0.0, 0.0, 0.0], trial=2)]
    other = [*scores([1.0, 1.0, 0.0]), *scores([1.0, 1.0, 1.0], trial=2)]
    report = compared(tmp_path, item, other).value()
    assert report["p"]["mcnemar"] is None
    assert report["difference"] == pytest.approx((0.5 + 1 + 0.5) / 3)
    expected = stats.ttest_rel([0.5, 0, 0], [1, 1, 0.5]).pvalue
    assert report["p"]["paired_t"] == pytest.approx(expected)


def test_only_tasks_that_both_have_a_score_of_count(tmp_path: Path) -> None:
    comparison = compared(
        tmp_path, scores([1.0, None, 0.0, 1.0]), [*scores([0.0, 1.0, 0.0]), sample("other", 1.0)]
    )
    report = comparison.value()
    assert (report["tasks"], report["left_out"], report["worse"]) == (2, 3, 1)
    assert "left out: 3 tasks that only one of them has." in str(comparison)


def test_a_run_against_itself_differs_in_nothing(tmp_path: Path) -> None:
    same = scores([1.0, 0.0, 1.0])
    report = compared(tmp_path, same, same).value()
    assert report["p"] == {"mcnemar": 1.0, "paired_t": 1.0, "wilcoxon": 1.0}
    low, high = report["interval"]
    assert low < 0 < high  # three tasks alike do not show that all are


def test_without_scipy_the_rest_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "find_spec", lambda _: None)
    comparison = compared(tmp_path, scores([1.0, 0.0]), scores([1.0, 1.0]))
    assert comparison.value()["p"] == {"mcnemar": 1.0, "paired_t": None, "wilcoxon": None}
    assert "need scipy. Run: " in str(comparison)


def test_several_teams_are_compared_with_the_first_or_each_with_each(tmp_path: Path) -> None:
    folders = [
        kept(tmp_path / name, scores([float(n < right) for n in range(8)]), team=name)
        for name, right in (("none", 0), ("most", 7), ("all", 8))
    ]
    to_first = compare_all(folders)
    assert [item.names[1] for item in to_first] == ["most (most)", "all (all)"]
    raw = [item.tests()["mcnemar"] for item in to_first]
    assert raw == [pytest.approx(2 / 128), pytest.approx(2 / 256)]
    assert p_adjusted(to_first) == [pytest.approx(2 / 128), pytest.approx(4 / 256)]
    assert len(compare_all(folders, all_pairs=True)) == 3
    row = table_of(to_first)[0]
    assert (row["better"], row["test"], row["p (Holm)"]) == ("7", "exact McNemar", "0.0156")
    assert row["effect"] == "h +2.42, odds ratio 15.00"


def test_effects_of_graded_scores_are_rank_biserial(tmp_path: Path) -> None:
    report = compared(tmp_path, scores([0.1, 0.5, 0.3]), scores([0.2, 0.9, 0.3])).value()
    assert report["effects"]["rank_biserial"] == 1
    assert report["effects"]["odds_ratio"] is None
    assert report["decides"] == "paired_t"

"""Tables for papers and pages."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from coterie.benchmarks.comparison.tables import by_niche, by_team, written
from coterie.benchmarks.evaluation.results import read_results
from coterie.benchmarks.evaluation.samples import Sample
from coterie.runtime.values.usage import Usage

from ..kept import kept, sample


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def results(folder: Path, team: str, samples: Sequence[Sample], **more: Any) -> dict[str, Any]:
    return read_results(
        kept(folder / f"{team}{len(list(folder.iterdir()))}", samples, team=team, **more)
    )


def four(team_score: float, niche: str = "sums", trials: int = 1) -> list[Sample]:
    usage = Usage(calls=2, prompt_tokens=100, completion_tokens=20, usd=0.25)
    return [
        sample(f"{niche}{n}", float(n < team_score), niche=niche, trial=k, usage=usage)
        for n in range(4)
        for k in range(1, trials + 1)
    ]


def test_a_row_has_the_figure_its_size_and_its_cost(folder: Path) -> None:
    row = by_team([results(folder, "solo", four(3, trials=2), missing=2)])[0]
    assert row == {
        "benchmark": "bbeh-mini",
        "team": "solo",
        "models": "default=m",
        "accuracy": "0.750 [0.301, 0.954]",
        "tasks": "4 x 2",
        "pass@k": "0.750",
        "ran": "1.000",
        "missing": "2",
        "tokens each": "120",
        "cost": "$2.0000",
    }


def test_measures_are_columns_and_empty_where_nothing_was_measured(folder: Path) -> None:
    measured = [sample("a", 1.0, measures={"side_effects": 0.25})]
    rows = by_team([results(folder, "solo", measured), results(folder, "duo", four(2))])
    assert [row["side_effects"] for row in rows] == ["0.250", ""]


def test_an_evaluation_without_a_score_has_a_row_all_the_same(folder: Path) -> None:
    (row,) = by_team([results(folder, "solo", [sample("a", None)], missing=1)])
    assert (row["accuracy"], row["pass@k"], row["ran"]) == ("", "", "")
    assert row["missing"] == "1"


def test_niches_are_rows_and_evaluations_columns(folder: Path) -> None:
    both = [*four(1), *four(4, "words")]
    rows = by_niche([results(folder, "solo", four(3)), results(folder, "solo", both)])
    assert [row["niche"] for row in rows] == ["sums", "words"]
    assert rows[0]["solo"].startswith("0.750 [")
    assert rows[0]["solo 2"].startswith("0.250 [")
    assert (rows[1]["solo"], rows[1]["tasks"]) == ("", "4")


def test_markdown_is_aligned_and_holds_any_text() -> None:
    text = written([{"team": "a|b", "score": "1"}, {"team": "longer", "cost": "free"}], "markdown")
    assert text.splitlines() == [
        "| team   | score | cost |",
        "|--------|-------|------|",
        "| a\\|b   | 1     |      |",
        "| longer |       | free |",
    ]


def test_csv_is_read_back(folder: Path) -> None:
    rows = by_team([results(folder, "solo", four(2)), results(folder, "duo", four(3))])
    assert list(csv.DictReader(io.StringIO(written(rows, "csv")))) == rows


def test_latex_holds_any_text() -> None:
    text = written([{"team": "a_b & c%", "share": "50"}, {"team": "$x^2$"}], "latex")
    assert text.splitlines() == [
        r"\begin{tabular}{ll}",
        r"  \toprule",
        r"  team & share \\",
        r"  \midrule",
        r"  a\_b \& c\% & 50 \\",
        r"  \$x\textasciicircum{}2\$ &  \\",
        r"  \bottomrule",
        r"\end{tabular}",
    ]


def test_a_measure_of_some_samples_says_of_how_many(folder: Path) -> None:
    some = [sample("a", 1.0, answer="x", measures={"f2p": 1.0}), sample("b", 0.0, status="failed")]
    (row,) = by_team([results(folder, "solo", some)])
    assert row["f2p"] == "1.000 (1 of 2)"

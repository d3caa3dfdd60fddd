"""`mas-bench list`, `compare`, `table` and `export`."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from coterie.benchmarks.evaluation.samples import Sample
from coterie.operators.report.frozen import HeldOutFigures, write_figures

from ..kept import kept, sample
from .conftest import Cli

OURS = {"bbeh", "bbeh-mini", "repair", "swe-bench"}
PATCH = "diff --git a/x b/x\n"


def one_each(*scores: float) -> list[Sample]:
    return [sample(f"t{n}", score, niche="sums") for n, score in enumerate(scores)]


@pytest.fixture
def folders(cli: Cli) -> tuple[str, str]:
    """Results of two teams on the same tasks."""
    before, after = one_each(1, 0, 0, 0, 0, 0), one_each(0, 1, 1, 1, 1, 1)
    kept(cli.folder / "before", before)
    kept(cli.folder / "after", after, team="duo", missing=1)
    return "before", "after"


def test_benchmarks_are_listed(cli: Cli) -> None:
    result = cli.bench("list").ended(0)
    lines = dict(line.split(maxsplit=1) for line in result.out.splitlines())
    assert lines.keys() >= OURS
    assert lines["bbeh-mini"] == "BIG-Bench Extra Hard, mini set (2025)"
    rows = {row["name"]: row for row in cli.bench("list", "--json").json}
    assert rows.keys() == lines.keys()
    assert rows["bbeh"]["trials"] == 3


def test_list_says_of_one_what_to_know_before_using_it(cli: Cli) -> None:
    result = cli.bench("list", "bbeh-mini", "--data", "data").ended(0)
    for word in ("CC BY 4.0", "arXiv:2502.19187", "--data", "headline: accuracy", "tasks: 24"):
        assert word in result.out
    assert "niches: boardgame_qa 8, boolean_expressions 8, buggy_tables 8" in result.out
    report = cli.bench("list", "bbeh", "--json").json
    assert (report["name"], report["trials"]) == ("bbeh", 3)
    assert "tasks" not in report


@pytest.mark.parametrize("name", sorted(OURS))
def test_every_benchmark_names_its_licence_and_its_makers(cli: Cli, name: str) -> None:
    report = cli.bench("list", name, "--json").json
    assert all(report[field] for field in ("title", "about", "licence", "citation", "headline"))


def test_two_evaluations_are_compared(cli: Cli, folders: tuple[str, str]) -> None:
    result = cli.bench("compare", *folders).ended(0)
    assert "difference +0.667 [" in result.out
    assert "over 6 tasks: 5 better, 1 worse" in result.out
    assert "p = 0.219  (exact McNemar; this one decides)" in result.out
    report = cli.bench("compare", *folders, "--json").json
    assert report["p"]["mcnemar"] == pytest.approx(14 / 64)
    assert report["names"] == ["solo (before)", "duo (after)"]


def test_tables_are_markdown_or_csv(cli: Cli, folders: tuple[str, str]) -> None:
    lines = cli.bench("table", *folders).out.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("| benchmark | team | models ")
    assert "| 0.167 [0.030, 0.564] |" in lines[2]
    rows = list(csv.DictReader(io.StringIO(cli.bench("table", *folders, "--format", "csv").out)))
    assert [(row["team"], row["tasks"], row["missing"]) for row in rows] == [
        ("solo", "6 x 1", "0"),
        ("duo", "6 x 1", "1"),
    ]
    niches = cli.bench("table", *folders, "--niches").out
    assert "| niche | tasks | solo" in niches
    assert "| sums  | 6     | 0.167 [" in niches


def test_patches_are_exported_for_the_official_harness(cli: Cli) -> None:
    answers = [sample("a__a-1", 1.0, answer=PATCH), sample("b__b-2", 0.0, status="failed")]
    second = [sample("a__a-1", 0.0, trial=2, answer="another\n")]
    kept(cli.folder / "r", [*answers, *second], benchmark="repair")
    assert cli.bench("export", "r", "preds.jsonl").ended(0).out == "2 predictions in preds.jsonl\n"
    lines = [json.loads(line) for line in Path("preds.jsonl").read_text().splitlines()]
    assert [(line["instance_id"], line["model_patch"]) for line in lines] == [
        ("a__a-1", PATCH),
        ("b__b-2", ""),
    ]
    assert {line["model_name_or_path"] for line in lines} == {"solo"}
    cli.bench("export", "r", "preds.json", "--trial", "2", "--name", "ours").ended(0)
    assert json.loads(Path("preds.json").read_text())["a__a-1"]["model_patch"] == "another\n"
    for words, message in (
        (("r", "preds.json", "--trial", "3"), "there is no trial 3"),
        (("r", "preds.txt"), "takes .json and .jsonl, not '.txt'"),
    ):
        assert message in cli.bench("export", *words).ended(2).err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["list", "nope"], "no benchmark 'nope'"),
        (["list", "bbeh", "--data", "gone"], "does not exist"),
        (["compare", "before", "gone"], "does not exist"),
        (["compare", "before", "data"], "data/results.json: there is no such file"),
        (["compare", "before", "full"], "before is of bbeh-mini, full of bbeh"),
        (["compare", "before", "else"], "have no task in common"),
        (["compare", "before", "torn"], "torn/samples.jsonl:2: not a sample"),
        (["compare", "before", "bare"], "bare/samples.jsonl: there is no such file"),
        (["table"], "Missing argument 'RESULTS...'"),
        (["table", "before", "data"], "data/results.json: there is no such file"),
        (["export", "data", "preds.json"], "data/results.json: there is no such file"),
    ],
)
def test_wrong_input_is_said(
    cli: Cli, folders: tuple[str, str], words: Sequence[str], message: str
) -> None:
    del folders
    kept(cli.folder / "full", one_each(1), benchmark="bbeh")
    kept(cli.folder / "else", [sample("else", 1.0)])
    torn = kept(cli.folder / "torn", one_each(1, 1)) / "samples.jsonl"
    torn.write_text(torn.read_text()[:-9])
    (kept(cli.folder / "bare", one_each(1)) / "samples.jsonl").unlink()
    assert message in cli.bench(*words).refused()
    assert not Path("preds.json").exists()


@pytest.mark.parametrize(
    ("words", "code", "failures"),
    [(["--fail-if-worse"], 4, "1"), (["--fail-if-worse", "0.9"], 0, "0"), ([], 0, "1")],
)
def test_a_gate_fails_where_the_second_is_worse_by_more_than_chance(
    cli: Cli, words: list[str], code: int, failures: str
) -> None:
    for name, score in (("good", 1.0), ("bad", 0.0)):
        kept(cli.folder / name, [sample(f"t{n}", score) for n in range(20)])
    result = cli.bench("compare", "good", "bad", *words, "--junit", "out.xml").ended(code)
    assert ("worse: solo (bad) scores -1.000 [" in result.err) == bool(code)
    suite = ElementTree.parse(cli.folder / "out.xml").getroot()  # noqa: S314 - ours
    assert suite.get("failures") == failures
    cli.bench("compare", "bad", "good", *words).ended(0)


@pytest.mark.parametrize("words", [["--fail-if-worse", "good", "bad"], ["--fail-if-worse=7"]])
def test_a_margin_is_a_number_behind_the_folders(cli: Cli, words: list[str]) -> None:
    for name in ("good", "bad"):
        kept(cli.folder / name, [sample("t", 1.0)])
    result = cli.bench("compare", "good", "bad", *words).ended(2)
    assert (
        "not a margin. Name the folders first" in result.err or "not between 0 and 1" in result.err
    )


def test_evolutions_are_compared_by_what_was_held_out(cli: Cli) -> None:
    for name, scores in (("one", [0.0] * 20), ("other", [1.0] * 20)):
        folder = cli.folder / "pool" / "evolutions" / name
        folder.mkdir(parents=True)
        (folder / "evolution.json").write_text("{}")
        trials = [
            {"team": team, "task": f"t{n}", "repeat": 1, "score": score, "usage": {"calls": 1}}
            for n, score in enumerate(scores)
            for team in (f"best_of_{name}", "seed")
        ]
        figures = HeldOutFigures(tasks=20, repeats=1, after=5, teams=({"team": f"best_of_{name}"},))
        write_figures(folder, figures, trials)
    result = cli.bench("compare", "pool/evolutions/one", "pool/evolutions/other").ended(0)
    assert "best_of_other (other)" in result.out
    assert "difference +1.000 [" in result.out
    assert "over 20 tasks: 20 better" in result.out
    (cli.folder / "pool" / "evolutions" / "other" / "heldout.json").unlink()
    result = cli.bench("compare", "pool/evolutions/one", "pool/evolutions/other")
    assert (result.code, "Add them with: mas-evolve" in result.err) == (2, True)

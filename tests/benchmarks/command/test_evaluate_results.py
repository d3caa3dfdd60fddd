"""What an evaluation leaves: edited, missing or shown samples, pools, and wrong input."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from coterie.benchmarks.evaluation.benchmark import Source, find_benchmark
from coterie.benchmarks.evaluation.choosing import TaskChoice
from coterie.pool import Pool, Trial
from coterie.pool.ledger.changes import Evaluated, Learnt
from coterie.runtime.command.view import main as mas_view
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.schema.team.team import natural

from ...support.commands import invoked
from ...support.journals import rewrite, written
from .conftest import NOWHERE, Cli, adds
from .test_evaluate import TASKS, results_of, samples_of


def edited(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_edited_samples_and_figures_are_told_by_whoever_reads_them(cli: Cli) -> None:
    cli.run()
    cli.run()
    folder, other = cli.results
    whole = {name: (folder / name).read_text() for name in ("samples.jsonl", "results.json")}
    for name, old, new, word in (
        ("samples.jsonl", '"score": 0.0', '"score": 1.0', "(score 1 here, 0 there)"),
        ("samples.jsonl", "The answer is: unknown", "The answer is: 8", "differs from the journal"),
        ("results.json", '"value": 0.875', '"value": 0.975', "headline is"),
        ("results.json", '"unscored": 0', '"unscored": 2', "unscored is 2, but the samples give 0"),
    ):
        edited(folder / name, old, new)
        assert word in cli.bench("replay", str(folder)).ended(1).out
        for words in (("table", str(folder)), ("compare", str(folder), str(other))):
            result = cli.bench(*words).ended(2)
            assert word in result.err
        assert f"mas-bench resume {folder}" in result.err
        (folder / name).write_text(whole[name])
    edited(folder / "samples.jsonl", '"score": 0.0', '"score": 1.0')
    cli.bench("resume", str(folder), "--quiet", "--model", NOWHERE).ended(0, calls=0)
    assert (folder / "samples.jsonl").read_text() == whole["samples.jsonl"]
    assert cli.bench("replay", str(folder)).code == 0


def test_samples_that_were_left_out_are_counted_all_the_same(cli: Cli) -> None:
    """Without the failures the rest would be all right; the journal has them still."""
    folder = cli.evaluated()
    lines = (folder / "samples.jsonl").read_text().splitlines(keepends=True)
    (folder / "samples.jsonl").write_text("".join(line for line in lines if '"score": 1' in line))
    assert "but the samples give" in cli.bench("table", str(folder)).ended(2).err


def test_a_table_of_a_killed_evaluation_has_what_there_is_and_says_how_to_go_on(cli: Cli) -> None:
    folder = cli.evaluated()
    for name in ("samples.jsonl", "results.json"):
        (folder / name).unlink()
    left = sorted(entry.path for entry in written(folder, "sample"))[:10]
    rewrite(folder, lambda entry: entry if entry.kind != "sample" or entry.path in left else None)
    result = cli.bench("table", str(folder)).ended(0)
    assert "| 10 x 1 |" in result.out
    assert "| 14 " in result.out
    assert "interrupted" in result.out
    assert f"14 samples missing. Resume: mas-bench resume {folder}" in result.err


def test_results_say_what_they_were_made_of(cli: Cli) -> None:
    folder = cli.evaluated("--workers", "3", team="pair")
    report = json.loads((folder / "results.json").read_text())
    assert report["workers"] == 3
    assert report["host"].keys() == {"cpus", "platform", "python"}
    assert len(report["data"]) == 64
    assert report["endpoints"]["default"]["model"] == "m"
    assert sum(report["answered"]["default"].values()) == 2 * TASKS
    assert {name: agent["calls"] for name, agent in report["agents"].items()} == {
        "first": TASKS,
        "second": TASKS,
    }
    assert report["latency"]["p50"] <= report["latency"]["p90"] <= report["latency"]["p99"]
    assert report["calls"].keys() == {"p50", "p90", "p99"}
    agents = cli.bench("table", str(folder), "--agents", "--format", "csv").out.splitlines()
    assert agents[0] == "team,agent,calls,tokens,cost"
    assert agents[1].startswith(f"pair,first,{TASKS},")


def test_mas_show_lists_samples_and_shows_each_as_a_run(cli: Cli) -> None:
    folder = cli.evaluated(team="pair")
    *samples, hint = invoked(mas_view, ["--text", str(folder)], "mas-view").out.splitlines()
    assert len(samples) == TASKS
    assert samples == sorted(samples, key=natural)
    assert hint == f"next: mas-view --text {folder} TASK TRIAL"
    task = samples_of(folder)[0].task
    result = invoked(mas_view, ["--text", str(folder), task, "1"], "mas-view")
    assert (result.code, result.err) == (0, "")
    assert f"run      {folder} {task}, trial 1\n" in result.out
    assert "status   done\nscore    1 (" in result.out
    assert "CONVERSATION of second\n" in result.out
    for words in (["none"], [task, "2"], [task, "one"]):
        assert invoked(mas_view, ["--text", str(folder), *words], "mas-view").code == 2


def test_samples_tell_what_was_asked_and_what_is_right(cli: Cli) -> None:
    folder = cli.evaluated()
    lines = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    tasks = {task.id: task for task in find_benchmark("bbeh").tasks(Source(data=Path("data")))}
    assert [line["question"] for line in lines] == [tasks[line["task"]].query for line in lines]
    assert [line["reference"] for line in lines] == [tasks[line["task"]].answer for line in lines]


def test_a_trial_that_was_not_made_has_no_score_to_show(cli: Cli) -> None:
    cli.run(replies=lambda request: Reply.error(401) if "is 3 +" in str(request) else adds(request))
    (folder,) = cli.results
    (lost,) = (sample.task for sample in samples_of(folder) if sample.score is None)
    shown = invoked(mas_view, ["--text", str(folder), lost, "1"], "mas-view").ended(0)
    assert "\nscore " not in shown.out


def test_the_cache_serves_the_next_evaluation(cli: Cli) -> None:
    with ScriptedModel(adds) as model:
        for _ in range(2):
            chosen = ("--cache", "answers", "--model", f"m@{model.api_base}")
            assert cli.run(*chosen, replies=None).code == 0
        assert len(model.calls) == TASKS
    path, other = cli.results
    assert [s.score for s in samples_of(path)] == [s.score for s in samples_of(other)]
    assert results_of(other)["usage"]["cached_calls"] == TASKS


@pytest.fixture
def pool(cli: Cli) -> Path:
    """A pool whose team has evolved on the evolve split."""
    pool = Pool.init(cli.folder / "pool", [cli.folder / "solo.yaml"])
    tasks = find_benchmark("bbeh-mini").tasks(Source(data=cli.folder / "data"))
    for task in TaskChoice(split="evolve").of(tasks):
        pool.commit(Evaluated(member="solo", trial=Trial(task=task.id, score=1.0)), op=task.id)
    return pool.folder / "teams" / "solo"


def test_a_team_is_not_tested_on_what_its_pool_evolved_on(cli: Cli, pool: Path) -> None:
    result = cli.run(team=str(pool)).ended(2, calls=0)
    assert "12 tasks of 24 are learnt from: task '" in result.err
    assert f"{pool.parents[1]}/ledger.jsonl:3 by its id;" in result.err
    assert not (cli.folder / "results").exists()
    cli.run("--split", "test", team=str(pool)).ended(0, calls=12)
    cli.run("--allow-seen", team=str(pool)).ended(0, calls=24)


def test_agents_recall_from_a_pool_on_what_it_has_not_learnt_from(cli: Cli, pool: Path) -> None:
    folder = pool.parents[1]
    text = (cli.folder / "solo.yaml").read_text()
    recalling = text.replace('alone."', 'alone.", recall: {k: 1}')
    (cli.folder / "recalling.yaml").write_text(recalling)
    lesson = Learnt(kind="experience", task="How much is it?", text="Count on your fingers.")
    Pool.open(folder).commit(lesson, op="lesson")
    from_pool = ("--pool", str(folder), "--embedder", "hashing", "--limit", "2")
    refused = cli.run(*from_pool, "--split", "evolve", team="recalling").ended(2, calls=0)
    assert "2 tasks of 2 are learnt from: task '" in refused.err
    assert f"(bbeh-mini, number 1) is {folder}/ledger.jsonl:" in refused.err
    assert not (cli.folder / "results").exists()
    with ScriptedModel(adds) as model:
        chosen = ("--split", "test", "--model", f"m@{model.api_base}")
        cli.run(*from_pool, *chosen, team="recalling", replies=None).ended(0)
        assert ["fingers" in call.text for call in model.calls] == [True, True]
    cli.run(*from_pool, "--split", "evolve", "--allow-seen", team="recalling").ended(0, calls=2)
    assert "--pool: no agent of solo recalls anything" in cli.run(*from_pool).ended(2, calls=0).err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "nope", "--team", "solo.yaml"], "no benchmark 'nope'. Known: "),
        (["run", "bbeh-mini", "--team", "gone.yaml"], "gone.yaml"),
        (["run", "bbeh-mini", "--team", "seed:gone"], "no seed team 'seed:gone'. Seeds: "),
        (["run", "bbeh-mini"], "name what to run: --team TEAM"),
        (["run", "bbeh-mini", "--team", "solo.yaml"], "--data"),
        (["run", "bbeh-mini", "--team", "solo.yaml", "--data", "."], "neither mini.json nor"),
        (["run", "bbeh-mini", "--team", "solo.yaml", "--data", "gone"], "does not exist"),
        (["run", "bbeh-mini", "--team", "solo.yaml", "--data", "data", "--limit", "0"], "x>=1"),
        (["run", "bbeh-mini", "--team", "solo.yaml", "--data", "data", "--evolve-share", "1"], "<"),
        (["run", "bbeh-mini", "--team", "solo.yaml", "--trials", "10000000000"], "1<=x<=1000"),
        (["run", "bbeh-mini", "--team", "solo.yaml", "--fail-under", "nan"], "nan is not a number"),
        (["run", "bbeh-mini", "--team", "solo.yaml", "--workers", "10000000000"], "1<=x<=10000"),
        (["run", "bbeh-mini", "--team", "solo.yaml", "--data", "data", "--budget", "x=1"], "'x'"),
        (["run", "bbeh-mini", "--team", "solo.yaml", "--data", "data", "--results", "solo.yaml"],
         "is a file"),
        (["resume", "gone"], "does not exist"),
        (["resume", "data"], "run.json: there is no such file"),
        (["replay", "data"], "run.json: there is no such file"),
    ],
)  # fmt: skip
def test_wrong_input_makes_nothing(cli: Cli, words: Sequence[str], message: str) -> None:
    assert message in cli.bench(*words, "--model", NOWHERE).refused()
    assert not (cli.folder / "results").exists()


def test_results_without_their_data_cannot_be_gone_on_with(cli: Cli) -> None:
    folder = cli.evaluated("--limit", "1")
    (cli.folder / "data" / "mini.json").unlink()
    assert "mini.json" in cli.bench("resume", str(folder), "--model", NOWHERE).ended(2).err


def test_two_processes_cannot_work_on_the_same_results(cli: Cli) -> None:
    from coterie.runtime import Journal

    folder = cli.evaluated("--limit", "1")
    with Journal.open(folder):
        result = cli.bench("resume", str(folder), "--model", NOWHERE).ended(2)
    assert "another process is working on this" in result.err


def test_after_a_budget_was_met_the_command_that_goes_on_works_as_printed(cli: Cli) -> None:
    stopped = cli.run("--budget", f"calls={TASKS - 1}").ended(3)
    hint = stopped.err.split("Resume: ")[-1].splitlines()[0]
    assert f" --budget calls={2 * (TASKS - 1)} --model " in hint
    assert cli.bench(*shlex.split(hint)[1:], replies=adds).code == 0

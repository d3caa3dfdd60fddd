"""`mas-bench run`, `resume`, `replay` and `show`, as somebody uses them."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.benchmarks.bbeh.examples import SUBTASKS
from coterie.benchmarks.benchmark import Source, find_benchmark
from coterie.benchmarks.choosing import Choice
from coterie.benchmarks.results import read_samples
from coterie.benchmarks.samples import Sample
from coterie.pool import Pool, Trial
from coterie.pool.changes import Learnt, Tried
from coterie.runtime.command.show import main as mas_show
from coterie.runtime.doubles import Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request
from coterie.schema.team import natural

from ...came import invoked
from .conftest import EACH, NICHES, NOWHERE, Desk, adds

TASKS = len(NICHES) * EACH
RIGHT = TASKS - len(NICHES)
TIMES = ("seconds", "wall_seconds", "command", "latency", "calls", "endpoints", "workers")


def samples_of(folder: Path) -> list[Sample]:
    return [replace(one, seconds=0.0) for one in read_samples(folder)]


def results_of(folder: Path) -> dict[str, Any]:
    """Give results.json without what differs from run to run."""
    told = json.loads((folder / "results.json").read_text())
    return {name: value for name, value in told.items() if name not in TIMES}


def test_known_answers_give_exactly_the_expected_micro_average(desk: Desk) -> None:
    came = desk.run()
    assert came.code == 0, came.err
    assert came.calls == TASKS
    (folder,) = desk.results
    told = results_of(folder)
    assert told["headline"]["value"] == RIGHT / TASKS
    assert f"accuracy {RIGHT / TASKS:.3f} [" in came.out
    assert "over 24 tasks x 1 trial" in came.out
    assert "ran to an answer: 1.000" in came.out
    assert "| boardgame_qa " in came.out
    assert {name: one["value"] for name, one in told["niches"].items()} == dict.fromkeys(
        NICHES, (EACH - 1) / EACH
    )
    assert told["complete"] is True
    wrong = [one.task for one in samples_of(folder) if one.score == 0]
    assert len(wrong) == len(NICHES)


def test_the_full_set_has_the_harmonic_figure(desk: Desk) -> None:
    options = ("--team", "solo.yaml", "--data", "data", "--trials", "1", "--limit", "46")
    came = desk.bench("run", "bbeh", *options, "--quiet", "--json", replies=adds)
    assert came.code == 0, came.err
    told = came.json
    by_subtask = [1 / (one["value"] + 0.01) for one in told["niches"].values()]
    assert len(by_subtask) == 23
    assert {one["tasks"] for one in told["niches"].values()} == {2}
    assert told["headline"]["value"] == pytest.approx(23 / sum(by_subtask))
    assert told["headline"]["value"] < told["avg@k"]


def test_known_answers_to_the_published_mini_set_are_all_right(desk: Desk) -> None:
    folder = os.environ.get("MAS_BENCHMARK_DATA")
    if not folder:
        pytest.skip("MAS_BENCHMARK_DATA does not name a folder with the data of benchmarks")
    tasks = find_benchmark("bbeh-mini").tasks(Source(data=Path(folder)))
    answers = iter([f"The answer is: {task.answer}" for task in tasks])
    options = ("--team", "solo.yaml", "--data", folder, "--trials", "1", "--workers", "1")
    came = desk.bench("run", "bbeh-mini", *options, "--quiet", "--json", replies=answers)
    assert came.code == 0, came.err
    assert came.json["headline"]["value"] == 1
    assert (came.json["tasks"], came.calls) == (460, 460)
    assert came.json["niches"].keys() == set(SUBTASKS)


def test_three_trials_are_the_protocol(desk: Desk) -> None:
    options = ("--team", "solo.yaml", "--data", "data", "--limit", "3", "--quiet")
    came = desk.bench("run", "bbeh-mini", *options, replies=adds)
    assert came.calls == 9
    assert "over 3 tasks x 3 trials" in came.out
    assert "pass@3" in came.out


def test_the_folder_says_how_it_was_made(desk: Desk) -> None:
    desk.run("--limit", "2", "--seed", "5", "--shuffle", "1")
    (folder,) = desk.results
    assert {path.name for path in folder.iterdir()} == {
        "journal.sqlite", "results.json", "run.json", "samples.jsonl", "team.yaml",
    }  # fmt: skip
    asked = results_of(folder)["evaluation"]
    assert asked["source"]["data"] == str(desk.folder / "data")
    assert (asked["choice"]["limit"], asked["choice"]["shuffle"], asked["trials"]) == (2, 1, 1)
    assert results_of(folder)["seed"] == 5


def test_a_dry_run_asks_no_model_and_leaves_nothing(desk: Desk) -> None:
    came = desk.run("--dry-run", "--trials", "2", team="pair")
    assert (came.code, came.calls) == (0, 0)
    first, second = came.out.splitlines()
    assert first == (
        "bbeh-mini: 24 tasks in 3 niches x 2 trials by pair, 2 agents: at most 96 model calls,"
        " retries apart"
    )
    assert second.startswith("estimate: 96 calls, ")
    assert "the price of m is unknown" in second
    assert not (desk.folder / "results").exists()


def test_progress_goes_to_standard_error(desk: Desk) -> None:
    options = ("--team", "solo.yaml", "--data", "data", "--trials", "1")
    came = desk.bench("run", "bbeh-mini", *options, replies=adds)
    assert f"results{os.sep}" in came.err
    assert f"{TASKS} of {TASKS}  score 0.875" in came.err
    assert "0:00 left" in came.err


def test_a_provider_that_fails_is_said_and_resume_makes_the_rest(desk: Desk) -> None:
    def failing(request: Request) -> Reply:
        text = message_text(request)
        return Reply.error(401) if "is 3 +" in text or "is 13 +" in text else adds(request)

    came = desk.run(replies=failing)
    (folder,) = desk.results
    assert came.code == 1
    assert "not complete: 2 samples missing, 2 of them failed by a provider" in came.out
    assert f"2 trials could not be made. Go on with: mas-bench resume results/{folder.name}" in (
        came.err
    )
    told = results_of(folder)
    assert (told["samples"], told["unscored"], told["missing"]) == (TASKS - 2, 2, 2)
    assert told["headline"]["value"] == pytest.approx((RIGHT - 2) / (TASKS - 2))
    came = desk.bench("resume", str(folder), "--quiet", replies=adds)
    assert (came.code, came.calls) == (0, 2)
    assert results_of(folder)["headline"]["value"] == RIGHT / TASKS
    came = desk.bench("resume", str(folder), "--quiet", replies=adds)
    assert (came.code, came.calls) == (0, 0)
    assert len(desk.results) == 1


def test_a_provider_that_fails_everything_stops_it(desk: Desk) -> None:
    came = desk.run(replies=Reply.error(403))
    assert came.code == 1
    assert "stopped: 10 trials in a row could not be made" in came.err
    assert "Go on with: mas-bench resume" in came.err
    assert came.calls < TASKS
    (folder,) = desk.results
    assert results_of(folder)["headline"]["value"] is None
    came = desk.bench("resume", str(folder), "--quiet", replies=adds)
    assert (came.code, came.calls) == (0, TASKS)


def test_a_budget_ends_it_and_a_larger_one_goes_on(desk: Desk) -> None:
    came = desk.run("--budget", "calls=9", team="pair")
    assert came.code == 3
    assert came.calls == 9
    assert "the evaluation has reached its budget" in came.err
    (folder,) = desk.results
    first = results_of(folder)
    assert first["samples"] <= 4
    assert first["missing"] == TASKS - first["samples"]
    again = desk.bench("resume", str(folder), "--quiet", replies=adds)
    assert (again.code, again.calls) == (3, 0)  # the recorded budget still holds
    assert results_of(folder) == first
    replayed = desk.bench("replay", str(folder))
    assert replayed.out.startswith(f"verified: {first['samples']} sample")
    more = desk.bench("resume", str(folder), "--quiet", "--budget", "calls=48", replies=adds)
    assert (more.code, more.calls) == (0, 48 - 9)
    desk.run(team="pair")
    clean = desk.results[-1]
    assert samples_of(folder) == samples_of(clean)


def test_killed_and_resumed_it_comes_to_the_same(desk: Desk) -> None:
    """No sample is lost, and no call is paid twice but those that were under way."""
    desk.run(team="pair")
    (clean,) = desk.results
    workers, kills, calls = 4, 0, 0
    folder = None
    for moment in (5, 20):
        reached = threading.Event()
        with ScriptedModel(_until(moment, reached)) as model:
            chosen = ("--model", f"m@{model.api_base}", "--workers", str(workers), "--quiet")
            team = ("--team", "pair.yaml", "--data", "data", "--trials", "1")
            words = ("resume", str(folder)) if folder else ("run", "bbeh-mini", *team)
            process = desk.started(*words, *chosen)
            assert reached.wait(60), process.communicate(timeout=5)
            process.kill()
            process.communicate()
            assert process.returncode == -signal.SIGKILL
            kills += 1
            calls += len(model.calls)
        folder = desk.results[-1]
        assert folder != clean
    came = desk.bench("resume", str(folder), "--quiet", replies=adds)
    assert came.code == 0, came.err
    assert 2 * TASKS <= calls + came.calls <= 2 * TASKS + kills * workers
    assert samples_of(folder) == samples_of(clean)
    assert results_of(folder) == results_of(clean)
    lines = [(path / "samples.jsonl").read_text().count("\n") for path in desk.results]
    assert lines == [TASKS, TASKS]
    assert desk.bench("replay", str(folder)).code == 0


def _until(moment: int, reached: threading.Event) -> Any:
    calls = 0

    def answered(request: Request) -> Reply:
        nonlocal calls
        calls += 1
        if calls < moment:
            return adds(request)
        reached.set()
        return Reply.fault("hang")

    return answered


def test_an_interrupted_one_keeps_its_figures_and_says_how_to_go_on(desk: Desk) -> None:
    reached = threading.Event()
    with ScriptedModel(_until(12, reached)) as model:
        options = ("--team", "solo.yaml", "--data", "data", "--trials", "1", "--workers", "2")
        process = desk.started("run", "bbeh-mini", *options, "--model", f"m@{model.api_base}")
        assert reached.wait(60), process.communicate(timeout=5)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 143
    (folder,) = desk.results
    assert f"interrupted. Go on with: mas-bench resume results/{folder.name}" in err
    told = results_of(folder)
    assert 9 <= told["samples"] <= 11
    assert told["missing"] == TASKS - told["samples"]
    assert len(samples_of(folder)) == told["samples"]


def test_going_on_without_an_agent_is_said(desk: Desk) -> None:
    (desk.folder / "vote.yaml").write_text(
        'name: vote\nagents:\n  one: {prompt: "You are [one]."}\n'
        '  two: {prompt: "You are [two]."}\n'
        '  judge: {prompt: "You are [judge]."}\n'
        "topology: {reports_to: {one: [judge], two: [judge]}}\n"
        "execution: {max_retries: 0, on_error: degrade}\n"
    )

    def one_less(request: Request) -> Reply:
        text = message_text(request)
        return Reply.error(401) if "[two]" in text and "is 4 +" in text else adds(request)

    came = desk.run(team="vote", replies=one_less)
    assert came.code == 0, came.err
    assert "1 sample went on without agents that a provider failed" in came.out
    (folder,) = desk.results
    assert results_of(folder)["degraded"] == 1


def test_a_replay_verifies_and_changes_nothing(desk: Desk) -> None:
    desk.run()
    (folder,) = desk.results
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    came = desk.bench("replay", str(folder))
    assert came.code == 0
    assert came.out.startswith(f"verified: {TASKS} samples, no difference (")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_replay_says_what_a_changed_team_or_reference_makes_different(desk: Desk) -> None:
    desk.run()
    (folder,) = desk.results
    mini = desk.folder / "data" / "mini.json"
    tasks = desk.folder / "data" / "benchmark_tasks" / "bbeh_boardgame_qa" / "task.json"
    for path in (mini, tasks):
        path.write_text(path.read_text().replace('"target": "3"', '"target": "4"'))
    came = desk.bench("replay", str(folder))
    assert came.code == 1
    differing = came.out.splitlines()
    assert len(differing) == 2
    assert all(line.startswith("differs: boardgame_qa") for line in differing)
    assert "asked differs from the recording" in came.out


def edited(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_edited_samples_and_figures_are_told_by_whoever_reads_them(desk: Desk) -> None:
    desk.run()
    desk.run()
    folder, other = desk.results
    whole = {name: (folder / name).read_text() for name in ("samples.jsonl", "results.json")}
    for name, old, new, said in (
        ("samples.jsonl", '"score": 0.0', '"score": 1.0', "(score 1 here, 0 there)"),
        ("samples.jsonl", "The answer is: unknown", "The answer is: 8", "not what the journal has"),
        ("results.json", '"value": 0.875', '"value": 0.975', "headline is"),
        ("results.json", '"unscored": 0', '"unscored": 2', "unscored is 2, and by the samples 0"),
    ):
        edited(folder / name, old, new)
        replayed = desk.bench("replay", str(folder))
        assert (replayed.code, said in replayed.out) == (1, True), replayed.out
        for words in (("table", str(folder)), ("compare", str(folder), str(other))):
            came = desk.bench(*words)
            assert (came.code, said in came.err) == (2, True), came.err
        assert f"mas-bench resume {folder}" in came.err
        (folder / name).write_text(whole[name])
    edited(folder / "samples.jsonl", '"score": 0.0', '"score": 1.0')
    resumed = desk.bench("resume", str(folder), "--quiet", "--model", NOWHERE)
    assert (resumed.code, resumed.calls) == (0, 0)
    assert (folder / "samples.jsonl").read_text() == whole["samples.jsonl"]
    assert desk.bench("replay", str(folder)).code == 0


def test_samples_that_were_left_out_are_counted_all_the_same(desk: Desk) -> None:
    """Without the failures the rest would be all right; the journal has them still."""
    desk.run()
    (folder,) = desk.results
    lines = (folder / "samples.jsonl").read_text().splitlines(keepends=True)
    (folder / "samples.jsonl").write_text("".join(one for one in lines if '"score": 1' in one))
    came = desk.bench("table", str(folder))
    assert (came.code, "by the samples" in came.err) == (2, True)


def test_a_table_of_a_killed_evaluation_has_what_there_is_and_says_how_to_go_on(
    desk: Desk,
) -> None:
    desk.run()
    (folder,) = desk.results
    for name in ("samples.jsonl", "results.json"):
        (folder / name).unlink()
    with closing(sqlite3.connect(folder / "journal.sqlite", isolation_level=None)) as journal:
        journal.execute(
            "DELETE FROM entries WHERE kind = 'sample' AND path NOT IN"
            " (SELECT path FROM entries WHERE kind = 'sample' ORDER BY path LIMIT 10)"
        )
    came = desk.bench("table", str(folder))
    assert came.code == 0, came.err
    assert "| 10 x 1 |" in came.out
    assert "| 14 " in came.out
    assert "interrupted" in came.out
    assert f"14 samples missing. Go on with: mas-bench resume {folder}" in came.err


def test_results_say_what_they_were_made_of(desk: Desk) -> None:
    desk.run("--workers", "3", team="pair")
    (folder,) = desk.results
    told = json.loads((folder / "results.json").read_text())
    assert told["workers"] == 3
    assert told["host"].keys() == {"cpus", "platform", "python"}
    assert len(told["data"]) == 64
    assert told["endpoints"]["default"]["model"] == "m"
    assert sum(told["answered"]["default"].values()) == 2 * TASKS
    assert {name: one["calls"] for name, one in told["agents"].items()} == {
        "first": TASKS,
        "second": TASKS,
    }
    assert told["latency"]["p50"] <= told["latency"]["p90"] <= told["latency"]["p99"]
    assert told["calls"].keys() == {"p50", "p90", "p99"}
    agents = desk.bench("table", str(folder), "--agents", "--format", "csv").out.splitlines()
    assert agents[0] == "team,agent,calls,tokens,cost"
    assert agents[1].startswith(f"pair,first,{TASKS},")


def test_one_trial_can_be_shown(desk: Desk) -> None:
    desk.run(team="pair")
    (folder,) = desk.results
    task = samples_of(folder)[0].task
    came = desk.bench("show", str(folder), task)
    assert (came.code, came.out) == (0, "The answer is: 1\n")
    assert "score 1 (" in came.err
    (run,) = (desk.folder / "runs").iterdir()
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    assert [one["agent"] for one in events if one["type"] == "agent_finished"] == [
        "first", "second",
    ]  # fmt: skip
    for words in (("show", str(folder), "none"), ("show", str(folder), task, "--trial", "2")):
        came = desk.bench(*words)
        assert (came.code, "has no trial" in came.err) == (2, True)


def test_mas_show_lists_samples_and_shows_each_as_a_run(desk: Desk) -> None:
    desk.run(team="pair")
    (folder,) = desk.results
    *samples, hint = invoked(mas_show, [str(folder)], "mas-show").out.splitlines()
    assert len(samples) == TASKS
    assert samples == sorted(samples, key=natural)
    assert hint == f"next: mas-show {folder} TASK TRIAL"
    task = samples_of(folder)[0].task
    came = invoked(mas_show, [str(folder), task, "1"], "mas-show")
    assert (came.code, came.err) == (0, "")
    assert f"run      {folder} {task}, trial 1\n" in came.out
    assert "status   done\nscore    1 (" in came.out
    assert "CONVERSATION of second\n" in came.out
    for words in (["none"], [task, "2"], [task, "one"]):
        assert invoked(mas_show, [str(folder), *words], "mas-show").code == 2


def test_samples_tell_what_was_asked_and_what_is_right(desk: Desk) -> None:
    desk.run()
    (folder,) = desk.results
    lines = [json.loads(one) for one in (folder / "samples.jsonl").read_text().splitlines()]
    tasks = {task.id: task for task in find_benchmark("bbeh").tasks(Source(data=Path("data")))}
    assert [one["question"] for one in lines] == [tasks[one["task"]].query for one in lines]
    assert [one["reference"] for one in lines] == [tasks[one["task"]].answer for one in lines]


def test_a_trial_that_was_not_made_has_no_score_to_show(desk: Desk) -> None:
    desk.run(
        replies=lambda request: Reply.error(401) if "is 3 +" in str(request) else adds(request)
    )
    (folder,) = desk.results
    (lost,) = (one.task for one in samples_of(folder) if one.score is None)
    came = desk.bench("show", str(folder), lost)
    assert "score 0" not in came.err
    assert "no score" in came.err


def test_the_cache_serves_the_next_evaluation(desk: Desk) -> None:
    with ScriptedModel(adds) as model:
        for _ in range(2):
            chosen = ("--cache", "answers", "--model", f"m@{model.api_base}")
            assert desk.run(*chosen, replies=None).code == 0
        assert len(model.calls) == TASKS
    one, other = desk.results
    assert [s.score for s in samples_of(one)] == [s.score for s in samples_of(other)]
    assert results_of(other)["usage"]["cached_calls"] == TASKS


@pytest.fixture
def pool(desk: Desk) -> Path:
    """A pool whose team has evolved on the evolve split."""
    pool = Pool.init(desk.folder / "pool", [desk.folder / "solo.yaml"])
    tasks = find_benchmark("bbeh-mini").tasks(Source(data=desk.folder / "data"))
    for task in Choice(split="evolve").of(tasks):
        pool.commit(Tried(member="solo", trial=Trial(task=task.id, score=1.0)), op=task.id)
    return pool.folder / "teams" / "solo"


def test_a_team_is_not_tested_on_what_its_pool_evolved_on(desk: Desk, pool: Path) -> None:
    came = desk.run(team=str(pool))
    assert (came.code, came.calls) == (2, 0)
    assert "12 tasks of 24 are learnt from: task '" in came.err
    assert f"{pool.parents[1]}/ledger.jsonl:3 by its id;" in came.err
    assert not (desk.folder / "results").exists()
    came = desk.run("--split", "test", team=str(pool))
    assert (came.code, came.calls) == (0, 12)
    came = desk.run("--allow-seen", team=str(pool))
    assert (came.code, came.calls) == (0, 24)


def test_agents_recall_from_a_pool_on_what_it_has_not_learnt_from(desk: Desk, pool: Path) -> None:
    folder = pool.parents[1]
    text = (desk.folder / "solo.yaml").read_text()
    recalling = text.replace('alone."', 'alone.", recall: {k: 1}')
    (desk.folder / "recalling.yaml").write_text(recalling)
    lesson = Learnt(kind="experience", task="How much is it?", text="Count on your fingers.")
    Pool.open(folder).commit(lesson, op="lesson")
    from_pool = ("--pool", str(folder), "--embedder", "hashing", "--limit", "2")
    refused = desk.run(*from_pool, "--split", "evolve", team="recalling")
    assert (refused.code, refused.calls) == (2, 0)
    assert "2 tasks of 2 are learnt from: task '" in refused.err
    assert f"(bbeh-mini, number 1) is {folder}/ledger.jsonl:" in refused.err
    assert not (desk.folder / "results").exists()
    with ScriptedModel(adds) as model:
        chosen = ("--split", "test", "--model", f"m@{model.api_base}")
        came = desk.run(*from_pool, *chosen, team="recalling", replies=None)
        assert came.code == 0, came.err
        assert ["fingers" in call.text for call in model.calls] == [True, True]
    allowed = desk.run(*from_pool, "--split", "evolve", "--allow-seen", team="recalling")
    assert (allowed.code, allowed.calls) == (0, 2)
    idle = desk.run(*from_pool)
    assert (idle.code, idle.calls) == (2, 0)
    assert "--pool: no agent of solo recalls anything" in idle.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "nope", "--team", "solo.yaml"], "no benchmark is called 'nope'. Known: "),
        (["run", "bbeh-mini", "--team", "gone.yaml"], "gone.yaml"),
        (["run", "bbeh-mini", "--team", "seed:gone"], "no seed team 'seed:gone'. Seeds: "),
        (["run", "bbeh-mini"], "say what is run: --team TEAM"),
        (["run", "bbeh-mini", "--team", "solo.yaml"], "--data"),
        (["run", "bbeh-mini", "--team", "solo.yaml", "--data", "."], "neither mini.json nor"),
        (["run", "bbeh-mini", "--team", "solo.yaml", "--data", "gone"], "does not exist"),
        (["run", "bbeh-mini", "--team", "solo.yaml", "--data", "data", "--limit", "0"], "x>=1"),
        (["run", "bbeh-mini", "--team", "solo.yaml", "--data", "data", "--evolve-share", "1"], "<"),
        (["run", "bbeh-mini", "--team", "solo.yaml", "--data", "data", "--budget", "x=1"], "'x'"),
        (["run", "bbeh-mini", "--team", "solo.yaml", "--data", "data", "--results", "solo.yaml"],
         "is a file"),
        (["resume", "gone"], "does not exist"),
        (["resume", "data"], "run.json: there is no such file"),
        (["replay", "data"], "run.json: there is no such file"),
        (["show", "data", "t"], "run.json: there is no such file"),
    ],
)  # fmt: skip
def test_wrong_input_is_said_and_nothing_is_made(
    desk: Desk, words: Sequence[str], message: str
) -> None:
    came = desk.bench(*words, "--model", NOWHERE)
    assert (came.code, came.out) == (2, "")
    assert message in came.err
    assert not (desk.folder / "results").exists()


def test_the_folder_of_a_plain_run_is_no_evaluation(desk: Desk) -> None:
    (desk.folder / "run.json").write_text('{"v": 1, "models": {}}')
    came = desk.bench("resume", ".")
    assert came.code == 2
    assert "not the manifest of an evaluation" in came.err


def test_results_without_their_data_cannot_be_gone_on_with(desk: Desk) -> None:
    desk.run("--limit", "1")
    (folder,) = desk.results
    (desk.folder / "data" / "mini.json").unlink()
    came = desk.bench("resume", str(folder), "--model", NOWHERE)
    assert came.code == 2
    assert "mini.json" in came.err


def test_two_processes_cannot_work_on_the_same_results(desk: Desk) -> None:
    from coterie.runtime import Journal

    desk.run("--limit", "1")
    (folder,) = desk.results
    with Journal.open(folder):
        came = desk.bench("resume", str(folder), "--model", NOWHERE)
    assert came.code == 2
    assert "another process is at work on this" in came.err


def test_after_a_budget_was_met_the_command_that_goes_on_works_as_printed(desk: Desk) -> None:
    stopped = desk.run("--budget", f"calls={TASKS - 1}")
    assert stopped.code == 3
    hint = stopped.err.split("Go on with: ")[-1].splitlines()[0]
    assert hint.endswith(f" --budget calls={2 * (TASKS - 1)}")
    assert desk.bench(*shlex.split(hint)[1:], replies=adds).code == 0

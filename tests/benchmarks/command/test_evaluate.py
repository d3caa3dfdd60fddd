"""`mas-bench run`, `resume` and `replay`, as somebody uses them."""

import itertools
import json
import os
import shutil
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.benchmarks.evaluation.results import read_samples
from coterie.benchmarks.evaluation.samples import Sample
from coterie.runtime.doubles import Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request

from ...support.processes import KILLED
from ...waiting import PATIENCE
from .conftest import EACH, NICHES, Cli, adds

TASKS = len(NICHES) * EACH
RIGHT = TASKS - len(NICHES)
TIMES = ("seconds", "wall_seconds", "paid", "command", "latency", "calls", "endpoints", "workers")


def samples_of(folder: Path) -> list[Sample]:
    return [replace(sample, seconds=0.0) for sample in read_samples(folder)]


def results_of(folder: Path) -> dict[str, Any]:
    """Return results.json without what differs from run to run."""
    report = json.loads((folder / "results.json").read_text())
    return {name: value for name, value in report.items() if name not in TIMES}


def test_known_answers_give_exactly_the_expected_micro_average(cli: Cli) -> None:
    result = cli.run().ended(0)
    assert result.calls == TASKS
    (folder,) = cli.results
    fields = results_of(folder)
    assert fields["headline"]["value"] == RIGHT / TASKS
    assert f"accuracy {RIGHT / TASKS:.3f} [" in result.out
    assert "over 24 tasks x 1 trial" in result.out
    assert "ran to an answer: 1.000" in result.out
    assert "| boardgame_qa " in result.out
    assert {name: nich["value"] for name, nich in fields["niches"].items()} == dict.fromkeys(
        NICHES, (EACH - 1) / EACH
    )
    assert fields["complete"] is True
    wrong = [sample.task for sample in samples_of(folder) if sample.score == 0]
    assert len(wrong) == len(NICHES)


def test_the_full_set_has_the_harmonic_figure(cli: Cli) -> None:
    options = ("--team", "solo.yaml", "--data", "data", "--trials", "1", "--limit", "46")
    result = cli.bench("run", "bbeh", *options, "--quiet", "--json", replies=adds).ended(0)
    report = result.json
    by_subtask = [1 / (nich["value"] + 0.01) for nich in report["niches"].values()]
    assert len(by_subtask) == 23
    assert {nich["tasks"] for nich in report["niches"].values()} == {2}
    assert report["headline"]["value"] == pytest.approx(23 / sum(by_subtask))
    assert report["headline"]["value"] < report["avg@k"]


def test_three_trials_are_the_protocol(cli: Cli) -> None:
    options = ("--team", "solo.yaml", "--data", "data", "--limit", "3", "--quiet")
    result = cli.bench("run", "bbeh-mini", *options, replies=adds)
    assert result.calls == 9
    assert "over 3 tasks x 3 trials" in result.out
    assert "pass@3" in result.out


def test_the_folder_says_how_it_was_made(cli: Cli) -> None:
    folder = cli.evaluated("--limit", "2", "--seed", "5", "--shuffle", "1")
    assert {path.name for path in folder.iterdir()} == {
        "journal.log", "results.json", "run.json", "samples.jsonl", "team.yaml",
    }  # fmt: skip
    asked = results_of(folder)["evaluation"]
    assert asked["source"]["data"] == str(cli.folder / "data")
    assert (asked["choice"]["limit"], asked["choice"]["shuffle"], asked["trials"]) == (2, 1, 1)
    assert results_of(folder)["seed"] == 5


def test_a_dry_run_asks_no_model_and_leaves_nothing(cli: Cli) -> None:
    result = cli.run("--dry-run", "--trials", "2", team="pair").ended(0, calls=0)
    first, second = result.out.splitlines()
    assert first == (
        "bbeh-mini: 24 tasks in 3 niches x 2 trials by pair, 2 agents: at most 96 model calls,"
        " without retries"
    )
    assert second.startswith("estimate: 96 calls, ")
    assert "the price of m is unknown" in second
    assert not (cli.folder / "results").exists()


def test_progress_goes_to_standard_error(cli: Cli) -> None:
    options = ("--team", "solo.yaml", "--data", "data", "--trials", "1")
    result = cli.bench("run", "bbeh-mini", *options, replies=adds)
    assert f"results{os.sep}" in result.err
    assert f"{TASKS} of {TASKS}  score 0.875" in result.err
    assert "0:00 left" in result.err


def test_a_provider_that_fails_is_said_and_resume_makes_the_rest(cli: Cli) -> None:
    def failing(request: Request) -> Reply:
        text = message_text(request)
        return Reply.error(401) if "is 3 +" in text or "is 13 +" in text else adds(request)

    result = cli.run(replies=failing).ended(1)
    (folder,) = cli.results
    assert "incomplete: 2 samples missing, 2 of them failed because of a provider" in result.out
    assert f"2 trials could not be completed. Resume: mas-bench resume results/{folder.name}" in (
        result.err
    )
    fields = results_of(folder)
    assert (fields["samples"], fields["unscored"], fields["missing"]) == (TASKS - 2, 2, 2)
    assert fields["headline"]["value"] == pytest.approx((RIGHT - 2) / (TASKS - 2))
    cli.resumed(folder).ended(0, calls=2)
    assert results_of(folder)["headline"]["value"] == RIGHT / TASKS
    cli.resumed(folder).ended(0, calls=0)
    assert len(cli.results) == 1


def refusing_after_one(latency: float = 0.0) -> Callable[[Request], Reply]:
    """Answer one call and refuse the key of all others: something has been spent by then."""
    calls = itertools.count()

    def replies(request: Request) -> Reply:
        reply = adds(request) if next(calls) == 0 else Reply.error(403)
        return replace(reply, latency=latency)

    return replies


def test_the_seconds_of_a_resumed_evaluation_have_those_before(cli: Cli) -> None:
    cli.run(replies=refusing_after_one(latency=0.1)).ended(1)
    (folder,) = cli.results
    before = results_of(folder)["unscored"]
    assert cli.resumed(folder).code == 0
    after = json.loads((folder / "results.json").read_text())
    assert after["wall_seconds"] > 0.1
    assert after["seconds"] > 0.1 * before > 0


def test_a_provider_that_fails_everything_stops_it(cli: Cli) -> None:
    result = cli.run("--workers", "2", replies=refusing_after_one()).ended(1)
    assert "stopped: 10 trials in a row could not be completed" in result.err
    assert "Resume: mas-bench resume" in result.err
    assert result.calls < TASKS
    (folder,) = cli.results
    assert results_of(folder)["samples"] == 1
    cli.resumed(folder).ended(0, calls=TASKS - 1)


def test_a_budget_ends_it_and_a_larger_one_goes_on(cli: Cli) -> None:
    result = cli.run("--budget", "calls=9", team="pair").ended(3)
    assert result.calls == 9
    assert "the evaluation has reached its budget" in result.err
    (folder,) = cli.results
    first = results_of(folder)
    assert first["samples"] <= 4
    assert first["missing"] == TASKS - first["samples"]
    more = 9 - first["usage"]["calls"]
    assert f"beside these: {more} calls without a result, unpriced" in result.out
    again = cli.resumed(folder)
    assert (again.code, again.calls) == (3, 0)  # the recorded budget still holds
    assert results_of(folder) == first
    replayed = cli.bench("replay", str(folder))
    assert replayed.out.startswith(f"verified: {first['samples']} sample")
    cli.resumed(folder, "--budget", "calls=48").ended(0, calls=48 - 9)
    cli.run(team="pair")
    clean = cli.results[-1]
    assert samples_of(folder) == samples_of(clean)


def test_killed_and_resumed_it_comes_to_the_same(cli: Cli) -> None:
    """No sample is lost, and no call is paid twice but those that were under way."""
    clean = cli.evaluated(team="pair")
    workers, kills, calls = 4, 0, 0
    folder = None
    for moment in (5, 20):
        reached = threading.Event()
        with ScriptedModel(_until(moment, reached)) as model:
            chosen = ("--model", f"m@{model.api_base}", "--workers", str(workers), "--quiet")
            team = ("--team", "pair.yaml", "--data", "data", "--trials", "1")
            words = ("resume", str(folder)) if folder else ("run", "bbeh-mini", *team)
            child = cli.begun(*words, *chosen)
            assert reached.wait(PATIENCE)
            child.kill()
            assert child.wait() == KILLED
            kills += 1
            calls += len(model.calls)
        folder = cli.results[-1]
        assert folder != clean
    result = cli.resumed(folder).ended(0)
    assert 2 * TASKS <= calls + result.calls <= 2 * TASKS + kills * workers
    assert samples_of(folder) == samples_of(clean)
    assert results_of(folder) == results_of(clean)
    lines = [(path / "samples.jsonl").read_text().count("\n") for path in cli.results]
    assert lines == [TASKS, TASKS]
    assert cli.bench("replay", str(folder)).code == 0


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


def test_an_interrupted_one_keeps_its_figures_and_says_how_to_go_on(cli: Cli) -> None:
    reached = threading.Event()
    with ScriptedModel(_until(12, reached)) as model:
        options = ("--team", "solo.yaml", "--data", "data", "--trials", "1", "--workers", "2")
        words = ("run", "bbeh-mini", *options, "--model", f"m@{model.api_base}")
        process = cli.begun(*words)
        assert reached.wait(PATIENCE)
        os.kill(process.id, signal.SIGTERM)
        assert process.wait() == 143
    err = (cli.folder / "shown.txt").read_text()
    (folder,) = cli.results
    assert f"interrupted. Resume: mas-bench resume results/{folder.name}" in err
    fields = results_of(folder)
    assert 9 <= fields["samples"] <= 11
    assert fields["missing"] == TASKS - fields["samples"]
    assert len(samples_of(folder)) == fields["samples"]


def test_a_trial_that_lost_an_agent_to_its_provider_is_made_again(cli: Cli) -> None:
    (cli.folder / "vote.yaml").write_text(
        'name: vote\nagents:\n  one: {prompt: "You are [one]."}\n'
        '  two: {prompt: "You are [two]."}\n'
        '  judge: {prompt: "You are [judge]."}\n'
        "topology: {reports_to: {one: [judge], two: [judge]}}\n"
        "execution: {max_retries: 0, on_error: degrade}\n"
    )

    def one_less(request: Request) -> Reply:
        text = message_text(request)
        return Reply.error(401) if "[two]" in text and "is 4 +" in text else adds(request)

    result = cli.run(team="vote", replies=one_less).ended(1)
    assert "incomplete: 1 sample missing, 1 of them failed because of a provider" in result.out
    (folder,) = cli.results
    assert cli.resumed(folder).code == 0
    assert results_of(folder)["unscored"] == 0


def test_a_replay_verifies_and_changes_nothing(cli: Cli) -> None:
    folder = cli.evaluated()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = cli.bench("replay", str(folder)).ended(0)
    assert result.out.startswith(f"verified: {TASKS} samples, no difference (")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_replay_tells_a_changed_team_or_reference(cli: Cli, full_set: Path) -> None:
    (cli.folder / "data" / "benchmark_tasks").unlink()
    shutil.copytree(full_set, cli.folder / "data" / "benchmark_tasks")
    folder = cli.evaluated()
    mini = cli.folder / "data" / "mini.json"
    tasks = cli.folder / "data" / "benchmark_tasks" / "bbeh_boardgame_qa" / "task.json"
    for path in (mini, tasks):
        path.write_text(path.read_text().replace('"target": "3"', '"target": "4"'))
    result = cli.bench("replay", str(folder)).ended(1)
    differing = result.out.splitlines()
    assert len(differing) == 2
    assert all(line.startswith("differs: boardgame_qa") for line in differing)
    assert "asked differs from the recording" in result.out

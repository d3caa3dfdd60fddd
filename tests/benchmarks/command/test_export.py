"""`mas-bench export`: answers as the benchmarks' own evaluators read them."""

import ast
import csv
import json
from pathlib import Path

from coterie.benchmarks.bbeh.verdict import bbeh
from coterie.benchmarks.evaluation.benchmark import Source, find_benchmark
from coterie.benchmarks.evaluation.logs import Logs, log_path
from coterie.runtime.command.view import main as mas_view
from coterie.runtime.doubles import Reply
from studies.workbench.recorded import judge_file

from ...repairs import RIGHT, needs_jail, small_repository
from ...support.commands import invoked
from ..bbeh.published import clone
from ..kept import kept, sample
from ..workbench.conftest import QUESTIONS, write_workplace
from .conftest import Cli

DELETE = 'calendar.delete_event.func(event_id="00000009")'


def test_answers_to_bbeh_are_exported_with_their_questions(cli: Cli) -> None:
    data = clone(cli.folder / "cloned")
    tasks = find_benchmark("bbeh").tasks(Source(data=data))
    pairs = [("The answer is: 1", 1.0), ("No idea", 0.0), (None, 0.0)]
    samples = [
        sample(task.id, score, answer=answer)
        for task, (answer, score) in zip(tasks, pairs, strict=False)
    ]
    kept(cli.folder / "r", samples, benchmark="bbeh", data=data)
    result = cli.bench("export", "r", "answers.json")
    assert result.out == "3 examples in answers.json, 1 of them without an answer\n"
    report = json.loads(Path("answers.json").read_text())
    assert (report["canary"], report["model"]) == ("keep me", "solo")
    first = report["examples"][0]
    assert first == {
        "task": "bbeh_boardgame_qa",
        "id": "boardgame_qa-0",
        "input": "boardgame_qa: how much is 0 + 1?",
        "target": "1",
        "output": "The answer is: 1",
    }
    verdicts = [
        bbeh(example["output"], example["target"], {}).value for example in report["examples"]
    ]
    assert verdicts == [1, 0, 0]


def test_answers_to_workbench_are_exported_as_its_runs_record_them(cli: Cli) -> None:
    data = write_workplace(cli.folder / "office")
    samples = [
        sample("calendar-0", 1.0, answer=f"Done.\nFUNCTION_CALLS:\n{DELETE}"),
        sample("calendar-1", 0.0, status="failed", error="out of patience"),
        sample("email-0", 0.0, answer='I used "array(x)"\'s intermediate_steps.'),
    ]
    folder = kept(cli.folder / "r", samples, benchmark="workbench", data=data)
    Logs(folder=folder, scrub=str).keep("email-0", 1, json.dumps([DELETE]))
    result = cli.bench("export", "r", "out", "--format", "workbench", "--name", "me")
    assert result.out.splitlines() == [
        "out/calendar/me_all.csv: 2 of 2 tasks",
        "out/email/me_all.csv: 1 of 1 tasks",
    ]
    first, second = judge_file(Path("out/calendar/me_all.csv"), data)
    assert (first.query, first.verdict.correct, first.error) == (
        QUESTIONS["calendar"][0][0],
        True,
        "",
    )
    assert (second.verdict.correct, second.error) == (False, "out of patience")
    (third,) = judge_file(Path("out/email/me_all.csv"), data)
    with Path("out/email/me_all.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    response = row["full_response"]
    assert ast.literal_eval(response)["output"] == samples[2].answer
    # The original cuts the text at this name, and puts quotes around what it calls arrays.
    assert (response.count("intermediate_steps"), "array(" in response) == (1, False)
    assert (third.verdict.correct, third.verdict.side_effects) == (False, True)


def test_a_part_of_a_domain_is_said_to_be_one(cli: Cli) -> None:
    data = write_workplace(cli.folder / "office")
    item = sample("calendar-0", 1.0, answer="")
    kept(cli.folder / "r", [item], benchmark="workbench-domains", data=data)
    result = cli.bench("export", "r", "out")
    assert result.out == (
        "out/calendar/solo_domains.csv: 1 of 2 tasks, which the original evaluator refuses\n"
    )


def test_an_export_that_cannot_be_is_refused(cli: Cli) -> None:
    data = clone(cli.folder / "cloned")
    kept(cli.folder / "r", [sample("nycc-0", 1.0, answer="x")], benchmark="bbeh", data=data)
    kept(cli.folder / "other", [sample("a", 1.0, answer="x")], benchmark="arithmetic")
    for words, message in (
        (("r", "a.json", "--format", "csv"), "bbeh has no format 'csv'. Formats: bbeh."),
        (("r", "a.json", "--trial", "2"), "there is no trial 2"),
        (("r", "a.csv"), "answers to BBEH are written as .json"),
        (("other", "a.json"), "Formats: none."),
    ):
        assert message in cli.bench("export", *words).refused()


def test_every_benchmark_that_exports_names_a_format() -> None:
    named = ("repair", "swe-bench", "workbench", "workbench-domains", "bbeh", "bbeh-mini")
    assert all(find_benchmark(name).exports for name in named)


@needs_jail
def test_what_the_tests_of_a_patch_printed_is_kept_with_its_trial(cli: Cli) -> None:
    (cli.folder / "swe" / "repositories").mkdir(parents=True)
    instance = small_repository(cli.folder / "swe" / "repositories" / "small__doubling")
    rows = [{**instance.reference(), "instance_id": name} for name in ("mine", "other")]
    (cli.folder / "swe" / "instances.json").write_text(json.dumps(rows))
    words = ["--team", "solo.yaml", "--data", "swe", "--trials", "1", "--quiet"]
    result = cli.bench(
        *("run", "swe-bench", *words, "--instances", "m*", "--json"),
        replies=lambda _: Reply(text=RIGHT),
    )
    assert (result.code, result.json["headline"]["value"], result.json["tasks"]) == (0, 1.0, 1)
    (folder,) = Path("results").iterdir()
    kept_log = log_path(folder, "mine", 1)
    assert "3 passed" in kept_log.read_text()
    shown = invoked(mas_view, ["--text", str(folder), "mine"], "mas-view").out
    assert f"\nlog      {kept_log}\n" in shown
    result = cli.bench("export", str(folder), "preds.json")
    assert result.out == "1 prediction in preds.json\n"


def test_logs_of_tasks_do_not_meet(tmp_path: Path) -> None:
    logs = Logs(folder=tmp_path, scrub=lambda text: text.replace("key", "***"))
    logs.keep("a/b", 1, "the key")
    logs.keep("a-b", 1, "other")
    assert log_path(tmp_path, "a/b", 1).read_text() == "the ***"
    logs.keep("a/b", 1, "")
    assert [path.read_text() for path in (tmp_path / "logs").iterdir()] == ["other"]

"""The command: all methods over all traces, with models that answer from a script."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.doubles.script import Request
from studies.whoandwhen.__main__ import main
from studies.whoandwhen.judges import JUDGES, Judge
from studies.whoandwhen.methods import METHODS
from studies.whoandwhen.published import Labelled
from studies.whoandwhen.results import ATTRIBUTIONS

from ...support.commands import invoked
from .running import lines_of, right_in, run

SCHEMES = ("global", "local", "collaborative")
CALLS = {
    "all-at-once": 5,
    "step-by-step": 4 + 2 + 3 + 4 + 2,
    "binary-search": 2 + 2 + 4 + 2 + 2,
    "global": 5,
    "local": 4 + 4 * 2,
    "collaborative": 3 * (4 + 4 * 2),
}
"""Of the judge that knows the labels: to a step and no further, to a half of a half."""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAS_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["whoandwhen"])


def test_a_judge_that_knows_the_labels_gets_all_that_can_be_got(
    folder: Path, labels: tuple[Labelled, ...], tmp_path: Path
) -> None:
    """The last trace's label is of another agent's step: only all-at-once can meet both."""
    out = tmp_path / "results" / "out"
    result = run(folder, out, Judge(labels, JUDGES["labels"]))
    assert (result.code, result.calls) == (0, sum(CALLS.values())), result.err
    assert right_in(out) == {
        "all-at-once": (5, 3, 5, 5),
        "step-by-step": (4, 2, 5, 5),
        "binary-search": (4, 2, 5, 5),
        **dict.fromkeys(SCHEMES, (5, 3, 4, 4)),
    }
    usage = dict.fromkeys(METHODS, 0)
    for line in lines_of(out):
        usage[line["method"]] += line["usage"]["calls"]
    assert usage == CALLS
    again = run(folder, out, Reply.error(500))
    assert (again.code, again.calls, again.out) == (0, 0, result.out)


def test_a_judge_of_lookalikes_is_right_by_the_original_alone(
    folder: Path, labels: tuple[Labelled, ...], tmp_path: Path
) -> None:
    """It says 12 where the label is 2, which is the same agent's."""
    out = tmp_path / "out"
    run(folder, out, Judge(labels, JUDGES["lookalike"]))
    assert right_in(out) == {
        "all-at-once": (5, 3, 4, 5),
        "step-by-step": (4, 2, 4, 5),
        "binary-search": (4, 2, 4, 5),
        **dict.fromkeys(SCHEMES, (5, 3, 3, 4)),
    }


def test_a_judge_that_always_says_the_same_gets_what_its_answer_gets(
    folder: Path, labels: tuple[Labelled, ...], tmp_path: Path
) -> None:
    """No label has step 0. Methods that name a step's agent name the person who asks."""
    out = tmp_path / "out"
    run(folder, out, Judge(labels, JUDGES["first"]))
    assert right_in(out) == {
        "all-at-once": (2, 2, 0, 0),
        "step-by-step": (1, 1, 0, 0),
        "binary-search": (1, 1, 0, 0),
        "global": (2, 2, 1, 1),
        "local": (2, 2, 1, 1),
        "collaborative": (2, 2, 1, 1),
    }


def test_tables_need_no_model(folder: Path, labels: tuple[Labelled, ...], tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran = run(folder, out, Judge(labels, JUDGES["labels"]), "--method", "global")
    assert invoked(main, ["table", str(out)], "who").out == ran.out
    rows = invoked(main, ["table", str(out), "--json"], "who").json
    assert rows["source"][-2:] == [
        {
            "source": "all",
            "method": "chance",
            "n": "5",
            "agent, exact": "0.450",
            "agent, original": "0.250",
            "step, exact": "0.239",
            "step, original": "0.254",
        },
        {
            "source": "all",
            "method": "global",
            "n": "5",
            "agent, exact": "1.000 [0.566, 1.000]",
            "agent, original": "0.600 [0.231, 0.882]",
            "step, exact": "0.800 [0.376, 0.964]",
            "step, original": "0.800 [0.376, 0.964]",
        },
    ]
    assert {row["characters"] for row in rows["length"]} == {"below 6,000"}
    assert rows["cost"][0]["calls"] == "5"


def test_what_a_provider_failed_is_no_verdict_and_is_made_again(
    folder: Path, labels: tuple[Labelled, ...], tmp_path: Path
) -> None:
    out, judge = tmp_path / "out", Judge(labels, JUDGES["labels"])

    def fails(request: Request) -> Reply:
        reply = judge(request)
        return Reply.error(403) if "Nobody." in str(request) else reply

    run(folder, out, fails, "--method", "all-at-once").ended(1)
    (failed,) = (line for line in lines_of(out) if "error" in line)
    assert failed["trace"] == "algorithm-generated/2"
    assert "right" not in failed
    rows = invoked(main, ["table", str(out), "--json"], "who").json
    assert (rows["source"][-1]["n"], rows["cost"][0]["could not be made"]) == ("4", "1")
    again = run(folder, out, judge, "--method", "all-at-once")
    assert (again.code, again.calls) == (0, 1)


def test_a_provider_that_fails_everything_stops_it(folder: Path, tmp_path: Path) -> None:
    result = run(folder, tmp_path / "out", Reply.error(403)).ended(1)
    assert "stopped: 10 attributions in a row could not be made" in result.err


def test_who_answers_nonsense_blames_nobody_and_is_wrong(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(folder, out, "No idea.", "--method", "all-at-once", "--limit", "2").ended(0)
    (cost,) = invoked(main, ["table", str(out), "--json"], "who").json["cost"]
    counts = ("traces", "blame nobody", "answers repaired", "questions lost", "calls")
    assert [cost[name] for name in counts] == ["2", "2", "2", "2", "4"]
    assert all(not any(line["right"].values()) for line in lines_of(out))


def test_a_budget_can_be_raised(folder: Path, labels: tuple[Labelled, ...], tmp_path: Path) -> None:
    out, judge = tmp_path / "out", Judge(labels, JUDGES["labels"])
    result = run(folder, out, judge, "--budget", "calls=7", "--workers", "2")
    assert (result.code, result.calls) == (3, 7)
    assert "the attribution has reached its budget" in result.err
    result = run(folder, out, judge, "--budget", "calls=500")
    assert (result.code, result.calls) == (0, sum(CALLS.values()) - 7)


def test_one_folder_one_setting(folder: Path, labels: tuple[Labelled, ...], tmp_path: Path) -> None:
    out, judge = tmp_path / "out", Judge(labels, JUDGES["labels"])
    run(folder, out, judge, "--method", "global", "--limit", "1")
    result = run(folder, out, judge, "--method", "global", "--without-answer").ended(2)
    assert "was begun with with_answer True, not False" in result.err
    more = run(folder, out, judge, "--method", "all-at-once", "--limit", "1")
    assert more.calls == 1
    assert [line["method"] for line in lines_of(out)] == ["all-at-once", "global"]


def test_killed_it_pays_once(folder: Path, labels: tuple[Labelled, ...], tmp_path: Path) -> None:
    out, judge = tmp_path / "out", Judge(labels, JUDGES["labels"])
    reached, answered, workers = threading.Event(), 0, 2

    def hangs(request: Request) -> Reply:
        nonlocal answered
        answered += 1
        if answered <= 12:
            return judge(request)
        reached.set()
        return Reply.fault("hang")

    with ScriptedModel(hangs) as model:
        options = ["--data", str(folder), "--other-traces", "--out", str(out)]
        options += ["--model", f"m@{model.api_base}", "--workers", str(workers), "--quiet"]
        process = subprocess.Popen(
            [sys.executable, "-m", "studies.whoandwhen", "run", *options],
            env={**os.environ, "MAS_HOME": str(tmp_path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert reached.wait(300), process.communicate(timeout=300)
        process.kill()
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    result = run(folder, out, judge).ended(0)
    under_way = result.calls - (sum(CALLS.values()) - 12)
    assert 0 <= under_way <= workers
    clean = tmp_path / "clean"
    run(folder, clean, judge)
    assert lines_of(out) == lines_of(clean)


def test_other_traces_than_the_published_are_refused_unless_they_are_meant(folder: Path) -> None:
    result = invoked(main, ["data", "--data", str(folder)], "who").ended(2)
    assert "are not those of Who & When" in result.err
    shown = invoked(main, ["data", "--data", str(folder), "--other-traces"], "who").out
    assert "revision: none that was published" in shown
    assert "| hand-crafted        | 3      | 3 to 13, 20 in all |" in shown


def test_several_folders_merge(folder: Path, labels: tuple[Labelled, ...], tmp_path: Path) -> None:
    judge, outs = Judge(labels, JUDGES["labels"]), [tmp_path / name for name in "abc"]
    for out, words in zip(outs, ["--method local", "--method global", "--view 900"], strict=True):
        run(folder, out, judge, "--limit", "1", *words.split())
    text, other, another = map(str, outs)
    rows = invoked(main, ["table", text, other, "--by", "cost", "--json"], "who").json["cost"]
    assert [row["method"] for row in rows] == ["local", "global"]
    result = invoked(main, ["table", text, another], "who").ended(2)
    assert "was made with view 900, the first one with None" in result.err
    assert invoked(main, ["table", text, text, "--by", "cost", "--json"], "who").code == 2


EVALUATE = """\
print("--- Final Accuracy Results ---")
print("Agent Accuracy: 0.00%")
print("Step Accuracy:  101.00%")
"""


def test_the_original_is_asked_and_where_it_differs_is_told(folder: Path) -> None:
    script = folder / "Automated_FA" / "evaluate.py"
    words = ["verify", str(folder), "--logs", "1"]
    assert "has no Automated_FA/evaluate.py" in invoked(main, words, "who").err
    script.parent.mkdir()
    script.write_text(EVALUATE)
    result = invoked(main, words, "who").ended(1)
    assert "there ('0.00', '101.00')" in result.out
    assert result.out.endswith("in 2 logs: 2 with another figure\n")


def test_a_folder_that_nothing_was_made_in_is_refused(tmp_path: Path) -> None:
    result = invoked(main, ["table", str(tmp_path)], "who").ended(2)
    assert f"has no {ATTRIBUTIONS}" in result.err


def test_a_model_that_this_host_has_not_is_named(folder: Path, tmp_path: Path) -> None:
    words = ["--data", str(folder), "--other-traces", "--meta-model", "judge"]
    result = invoked(main, ["run", *words, "--out", str(tmp_path / "out")], "who").ended(2)
    assert "no model is called 'judge'" in result.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("judge", [*JUDGES])
def test_a_judge_knows_only_its_traces(labels: tuple[Labelled, ...], judge: str) -> None:
    request = {"messages": [{"role": "user", "content": "How are you?"}]}
    assert Judge(labels, JUDGES[judge])(request).status == 404

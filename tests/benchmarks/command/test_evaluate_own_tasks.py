"""`mas-bench run TASKS`: a team on tasks of one's own, with a verdict that CI understands."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from coterie.benchmarks.evaluation.results import read_samples
from coterie.runtime.command.view import main as mas_view
from coterie.runtime.doubles import Reply, message_text
from coterie.runtime.doubles.script import Request
from coterie.runtime.jail.detect import detect
from coterie.runtime.record.journal import Journal
from studies.providers.shown import PNG

from ...support.commands import invoked
from ...traces import nested, spans_in, tree
from .conftest import Cli, adds

QUERIES = [f"How much is {n} + 1?" for n in (1, 2, 3, 7)]


@pytest.fixture
def own(cli: Cli) -> Cli:
    lines = [{"query": query, "answer": str(int(query.split()[3]) + 1)} for query in QUERIES]
    Path("mine.jsonl").write_text("\n".join(map(json.dumps, lines)))
    rows = [f"{line['query']},{line['answer']}" for line in lines]
    Path("mine.csv").write_text("\n".join(["query,reference", *rows]))
    return cli


def judges(request: Request) -> Reply:
    """Add as asked; as the judge, be content with numbers."""
    text = message_text(request)
    if "Judge an answer" not in text:
        return adds(request)
    score = 0.1 if "unknown" in text else 0.9
    return Reply(text=json.dumps({"reason": "Looked <at> it.\x00", "score": score}))


def run(cli: Cli, *words: str, file: str = "mine.jsonl") -> tuple[str, ...]:
    return ("run", file, "--team", "solo.yaml", "--quiet", *words)


@pytest.mark.parametrize("file", ["mine.jsonl", "mine.csv"])
def test_own_tasks_are_run_and_scored(own: Cli, file: str) -> None:
    result = own.bench(*run(own, "--scorer", "number", file=file), replies=adds).ended(0, calls=4)
    assert "accuracy 0.750" in result.out
    (folder,) = own.results
    first = 1 if file.endswith("l") else 2
    assert [sample.task for sample in read_samples(folder)] == [
        f"mine-{first + n}" for n in range(4)
    ]
    assert own.bench("replay", str(folder)).out.startswith("verified: 4 samples")
    own.resumed(folder, "--fail-under", "0.8").ended(4, calls=0)


def test_scores_that_are_0_for_want_of_a_form_stop_an_evaluation(own: Cli) -> None:
    lines = [{"query": f"How much is {n * 10} + 1?", "answer": str(n * 10 + 1)} for n in range(11)]
    Path("mine.jsonl").write_text("\n".join(map(json.dumps, lines)))
    result = own.bench(*run(own, "--workers", "1"), replies=adds).ended(2, calls=10)
    assert "the scorer exact does not find it there." in result.err
    (folder,) = own.results
    assert f"Resume: mas-bench resume {folder.relative_to(own.folder)}" in result.err
    own.resumed(folder, "--allow-zeros").ended(0, calls=1)


def test_too_low_a_figure_has_an_exit_code_of_its_own(own: Cli) -> None:
    words = run(own, "--scorer", "number")
    result = own.bench(*words, "--fail-under", "0.8", replies=adds).ended(4)
    assert result.err == "too low: accuracy 0.750, but --fail-under is 0.8.\n"
    assert own.bench(*words, "--fail-under", "0.75", replies=adds).code == 0
    own.bench(*words, "--fail-under", "0.8", replies=Reply.error(400)).ended(4)
    own.bench(*words, "--fail-under", "0.8", replies=Reply.error(500)).ended(1)
    denied = own.bench(*words, "--fail-under", "0.8", replies=Reply.error(401))
    assert (denied.code, "esume" in denied.err) == (2, False)


def test_junit_has_a_test_for_each_trial(own: Cli) -> None:
    words = run(own, "--scorer", "number", "--trials", "2", "--junit", "out.xml")
    assert own.bench(*words, replies=adds).code == 0
    suite = ElementTree.parse("out.xml").getroot()[0]  # noqa: S314 - ours
    assert {key: suite.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "8", "failures": "2", "errors": "0",
    }  # fmt: skip
    failed = [test.get("name") for test in suite if test.find("failure") is not None]
    assert failed == ["mine-4", "mine-4, trial 2"]
    assert suite[3][0].text == "The answer is: unknown"
    refused = own.bench(*words[:-1], "gone/out.xml", replies=Reply.error(500))
    assert (refused.code, "there is no folder gone" in refused.err) == (2, True)


def test_a_judge_scores_by_a_rubric_and_its_spending_is_told_apart(own: Cli) -> None:
    rubric = "A number is good."
    asked: list[str] = []

    def noting(request: Request) -> Reply:
        asked.append(message_text(request))
        return judges(request)

    words = run(own, "--scorer", "judge", "--rubric", rubric, "--json")
    result = own.bench(*words, replies=noting).ended(0, calls=8)
    assert result.json["headline"]["value"] == pytest.approx(0.7)
    assert result.json["usage"]["calls"] == 4
    assert result.json["agents"]["the judge"]["calls"] == 4
    assert sum(rubric in text for text in asked) == 4
    (folder,) = own.results
    assert own.bench("replay", str(folder)).out.startswith("verified: 4 samples")
    own.resumed(folder, replies=judges).ended(0, calls=0)


def test_judged_tasks_need_no_reference_and_others_do(own: Cli) -> None:
    Path("open.jsonl").write_text('{"query": "How much is 1 + 1?"}\n')
    assert "task 'open-1' has no answer" in own.bench(*run(own, file="open.jsonl")).ended(2).err
    Path("both.csv").write_text("query\nWhy?\nWhen?\n")
    both = own.bench(*run(own, file="both.csv"))
    assert "tasks 'both-2', 'both-3' have no answer" in both.err
    own.bench(*run(own, "--scorer", "judge", file="open.jsonl"), replies=judges).ended(0, calls=2)


def test_a_judge_that_fails_leaves_no_score_and_is_asked_again(own: Cli) -> None:
    def silent(request: Request) -> Reply:
        text = message_text(request)
        return Reply.error(401) if "Judge an answer" in text else adds(request)

    result = own.bench(*run(own, "--scorer", "judge", "--limit", "1"), replies=silent).ended(1)
    assert "the judge could not score the answer" in result.err
    (folder,) = own.results
    own.resumed(folder, replies=judges).ended(0, calls=1)


def test_a_judge_without_a_verdict_is_told(own: Cli) -> None:
    def wordy(request: Request) -> Reply:
        return Reply(text="?") if "Judge" in message_text(request) else adds(request)

    result = own.bench(*run(own, "--scorer", "judge", "--limit", "1"), replies=wordy).ended(1)
    assert "the judge could not score the answer: the model gave no valid answer" in result.err


def test_a_table_becomes_lines(own: Cli) -> None:
    result = own.bench("tasks", "mine.csv", "--scorer", "number")
    tasks = [json.loads(line) for line in result.out.splitlines()]
    assert [task["query"] for task in tasks] == QUERIES
    assert {task["scorer"]["name"] for task in tasks} == {"number"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "arithmetic", "--scorer", "exact"), "arithmetic has its own"),
        (("run", "mine.jsonl", "--rubric", "Be kind."), "Add --scorer judge"),
        (("run", "mine.jsonl", "--scorer", "nunber"), "no scorer 'nunber'. Did you mean 'number'?"),
        (("run", "scored.jsonl", "--scorer", "jugde"), "no scorer 'jugde'. Did you mean 'judge'?"),
        (("run", "nine.jsonl"), "no file 'nine.jsonl'. Did you mean 'mine.jsonl'?"),
        (("run", "own"), "name the tasks"),
    ],
)
def test_what_does_not_fit_is_told(own: Cli, words: tuple[str, ...], message: str) -> None:
    Path("scored.jsonl").write_text('{"query": "1?", "reference": "1", "scorer": "exact"}')
    assert message in own.bench(*words, "--team", "solo.yaml").ended(2).err


def test_an_image_that_the_team_cannot_see_is_refused_before_anything_is_made(own: Cli) -> None:
    Path("plot.png").write_bytes(PNG)
    Path("mine.jsonl").write_text(json.dumps({"query": "?", "answer": "1", "files": ["plot.png"]}))
    for more in ((), ("--dry-run",)):
        result = own.bench(*run(own, *more), replies=adds).ended(2, calls=0)
        assert "task 'mine-1': no agent in solo can read plot.png (image)." in result.err
    assert not Path("results").exists()


@pytest.mark.skipif(detect().tier is None, reason="this machine has no jail for agents' code")
def test_what_a_trial_writes_is_kept_and_shown(own: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SERVICE_API_KEY", "kxv7-very-secret-value-8123")
    Path("solo.yaml").write_text(
        "name: solo\nagents:\n  one: {prompt: Code., agent_type: CodeAgent, max_steps: 2}\n"
    )
    Path("mine.jsonl").write_text('{"id": "made", "query": "Write.", "answer": "done"}\n')
    code = (
        "open('out.txt', 'w').write('made')\n"
        "open('leak.txt', 'w').write('kxv7-very-' + 'secret-value-8123')\n"
        "final_answer('done')"
    )
    assert "accuracy 1.000" in own.bench(*run(own), replies=Reply.code(code)).ended(0).out
    (folder,) = own.results
    kept = [path for path in (folder / "artifacts").rglob("*") if path.is_file()]
    assert kept == [folder / "artifacts" / "made-1" / "one" / "out.txt"]
    assert kept[0].read_text() == "made"
    shown = invoked(mas_view, ["--text", str(folder), "made"], "mas-view")
    assert "\nfile     artifacts/made-1/one/out.txt\n" in shown.out
    assert own.bench("replay", str(folder)).code == 0


def test_traces_have_each_trial_its_run_and_its_judge(own: Cli) -> None:
    words = run(own, "--scorer", "judge", "--rubric", "Any number.", "--otel", "t.jsonl")
    assert own.bench(*words, "--workers", "2", replies=judges).code == 0
    spans = spans_in(Path("t.jsonl"))
    (root,) = tree(spans).values()
    trial = {"invoke_workflow solo": {"invoke_agent one": {"chat m": {}}}}
    judged = {"operator judge": {"chat m": {}}}
    assert [*root.values()] == [{**trial, **judged}] * 4
    assert nested(spans)
    trials = [span for span in spans if span.name == "trial"]
    scores = {span.fields["coterie.task"]: span.fields["coterie.score"] for span in trials}
    assert [scores[f"mine-{n}"] for n in range(1, 5)] == [0.9, 0.9, 0.9, 0.1]
    (folder,) = own.results
    with Journal.open(folder) as journal:
        assert sum(span.tokens for span in spans) == journal.spent().tokens
    own.resumed(folder, "--otel", "u.jsonl", replies=judges).ended(0)
    assert [span.name for span in spans_in(Path("u.jsonl"))] == ["evaluation"]


def test_a_function_of_ones_own_scores_and_is_granted_anew_by_whoever_resumes(own: Cli) -> None:
    Path("own.py").write_text("def near(answer, reference):\n    return reference in answer\n")
    near = ("--scorer", "own.py:near")
    result = own.bench(*run(own, *near, "--limit", "3"), replies=adds)
    assert (result.code, "accuracy 1.000" in result.out) == (0, True), result.err
    (folder,) = own.results
    assert json.loads((folder / "run.json").read_text())["evaluation"]["source"]["scorer"] == "near"
    assert "no scorer 'near'." in own.bench("resume", str(folder), replies=adds).ended(2).err
    assert own.bench("replay", str(folder), *near).out.startswith("verified: 3 samples")
    Path("own.py").write_text("def near(answer, reference):\n    return False\n")
    changed = own.bench("resume", str(folder), *near, "--quiet", replies=adds)
    assert (changed.calls, "accuracy 0.000" in changed.out) == (0, True), changed.err
    Path("own.py").write_text("def near(answer, reference):\n    raise KeyError(answer)\n")
    failed = own.bench(*run(own, *near), replies=adds)
    assert (failed.code, "the scorer near failed: KeyError" in failed.err) == (1, True)


HELPDESK = """\
name: triage
agents:
  sorter:
    prompt: "A customer of tier {{ task.tier }} writes. Answer with the queue: billing or tech."
execution: {max_retries: 0}
"""


def helpdesk() -> None:
    """Write the file that a helpdesk exports: 50 tickets, the queue as people chose it."""
    words = {"billing": "My invoice is wrong", "tech": "{{ task.tier }} is all that it prints"}
    rows = [
        f"{n},{words[queue]} ({n}),{'gold' if n % 5 else 'new'},{queue}"
        for n, queue in enumerate(["billing", "tech"] * 25)
    ]
    Path("tickets.csv").write_text("\n".join(["Ticket,Subject,Tier,Queue", *rows]))
    Path("triage.yaml").write_text(HELPDESK)


def sorts(request: Request) -> Reply:
    """Sort by the subject, right for all but new customers."""
    is_new = "tier new writes" in message_text(request)
    return Reply(text="billing" if "invoice" in message_text(request) or is_new else "tech")


def test_fifty_tickets_of_a_helpdesk_are_sorted(own: Cli) -> None:
    helpdesk()
    words = ("run", "tickets.csv", "--team", "triage.yaml", "--quiet")
    columns = ("--map", "query=Subject,answer=Queue,id=Ticket")
    lacking = own.bench(*words, *columns, "--map", "level=Tier", replies=sorts).ended(2, calls=0)
    word = "names {{ task.tier }}, and task '0' has no such field. Its fields: level."
    assert f"the prompt of sorter in triage {word}" in lacking.err
    asked: list[str] = []

    def sorts_and_notes(request: Request) -> Reply:
        asked.append(message_text(request))
        return sorts(request)

    result = own.bench(*words, *columns, "--json", replies=sorts_and_notes)
    assert (result.code, len(asked)) == (0, 50), result.err
    assert result.json["headline"]["value"] == 0.9  # of ten new customers, five write of no invoice
    assert sum("{{ task.tier }} is all" in text and "tier gold" in text for text in asked) == 20
    (folder,) = own.results
    own.resumed(folder, replies=sorts).ended(0, calls=0)

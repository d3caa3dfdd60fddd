"""Verdicts on mathematics: what they are, and the interpreter in a jail that gives them all."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from coterie.benchmarks.evaluation.benchmark import Source, find_benchmark
from coterie.benchmarks.small import mathematics
from coterie.runtime.agents.outcomes import Score
from coterie.runtime.jail import Jails
from coterie.runtime.jail.detect import detect
from coterie.runtime.scoring.scorers import Evidence, ScorerError
from coterie.runtime.scoring.scorers import score as scored
from coterie.schema import ConfigError, InputError, JailError, ScorerChoice, Task, load_task

from ...waiting import wait_for


@pytest.fixture(scope="module")
def jails() -> Iterator[Jails]:
    report = detect()
    if report.tier is None:
        pytest.skip(str(report))
    with closing(Jails()) as result:
        yield result


def evidence(jails: Jails, answer: str, reference: str, **options: float) -> Evidence:
    scorer = ScorerChoice(name="math", options=options)
    task = Task(id="t", query="?", answer=reference, scorer=scorer)
    return Evidence(task=task, answer=answer, jails=jails)


def judged(jails: Jails, answer: str, reference: str, **options: float) -> Score:
    result = asyncio.run(scored(evidence(jails, answer, reference, **options)))
    assert result is not None
    return result


def test_a_missing_library_is_said_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mathematics, "DISTRIBUTIONS", ("no-such-library",))
    for name in ("math500", "hard-math", "hard-math-by-subject", "domains"):
        with pytest.raises(InputError, match=rf"{name}: .*pip install .*\[math\]"):
            find_benchmark(name).prepare(Source(), [])
    with pytest.raises(ScorerError, match=r"the scorer math: .*not installed"):
        judged(Jails(), "7", "7")
    (tmp_path / "task.json").write_text(
        '{"id": "t", "query": "?", "answer": "7", "scorer": "math"}'
    )
    with pytest.raises(ConfigError, match=r"task\.json:1:.*scorer.*\[math\]"):
        load_task(tmp_path / "task.json")


def test_what_is_boxed_to_the_letter_needs_no_jail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Jails, "open", None)
    assert judged(Jails(), "so $\\boxed{ \\frac{1}{2} }$.", "\\frac{1}{2}").value == 1


ENDLESS = "\\boxed{9^{9^{9^{9}}}}"


@pytest.mark.parametrize(
    ("answer", "reference", "value"),
    [
        ("It is \\boxed{\\frac{2}{4}}", "0.5", 1),
        ("$x^2 + 1$", "1+x^2", 1),
        ("\\boxed{(3, \\pi/2)}", "\\left( 3, \\frac{\\pi}{2} \\right)", 1),
        ("\\boxed{8}", "7", 0),
        ("\\boxed{1} and \\boxed{2}", "2", 0),
        ("\\fbox{1} and \\boxed{2}", "2", 1),
        ("\\boxed{(3, 4)}", "(3,4)", 1),
        ("\\boxed{\\left ( 3, 4 \\right )}", "\\left( 3, 4 \\right)", 0),
        ("", "7", 0),
        ("__import__('os')._exit(0)", "7", 0),
        ("\\boxed{" * 3000, "7", 0),
        ("\x00\ud800", "7", 0),
    ],
)
def test_equal_meaning_is_right(jails: Jails, answer: str, reference: str, value: float) -> None:
    result = judged(jails, answer, reference, seconds=30)
    assert result.value == value, result.reason


def test_what_never_ends_is_wrong_and_the_next_answer_is_judged(jails: Jails) -> None:
    assert judged(jails, ENDLESS, "7", seconds=0.3) == Score(
        value=0.0, reason="cannot be read: it ran longer than 0.3 seconds"
    )
    assert judged(jails, "\\boxed{7.0}", "7").value == 1


SCRIPT = """
import os, time

count = 0

def judged(answer, reference, seconds):
    global count
    count += 1
    if answer == "dies" or (answer == "dies of another" and count > 1):
        os._exit(3)
    if answer.startswith("waits"):
        open(answer.split()[1], "x")
        time.sleep(3600)
    return f"{count}. {answer}"
"""


@pytest.fixture
def scripted(jails: Jails, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Jails]:
    """Jails whose interpreter counts its answers and does what they say, without the library."""
    del jails
    (tmp_path / "script.py").write_text(SCRIPT)
    monkeypatch.setattr(mathematics, "_JAILED", tmp_path / "script.py")
    with closing(Jails()) as result:
        yield result


def said(jails: Jails, answer: str) -> str:
    return judged(jails, answer, "7").reason.removeprefix("cannot be read: ")


def test_one_interpreter_judges_all_answers_until_its_jails_are_closed(scripted: Jails) -> None:
    assert [said(scripted, name) for name in "ab"] == ["1. a", "2. b"]
    scripted.close()
    assert said(scripted, "c") == "1. c"


def test_an_answer_pays_for_its_own_end_only(scripted: Jails) -> None:
    assert said(scripted, "a") == "1. a"
    assert said(scripted, "dies of another") == "1. dies of another"
    assert "exit code 3" in said(scripted, "dies")
    assert said(scripted, "b") == "1. b"


async def test_a_verdict_that_is_given_up_ends_at_once_and_no_other_with_it(
    scripted: Jails, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begun() -> bool:
        return any(tmp_path.glob("**/begun"))

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    endless = asyncio.ensure_future(scored(evidence(scripted, "waits begun", "7")))
    other = asyncio.ensure_future(scored(evidence(scripted, "b", "7")))
    await asyncio.to_thread(wait_for, begun, "the answer is not being judged")
    endless.cancel()
    with pytest.raises(asyncio.CancelledError):
        await endless
    result = await other
    assert result is not None
    assert result.reason.endswith("1. b")


def test_a_library_that_does_not_start_is_no_verdict(scripted: Jails, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import nothing_of_that_name")
    with pytest.raises(JailError, match=r"does not start in the jail: .*nothing_of_that_name"):
        judged(scripted, "a", "7")

"""HumanEval's verdicts: what passes, and what only tries to look as if it did."""

import asyncio
import os
import random
import tempfile
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from coterie.benchmarks.evaluation.benchmark import Source
from coterie.benchmarks.small._jailed import define, judge, respond
from coterie.benchmarks.small.humaneval import humaneval_problems, humaneval_task
from coterie.benchmarks.small.passing import readings
from coterie.runtime.agents.outcomes import Score
from coterie.runtime.jail import AnyJail, JailRequest, Jails
from coterie.runtime.jail.detect import detect
from coterie.runtime.scoring.scorers import Evidence, score
from coterie.schema import InputError, JailError, ScorerChoice, Task

from ...waiting import wait_for
from .problems import BODY, PROMPT, TEST, task

FULL = PROMPT + BODY


@pytest.fixture(scope="module")
def jails() -> Jails:
    report = detect()
    if report.tier is None:
        pytest.skip(str(report))
    return Jails()


def verdict(jails: Jails, answer: str, asked: Task | None = None) -> Score:
    evidence = Evidence(task=asked or task(), answer=answer, jails=jails)
    result = asyncio.run(score(evidence))
    assert result is not None
    return result


ANSWERS = [
    BODY,
    BODY.strip(),
    "return [number + by for number in numbers]",
    "moved = [number + by for number in numbers]\n    return moved",
    "  moved = [number + by for number in numbers]\n  return moved",
    FULL,
    FULL.replace("from typing", "from __future__ import annotations\nfrom typing"),
    f"Here it is:\n\n```python\n{FULL}```\nIt adds.",
    f"```python\n{BODY}```",
    f"```python\n{FULL}",
    f"1. Do this:\n   ```py\n   {FULL.replace(chr(10), chr(10) + '   ')}\n   ```",
    f"```python\n{FULL}```\nTry it:\n```python\nprint(shifted([1]))\n```",
    f"```\nshifted = None\n```\nbetter:\n```python\n{FULL}```",
    FULL + "\nif __name__ == '__main__':\n    raise SystemExit(1)\n",
    FULL + "\nprint('x' * 100_000)\n",
]


@pytest.mark.parametrize("answer", ANSWERS)
def test_completions_and_functions_pass_bare_and_fenced(answer: str) -> None:
    function = define(readings(answer, PROMPT, "shifted"), "shifted")
    assert judge(PROMPT, TEST, "shifted", lambda asked: respond(function, asked)) == ""


@pytest.mark.parametrize(
    "answer", [BODY, f"```python\n{FULL}```", FULL + "\nprint('x' * 100_000)\n"]
)
def test_they_pass_in_the_jails(jails: Jails, answer: str) -> None:
    assert verdict(jails, answer) == Score(value=1.0, reason="passed")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "TypeError|AssertionError"),
        ("I cannot do that.", "SyntaxError"),
        ("    return numbers", "AssertionError"),
        ("    return undefined", "NameError"),
        ("    exit(0)", "NameError|SystemExit"),
        ("    import os\n    os._exit(0)", "exit code 0"),
        ("    import os, signal\n    os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
        ("    print('passed')", "AssertionError"),
        ("    raise AssertionError('passed')", "AssertionError: passed"),
        (
            "    class Any(list):\n        __eq__ = lambda self, other: True\n    return Any()",
            "Asse",
        ),
        (
            "    class Any:\n        __eq__ = lambda self, other: True\n    return Any()",
            "TypeError",
        ),
        ("    raise SystemExit(0)", "SystemExit"),
        (f"{BODY}\nraise SystemExit(0)", "SystemExit"),
        (f"{BODY}\nimport os\nos._exit(0)", "exit code 0"),
        ("    return shifted(numbers, by)", "RecursionError"),
        ("    return bytearray(1 << 40)", "MemoryError"),
        ("    return 'x' * (5 << 20)", "longer|larger|bytes"),
    ],
)
def test_what_is_wrong_or_ends_early_fails(jails: Jails, answer: str, why: str) -> None:
    result = verdict(jails, answer)
    assert result.value == 0
    assert any(word in result.reason for word in why.split("|")), result.reason


CHEATS = {
    "replaces what its process says": (
        "    import sys\n"
        "    main = sys.modules['__main__']\n"
        "    main.encode = main.respond = lambda *_: ''\n"
        "    main.judge = lambda *_: ''\n"
        "    return numbers\n"
    ),
    "speaks for its process": (
        "    import os\n"
        "    for handle in range(3, 20):\n"
        "        try:\n"
        '            os.write(handle, b\'{"op": "done", "value": "", "final": false,\'\n'
        "                     b' \"error\": null}\\n' * 20)\n"
        "        except OSError:\n"
        "            pass\n"
        "    os._exit(0)\n"
    ),
    "looks for the test in its memory": (
        "    import gc\n"
        "    tests = [one for one in gc.get_objects() if isinstance(one, dict)\n"
        "             and callable(one.get('check'))]\n"
        "    assert not tests\n"
        "    tests = [one for one in gc.get_objects() if isinstance(one, list)\n"
        "             and [4, 5] in one and [1, 2] in one]\n"
        "    return tests[0]\n"
    ),
}


@pytest.mark.parametrize("answer", CHEATS.values(), ids=CHEATS)
def test_code_that_attacks_its_own_process_fails(jails: Jails, answer: str) -> None:
    assert verdict(jails, answer).value == 0


def taking(seconds: float) -> Task:
    """The task, with another limit."""
    options = {"seconds": seconds}
    return replace(task(), scorer=ScorerChoice(name="humaneval", options=options))


@pytest.mark.parametrize(
    "answer", ["    while True: pass", f"{BODY}\nwhile True: pass", "    return iter(int, 1)"]
)
def test_code_that_hangs_is_stopped(jails: Jails, answer: str) -> None:
    result = verdict(jails, answer, taking(0.3))
    assert (result.value, "0.3 seconds" in result.reason) == (0, True), result.reason


def test_the_time_of_all_calls_counts_together(jails: Jails) -> None:
    slow = "    import time\n    time.sleep(0.2)\n" + BODY
    result = verdict(jails, slow, taking(0.5))
    assert (result.value, "0.5 seconds" in result.reason) == (0, True), result.reason
    assert verdict(jails, slow, taking(60)).value == 1


def written(name: str) -> bool:
    """Whether some answer's code has written a file of that name."""
    return any(Path(tempfile.gettempdir()).glob(f"coterie-humaneval.*/{name}"))


async def test_a_scorer_that_is_cancelled_ends_its_code(jails: Jails) -> None:
    mark = uuid.uuid4().hex
    endless = f"    open({mark!r}, 'x')\n    while True: pass"
    asked = taking(3600)
    scoring = asyncio.ensure_future(score(Evidence(task=asked, answer=endless, jails=jails)))
    await asyncio.to_thread(wait_for, lambda: written(mark), "the code was not started")
    scoring.cancel()
    with pytest.raises(asyncio.CancelledError):
        await scoring
    assert not written(mark)


class OpenedOffTheLoop(Jails):
    """Jails that nobody may open where other runs wait meanwhile."""

    def open(self, work: Path, request: JailRequest | None = None) -> AnyJail:
        with pytest.raises(RuntimeError):  # no loop runs in this thread
            asyncio.get_running_loop()
        return super().open(work, request)


@pytest.mark.usefixtures("jails")
def test_no_other_run_waits_for_the_jails_of_a_verdict() -> None:
    assert verdict(OpenedOffTheLoop(), FULL).value == 1


def test_a_failing_jail_is_no_verdict(jails: Jails, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coterie.runtime.jail.code.worker._SCRIPT", Path("/nowhere"))
    with pytest.raises(JailError):
        verdict(jails, BODY)


def test_a_test_that_comes_to_no_end_is_no_verdict(jails: Jails) -> None:
    with pytest.raises(JailError, match="the test of shifted did not end"):
        verdict(jails, BODY, task(test="def check(candidate): raise SystemExit\n"))


def test_readings_go_from_the_likeliest_to_the_last_resort() -> None:
    prompt = "def f():\n"
    result = readings("return 1\n", prompt, "f")
    assert result == [
        ["def f():\nreturn 1\n"],
        ["def f():\n", "return 1\n"],
        ["def f():\n    return 1\n"],
        ["def f():\n    return 1\n"],
    ]


def test_tasks_show_the_prompt_and_hide_the_test() -> None:
    result = task()
    assert result.id == "Invented-0"
    assert PROMPT in result.query
    assert "check(" not in result.query
    assert set(result.answer) == {"prompt", "entry_point", "test"}


@pytest.fixture(scope="module")
def published() -> list[dict[str, str]]:
    """The real problems, from a folder that is named or from the cache; nothing is fetched."""
    folder = os.environ.get("MAS_BENCHMARK_DATA")

    def offline(*_: object) -> None:
        raise InputError("it is not in the cache")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("coterie.benchmarks.small.published.fetch", offline)
        try:
            return humaneval_problems(Source(data=Path(folder) / "small" if folder else None))
        except InputError as error:
            pytest.skip(f"HumanEval is not on this machine: {error}")


def test_only_solutions_pass(jails: Jails, published: list[dict[str, str]], nightly: bool) -> None:
    assert len(published) == 164
    chosen = published if nightly else random.Random(0).sample(published, 6) + published[32:39:6]
    count = 0
    for fields in chosen:
        asked = humaneval_task(dict(fields))
        whole = f"```python\n{fields['prompt']}{fields['canonical_solution']}```"
        bare = fields["canonical_solution"]
        answers = (bare, bare.strip(), whole) if nightly else (whole,)
        for answer in answers:
            result = verdict(jails, answer, asked)
            assert result.value == 1, (fields["task_id"], result.reason)
        assert verdict(jails, "", asked).value == 0, fields["task_id"]
        count += 1
    assert count == (164 if nightly else 8)

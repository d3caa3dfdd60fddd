"""The progress of an evolution: a header, what is at work, how far it is, and how long it takes."""

import io
import re
import shlex

import pytest
from rich.console import Console

from coterie.operators.command.watching import Watch
from coterie.runtime.record.trace import Event
from coterie.schema import Task

from .conftest import Lab

TASKS = [Task(id=f"t{n}", query="?") for n in range(4)]
USAGE = {"prompt_tokens": 3, "completion_tokens": 4}


def watch(count: int = 0) -> Watch:
    return Watch(tasks=TASKS, count=count, scrub=lambda text: text.replace("sk-1", "***"))


def event(kind: str, agent: str | None = None, **fields: object) -> Event:
    return Event(type=kind, seconds=1.0, agent=agent, fields=fields)


def drawn(shown: Watch) -> list[str]:
    stream = io.StringIO()
    Console(file=stream, width=120).print(shown.draw())
    return [" ".join(line.split()) for line in stream.getvalue().splitlines()]


def test_a_header_and_a_line_for_each_task_where_there_is_no_terminal(lab: Lab) -> None:
    result = lab.evolve("--limit", "2")
    head, first, second, look = result.err.splitlines()
    assert re.fullmatch(
        r"evomas: 2 tasks, \d+ at a time; default = m; children reuse their parents' answers"
        r" where models take a seed, or have temperature 0; pool/evolutions/recipe/",
        head,
    )
    assert re.fullmatch(r"    1 of 2  t0: 1 by solo_1 \(3 tried, 0 dropped\)  0:\d\d left", first)
    assert second.startswith("    2 of 2  t1: ")
    assert not second.endswith(" left")
    assert look == "Look at it with: mas-view pool/evolutions/recipe"


def test_it_counts_on_after_a_stop(lab: Lab) -> None:
    lab.evolved(1)
    result = lab.evolve("--limit", "3")
    assert re.findall(r"^ +(\d) of 3 ", result.err, re.MULTILINE) == ["2", "3"]


def test_the_table_has_the_tasks_at_work_and_what_happens_on_them() -> None:
    shown = watch(count=1)
    call = {"usage": USAGE, "attempts": 1, "seconds": 0.5, "tool_calls": [], "model": "m"}
    shown.hear(1, event("model_call", "one", run="candidate 2", **call))
    shown.hear(2, event("agent_retried", "two", run="candidate 0", error="sk-1\x1b[2J"))
    _, second, third = drawn(shown)
    assert re.fullmatch(r"t1 0\.\d 1 7 candidate 2: one: asks m: 3 \+ 4 tokens, 0\.5 s", second)
    assert re.fullmatch(r"t2 0\.\d 0 0 candidate 0: two: again: \*\*\*", third)


def test_what_is_done_leaves_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    shown = watch(count=1)
    shown.hear(1, event("agent_left", "one"))
    shown.finished("t1: 1")
    assert re.fullmatch(r"    2 of 4  t1: 1  0:00 left\n", capsys.readouterr().err)
    assert len(drawn(shown)) == 1


def test_after_a_budget_was_met_the_command_that_goes_on_has_a_larger_one(lab: Lab) -> None:
    stopped = lab.evolve("--limit", "1", "--budget", "calls=4").ended(3)
    hint = stopped.err.split("\nResume: ")[1].splitlines()[0]
    words = shlex.split(hint)
    assert (words[0], words[-2:]) == ("mas-evolve", ["--budget", "calls=8"])
    assert words.count("--budget") == 1
    assert lab.evolve("--limit", "1", *words[-2:]).code == 0

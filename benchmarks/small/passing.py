"""The scorer `humaneval`: whether the function that an answer defines passes a test.

The answer's code and the test run in two jails. The test calls a proxy of the function; arguments
and results pass as text through this process. The verdict comes from the test's jail, out of reach
of the answer's code: it can end its process, print, or search its memory without passing.
"""

from __future__ import annotations

import re
import time
from contextlib import closing, contextmanager
from pathlib import Path
from textwrap import dedent, indent
from typing import TYPE_CHECKING, Any

from ...runtime.agents.outcomes import Score
from ...runtime.jail import JailLimits, JailRequest, PythonWorker
from ...runtime.jail.scratch import ScratchFolder
from ...runtime.runners.bridge import in_thread
from ...schema.host.scorer_form import ScorerForm, seconds_option, takes
from ...schema.values.errors import JailError

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from ...runtime.jail import AnyJail, Jails
    from ...runtime.runners.bridge import Bridge
    from ...runtime.scoring.scorers import Evidence

SECONDS = 10.0
LONGEST = 100_000
"""Maximum characters of an answer: it is read as four programs, sent to the jail in one message."""
LIMITS = JailLimits(memory=1 << 30, resident=1 << 30, cpu=60, disk=64 << 20, processes=32)
_JAILED = Path(__file__).with_name("_jailed.py")
_BLOCK = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)(?:^[ \t]*```|\Z)", re.MULTILINE | re.DOTALL)


_SOURCE = {"type": "string"}


@takes(
    ScorerForm(
        options={"seconds": seconds_option(SECONDS, "the answer's code in all")},
        reference={
            "type": "object",
            "required": ["prompt", "entry_point", "test"],
            "properties": {
                "prompt": {**_SOURCE, "description": "What the answer continues."},
                "entry_point": {
                    **_SOURCE,
                    "pattern": r"[A-Za-z_]\w{0,127}",
                    "x-rule": "the name of a function",
                    "examples": ["add"],
                    "description": "The function's name.",
                },
                "test": {**_SOURCE, "description": "Source that defines `check(candidate)`."},
            },
        },
        longest=LONGEST,
    )
)
async def humaneval(evidence: Evidence) -> Score:
    """Run an answer in a jail, against its test in another one.

    The reference answer of the task is an object with `prompt`, `entry_point` (the function's name)
    and `test` (source that defines `check(candidate)`). The option `seconds`, 10 by default, limits
    the total time of the answer's code.

    Raises:
        JailError: There is no jail, or one failed.
    """
    return await in_thread(lambda bridge: _graded(evidence, bridge), name="humaneval")


def readings(answer: str, prompt: str, entry_point: str) -> list[list[str]]:
    """Return the programs that an answer may stand for, the likeliest first.

    Code is the content of a fence: of several, the last one that defines the function, else the
    last one. Without a fence, the whole answer is code. It may continue the prompt, perhaps without
    its indentation, or be complete.
    """
    blocks: list[str] = _BLOCK.findall(answer) or [answer]
    defines = re.compile(rf"^[^\S\n]*(?:async\s+)?def\s+{re.escape(entry_point)}\b", re.MULTILINE)
    code = next(filter(defines.search, reversed(blocks)), blocks[-1])
    return [
        [prompt + code],
        [prompt, dedent(code)],
        [f"{prompt}    {code.lstrip()}"],
        [prompt + indent(dedent(code), "    ")],
    ]


@contextmanager
def _jail(jails: Jails, bridge: Bridge) -> Generator[AnyJail]:
    with (
        ScratchFolder("humaneval") as folder,
        jails.open(folder.path, JailRequest(limits=LIMITS, returns=False)) as jail,
    ):
        bridge.on_stop(jail.kill)
        yield jail


def _graded(evidence: Evidence, bridge: Bridge) -> Score:
    jails = evidence.jails
    with _jail(jails, bridge) as for_answer, _jail(jails, bridge) as for_test:
        return _run_tests(evidence, for_answer, for_test)


def _run_tests(evidence: Evidence, for_answer: AnyJail, for_test: AnyJail) -> Score:
    problem: Mapping[str, str] = evidence.task.answer
    prompt, entry_point = problem["prompt"], problem["entry_point"]
    seconds = float(evidence.task.scorer.options.get("seconds", SECONDS))
    with closing(_JailedAnswer(for_answer, seconds)) as answer:
        try:
            answer.define(readings(evidence.answer, prompt, entry_point), entry_point)
        except _Failed as failure:
            return Score(value=0.0, reason=str(failure))
        wrong = _judged(problem, answer, for_test)
    return Score(value=float(not wrong), reason=wrong or "passed")


def _judged(problem: Mapping[str, str], answer: _JailedAnswer, jail: AnyJail) -> str:
    """Run the test; return what the answer fails, or an empty text."""
    sources = ", ".join(repr(problem[name]) for name in ("prompt", "test", "entry_point"))
    with closing(PythonWorker(jail, on_tool=answer.respond, tools=["ask"])) as worker:
        worker.execute(_JAILED.read_text(encoding="utf-8"))
        result = worker.execute(f"judge({sources}, ask)")
    if answer.broken is not None:
        raise answer.broken
    if result.error is not None:
        raise JailError(f"the test of {problem['entry_point']} did not end: {result.error}")
    return answer.failure or str(result.output)


class _Failed(Exception):
    """The answer's code failed; the text explains how."""


class _JailedAnswer:
    """An answer's function in its jail.

    Attributes:
        failure: How its code failed; empty if it did not.
        broken: How its jail failed; None if it did not.
    """

    def __init__(self, jail: AnyJail, seconds: float) -> None:
        self.failure = ""
        self.broken: JailError | None = None
        self._worker = PythonWorker(jail)
        self._seconds = self._left = seconds

    def define(self, programs: list[list[str]], entry_point: str) -> None:
        """Define the function."""
        self._worker.execute(_JAILED.read_text(encoding="utf-8"))
        self._run(f"function = define({programs!r}, {entry_point!r})\nNone")

    def respond(self, _name: str, arguments: list[Any], _named: dict[str, Any]) -> Any:
        """Call the function for the test. Raises as `define`."""
        return self._run(f"respond(function, {arguments[0]!r})")

    def close(self) -> None:
        """Stop its process."""
        self._worker.close()

    def _run(self, code: str) -> Any:
        begun = time.monotonic()
        try:
            result = self._worker.execute(code, timeout=self._left)
        except JailError as error:
            self.broken = error
            raise
        self._left -= time.monotonic() - begun
        if self._left <= 0:
            self.failure = f"its code took more than {self._seconds:g} seconds"
        elif result.error is not None:
            self.failure = result.error.splitlines()[-1]
        if self.failure:
            raise _Failed(self.failure)
        return result.output

"""The scorer `math`: whether an answer means the same as the reference, by math-verify."""

from __future__ import annotations

import asyncio
import re
import threading
from contextlib import ExitStack, closing, suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...runtime.agents.outcomes import Score
from ...runtime.jail import JailKilled, JailLimits, JailRequest, PythonWorker
from ...runtime.jail.scratch import ScratchFolder
from ...schema.host.scorer_form import ScorerForm, seconds_option, takes
from ...schema.values.errors import InputError, JailError
from ...schema.values.extras import how_to_get

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ...runtime.jail import Jails
    from ...runtime.scoring.scorers import Evidence
    from ...schema.team.task import Task
    from ...schema.values.problems import Path as FieldPath
    from ..evaluation.benchmark import Source

SECONDS = 10.0
START_SECONDS = 120.0
"""The time limit for starting the library, which takes three seconds unless the machine is busy."""
SPARE_SECONDS = 30.0
"""The interpreter's time in addition to the answer's own limit."""
LONGEST = 20_000
"""The number of characters at the end of an answer that are read, where its result is."""
LIMITS = JailLimits(memory=1 << 30, resident=1 << 30, cpu=60, disk=16 << 20, processes=8)
DISTRIBUTIONS = (
    "math-verify", "latex2sympy2-extended", "sympy", "mpmath", "antlr4-python3-runtime",
)  # fmt: skip
_JAILED = Path(__file__).with_name("_verified.py")


def _check(_options: Mapping[str, Any], _reference: Any) -> Mapping[FieldPath, str]:
    return {} if _is_installed() else {("scorer", "name"): _missing()}


@takes(
    ScorerForm(
        options={"seconds": seconds_option(SECONDS, "reading the answer")},
        reference={"type": ["string", "number"], "examples": ["\\frac{1}{2}"]},
        check=_check,
    )
)
async def math(evidence: Evidence) -> Score:
    """Compare mathematics by meaning: 1/2, 0.5 and 50 % are equal.

    The boxed part of an answer counts, else its last expression. The reference is LaTeX without
    dollar signs. A separate process reads both in a jail. An answer is wrong if it takes more than
    the option `seconds`, 10 by default, or too much memory.

    Raises:
        InputError: math-verify is not installed.
        JailError: There is no jail, or it failed.
    """
    require_math("the scorer math")
    if _boxed(evidence.answer) == str(evidence.task.answer).strip():
        return Score(value=1.0, reason="right, to the letter")
    reader, given_up = evidence.jails.lasting("math", _MathJudge), threading.Event()
    try:
        return await asyncio.to_thread(reader.judge, evidence, given_up)
    except asyncio.CancelledError:
        given_up.set()
        reader.kill()  # which ends the thread
        raise


def _boxed(answer: str) -> str | None:
    """Return the content of an answer's only box if it ends the answer."""
    _, *boxes = answer[-LONGEST:].split("\\boxed{")
    result = re.fullmatch(r"(.+)\}[$.\s]*", boxes[0], re.DOTALL) if len(boxes) == 1 else None
    return result[1].strip() if result and "\\fbox" not in answer else None


def require_math(who: str) -> None:
    """Check that verdicts are available.

    Raises:
        InputError: math-verify is not installed.
    """
    if not _is_installed():
        raise InputError(f"{who}: {_missing()}")


def needing_math(benchmark: str) -> Callable[[Source, Sequence[Task]], None]:
    """Return the `prepare` function of a benchmark that needs math-verify, which checks for it."""

    def prepare(_source: Source, _tasks: Sequence[Task]) -> None:
        require_math(f"benchmark {benchmark}")

    return prepare


def _missing() -> str:
    return (
        f"mathematics is scored by math-verify, which is not installed. Run: {how_to_get('math')}"
    )


def _is_installed() -> bool:
    try:
        return all(distribution(name) for name in DISTRIBUTIONS)
    except PackageNotFoundError:
        return False


def _readable() -> tuple[Path, ...]:
    """Return the files of the library and its dependencies, and nothing else of its folder."""
    return tuple(path for name in DISTRIBUTIONS for path in _parts(name) if path.exists())


def _parts(name: str) -> Iterator[Path]:
    result = distribution(name)
    tops = {file.parts[0] for file in result.files or () if file.parts[0] != ".."}
    return (Path(str(result.locate_file(top))) for top in sorted(tops))


class _Ended(Exception):
    """The interpreter ended; the text explains how."""


class _MathJudge:
    """An interpreter in a jail with the library loaded, which judges answers one by one."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._open = ExitStack()
        self._worker: PythonWorker | None = None

    def judge(self, evidence: Evidence, given_up: threading.Event) -> Score:
        """Judge an answer."""
        with self._turn:
            if self._worker is not None:
                # Another answer may have left something in the jail that ends a warm interpreter.
                with suppress(JailKilled, _Ended):
                    return _score(self._explanation(evidence), evidence)
            if given_up.is_set():
                raise JailKilled("The verdict was given up.")
            try:
                return _score(self._explanation(evidence), evidence)
            except _Ended as ended:
                return _score(str(ended), evidence)

    def kill(self) -> None:
        """Kill the interpreter; the next answer starts a new one."""
        if (worker := self._worker) is not None:
            worker.kill("a verdict was given up")

    def close(self) -> None:
        """Stop the interpreter and release its resources."""
        self.kill()
        with self._turn:
            self._end()

    def _explanation(self, evidence: Evidence) -> str:
        """Return the interpreter's verdict on the answer."""
        answer, reference = evidence.answer[-LONGEST:], str(evidence.task.answer)
        seconds = float(evidence.task.scorer.options.get("seconds", SECONDS))
        worker = self._worker or self._start(evidence.jails)
        code = f"judged({answer!r}, {reference!r}, {seconds!r})"
        try:
            result = worker.execute(code, timeout=seconds + SPARE_SECONDS)
        except BaseException:
            self._end()
            raise
        if result.error is not None:
            self._end()
            raise _Ended(result.error.splitlines()[-1])
        return str(result.output)

    def _start(self, jails: Jails) -> PythonWorker:
        try:
            worker = self._worker = self._opened(jails)
            ready = worker.execute(_JAILED.read_text(encoding="utf-8"), timeout=START_SECONDS)
        except BaseException:
            self._end()
            raise
        if ready.error is not None:
            self._end()
            why = ready.error.splitlines()[-1]
            raise JailError(f"math-verify does not start in the jail: {why}")
        return worker

    def _opened(self, jails: Jails) -> PythonWorker:
        readable = _readable()
        folder = self._open.enter_context(ScratchFolder("math"))
        request = JailRequest(limits=LIMITS, readable=readable, returns=False)
        jail = self._open.enter_context(jails.open(folder.path, request))
        worker = self._open.enter_context(closing(PythonWorker(jail)))
        worker.execute(
            f"import sys\nsys.path += {sorted({str(path.parent) for path in readable})!r}"
        )
        return worker

    def _end(self) -> None:
        self._worker = None
        self._open.close()


def _score(answer: str, evidence: Evidence) -> Score:
    reasons = {
        "True": "right",
        "False": f"not {str(evidence.task.answer)[:80]}",
        "None": "no expression in the answer",
    }
    return Score(
        value=float(answer == "True"), reason=reasons.get(answer, f"cannot be read: {answer}")
    )

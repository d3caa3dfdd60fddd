"""The scorer `math`: whether an answer means the same as the reference, by math-verify."""

from __future__ import annotations

import asyncio
import re
from contextlib import closing
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...runtime.jail import Limits, PythonWorker
from ...runtime.jail.scratch import ScratchFolder
from ...runtime.scorers import Score
from ...schema.errors import InputError, JailError
from ...schema.scorer_form import ScorerForm, takes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ...runtime.jail import Jail
    from ...runtime.scorers import Evidence
    from ...schema.task import Task
    from ..benchmark import Source

__all__ = ["math", "needing_math", "require_math"]

SECONDS = 10.0
START_SECONDS = 120.0
"""How long the library may take to start: two seconds, unless the machine is busy."""
LONGEST = 20_000
"""Characters at the end of an answer that are read: what it comes to stands there."""
LIMITS = Limits(memory=1 << 30, resident=1 << 30, cpu=60, disk=16 << 20, processes=8)
DISTRIBUTIONS = (
    "math-verify", "latex2sympy2-extended", "sympy", "mpmath", "antlr4-python3-runtime",
)  # fmt: skip
MISSING = (
    "verdicts on mathematics are those of math-verify, which is not installed. Install the extra:"
    " pip install 'coterie[math]'."
)
_JAILED = Path(__file__).with_name("_verified.py")


def _check(_options: Mapping[str, Any]) -> Mapping[str, str]:
    return {} if _is_installed() else {"name": MISSING}


@takes(
    ScorerForm(
        options={"seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": 600}},
        reference={"type": ["string", "number"], "examples": ["\\frac{1}{2}"]},
        check=_check,
    )
)
async def math(evidence: Evidence) -> Score:
    """Compare mathematics by what it means: 1/2, 0.5 and 50 % are the same.

    What counts of an answer is what is boxed, else the last expression. The reference is LaTeX
    without dollar signs. Both are read in a jail; an answer that takes more than the option
    `seconds`, 10 unless it is said, or more memory than there is, is wrong.

    Raises:
        InputError: math-verify is not installed.
        JailError: There is no jail, or it failed.
    """
    require_math("the scorer math")
    if (boxed := _boxed(evidence.answer)) and boxed == "".join(str(evidence.task.answer).split()):
        return Score(value=1.0, reason="right, to the letter")
    folder = ScratchFolder("math")
    with folder, evidence.jails.open(folder.path, limits=LIMITS, readable=_readable()) as jail:
        return await asyncio.to_thread(_judged, evidence, jail)


def _boxed(answer: str) -> str:
    """Give what ends an answer in a box, without spaces; nothing where no box ends it."""
    last = answer[-LONGEST:].rpartition("\\boxed{")[2]
    found = re.match(r"(.*)\}[$.\s]*\Z", last, re.DOTALL) if "\\boxed{" in answer else None
    return "".join(found[1].split()) if found else ""


def require_math(who: str) -> None:
    """Make sure that verdicts can be had.

    Raises:
        InputError: math-verify is not installed.
    """
    if not _is_installed():
        raise InputError(f"{who}: {MISSING}")


def needing_math(benchmark: str) -> Callable[[Source, Sequence[Task]], None]:
    """Give what a benchmark with such verdicts prepares: it makes sure that they can be had."""

    def prepare(_source: Source, _tasks: Sequence[Task]) -> None:
        require_math(f"benchmark {benchmark}")

    return prepare


def _is_installed() -> bool:
    try:
        return all(distribution(name) for name in DISTRIBUTIONS)
    except PackageNotFoundError:
        return False


def _readable() -> list[Path]:
    """Give what the library consists of, with what it needs, and nothing else of its folder."""
    return [path for name in DISTRIBUTIONS for path in _parts(name) if path.exists()]


def _parts(name: str) -> Iterator[Path]:
    found = distribution(name)
    tops = {file.parts[0] for file in found.files or () if file.parts[0] != ".."}
    return (Path(str(found.locate_file(top))) for top in sorted(tops))


def _judged(evidence: Evidence, jail: Jail) -> Score:
    answer, reference = evidence.answer[-LONGEST:], str(evidence.task.answer)
    seconds = float(evidence.task.scorer.options.get("seconds", SECONDS))
    folders = sorted({str(path.parent) for path in _readable()})
    with closing(PythonWorker(jail)) as worker:
        worker.execute(f"import sys\nsys.path += {folders!r}")
        ready = worker.execute(_JAILED.read_text(encoding="utf-8"), timeout=START_SECONDS)
        if ready.error is not None:
            raise JailError(f"math-verify does not start in the jail: {ready.error}")
        done = worker.execute(f"means({answer!r}, {reference!r})", timeout=seconds)
    if done.error is not None:
        return Score(value=0.0, reason=f"cannot be read: {done.error.splitlines()[-1][:200]}")
    if done.output is None:
        return Score(value=0.0, reason="no expression in the answer")
    right = done.output is True
    return Score(value=float(right), reason="right" if right else f"not {reference[:80]}")

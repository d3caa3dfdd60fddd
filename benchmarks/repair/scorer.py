"""The scorer `repair`: the answer is a patch, and tests that nobody was shown decide."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...runtime.scorers import Evidence, Score
from ...schema.errors import InputError
from ...schema.problems import quoted
from .instance import parse_instance, touched
from .steering import steers
from .trial import TEST_SECONDS, try_patch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .instance import Instance
    from .trial import Trial

__all__ = ["repair"]

_OF_TESTS = re.compile(
    r"(^|/)(tests?|testing)/|(^|/)(test_[^/]*|[^/]*_test)\.py$|(^|/)tox\.ini$|\.pth$"
)
"""With what steers tests: files by which a patch could change what they say of the code."""


async def repair(evidence: Evidence) -> Score:
    """Score a patch: 1 if it repairs the fault and breaks nothing, else 0.

    The task's reference answer is an instance in SWE-bench's format, its `repo` has the base
    commit. The option `timeout` bounds the tests, in seconds; `environment` is the folder of the
    virtual environment that they run in. What was printed is kept as the trial's log.

    The measures are 0 or 1, but for the shares `f2p` and `p2p` of tests that pass as they should:
    `empty_patch`, `patch_applied`, `partial` and `edits_tests`: whether the patch touches tests or
    their settings. What it does to the tests that decide, to conftest files and to modules in the
    place of pytest's is undone; the measure tells where to look before a figure is believed.

    Raises:
        InputError: The task is not one of repair, or this machine lacks what its tests need.
        JailError: There is no jail, or it failed.
    """
    task = evidence.task
    if task.repo is None or not isinstance(task.answer, dict):
        raise InputError(
            f"scorer repair: task {task.id!r} needs a 'repo' and, as its answer, an instance in"
            f" SWE-bench's format, not {quoted(task.answer)}."
        )
    instance = parse_instance(task.answer, f"the answer of task {task.id!r}")
    trial = await try_patch(
        instance,
        task.repo,
        evidence.answer,
        evidence.jails,
        seconds=_seconds(task.scorer.options),
        environment=_environment(task.scorer.options),
    )
    return Score(
        value=float(trial.grade is not None and trial.grade.resolved),
        reason=trial.reason,
        measures=_measures(instance, evidence.answer, trial),
        log=trial.log,
    )


def _seconds(options: Mapping[str, Any]) -> float:
    value = options.get("timeout", TEST_SECONDS)
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise InputError(
            f"scorer repair: 'timeout' must be a positive number of seconds, not {quoted(value)}."
        )
    return float(value)


def _environment(options: Mapping[str, Any]) -> Path | None:
    named = options.get("environment")
    if named is None:
        return None
    folder = Path(str(named))
    if not (folder / "bin" / "python").exists():
        raise InputError(
            f"scorer repair: the environment {folder} is not there. `mas-bench` and `grade` make it"
            " before they begin."
        )
    return folder


def _measures(instance: Instance, patch: str, trial: Trial) -> dict[str, float]:
    verdict = trial.grade
    files = touched(patch)
    edits = any(
        name in instance.test_files or _OF_TESTS.search(name) or steers(name) for name in files
    )
    return {
        "empty_patch": float(not patch),
        "patch_applied": float(trial.applied),
        "f2p": verdict.f2p if verdict else 0.0,
        "p2p": verdict.p2p if verdict else 0.0,
        "partial": float(verdict is not None and verdict.status == "PARTIAL"),
        "edits_tests": float(edits),
    }

"""The scorer `repair`: the answer is a patch, and hidden tests decide."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...runtime.agents.outcomes import Score
from ...schema.host.scorer_form import ScorerForm, seconds_option, takes
from ...schema.values.errors import InputError
from .instance import parse_instance, touched
from .steering import steers
from .trial import TEST_SECONDS, try_patch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...runtime.scoring.scorers import Evidence
    from ...schema.values.problems import Path as FieldPath
    from .instance import Instance
    from .trial import PatchTrial

LONGEST_PATCH = 8_000_000
_OF_TESTS = re.compile(
    r"(^|/)(tests?|testing)/|(^|/)(test_[^/]*|[^/]*_test)\.py$|(^|/)tox\.ini$|\.pth$"
)
"""Test files and files that steer tests: a patch could change the tests' outcome with them."""


def _no_instance(_options: Mapping[str, Any], reference: Any) -> Mapping[FieldPath, str]:
    try:
        if reference is not None:
            parse_instance(reference, "the reference answer")
    except InputError as error:
        return {("answer",): str(error)}
    return {}


@takes(
    ScorerForm(
        options={
            "timeout": seconds_option(TEST_SECONDS, "the tests"),
            "environment": {
                "type": "string",
                "minLength": 1,
                "maxLength": 4096,
                "x-unit": "characters",
                "description": "The folder of the virtual environment that the tests run in."
                " Default: the one that is active.",
            },
        },
        reference={"type": "object"},
        needs=("repo",),
        longest=LONGEST_PATCH,
        check=_no_instance,
    )
)
async def repair(evidence: Evidence) -> Score:
    """Score a patch: 1 if it repairs the fault and breaks nothing, else 0.

    The task's reference answer is an instance in SWE-bench's format; its `repo` has the base
    commit. The option `timeout` limits the tests, in seconds; `environment` is the folder of their
    virtual environment. The output is stored as the trial's log.

    The measures are 0 or 1, except the shares `f2p` and `p2p` of tests that pass as they should:
    `empty_patch`, `patch_applied`, `partial` and `edits_tests`: whether the patch changes tests or
    their settings. Its changes to the deciding tests, to conftest files and to modules that shadow
    pytest's are undone; the measure shows where to look before a figure is trusted.

    Raises:
        InputError: The task is not one of repair, or this machine lacks what its tests need.
        JailError: There is no jail, or it failed.
    """
    task = evidence.task
    if task.repo is None:
        raise InputError(f"scorer repair: task {task.id!r} needs a 'repo'.")
    instance = parse_instance(task.answer, f"the answer of task {task.id!r}")
    trial = await try_patch(
        instance,
        task.repo,
        evidence.answer,
        evidence.jails,
        seconds=task.scorer.options.get("timeout", TEST_SECONDS),
        environment=_environment(task.scorer.options),
    )
    return Score(
        value=float(trial.grade is not None and trial.grade.resolved),
        reason=trial.reason,
        measures=_measures(instance, evidence.answer, trial),
        log=trial.log,
    )


def _environment(options: Mapping[str, Any]) -> Path | None:
    named = options.get("environment")
    if named is None:
        return None
    folder = Path(str(named))
    if not (folder / "bin" / "python").exists():
        raise InputError(
            f"scorer repair: the environment {folder} does not exist. `mas-bench` and `grade`"
            " create it before they start."
        )
    return folder


def _measures(instance: Instance, patch: str, trial: PatchTrial) -> dict[str, float]:
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

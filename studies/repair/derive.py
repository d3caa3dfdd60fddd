"""An instance from a fix and its tests: which the fix repairs, and which it must not break."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from coterie.benchmarks.repair.grading import PASSED
from coterie.benchmarks.repair.instance import touched
from coterie.benchmarks.repair.records import read_records
from coterie.benchmarks.repair.trial import TEST_SECONDS, observe
from coterie.schema.values.errors import InputError
from coterie.schema.values.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from coterie.benchmarks.repair.instance import Instance
    from coterie.benchmarks.repair.trial import PatchTrial
    from coterie.runtime.jail import Jails

_TESTS = re.compile(r"(^|/)(test_[^/]*|[^/]*_test|tests?)\.py$")
SHOWN = 2000
"""Characters of a log in a message."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Derived:
    """An instance, and what was left out of its lists.

    Attributes:
        instance: With its two lists.
        flaky: Tests that came to different ends on the same code.
        broken: Tests that pass before the fix and not after it.
        failing: Tests that pass neither before nor after.
    """

    instance: Instance
    flaky: tuple[str, ...]
    broken: tuple[str, ...]
    failing: tuple[str, ...]


def test_files_of(test_patch: str) -> tuple[str, ...]:
    """Return the files of tests that a patch brings or changes, by their names."""
    return tuple(name for name in touched(test_patch) if _TESTS.search(name))


async def derive(
    instance: Instance,
    repository: Path,
    jails: Jails,
    *,
    repeats: int = 3,
    seconds: float = TEST_SECONDS,
    environment: Path | None = None,
) -> Derived:
    """Run an instance's tests before and after its fix, some times each, and sort them.

    FAIL_TO_PASS are those that never pass before and always after, PASS_TO_PASS those that always
    pass. A test counts as passing as in SWE-bench: PASSED or XFAIL.

    Args:
        instance: With a fix, a test patch and directives; its lists are not looked at.
        repository: Has the base commit.
        jails: Where the tests run.
        repeats: How often before, and how often after.
        seconds: That the tests may take, each time.
        environment: The virtual environment that they run in; None: the active one.

    Raises:
        InputError: The tests do not run to their end, or the fix repairs none of them.
        JailError: There is no jail, or it failed.
    """
    asked = replace(instance, fail_to_pass=(), pass_to_pass=())
    ends: list[list[Mapping[str, str]]] = []
    for what, patch in (("before the fix", ""), ("after the fix", instance.patch)):
        trials = [
            await observe(asked, repository, patch, jails, seconds=seconds, environment=environment)
            for _ in range(repeats)
        ]
        ends.append([_statuses(trial, what) for trial in trials])
    return _sorted(instance, *ends)


def add_to_file(instance: Instance, path: Path) -> None:
    """Add an instance to a file that `swe-bench` reads, which is made where it is missing.

    Raises:
        InputError: The file is no .json or .jsonl of instances, or has the id already.
        StorageError: It cannot be written.
    """
    there = (
        [dict(read_record.fields) for read_record in read_records(path)] if path.exists() else []
    )
    if any(table.get("instance_id") == instance.instance_id for table in there):
        raise InputError(f"{path}: the instance {instance.instance_id!r} exists already.")
    if path.suffix not in {".json", ".jsonl"}:
        raise InputError(f"{path}: instances are kept in .json or .jsonl, not {path.suffix!r}.")
    rows = [*there, _row(instance)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    whole = json.dumps(rows, indent=2) + "\n"
    write_atomically(path, whole if path.suffix == ".json" else lines)


def _statuses(trial: PatchTrial, label: str) -> Mapping[str, str]:
    if trial.statuses is None:
        text = f"\n{trial.log[-SHOWN:]}" if trial.log else ""
        raise InputError(f"{label}, nothing is known of the tests: {trial.reason}.{text}")
    # A file that could not be read is on record under its own name, and is no test.
    return {test: status for test, status in trial.statuses.items() if "::" in test}


def _sorted(
    instance: Instance, before: Sequence[Mapping[str, str]], after: Sequence[Mapping[str, str]]
) -> Derived:
    kinds: dict[tuple[bool, bool] | None, list[str]] = {}
    for test in _in_order(after, before):
        ends = _passes(test, before), _passes(test, after)
        flaky = len(ends[0]) > 1 or len(ends[1]) > 1
        kinds.setdefault(None if flaky else (min(ends[0]), min(ends[1])), []).append(test)
    repaired = tuple(kinds.get((False, True), ()))
    if not repaired:
        raise InputError(
            f"{instance.instance_id}: the fix makes no test pass that failed before:"
            f" {len(kinds.get((True, True), ()))} always pass, {len(kinds.get((False, False), ()))}"
            f" never, {len(kinds.get(None, ()))} are flaky. Does the test patch show the fault?"
        )
    kept = replace(instance, fail_to_pass=repaired, pass_to_pass=tuple(kinds.get((True, True), ())))
    return Derived(
        instance=kept,
        flaky=tuple(kinds.get(None, ())),
        broken=tuple(kinds.get((True, False), ())),
        failing=tuple(kinds.get((False, False), ())),
    )


def _passes(test: str, runs: Iterable[Mapping[str, str]]) -> set[bool]:
    return {run.get(test) in PASSED for run in runs}


def _in_order(*runs: Iterable[Mapping[str, str]]) -> list[str]:
    return list(dict.fromkeys(test for group in runs for fields in group for test in fields))


def _row(instance: Instance) -> dict[str, Any]:
    """Write an instance as a file of instances has it."""
    report = instance.reference()
    del report["patched_files"]
    return {
        **{name: value for name, value in report.items() if value not in (None, [])},
        "FAIL_TO_PASS": list(instance.fail_to_pass),
        "PASS_TO_PASS": list(instance.pass_to_pass),
        "problem_statement": instance.problem_statement,
        "patch": instance.patch,
    }

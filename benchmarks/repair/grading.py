"""Grading: from the outcomes of tests to a verdict, by the rules of SWE-bench 5.0.2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Set

    from .instance import Instance

PASSED = frozenset({"PASSED", "XFAIL"})
MAINTAINED = PASSED | {"SKIPPED"}
BROKEN = frozenset({"FAILED", "ERROR"})
NOT_PASSED = BROKEN | {"SKIPPED"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Grade:
    """The verdict on one repair, with its evidence.

    Attributes:
        status: FULL: all tests pass that must. PARTIAL: some of those that failed before, and all
            of those that passed. NO: anything else.
        f2p_passed: Tests that failed before and pass now.
        f2p_failed: Tests that failed before and still fail.
        p2p_passed: Tests that passed before and still pass or are skipped.
        p2p_failed: Tests that passed before and fail now.
    """

    status: Literal["FULL", "PARTIAL", "NO"]
    f2p_passed: tuple[str, ...]
    f2p_failed: tuple[str, ...]
    p2p_passed: tuple[str, ...]
    p2p_failed: tuple[str, ...]

    @property
    def resolved(self) -> bool:
        """Whether the repair is complete."""
        return self.status == "FULL"

    @property
    def f2p(self) -> float:
        """Share of the tests that failed before and pass now; 1 without such tests."""
        return _share(self.f2p_passed, self.f2p_failed)

    @property
    def p2p(self) -> float:
        """Share of the tests that passed before and still do; 1 without such tests."""
        return _share(self.p2p_passed, self.p2p_failed)


def grade(instance: Instance, statuses: Mapping[str, str]) -> Grade:
    """Grade the outcomes of the tests.

    A test without an outcome has failed. A skipped test has failed if it was to be repaired;
    otherwise it does no harm. Tests outside the instance's two lists do not matter. As in the
    original, a test with an unknown status is in neither list and does not count.

    Args:
        statuses: PASSED, XFAIL, SKIPPED, FAILED or ERROR by test, in any case.
    """
    by_test = {test: status.upper() for test, status in statuses.items()}
    if instance.eval_type == "fail_only":
        f2p, p2p = (
            _split_by_failure(tests, by_test)
            for tests in (instance.fail_to_pass, instance.pass_to_pass)
        )
    else:
        f2p = _split(instance.fail_to_pass, by_test, PASSED)
        p2p = _split(instance.pass_to_pass, by_test, MAINTAINED)
    status: Literal["FULL", "PARTIAL", "NO"] = "NO"
    if not p2p[1] and (f2p[0] or not f2p[1]):
        status = "PARTIAL" if f2p[1] else "FULL"
    return Grade(
        status=status, f2p_passed=f2p[0], f2p_failed=f2p[1], p2p_passed=p2p[0], p2p_failed=p2p[1]
    )


def believable(statuses: Mapping[str, str], exit_code: int) -> bool:
    """Return whether the statuses can belong to a run with this exit status.

    A test runner that ends with a failure has a failed test. Without one, the record is not of that
    run, and the original grades nothing.
    """
    if not statuses:
        return False
    return exit_code == 0 or any(status.upper() in BROKEN for status in statuses.values())


def _split(
    tests: Iterable[str], by_test: Mapping[str, str], passing: Set[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    passed: list[str] = []
    failed: list[str] = []
    for test in tests:
        status = _status(test, by_test)
        if status in passing:
            passed.append(test)
        elif status is None or status in NOT_PASSED:
            failed.append(test)
    return tuple(passed), tuple(failed)


def _split_by_failure(
    tests: Iterable[str], by_test: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the tests if the log names only failures: all others have passed."""
    tests = tuple(tests)
    failed = tuple(test for test in tests if by_test.get(test) == "FAILED")
    return tuple(test for test in tests if by_test.get(test) != "FAILED"), failed


def _status(test: str, by_test: Mapping[str, str]) -> str | None:
    """Return the status of a test. Published lists cut some names within their parameters.

    Such a name stands for all tests with that prefix, if they agree on whether they pass.
    """
    if test in by_test or test.count("[") <= test.count("]"):
        return by_test.get(test)
    texts = [status for name, status in by_test.items() if name.startswith(test)]
    return texts[0] if len({status in PASSED for status in texts}) == 1 else None


def _share(passed: tuple[str, ...], failed: tuple[str, ...]) -> float:
    total = len(passed) + len(failed)
    return len(passed) / total if total else 1.0

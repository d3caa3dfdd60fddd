"""Verdicts follow the rules of swebench 5.0.2, quirks included."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.benchmarks.repair.grading import believable, grade
from coterie.benchmarks.repair.instance import Instance


def instance(f2p: str = "", p2p: str = "", *, eval_type: str = "pass_and_fail") -> Instance:
    return Instance(
        instance_id="a", repo="a", base_commit="0" * 40, problem_statement="", test_patch="",
        fail_to_pass=tuple(f2p.split()), pass_to_pass=tuple(p2p.split()), eval_type=eval_type,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("f2p", "p2p", "statuses", "status"),
    [
        ("a b", "c", {"a": "PASSED", "b": "XFAIL", "c": "PASSED"}, "FULL"),
        ("a b", "c", {"a": "PASSED", "b": "FAILED", "c": "PASSED"}, "PARTIAL"),
        ("a b", "c", {"a": "PASSED", "c": "XFAIL"}, "PARTIAL"),
        ("a", "c", {"a": "PASSED"}, "NO"),
        ("a b", "c", {"a": "PASSED", "b": "PASSED", "c": "FAILED"}, "NO"),
        ("a b", "c", {"a": "ERROR", "b": "FAILED", "c": "PASSED"}, "NO"),
        # Skipping repairs nothing, but breaks nothing either.
        ("a", "c", {"a": "SKIPPED", "c": "PASSED"}, "NO"),
        ("a", "c", {"a": "PASSED", "c": "SKIPPED"}, "FULL"),
        # What fails outside of the lists does not matter.
        ("a", "", {"a": "PASSED", "other": "FAILED"}, "FULL"),
        ("", "", {}, "FULL"),
        ("", "c", {"c": "FAILED"}, "NO"),
        ("", "c", {"c": "PASSED"}, "FULL"),
        # Statuses in lower case are the same; unknown words count for nothing.
        ("a b", "c", {"a": "passed", "b": "failed", "c": "Skipped"}, "PARTIAL"),
        ("a b", "", {"a": "PASSED", "b": "XPASS"}, "FULL"),
        ("a", "", {"a": "XPASS"}, "FULL"),
        # Names that published lists cut off within their parameters.
        ("a[x", "", {"a[x-1]": "PASSED", "a[x-2]": "XFAIL"}, "FULL"),
        ("a[x", "", {"a[x-1]": "PASSED", "a[x-2]": "FAILED"}, "NO"),
        ("a[x]", "", {"a[x]b": "PASSED"}, "NO"),
    ],
)
def test_rules(f2p: str, p2p: str, statuses: dict[str, str], status: str) -> None:
    verdict = grade(instance(f2p, p2p), statuses)
    assert verdict.status == status
    assert verdict.resolved == (status == "FULL")


def test_a_log_that_names_only_failures() -> None:
    fail_only = instance("a b", "c", eval_type="fail_only")
    assert grade(fail_only, {}).status == "FULL"
    assert grade(fail_only, {"b": "FAILED"}).status == "PARTIAL"
    assert grade(fail_only, {"b": "ERROR"}).status == "FULL"
    assert grade(fail_only, {"c": "FAILED"}).status == "NO"


def test_lists_and_shares_say_what_the_verdict_rests_on() -> None:
    verdict = grade(instance("a b", "c d"), {"a": "PASSED", "c": "SKIPPED", "d": "ERROR"})
    assert (verdict.f2p_passed, verdict.f2p_failed) == (("a",), ("b",))
    assert (verdict.p2p_passed, verdict.p2p_failed) == (("c",), ("d",))
    assert (verdict.f2p, verdict.p2p) == (0.5, 0.5)
    assert grade(instance(), {}).f2p == 1.0


STATUSES = st.dictionaries(
    st.sampled_from("abcde"), st.sampled_from(["PASSED", "FAILED", "SKIPPED", "ERROR", "XFAIL"])
)
NAMES = st.lists(st.sampled_from("abc"), max_size=3).map(" ".join)


@given(f2p=NAMES, p2p=NAMES, statuses=STATUSES)
def test_only_named_tests_count_and_each_once(f2p: str, p2p: str, statuses: dict[str, str]) -> None:
    asked = instance(f2p, p2p)
    verdict = grade(asked, statuses)
    assert sorted(verdict.f2p_passed + verdict.f2p_failed) == sorted(asked.fail_to_pass)
    assert sorted(verdict.p2p_passed + verdict.p2p_failed) == sorted(asked.pass_to_pass)
    named = {test: status for test, status in statuses.items() if test in "abc"}
    assert grade(asked, named) == verdict
    assert verdict.resolved == (verdict.f2p == 1 and verdict.p2p == 1)


def test_a_record_without_a_failure_is_not_that_of_a_run_that_failed() -> None:
    assert believable({"a": "PASSED"}, 0)
    assert believable({"a": "PASSED", "b": "FAILED"}, 1)
    assert not believable({"a": "PASSED"}, 1)
    assert not believable({}, 0)

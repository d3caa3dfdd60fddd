"""Expressions that a model wrote: what they find, and that they cannot hold us up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.tools import ToolError, expressions
from coterie.runtime.tools.expressions import expression, substring


def test_where_a_line_matches_first() -> None:
    assert expression(r"\bw\w+d")("hello world, wild world") == 6
    assert expression(r"^w")("hello world") == -1
    assert substring("w")("hello world") == 6
    assert substring("[")("hello world") == -1


@pytest.mark.parametrize(
    "pattern",
    [
        r"\d{4}-\d{2}-\d{2}",
        r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        r"\{\d+,\}",
        "a{2,}",
        "{}",
    ],
)
def test_honest_counts_pass(pattern: str) -> None:
    assert expression(pattern)("2026-11-21") in {0, -1}


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "is not a regular expression: missing )"),
        ("(?:" * 900 + ")" * 900, "is not a regular expression"),
        ("a{1000000000}", "multiply to more than 100000"),
        ("(((a{99}){99}){99}){99}", "multiply to more than 100000"),
        ("(?x)a{1 000 000 000}", "verbose"),
        ("(?ix-m:a)", "verbose"),
        (r"\\(?R)", "recursive"),
        ("(a|(?1))", "recursive"),
        ("(?<n>a)(?&n)", "recursive"),
    ],
)
def test_the_others_are_refused_at_once(pattern: str, reason: str) -> None:
    with pytest.raises(ToolError, match=r"expression|multiply|recursive") as refusal:
        expression(pattern)

    assert reason in str(refusal.value)


def test_a_search_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expressions, "SECONDS", 0.05)
    find = expression("(?:(a)|b)*[cd]e?[fg]")

    with pytest.raises(ToolError, match=r"takes more than 0\.05 s"):
        find("ab" * 5000)


def test_only_the_beginning_of_a_very_long_line_is_tried() -> None:
    assert expression("b")("a" * 20_000 + "b") == -1


SCRAPS = r"""
( (?: (?= (?<= (?i) (?r) (?P<n> (?(1)a|b) | ) [ ] [a--b] ^ $
{2,5} {e<=2} {99} * +? \ \1 \K \p{L} \L<n>
"""
PATTERNS = st.lists(st.sampled_from(SCRAPS.split()) | st.text(max_size=3), max_size=12)


@given(pattern=PATTERNS.map("".join))
def test_every_pattern_searches_or_is_refused(pattern: str) -> None:
    try:
        find = expression(pattern)
        assert find("ab" * 20) >= -1
    except ToolError:
        return

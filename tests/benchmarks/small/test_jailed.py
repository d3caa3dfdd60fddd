"""What passes between an answer and its test: plain values, unchanged."""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from coterie.benchmarks.small._jailed import decode, define, encode, judge, respond

from .problems import BODY, PROMPT, TEST


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -(10**30),
        0.1,
        "",
        "\u20ac \ud800 \0",
        [],
        (),
        (1, [2, (3,)]),
        {1: "a", (2, 3): None},
        {"dict": 1},
        set(),
        {1, "a"},
        1 - 2j,
    ],
)
def test_plain_values_come_back_as_they_were(value: object) -> None:
    result = decode(encode(value))
    assert result == value
    assert type(result) is type(value)


def test_numbers_beyond_json_come_back() -> None:
    assert decode(encode([math.inf, -math.inf])) == [math.inf, -math.inf]
    assert repr(decode(encode(math.nan))) == "nan"


class Point(NamedTuple):
    x: int
    y: int


def test_kinds_of_plain_values_become_plain() -> None:
    assert decode(encode([Counter("aab"), Point(1, 2)])) == [{"a": 2, "b": 1}, (1, 2)]


def test_what_can_be_gone_through_can_still_be_and_equals_no_list() -> None:
    result = decode(encode(number for number in (1, 2)))
    assert result != [1, 2]
    assert tuple(result) == (1, 2)


def test_an_object_that_equals_everything_does_not_pass() -> None:
    class Anything:
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    with pytest.raises(TypeError):
        encode([Anything()])


def here(function: Callable[..., Any]) -> Callable[[str], str]:
    return lambda text: respond(function, text)


def test_a_test_is_run_against_a_function_that_is_elsewhere() -> None:
    right = define([[PROMPT + BODY]], "shifted")
    assert judge(PROMPT, TEST, "shifted", here(right)) == ""
    assert judge(PROMPT, TEST, "shifted", here(lambda numbers, by=1: [4, 5])) == (
        "AssertionError: nothing to add"
    )
    assert judge(PROMPT, TEST, "shifted", here(lambda numbers, by=1: numbers)) == "AssertionError"


def test_a_test_may_use_the_helpers_of_the_prompt_and_the_functions_name() -> None:
    prompt = 'def half(x):\n    return x / 2\n\ndef doubled(x):\n    """Twice."""\n'
    test = "def check(candidate):\n    assert half(doubled(3)) == 3\n"
    assert judge(prompt, test, "doubled", here(lambda x: 2 * x)) == ""
    assert judge(prompt, test, "doubled", here(lambda x: x)) == "AssertionError"


def test_chance_in_a_test_is_always_the_same() -> None:
    drawn: list[str] = []
    test = "import random\ndef check(candidate):\n    candidate(random.random())\n"

    def ask(text: str) -> str:
        drawn.append(text)
        return encode(None)

    for _ in range(2):
        assert judge("", test, "f", ask) == ""
    assert drawn[0] == drawn[1]


def test_the_first_reading_that_is_python_counts() -> None:
    assert define([["def f(:"], ["x = 1", "def f(): return x"], ["nonsense"]], "f")() == 1
    with pytest.raises(SyntaxError):
        define([["def f(:"]], "f")
    with pytest.raises(KeyError, match="f"):
        define([["g = 1"]], "f")


def test_what_stands_under_the_main_guard_is_not_run() -> None:
    source = "def f(): return 1\nif __name__ == '__main__': raise SystemExit"
    assert define([[source]], "f")() == 1

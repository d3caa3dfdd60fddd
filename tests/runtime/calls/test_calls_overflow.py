"""Trimming: the longest message loses its middle, and says so."""

from coterie.runtime.calls.calls import SHORTEST, trimmed


def test_the_longest_message_loses_its_middle() -> None:
    long = "a" * 3_000 + "b" * 3_000
    messages, left_out = trimmed(
        [{"role": "system", "content": "s"}, {"role": "user", "content": long}]
    )
    text = messages[1]["content"]
    assert left_out == 3_000
    assert text.startswith("a" * 1_500)
    assert text.endswith("b" * 1_500)
    assert "3,000 characters left out" in text
    assert messages[0] == {"role": "system", "content": "s"}
    assert long == "a" * 3_000 + "b" * 3_000


def test_short_messages_and_none_are_left_alone() -> None:
    short = [{"role": "user", "content": "x" * SHORTEST}, {"role": "assistant", "content": None}]
    assert trimmed(short) == (short, 0)
    assert trimmed([]) == ([], 0)


def test_it_ends() -> None:
    messages, rounds = [{"role": "user", "content": "x" * 10**6}], 0
    while (result := trimmed(messages))[1]:
        messages, rounds = result[0], rounds + 1
    assert rounds < 15

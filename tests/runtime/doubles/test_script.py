import itertools
import re
from typing import Any

import pytest

from coterie.runtime.doubles import Reply, message_text
from coterie.runtime.doubles.script import choose_from


def request(*contents: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": content} for content in contents]}


def test_a_text_or_a_reply_is_always_the_answer() -> None:
    reply = Reply(text="42")

    assert [choose_from("42")(request(text)) for text in "abc"] == [reply] * 3
    assert choose_from(reply)(request("a")) is reply


def test_a_list_answers_in_the_order_of_calls() -> None:
    choose = choose_from(["one", Reply.error(500), "two"])

    assert [choose(request("a")).text for _ in range(3)] == ["one", None, "two"]


def test_an_endless_iterable_never_runs_out() -> None:
    choose = choose_from(itertools.cycle(["yes", "no"]))

    assert [choose(request("a")).text for _ in range(4)] == ["yes", "no", "yes", "no"]


def test_an_exhausted_list_says_which_call_it_has_nothing_for() -> None:
    choose = choose_from(["one"])
    choose(request("first"))
    reply = choose(request("Who are you?", "The second question"))

    assert reply.status == 500
    assert "ends with" in (reply.body or "")
    assert "The second question" in (reply.body or "")
    assert "its list ended after 1." in (reply.body or "")
    assert reply.headers == {"x-should-retry": "false"}


def test_the_first_key_that_occurs_decides() -> None:
    choose = choose_from(
        {
            "aggregator": "total",
            re.compile(r"worker_\d"): ["one", "two"],
            "judge": lambda asked: f"heard {len(message_text(asked))} characters",
            "": "anything else",
        }
    )

    assert choose(request("You are worker_1")).text == "one"
    assert choose(request("You are the aggregator", "worker_1 said: one")).text == "total"
    assert choose(request("You are worker_2")).text == "two"
    assert choose(request("judge")).text == "heard 5 characters"
    assert choose(request("You are the critic")).text == "anything else"


def test_a_request_that_matches_nothing_is_told_the_keys() -> None:
    reply = choose_from({"judge": "A", re.compile("w+"): "B"})(request("Hello"))

    assert reply.status == 500
    assert "its messages contain none of 'judge', 'w+'" in (reply.body or "")


def test_text_is_found_in_every_shape_of_content() -> None:
    parts = [{"type": "text", "text": "second"}, {"type": "image_url"}, "odd"]

    assert message_text(request("first", parts, None)) == "first\nsecond\n"


@pytest.mark.parametrize("script", [42, None])
def test_what_is_no_script_is_refused_at_once(script: Any) -> None:
    with pytest.raises(TypeError, match="a script is text, a Reply, a list, a mapping or a func"):
        choose_from(script)


def test_what_is_no_reply_is_refused_when_it_is_its_turn() -> None:
    with pytest.raises(TypeError, match="a reply is text or a Reply, not 42"):
        choose_from([42])(request("a"))  # pyright: ignore[reportArgumentType]

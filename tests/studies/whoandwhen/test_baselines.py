"""The published baselines: what they ask, and what they make of the answers."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from coterie.operators import Bounds
from coterie.runtime.doubles import Reply, message_text
from coterie.runtime.doubles.script import Request
from studies.whoandwhen.baselines import all_at_once, binary_search, step_by_step
from studies.whoandwhen.published import Labelled
from studies.whoandwhen.verdicts import Told

from ...operators.asking import Asked, asking

NONSENSE = "I cannot say."


def blamed(
    method: Callable[..., Awaitable[Told | None]],
    label: Labelled,
    replies: Any,
    *,
    with_answer: bool = True,
    **options: Any,
) -> Asked[Told | None]:
    trace = label.trace(with_answer=with_answer)
    return asking(replies, lambda meta: method(meta, "m/t", trace), **options)


def pair(agent: str, step: int) -> Reply:
    return Reply.json({"reason": "because", "agent": agent, "step": step})


def mistake(*, holds: bool) -> Reply:
    return Reply.json({"reason": "because", "mistake": holds})


def half(name: str) -> Reply:
    return Reply.json({"half": f"{name} half"})


def test_all_at_once_asks_once_with_all_steps(labels: tuple[Labelled, ...]) -> None:
    asked = blamed(all_at_once, labels[0], pair("Half-Door_Expert", 3))
    assert asked.result == Told(agent="Half-Door_Expert", step=3)  # which is another agent's
    (call,) = asked.calls
    assert all(entry.text in call.text for entry in labels[0].history)
    assert "right_answer" in call.text


def test_the_right_answer_is_shown_where_it_may_be(labels: tuple[Labelled, ...]) -> None:
    asked = blamed(all_at_once, labels[0], pair("Hall_Expert", 3), with_answer=False)
    assert not re.search("right.answer|four", asked.calls[0].text)


@pytest.mark.parametrize("wrong", [("Nobody", 3), ("Hall_Expert", 5), ("Hall_Expert", -1)])
def test_unknown_steps_are_repaired(labels: tuple[Labelled, ...], wrong: tuple[str, int]) -> None:
    asked = blamed(all_at_once, labels[0], [pair(*wrong), pair("Checker_Expert", 4)])
    assert asked.result == Told(agent="Checker_Expert", step=4)
    assert blamed(all_at_once, labels[0], pair(*wrong)).result is None


def test_step_by_step_stops_at_the_first_mistake(labels: tuple[Labelled, ...]) -> None:
    asked = blamed(
        step_by_step, labels[0], [mistake(holds=False), NONSENSE, NONSENSE, mistake(holds=True)]
    )
    assert asked.result == Told(agent="Computer_terminal", step=2)  # of step 1 nothing was of use
    assert "Three. TERMINATE" not in asked.calls[-1].text
    assert "The newest step is 2." in asked.calls[-1].text


def test_step_by_step_may_find_nothing(labels: tuple[Labelled, ...]) -> None:
    asked = blamed(step_by_step, labels[0], mistake(holds=False))
    assert asked.result is None
    assert len(asked.calls) == 5


def test_binary_search_shows_ever_smaller_halves(labels: tuple[Labelled, ...]) -> None:
    """Of steps 0 to 4 the lower half is 3 and 4, of which the upper is 3."""
    asked = blamed(binary_search, labels[0], [half("lower"), half("upper")])
    assert asked.result == Told(agent="Hall_Expert", step=3)
    assert "Upper half: steps 0 to 2. Lower half: steps 3 to 4." in asked.calls[0].text
    assert "Let us count." not in asked.calls[1].text


def test_binary_search_takes_a_half_by_chance_if_need_be(labels: tuple[Labelled, ...]) -> None:
    once, again = (blamed(binary_search, labels[0], NONSENSE) for _ in range(2))
    assert once.result == again.result
    assert once.result is not None
    assert len(once.events_of("operator_dropped")) in {2, 3}


def test_a_small_view_bounds_what_a_question_shows(labels: tuple[Labelled, ...]) -> None:
    """Step-by-step keeps half of the room for the step that it asks about."""
    label, small = labels[2], Bounds(trace_characters=200)

    def seen(request: Request) -> Reply:
        assert len("".join(re.findall(r"12, .*?>\n(.*)\n", message_text(request)))) <= 100
        return mistake(holds=False)

    asked = blamed(step_by_step, label, seen, bounds=small)
    assert asked.result is None
    last = asked.calls[-1].text
    assert "Look at the plan of the hall." in last
    assert "10 steps from 1 to 10 are left out" in last

"""Who worked when, as the events of a run tell it."""

from collections.abc import Callable
from typing import Any

from coterie.runtime.showing.timeline import Timeline

from ...effort import grows_linearly


def timeline(*events: tuple[float, str, str, dict[str, Any]]) -> Timeline:
    return Timeline.of(
        {"n": number, "t": at, "type": kind, "agent": agent, **fields}
        for number, (at, kind, agent, fields) in enumerate(events, 1)
    )


def start(at: float, agent: str, *received: str, **more: Any) -> Any:
    return at, "agent_started", agent, {"received": [*received], **more}


def end(at: float, agent: str) -> Any:
    return at, "agent_finished", agent, {}


def critical(told: Timeline) -> list[str]:
    return [span.agent for span in told.spans if span.is_critical]


def test_the_critical_path_goes_back_over_who_was_waited_for_last() -> None:
    report = timeline(
        start(0, "quick"), start(0, "slow"), start(0, "alone"), end(1, "quick"), end(3, "slow"),
        start(3, "judge", "quick", "slow"), end(3.5, "alone"), end(5, "judge"),
    )  # fmt: skip
    assert critical(report) == ["slow", "judge"]
    assert [item.waited_for for item in report.of_agent("judge")] == ["slow"]
    assert report.end == 5


def test_a_later_round_waits_for_the_one_before() -> None:
    report = timeline(
        start(0, "a", round=1), end(2, "a"), start(2, "b", "a", round=1), end(3, "b"),
        start(3, "a", round=2), end(4, "a"), start(4, "b", "a", round=2), end(6, "b"),
    )  # fmt: skip
    assert critical(report) == ["a", "b", "a", "b"]
    assert [span.waited_for for span in report.spans] == ["", "a", "b", "a"]


def test_in_an_open_roster_an_agent_waits_for_who_wrote_to_it() -> None:
    report = timeline(
        start(0, "lead"), end(1, "lead"),
        (1, "mail_taken", "coder", {"messages": [{"sender": "lead"}]}),
        start(1, "coder"), end(4, "coder"),
    )  # fmt: skip
    assert critical(report) == ["lead", "coder"]


def test_calls_side_by_side_count_once_and_those_from_the_journal_take_no_time() -> None:
    report = timeline(
        start(0, "a"),
        (2, "model_call", "a", {"seconds": 2}),
        (3, "model_call", "a", {"seconds": 2}),
        (4, "tool_call", "a", {"seconds": 0.5}),
        (5, "model_call", "a", {"seconds": 9, "source": "journal"}),
        end(6, "a"),
    )
    assert report.seconds("a", "model") == 3
    assert report.seconds("a", "tool") == 0.5


def test_what_failed_was_waited_for_since_its_agent_was_heard_last() -> None:
    report = timeline(
        start(0, "a"),
        (1, "model_retried", "a", {"wait": 0.5}),
        (4, "model_error", "a", {}),
        end(4, "a"),
    )
    assert report.seconds("a", "model") == 4


def test_a_run_that_was_gone_on_with_is_one_without_its_pause() -> None:
    report = timeline(
        (0, "run_started", "", {}), start(0, "a"), (2, "agent_retried", "a", {}),
        (0, "run_started", "", {}), start(0, "a"), end(1, "a"),
    )  # fmt: skip
    assert report.breaks == [2]
    assert [(span.start, span.end, span.is_open) for span in report.spans] == [
        (0, 2, True),
        (2, 3, False),
    ]
    assert report.end == 3


def test_times_of_many_agents_take_time_with_each_and_not_with_each_pair() -> None:
    def prepare(size: int) -> Callable[[], None]:
        agents = [f"a{number}" for number in range(size)]
        began = [start(0, agent) for agent in agents]
        ended = [end(1, agent) for agent in agents]
        events = (*began, *ended, start(1, "judge", *agents), end(2, "judge"))

        def work() -> None:
            known = timeline(*events)
            assert sum(map(known.seconds_of, agents)) == size

        return work

    assert grows_linearly(prepare, 300)

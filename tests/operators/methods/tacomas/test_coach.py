"""The coach: one agent, from its own work, as long as its share allows."""

from dataclasses import replace
from typing import Any

import pytest

from coterie.operators import Coaching, Contribution, RejectedProposal, coach
from coterie.runtime.doubles import Reply
from coterie.schema import Notes

from ...asking import TASK, Asked, asking, dropped
from ...rounds import TRIO, did, worked

SAID = {"wrong": "You guessed.", "plan": "Count the apples one by one."}
LOW = Contribution(value=0.2, reason="a guess")


def coached(*answers: Any, **options: Any) -> Asked[Coaching | RejectedProposal]:
    replies = [Reply.json(answer) for answer in answers]
    account = options.pop("account", worked(solver=did("SECRET OF SOLVER")))
    given: dict[str, Any] = {
        "agent": "solver",
        "contribution": LOW,
        "share": 1.0,
        "room": 300,
        **options,
    }
    return asking(replies, lambda meta: coach(meta, "k", TASK, account, **given))


def test_it_sees_the_agent_s_own_work_and_nobody_else_s() -> None:
    [call] = coached(SAID).calls
    assert "SECRET OF SOLVER" in call.text
    assert "work of planner" not in call.text
    assert "contribution 0.2: a guess" in call.text
    assert TASK.answer not in call.text
    [other] = coached(SAID, agent="planner").calls
    assert "SECRET OF SOLVER" not in other.text


def test_what_it_said_before_is_shown() -> None:
    report = replace(TRIO.agents["solver"], notes=Notes(coaching="Be careful."))
    account = worked(replace(TRIO, agents={**TRIO.agents, "solver": report}))
    [call] = coached(SAID, account=account).calls
    assert "Be careful." in call.text
    assert "what you told it before" in call.text


def test_what_no_team_file_may_hold_is_repaired_once_then_dropped() -> None:
    key = {"wrong": "none", "plan": "Use sk-" + "a1B2" * 12}
    assert "looks like" in dropped(coached, key, SAID).problems[0]


@pytest.mark.parametrize("room", [80, 200, 1_000])
def test_coaching_is_never_longer_than_its_room(room: int) -> None:
    done = coached({"wrong": "w" * 9_000, "plan": "p" * 9_000}, room=room)
    assert isinstance(done.result, Coaching)
    assert len(done.result.text) == room
    assert done.calls[0].body["max_tokens"] <= room + 64


def test_a_smaller_share_has_less_of_the_agent_s_work_read() -> None:
    account = worked(solver=did("x" * 90_000))
    [whole] = coached(SAID, account=account).calls
    [half] = coached(SAID, account=account, share=0.5).calls
    assert 2_500 < len(whole.text) - len(half.text) < 3_500


@pytest.mark.parametrize(
    "bad", [{"wrong": "x"}, {"wrong": "x", "plan": " "}, {**SAID, "agent": "writer"}, [SAID], "no"]
)
def test_what_is_no_coaching_is_repaired_once_then_dropped(bad: Any) -> None:
    assert dropped(coached, bad, SAID).operator == "coach"


def test_a_text_that_poses_as_lines_of_a_terminal_is_one_line() -> None:
    result = coached({"wrong": "a\nPlan: obey", "plan": "\x1b[2Jb\nc"}).result
    assert isinstance(result, Coaching)
    assert result.text == "What went wrong: a Plan: obey\nPlan: b c"

"""The meta-judge of a round: every agent once, without the right answer."""

from typing import Any

import pytest

from coterie.operators import Bounds, Contributions, Earlier, RejectedProposal, contributions
from coterie.runtime.agents.outcomes import ToolCall
from coterie.runtime.doubles import Reply

from ..asking import TASK, Asked, asking, dropped
from ..rounds import did, worked


def said(**change: Any) -> dict[str, Any]:
    agents = {
        word: {"reason": f"{word} helped", "contribution": 0.5}
        for word in ("planner", "solver", "writer")
    }
    return {"reason": "counted", "agents": agents, "score": 0.7, "converged": False, **change}


def judging(*answers: Any, **options: Any) -> Asked[Contributions | RejectedProposal]:
    replies = [Reply.json(answer) for answer in answers]
    account = options.pop("account", worked())
    bounds = options.pop("bounds", None)
    return asking(
        replies, lambda meta: contributions(meta, "c", TASK, account, **options), bounds=bounds
    )


def test_each_agent_gets_a_contribution_with_a_reason_and_the_whole_a_score() -> None:
    result = judging(said(converged=True)).result
    assert isinstance(result, Contributions)
    assert result.values == {"planner": 0.5, "solver": 0.5, "writer": 0.5}
    assert result.of["solver"].reason == "solver helped"
    assert (result.score, result.reason, result.converged) == (0.7, "counted", True)


def test_the_schema_names_every_agent_exactly_once() -> None:
    [call] = judging(said()).calls
    schema = call.body["response_format"]["json_schema"]["schema"]["properties"]["agents"]
    assert [*schema["properties"]] == schema["required"] == ["planner", "solver", "writer"]
    assert not schema["additionalProperties"]


def test_it_sees_what_agents_did_and_the_answer_but_not_the_right_one() -> None:
    call_of_tool = ToolCall(tool="calculate", arguments={"x": "3+4"}, error="no such number")
    account = worked(
        answer="seven",
        solver=did("3 and 4", tool_calls=(call_of_tool,), mishaps=("a form was repaired",)),
        planner=did(error="timed out"),
    )
    [call] = judging(said(), account=account).calls
    for shown in (
        *("How many apples?", "seven", "3 and 4", 'calculate {"x": "3+4"} failed', "timed out"),
        *("a form was repaired", "planner: plans, reports to solver", "gives the team's answer"),
    ):
        assert shown in call.text
    assert TASK.answer not in call.text
    assert "right for sure" in call.text


def test_from_the_second_round_on_it_sees_what_came_before() -> None:
    earlier = [Earlier(answer="6", score=0.2), Earlier(answer=None, score=None)]
    [call] = judging(said(), earlier=earlier).calls
    assert "round 1: score 0.2; answer 6\nround 2: no score; no answer" in call.text
    assert "right for sure" not in call.text


def test_a_round_without_an_answer_is_judged_as_such() -> None:
    [call] = judging(said(), account=worked(answer=None)).calls
    assert "(none: it broke.)" in call.text


AGENTS = said()["agents"]


@pytest.mark.parametrize(
    "bad",
    [
        said(score=1.5),
        said(converged="no"),
        said(agents={}),
        said(agents={**AGENTS, "ghost": AGENTS["solver"]}),
        said(agents={**AGENTS, "solver": {"reason": "", "contribution": -0.1}}),
        said(agents={**AGENTS, "solver": {"contribution": 0.1}}),
    ],
)
def test_what_is_no_judgement_is_repaired_once_then_dropped_and_counted(bad: Any) -> None:
    assert dropped(judging, bad, said()).operator == "contributions"


def test_long_reasons_are_cut_and_what_is_read_is_bounded() -> None:
    long = {**AGENTS, "solver": {"reason": "x" * 9_000, "contribution": 0.123}}
    account = worked(solver=did("y" * 90_000))
    done = judging(said(agents=long), account=account, bounds=Bounds(reason=50))
    assert isinstance(done.result, Contributions)
    assert done.result.of["solver"].reason == "x" * 50
    assert done.result.of["solver"].value == 0.123
    assert len(done.calls[0].text) < 20_000

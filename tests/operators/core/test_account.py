"""What who judges, coaches and rebuilds a team is told of a round."""

from dataclasses import replace
from typing import Any

from coterie.operators import Bounds, RoundAccount
from coterie.runtime.agents.outcomes import Score, ToolCall

from ..rounds import TRIO, did, worked


def test_the_steps_of_an_agent_are_told_without_its_question() -> None:
    dialogue = (
        {"role": "system", "content": "RULES"},
        {"role": "user", "content": "QUESTION"},
        {"role": "assistant", "content": "look(3)"},
        {"role": "tool", "content": "three\napples"},
        {"role": "assistant", "content": "LAST"},
    )
    report = worked(solver=did("seven", dialogue=dialogue)).of("solver", 1_000)
    assert "assistant: look(3)\ntool: three apples\noutput: seven" in report
    assert not any(word in report for word in ("RULES", "QUESTION", "LAST"))


def test_an_account_of_an_agent_is_no_longer_than_it_may_be() -> None:
    calls = tuple(ToolCall(tool="look", arguments={"at": "x" * 900}) for _ in range(40))
    records = tuple({"role": "user", "content": "y" * 9_000} for _ in range(9))
    loud = did("z" * 9_000, tool_calls=calls, dialogue=records, mishaps=("m" * 900,) * 9)
    for most in (40, 200, 1_000, 6_000):
        inside = worked(solver=loud).of("solver", most).split("\n", 1)[1].rsplit("\n", 1)[0]
        assert len(inside) <= most


def test_how_the_answer_compares_with_the_reference_is_told_nobody() -> None:
    account = worked()
    scored = replace(account.run, score=Score(value=0.125, reason="expected 8"))
    report = RoundAccount(team=TRIO, run=scored).text(Bounds())
    assert report == account.text(Bounds())


def test_many_agents_share_the_room() -> None:
    loud: Any = {agent: did("z" * 90_000) for agent in TRIO.agents}
    assert len(worked(**loud).text(Bounds(digest_tokens=100))) < 3 * 400 + 600

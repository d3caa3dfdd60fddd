"""A conversation that goes on: whole pairs, the question that it began with, and every backend."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.agents.round_state import RoundState
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.gateway import ChatAnswer
from coterie.runtime.gateway.chat.dialogue import as_dialogue
from coterie.runtime.messages.conversation import continued, earlier, shortened
from coterie.schema import Agent

from ..conftest import Bench, llm, team

ROLES = st.sampled_from(["system", "user", "assistant", "tool"])
SAID = st.lists(st.fixed_dictionaries({"role": ROLES, "content": st.text(max_size=5)}), max_size=24)
MOST = st.integers(1, 24)


def numbered(messages: Sequence[Any]) -> list[dict[str, str]]:
    """The same messages, each told from all others."""
    return [{**message, "content": f"{n}"} for n, message in enumerate(messages)]


def roles(messages: Sequence[Any]) -> list[str]:
    return [message["role"] for message in messages]


@given(SAID, MOST)
def test_what_stays_is_the_beginning_and_the_end(records: list[dict[str, str]], most: int) -> None:
    records = numbered(records)
    stays = [*shortened(records, most)]
    assert len(stays) <= most
    if len(records) <= most:
        assert stays == records
    cut = next((n for n, (a, b) in enumerate(zip(stays, records, strict=False)) if a != b), None)
    if cut is not None:
        assert stays[cut:] == records[len(records) - len(stays[cut:]) :]


@given(SAID, MOST)
def test_a_call_and_its_results_stay_together(records: list[dict[str, str]], most: int) -> None:
    records = [{"role": "user", "content": ""}, *records]
    records = numbered(records)
    stays = {item["content"] for item in shortened(records, most)}
    for before, result in itertools.pairwise(records[1:]):
        if result["role"] == "tool" and before["role"] in {"assistant", "tool"}:
            assert (before["content"] in stays) == (result["content"] in stays)


def test_the_first_question_stays_and_the_oldest_pairs_go() -> None:
    pairs = [{"role": role, "content": ""} for _ in range(9) for role in ("assistant", "user")]
    records = numbered([{"role": "system", "content": ""}, {"role": "user", "content": ""}, *pairs])
    assert [item["content"] for item in shortened(records, 7)] == ["0", "1", "16", "17", "18", "19"]


@given(SAID, MOST, st.text(max_size=5))
def test_turns_alternate_to_the_agent(records: list[dict[str, str]], most: int, text: str) -> None:
    dialogue = as_dialogue(records, ChatAnswer(text=text), 10**6)
    shown = earlier(dialogue, most)
    assert len(shown) <= most
    assert all(item["content"] for item in shown)
    assert all(a != b for a, b in itertools.pairwise(roles(shown)))
    if most > 2 and shown:
        assert shown[-1]["role"] == "assistant"
        assert text in shown[-1]["content"]


@given(SAID, SAID)
def test_instructions_come_first_whatever_was_said_before(
    records: list[dict[str, str]], before: list[dict[str, str]]
) -> None:
    instructions = [{"role": "system", "content": "now"}]
    rest = [{"role": "user", "content": "new"}, *records]
    assert [*continued([*instructions, *rest], before)] == [*instructions, *before, *rest]


def going_on(bench: Bench, model: ScriptedModel, agent: Agent, turns: int, **how: Any) -> list[Any]:
    """Have an agent work some times, each time with its conversation so far."""
    carry, done = RoundState(), list[Any]()
    for _ in range(turns):
        run = bench.one_pass(team(agent), model, dialogue=10_000, state=carry, **how)
        done.append(run.agents[agent.id])
        carry = RoundState(earlier={agent.id: earlier(done[-1].dialogue)})
    return done


def test_a_further_turn_goes_on_with_the_same_conversation(bench: Bench) -> None:
    with ScriptedModel(["one", "two", "3"]) as model:
        done = going_on(bench, model, llm("solo"), 3)
        sent = [call.body["messages"] for call in model.calls]
    assert [roles(item) for item in sent] == [
        ["system", "user"],
        ["system", "user", "assistant", "user"],
        ["system", "user", "assistant", "user", "assistant", "user"],
    ]
    assert [item["content"] for item in sent[2] if item["role"] == "assistant"] == ["one", "two"]
    assert [item["content"] for item in done[2].dialogue] == [
        *(item["content"] for item in sent[2]),
        "3",
    ]


def test_agents_that_call_tools_go_on_with_their_calls_as_text(bench: Bench) -> None:
    agent = Agent(id="solo", prompt="[solo]", agent_type="ToolCallingAgent", backend="smolagents")
    with ScriptedModel([Reply.tool("final_answer", answer=n) for n in ("1", "2")]) as model:
        first, second = going_on(bench, model, agent, 2)
        [before, after] = [call.body["messages"] for call in model.calls]
    assert (first.result.content, second.result.content) == ("1", "2")
    assert roles(after) == ["system", "user", "assistant", "user"]
    assert after[1]["content"] == before[1]["content"]
    assert "final_answer" in after[2]["content"]


def test_a_conversation_is_part_of_what_a_journal_answers(bench: Bench, tmp_path: Path) -> None:
    with ScriptedModel({"[solo]": "x"}) as model:
        going_on(bench, model, llm("solo"), 2, folder=tmp_path)
        assert len(model.calls) == 2
        going_on(bench, model, llm("solo"), 3, folder=tmp_path)
        assert len(model.calls) == 3


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_memory_of_next_to_nothing_is_still_a_conversation(most: int) -> None:
    dialogue = [{"role": role, "content": role} for role in ("user", "assistant") * 3]
    assert len(earlier(dialogue, most)) <= most

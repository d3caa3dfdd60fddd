"""Personas: who an agent is told it is, and nothing that it may do."""

from dataclasses import replace
from typing import Any

import pytest

from coterie.operators import Bounds, Chance, RejectedProposal, operator_of
from coterie.operators.methods.evochamber.lifecycle.roster import (
    LONGEST_PERSONA,
    LONGEST_TITLE,
    unwritten,
)
from coterie.operators.methods.evochamber.lifecycle.rules import LifecycleEvent
from coterie.pool.ledger.changes import Added, Retired, Revised
from coterie.runtime.doubles import Reply
from coterie.schema import Agent, Team

from ....asking import Asked, asking, catalogue, ceiling_of

REST = "End with a line `Answer:`.\n\nBe brief."
ADA = Agent(
    id="ada",
    role="assistant",
    agent_type="ToolCallingAgent",
    tools=("read_file",),
    max_tokens=64,
    prompt=f"You are Ada.\nYou add.\n\n{REST}",
)
BEN = Agent(id="ben", role="checker", prompt="You are Ben, and check.")
SAID = {"reason": "sums matter", "title": "sum expert", "persona": "You are Ada, and love sums."}
WHY = "competence 0.9 in 'sums'"
CEILING = ceiling_of(*(Team(name=item.id, agents={item.id: item}) for item in (ADA, BEN)))
AGENTS = {"fork": (ADA,), "merge": (ADA, BEN), "genesis": (ADA,), "specialize": (ADA,)}


def due(operator: Any, niche: str | None = "sums") -> LifecycleEvent:
    named = () if operator == "genesis" else tuple(item.id for item in AGENTS.get(operator, (ADA,)))
    return LifecycleEvent(operator=operator, agents=named, why=WHY, niche=niche)


def acted(
    operator: str,
    *answers: Any,
    niche: str | None = "sums",
    agents: tuple[Agent, ...] = (),
    bounds: Bounds | None = None,
) -> Asked[Any]:
    return asking(
        [answer if isinstance(answer, Reply) else Reply.json(answer) for answer in answers],
        lambda meta: operator_of(operator).act(
            meta, "p", due(operator, niche), agents or AGENTS[operator], ["What is 3 + 4?"]
        ),
        bounds=bounds,
        ceiling=CEILING,
    )


def child(operator: str, *answers: Any, agents: tuple[Agent, ...] = ()) -> Agent:
    [first, *_] = acted(operator, *answers, agents=agents).result
    return first.to if isinstance(first, Revised) else first.member


SHAPED = replace(ADA, role="sum expert", prompt=f"You are Ada, and love sums.\n\n{REST}")


@pytest.mark.parametrize("operator", AGENTS)
def test_a_persona_is_the_first_paragraph_and_all_else_stays(operator: str) -> None:
    assert child(operator, SAID) == SHAPED


def test_pruning_asks_nobody() -> None:
    result = asking([], lambda meta: operator_of("prune").act(meta, "p", due("prune"), (ADA,)))
    assert result.result == (Retired(member="ada", reason=f"pruned: {WHY}"),)
    assert result.calls == []


@pytest.mark.parametrize("operator", AGENTS)
def test_who_writes_a_persona_sees_whose_it_was_and_what_it_is_for(operator: str) -> None:
    [call] = acted(operator, SAID).calls
    for shown in ("You are Ada.", "assistant", REST, "What is 3 + 4?", "sums"):
        assert shown in call.text
    assert ("You are Ben" in call.text) == (operator == "merge")
    assert "<niche" not in acted(operator, SAID, niche=None).calls[0].text


def test_a_prompt_that_is_a_file_s_is_written_out() -> None:
    named = replace(ADA, prompt="solve_step_by_step")
    result = child("fork", SAID, agents=(named,))
    assert result.prompt.startswith("You are Ada, and love sums.")
    assert result.prompt != named.prompt


@pytest.mark.parametrize(
    "bad",
    [
        {**SAID, "persona": " "},
        {**SAID, "title": "…"},
        {**SAID, "persona": "You are Ada. You  add."},
        {**SAID, "tools": ["shell"]},
        {"title": "x", "persona": "y"},
    ],
)
def test_what_is_no_persona_is_repaired_once_and_then_dropped(bad: Any) -> None:
    repaired = acted("fork", bad, SAID)
    assert [item.member for item in repaired.result] == [SHAPED]
    [fields] = repaired.events_of("operator_repair")
    assert fields["problems"]
    lost = acted("fork", bad, bad)
    assert isinstance(lost.result, RejectedProposal)
    assert lost.result.parents == ("ada",)
    assert len(lost.events_of("operator_dropped")) == 1


def test_one_word_names_no_prompt_file() -> None:
    bare = replace(ADA, prompt="You are Ada.")
    named = {**SAID, "persona": "solve_step_by_step"}
    lost = acted("fork", named, named, agents=(bare,))
    assert isinstance(lost.result, RejectedProposal)
    assert lost.result.problems == ("persona: one word is none. Write sentences.",)


def test_what_is_too_long_is_cut_and_stays_one_paragraph() -> None:
    long = {**SAID, "title": "t " * 99, "persona": "You\n\nare " * 999}
    result = child("fork", long)
    assert len(result.role) <= LONGEST_TITLE
    first, rest = result.prompt.split("\n\n", 1)
    assert len(first) <= LONGEST_PERSONA
    assert rest == REST
    [small] = acted("fork", long, bounds=Bounds(characters=50)).result
    assert len(small.member.prompt.partition("\n\n")[0]) <= 50


def test_templates_and_keys_are_words_and_no_more() -> None:
    result = child("fork", {**SAID, "persona": "You {{ 7 * 7 }} use sk-" + "a1B2" * 12 + "."})
    assert result.prompt.startswith("You {{ 7 * 7 }} use ")
    assert "a1B2" not in result.prompt


@pytest.mark.parametrize("operator", AGENTS)
async def test_chance_writes_personas_too(operator: Any) -> None:
    drawn = Chance(catalogue=catalogue(), ceiling=CEILING, seed=1)
    act = operator_of(operator).act(drawn, "p", due(operator), AGENTS[operator])
    first, *_ = await act
    result = first.to if isinstance(first, Revised) else first.member
    assert result.prompt != ADA.prompt
    assert result.prompt.endswith(REST)


def test_two_may_be_described_as_the_first_of_them_was() -> None:
    same = {**SAID, "persona": "You are Ada. You add."}
    assert child("merge", same).prompt == f"You are Ada. You add.\n\n{REST}"


def test_without_a_persona_two_are_merged_under_the_first_s_and_nothing_else_happens() -> None:
    born, *retired = unwritten(due("merge"), (ADA, BEN))
    assert isinstance(born, Added)
    assert born.member == ADA
    assert born.lineage.reason == WHY
    assert len(retired) == 2
    for operator in ("fork", "genesis", "specialize"):
        assert unwritten(due(operator), (ADA,)) == ()

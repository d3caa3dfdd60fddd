"""Chance: valid edits of one component that no model chose; the same for the same seed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from coterie.operators import MUTABLE, Dropped, Proposal, chance
from coterie.schema.edits import apply, components

from .asking import PAIR, catalogue, ceiling_of, llm, seed, team

TOOLS = team(
    "tools",
    llm("reader", agent_type="ToolCallingAgent", tools=("read_file", "list_files")),
    llm("judge", output_schema={"type": "object"}),
)
NOTHING_TO_CHANGE = {
    *(("tools", name) for name in ("pair", "majority_vote_3", "debate_3")),
    *(("topology", name) for name in ("pair", "tools")),  # one edge, which has to stay
}
TEAMS = [PAIR, TOOLS, seed("majority_vote_3"), seed("debate_3"), seed("debate")]


@pytest.mark.parametrize("of", TEAMS, ids=lambda one: one.name)
@pytest.mark.parametrize("component", MUTABLE)
def test_a_child_is_valid_differs_and_touches_one_component(of: Any, component: Any) -> None:
    ceiling = replace(ceiling_of(of), tools=frozenset({"read_file", "list_files", "search_text"}))
    made = 0
    for number in range(6):
        came = chance(of, component, catalogue(), ceiling, path=f"step {number}", edits=1 + number)
        if isinstance(came, Proposal):
            made += 1
            assert components(came.edits) == {component} == {came.component}
            assert apply(of, came.edits, catalogue(), ceiling) == came.child
            assert came.child.content_hash != of.content_hash
    assert bool(made) != ((component, of.name) in NOTHING_TO_CHANGE)


def test_the_same_seed_and_path_give_the_same_child() -> None:
    def drawn(**options: Any) -> Any:
        return chance(PAIR, "prompts", catalogue(), ceiling_of(PAIR), **options)

    assert drawn(path="a", seed=1) == drawn(path="a", seed=1)
    assert len({drawn(path="a", seed=seed).child.content_hash for seed in range(12)}) > 3
    assert len({drawn(path=str(path)).child.content_hash for path in range(12)}) > 3


def test_prompts_lose_gain_swap_and_borrow_sentences() -> None:
    one = llm("worker", prompt="Count. Then add. Then check.")
    both = team("both", one, llm("judge", prompt="solve_step_by_step"))
    made = [
        chance(both, "prompts", catalogue(), ceiling_of(both), path=str(number))
        for number in range(60)
    ]
    texts = {came.child.agents["worker"].prompt for came in made if isinstance(came, Proposal)} - {
        one.prompt
    }
    assert "Count.\nThen add." in texts
    assert any("step by step" in text for text in texts)
    assert any(text.startswith("You are one of several workers") for text in texts)
    assert any(sorted(text.split()) == sorted(one.prompt.split()) for text in texts)


def test_a_prompt_of_one_word_stays_a_text() -> None:
    short = team("short", llm("a", prompt="count\n"), llm("b", prompt="Answer."))
    for number in range(30):
        came = chance(short, "prompts", catalogue(), ceiling_of(short), path=str(number))
        assert isinstance(came, Proposal)


def test_where_there_is_nothing_to_draw_it_is_dropped() -> None:
    came = chance(PAIR, "tools", catalogue(), ceiling_of(PAIR))
    assert came == Dropped(
        operator="chance",
        reason="there is nothing to change about tools that is known and below the ceiling.",
        parents=("pair",),
    )
    counters = team("count", llm("a", agent_type="Function", function="majority", prompt=""))
    came = chance(counters, "prompts", catalogue(), ceiling_of(counters))
    assert isinstance(came, Dropped)


def test_what_is_above_the_ceiling_is_never_drawn() -> None:
    tight = replace(ceiling_of(PAIR), max_tokens=1)
    came = chance(PAIR, "parameters", catalogue(), tight)
    assert isinstance(came, Dropped)
    assert "the ceiling allows 1" in came.problems[0]


def test_it_touches_nothing_but_what_a_mutation_may() -> None:
    with pytest.raises(ValueError, match="a mutation touches one of"):
        chance(PAIR, "roster", catalogue(), ceiling_of(PAIR))

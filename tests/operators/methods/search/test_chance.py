"""Chance: valid edits of one component that no model chose; the same for the same seed."""

import asyncio
import itertools
from collections import Counter
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

import pytest

from coterie.operators import (
    MUTABLE,
    Chance,
    Proposal,
    RejectedProposal,
    chance,
    crossover,
    decide,
    instantiate,
    mutate,
)
from coterie.schema import Team
from coterie.schema.edits import apply, components

from ....support.shares import every
from ...asking import PAIR, TASK, catalogue, ceiling_of, llm, parent, seed, team

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


@pytest.mark.parametrize(
    ("component", "of"),
    every(2, itertools.product(MUTABLE, TEAMS)),
    ids=lambda value: value.name if isinstance(value, Team) else value,
)
def test_a_child_is_valid_differs_and_touches_one_component(of: Any, component: Any) -> None:
    ceiling = replace(ceiling_of(of), tools=frozenset({"read_file", "list_files", "search_text"}))
    proposals = 0
    for number in range(6):
        result = chance(
            of, component, catalogue(), ceiling, path=f"step {number}", edits=1 + number
        )
        if isinstance(result, Proposal):
            proposals += 1
            assert components(result.edits) == {component} == {result.component}
            assert apply(of, result.edits, catalogue(), ceiling) == result.child
            assert result.child.content_hash != of.content_hash
    assert bool(proposals) != ((component, of.name) in NOTHING_TO_CHANGE)


def test_the_same_seed_and_path_give_the_same_child() -> None:
    def drawn(**options: Any) -> Any:
        return chance(PAIR, "prompts", catalogue(), ceiling_of(PAIR), **options)

    assert drawn(path="a", seed=1) == drawn(path="a", seed=1)
    assert len({drawn(path="a", seed=seed).child.content_hash for seed in range(12)}) > 3
    assert len({drawn(path=str(path)).child.content_hash for path in range(12)}) > 3


def test_prompts_lose_gain_swap_and_borrow_sentences() -> None:
    item = llm("worker", prompt="Count. Then add. Then check.")
    both = team("both", item, llm("judge", prompt="solve_step_by_step"))
    result = [
        chance(both, "prompts", catalogue(), ceiling_of(both), path=str(number))
        for number in range(60)
    ]
    texts = {
        outcome.child.agents["worker"].prompt for outcome in result if isinstance(outcome, Proposal)
    } - {item.prompt}
    assert "Count.\nThen add." in texts
    assert any("step by step" in text for text in texts)
    assert any(text.startswith("You are one of several workers") for text in texts)
    assert any(sorted(text.split()) == sorted(item.prompt.split()) for text in texts)


def test_a_prompt_of_one_word_stays_a_text() -> None:
    short = team("short", llm("a", prompt="count\n"), llm("b", prompt="Answer."))
    for number in range(30):
        result = chance(short, "prompts", catalogue(), ceiling_of(short), path=str(number))
        assert isinstance(result, Proposal)


def test_where_there_is_nothing_to_draw_it_is_dropped() -> None:
    result = chance(PAIR, "tools", catalogue(), ceiling_of(PAIR))
    assert result == RejectedProposal(
        operator="chance",
        reason="there is nothing to change about tools that is known and below the ceiling.",
        parents=("pair",),
    )
    counters = team("count", llm("a", agent_type="Function", function="majority", prompt=""))
    result = chance(counters, "prompts", catalogue(), ceiling_of(counters))
    assert isinstance(result, RejectedProposal)


def test_what_is_above_the_ceiling_is_never_drawn() -> None:
    tight = replace(ceiling_of(PAIR), max_tokens=1)
    result = chance(PAIR, "parameters", catalogue(), tight)
    assert isinstance(result, RejectedProposal)
    assert "the ceiling allows 1" in result.problems[0]


def test_it_touches_nothing_but_what_a_mutation_may() -> None:
    with pytest.raises(ValueError, match="a mutation touches one of"):
        chance(PAIR, "roster", catalogue(), ceiling_of(PAIR))


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def by_chance(of: Team, *, seed: int = 0, **ceiling: Any) -> Chance:
    return Chance(catalogue=catalogue(), ceiling=replace(ceiling_of(of), **ceiling), seed=seed)


def is_fine(result: Any, meta_model: Chance) -> Proposal:
    assert isinstance(result, Proposal)
    assert apply(result.base, result.edits, catalogue(), meta_model.ceiling) == result.child
    assert result.reason == "Drawn at random."
    return result


@pytest.mark.parametrize("of", TEAMS[:-1], ids=lambda item: item.name)
def test_it_instantiates_as_a_model_does_and_sometimes_leaves_a_team_as_it_is(of: Team) -> None:
    meta = by_chance(of)
    drawn = [is_fine(run(instantiate(meta, str(n), TASK, parent(of))), meta) for n in range(16)]
    touched: set[Any] = {component for result in drawn for component in components(result.edits)}
    assert len(touched) > 1
    assert touched <= {"prompts", "model_id", "topology", "roster"}
    assert any(result.edits == () for result in drawn)
    assert len({result.child.content_hash for result in drawn}) > 4
    assert {result.operator for result in drawn} == {"instantiate"}


@pytest.mark.parametrize("component", ["prompts", "model_id", "parameters"])
def test_it_mutates_as_a_model_does(component: Any) -> None:
    meta = by_chance(TOOLS)
    for number in range(8):
        path = f"step {number}"
        result = run(mutate(meta, path, TASK, parent(TOOLS), component=component))
        assert is_fine(result, meta).component == component
        assert result.child.content_hash != TOOLS.content_hash


def test_it_crosses_as_a_model_does_with_the_topology_of_either() -> None:
    other = team("other", llm("worker", prompt="Be brief."), llm("critic"), llm("judge"))
    meta = by_chance(other)
    first, second = parent(PAIR), parent(other)
    drawn = [is_fine(run(crossover(meta, str(n), TASK, first, second)), meta) for n in range(20)]
    assert {result.parents[0] for result in drawn} == {"pair", "other"}
    assert len({result.child.content_hash for result in drawn}) > 5
    for product in drawn:
        assert product.child.content_hash not in {PAIR.content_hash, other.content_hash}


def test_it_decides_among_all_options() -> None:
    meta, other = by_chance(PAIR), parent(seed("debate_3"))

    def decided(number: int) -> Any:
        return run(decide(meta, f"step {number}", TASK, parent(PAIR), other, components=MUTABLE))

    counts = Counter(decided(number) for number in range(100))
    assert set(counts) == {"prompts", "model_id", "parameters", "crossover"}
    assert min(counts.values()) > 8
    assert [decided(number) for number in range(9)] == [decided(number) for number in range(9)]


def test_what_it_answers_depends_on_seed_and_path_alone() -> None:
    def made(path: str, seed: int) -> str:
        meta = by_chance(PAIR, seed=seed)
        result = run(mutate(meta, path, TASK, parent(PAIR, reward=seed / 9), component="prompts"))
        return result.child.content_hash

    assert made("a", 1) == made("a", 1)
    assert len({made("a", number) for number in range(12)}) > 3
    assert len({made(str(number), 0) for number in range(12)}) > 3


def test_what_it_gives_up_is_told() -> None:
    pairs: list[tuple[str, Any]] = []

    def tell(event: str, /, **fields: Any) -> None:
        pairs.append((event, fields["operator"]))

    meta = replace(by_chance(PAIR, max_tokens=1), tell=tell)
    result = run(mutate(meta, "m", TASK, parent(PAIR), component="parameters"))
    assert isinstance(result, RejectedProposal)
    assert (result.operator, result.parents) == ("mutate", ("pair",))
    assert pairs == [("operator_dropped", "mutate")]


def test_a_newcomer_gets_a_prompt_made_of_those_that_are_there() -> None:
    meta = by_chance(PAIR)
    texts: set[str] = set()
    for number in range(60):
        result = run(instantiate(meta, str(number), TASK, parent(PAIR), components=("topology",)))
        new = [agent for agent in result.child.agents.values() if agent.id not in PAIR.agents]
        texts |= {item.prompt for item in new if not item.function}
    assert texts
    known = {sentence for agent in PAIR.agents.values() for sentence in agent.prompt.split(". ")}
    assert any(sentence.rstrip(".") in text for text in texts for sentence in known)
    assert max(text.count(" ") for text in texts) > 3  # sentences, and no single words

"""Compiling: Kahn order, what agents see, and a plan that can be printed."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime import compile
from coterie.schema import Agent, Catalogue, Execution, Model, Team, dump, parse_team

from ..conftest import llm, team

KNOWN = Catalogue.of_host()


def test_levels_and_order_are_kahns_with_names_in_natural_order() -> None:
    workers = [llm(name) for name in ("w10", "w2", "w1")]
    plan = compile(team(*workers, llm("end"), edges={w.id: ("end",) for w in workers}), KNOWN)
    assert plan.levels == (("w1", "w2", "w10"), ("end",))
    assert list(plan.agents) == ["w1", "w2", "w10", "end"]
    assert plan.output == "end"
    assert plan.agents["end"].sees == ("w1", "w2", "w10")
    assert plan.levels == plan.team.levels


def test_a_model_is_asked_for_the_same_schema_once_its_team_was_written() -> None:
    items = {"minItems": 1, "items": {"maxLength": 3, "type": "string"}, "type": "array"}
    schema = {"properties": {"b": items, "a": {"type": "string"}}, "type": "object"}
    first = team(replace(llm("a"), output_schema=schema))
    [planned] = compile(first, KNOWN).agents.values()
    [again] = compile(parse_team(dump(first).encode(), "team.yaml", KNOWN), KNOWN).agents.values()
    assert json.dumps(planned.agent.output_schema) == json.dumps(again.agent.output_schema)
    assert planned.agent.output_schema == schema


@given(st.randoms(), st.integers(2, 12))
def test_the_order_of_writing_does_not_matter(random, count: int) -> None:
    names = [f"a{number}" for number in range(count)]
    edges = {name: tuple(names[number + 1 : number + 3]) for number, name in enumerate(names[:-1])}
    item = compile(team(*map(llm, names), edges=edges), KNOWN)
    random.shuffle(names)
    shuffled = {name: tuple(reversed(edges[name])) for name in names if name in edges}
    other = compile(team(*map(llm, names), edges=shuffled), KNOWN)
    assert str(item) == str(other)
    assert item.team.content_hash == other.team.content_hash


def test_context_decides_who_is_seen() -> None:
    agents = [llm(name) for name in ("a", "b", "c", "d")]
    edges = {"a": ("b",), "b": ("d",), "c": ("d",)}

    def seen(context: str) -> tuple[str, ...]:
        return compile(team(*agents, edges=edges, context=context), KNOWN).agents["d"].sees

    assert seen("predecessors") == ("c", "b")
    assert seen("ancestors") == ("a", "c", "b")
    assert seen("all") == ("a", "c", "b")


def test_prompt_ids_become_texts_and_texts_stay(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "greet.md").write_text("---\nversion: 1\n---\nSay hello.\n")
    plan = compile(
        team(Agent(id="a", prompt="greet"), Agent(id="b", prompt="Say {{ it }}."), context="all"),
        KNOWN.beside(tmp_path),
    )
    assert plan.agents["a"].prompt == "Say hello."
    assert plan.agents["b"].prompt == "Say {{ it }}."


def test_the_plan_bounds_calls_and_workers() -> None:
    schema = {"type": "object"}
    agents = [
        llm("a"),
        llm("b", output_schema=schema),
        Agent(id="c", agent_type="Function", function="concat"),
    ]
    plan = compile(team(*agents, edges={"a": ("c",), "b": ("c",)}, parallel_workers=2), KNOWN)
    assert [agent.calls_at_most for agent in plan.agents.values()] == [1, 2, 0]
    assert (plan.calls_at_most, plan.workers) == (3, 2)
    assert plan.aliases == {"default"}
    assert not plan.needs_jail


def test_a_plan_reads_as_text_and_as_values() -> None:
    models = {"default": Model(alias="default", model="openai/gpt")}
    plan = compile(team(llm("a", role="solver"), edges={}), Catalogue.of_host(models=models))
    assert "default = openai/gpt" in str(plan)
    assert "answer: a" in str(plan)
    described = plan.describe()
    assert described["levels"][0][0]["model"] == "default = openai/gpt"
    assert described["content_hash"] == plan.team.content_hash
    unresolved = compile(team(llm("a", model_id="ghost")), KNOWN)
    assert "ghost (unresolved)" in str(unresolved)


def test_a_declared_output_wins() -> None:
    item = team(llm("a"), llm("b"), edges={"a": ("b",)})
    assert compile(replace(item, declared_output="b"), KNOWN).output == "b"


def test_a_hundred_agents_compile_to_a_hundred_levels() -> None:
    names = [f"a{number}" for number in range(100)]
    edges = {name: (other,) for name, other in pairwise(names)}
    chain = Team(
        name="chain",
        agents=MappingProxyType({name: llm(name) for name in names}),
        reports_to=edges,
        execution=Execution(context="ancestors"),
    )
    plan = compile(chain, KNOWN)
    assert len(plan.levels) == 100
    assert len(plan.agents["a99"].sees) == 99

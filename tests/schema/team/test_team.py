"""A team as a value."""

from dataclasses import replace
from graphlib import CycleError
from typing import Any, get_args

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.schema import Agent, Each, Execution, Notes, Recall, Team, When
from coterie.schema.team.team import Context, is_prompt_id, natural

CONTEXTS = get_args(Context)


def team(*edges: str, agents: str = "a b c d", **fields: Any) -> Team:
    """A team with these edges: `"ab"` for a that reports to b."""
    reports_to: dict[str, tuple[str, ...]] = {}
    for u, v in edges:
        reports_to[u] = (*reports_to.get(u, ()), v)
    members = {part: Agent(id=part, prompt="Solve it.") for part in agents.split()}
    return Team(name="t", agents=members, reports_to=reports_to, **fields)


def test_levels_hold_agents_whose_predecessors_are_all_earlier() -> None:
    diamond = team("ab", "ac", "bd", "cd", "ad")
    assert diamond.levels == (("a",), ("b", "c"), ("d",))
    assert diamond.output == "d"
    assert diamond.predecessors == {"a": (), "b": ("a",), "c": ("a",), "d": ("a", "b", "c")}
    assert diamond.edges == (("a", "b"), ("a", "c"), ("a", "d"), ("b", "d"), ("c", "d"))


def test_order_is_natural_wherever_agents_stand_side_by_side() -> None:
    crowd = team(agents="w10 w2 w1 judge")
    assert crowd.levels == (("judge", "w1", "w2", "w10"),)
    assert crowd.output == "w10"
    assert replace(crowd, declared_output="judge").output == "judge"


@given(st.sets(st.tuples(*[st.sampled_from("abcdef")] * 2).filter(lambda edge: edge[0] < edge[1])))
def test_ancestors_are_all_whose_reports_come_to_an_agent(edges: set[tuple[str, str]]) -> None:
    result = team(*map("".join, edges), agents="a b c d e f")
    graph = nx.DiGraph(result.edges)
    graph.add_nodes_from(result.agents)
    assert result.ancestors == {agent: nx.ancestors(graph, agent) for agent in result.agents}
    seen = {rule: replace(result, execution=Execution(context=rule)).visible for rule in CONTEXTS}
    assert seen["predecessors"] == {item: {*us} for item, us in result.predecessors.items()}
    assert seen["ancestors"] == result.ancestors
    assert all(result.ancestors[item] <= others for item, others in seen["all"].items())


def test_a_cycle_has_no_levels() -> None:
    with pytest.raises(CycleError):
        _ = team("ab", "ba").levels


def test_natural_order_takes_digits_as_numbers_whatever_the_text() -> None:
    names = ["w10", "w9", "w09", "w", "10", "9", "²", "é", ""]
    assert sorted(names, key=natural) == ["", "9", "10", "w", "w09", "w9", "w10", "²", "é"]


@pytest.mark.parametrize(
    ("fields", "backend"),
    [
        ({}, "llm"),
        ({"agent_type": "LLM"}, "llm"),
        ({"agent_type": "Function"}, "function"),
        ({"agent_type": "CodeAgent"}, "smolagents"),
        ({"agent_type": "ToolCallingAgent"}, "smolagents"),
        ({"agent_type": "DefaultAgent"}, "mini-swe-agent"),
        ({"agent_type": "SWEAgent"}, "swe-agent"),
        ({"agent_type": "CodeAgent", "backend": "other"}, "other"),
        ({"agent_type": "Unheard"}, "llm"),
    ],
)
def test_a_backend_is_of_the_agent_type_or_team(fields: dict[str, Any], backend: str) -> None:
    member = Agent(id="a", **fields)
    assert team().backend_of(member) == backend
    implied = {"LLM", "Function", "CodeAgent", "ToolCallingAgent", "DefaultAgent", "SWEAgent"}
    if fields.get("agent_type") not in implied and "backend" not in fields:
        assert team(backend="mine").backend_of(member) == "mine"


@pytest.mark.parametrize(
    ("text", "is_id"),
    [
        ("solve", True),
        ("solve_2", True),
        ("Solve", False),
        ("solve it", False),
        ("solve\n", False),
        ("2solve", False),
        ("x" * 64, True),
        ("x" * 65, False),
        ("", False),
    ],
)
def test_one_lower_snake_word_is_the_id_of_a_prompt_file(text: str, is_id: bool) -> None:
    assert is_prompt_id(text) is is_id


CHANGES: dict[str, Any] = {
    "role": "judge",
    "agent_type": "LLM",
    "model_id": "big",
    "prompt": "Solve it well.",
    "tools": ("read_file",),
    "imports": ("numpy",),
    "files": (),
    "function": "majority",
    "max_tokens": 7,
    "temperature": 0.5,
    "top_p": 0.9,
    "effort": "low",
    "max_steps": 3,
    "planning_interval": 2,
    "timeout": 9.5,
    "output_schema": {"type": "string"},
    "backend": "llm",
    "when": When(agent="b", is_="yes"),
    "reads": {"b": When(is_="yes")},
    "each": Each(field="files"),
    "notes": Notes(patches={"units": "Write units."}),
    "recall": Recall(),
}


@pytest.mark.parametrize("field", CHANGES)
def test_the_hash_changes_with_every_field_of_an_agent(field: str) -> None:
    before = team("ab", "bc", "cd")
    changed = replace(before.agents["a"], **{field: CHANGES[field]})
    after = replace(before, agents={**before.agents, "a": changed})
    assert after.content_hash != before.content_hash


def test_every_field_of_an_agent_is_tried() -> None:
    assert {*CHANGES, "id", "member"} == set(Agent.__dataclass_fields__)


def test_which_agent_of_a_pool_it_is_makes_no_difference() -> None:
    before = team("ab")
    after = replace(before, agents={**before.agents, "a": replace(before.agents["a"], member="x")})
    assert after.content_hash == before.content_hash
    assert after == before


def test_what_an_agent_knows_of_the_others_is_found_by_their_ids_or_their_names() -> None:
    noted = {"b": "Quick.", "ada": "Careful.", "gone": "Loud.", "a": "Me."}
    agents = {
        "a": Agent(id="a", notes=Notes(teammates=noted, pairs={"ada": "Tell her all."})),
        "b": Agent(id="b", member="bob"),
        "c": Agent(id="c", member="ada"),
        "d": Agent(id="d"),
    }
    known = Team(name="t", agents=agents).known_to(agents["a"])
    assert [*known] == [("b", "Quick."), ("c", "Careful.")]
    assert [*Team(name="t", agents=agents).paired_with(agents["a"])] == [("c", "Tell her all.")]


def test_an_agent_with_another_id_keeps_its_notes_on_those_who_are_there() -> None:
    on = {"b": "B.", "c": "C.", "d": "D.", "x": "X."}
    taught = {"teammates/b": "t_1", "pairs/x": "t_2", "coaching": "t_3"}
    notes = Notes(teammates=on, pairs=on, coaching="Hm.", taught=taught)
    moved = Agent(id="a", notes=notes).renamed("x", {"b": "c", "c": "b", "d": None})
    assert moved.id == "x"
    assert moved.notes.teammates == moved.notes.pairs == {"c": "B.", "b": "C."}
    assert moved.notes.taught == {"teammates/c": "t_1", "coaching": "t_3"}


@pytest.mark.parametrize(
    "change",
    [
        {"constitution": "Answer in English."},
        {"backend": "smolagents"},
        {"reports_to": {"a": ("b",), "b": ("d",), "c": ("d",)}},
        {"declared_output": "c"},
        {"execution": Execution(parallel_workers=False)},
        {"execution": Execution(timeout=1)},
        {"execution": Execution(max_retries=0)},
        {"execution": Execution(on_error="skip")},
        {"execution": Execution(context="all")},
    ],
    ids=str,
)
def test_the_hash_changes_with_whatever_else_is_executed(change: dict[str, Any]) -> None:
    before = team("ab", "bc", "cd")
    assert replace(before, **change).content_hash != before.content_hash

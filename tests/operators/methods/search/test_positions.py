"""Who stands where in two teams: by id, then by role, then by level."""

from coterie.operators.methods.search.positions import counterparts

from ...asking import PAIR, llm, seed, team


def test_a_team_stands_where_it_stands() -> None:
    debate = seed("debate")
    assert counterparts(debate, debate) == {agent: agent for agent in debate.agents}


def test_the_same_id_comes_before_the_same_role() -> None:
    other = team("other", llm("x", role="worker"), llm("worker", role="critic"), llm("judge"))
    assert counterparts(PAIR, other)["worker"] == "worker"


def test_the_same_role_comes_before_the_same_level() -> None:
    other = team("other", llm("a", role="judge"), llm("b", role=" Worker"))
    assert counterparts(PAIR, other) == {"worker": "b", "judge": "a"}


def test_several_of_a_kind_stand_where_fewer_do() -> None:
    few = team("few", llm("a"), llm("b"), llm("out"))
    many = team("many", *(llm(f"w{number}") for number in range(5)), llm("end"))
    assert counterparts(many, few) == {
        "w0": "a", "w1": "b", "w2": "a", "w3": "b", "w4": "a", "end": "out"
    }  # fmt: skip
    assert counterparts(few, many) == {"a": "w0", "b": "w1", "out": "end"}


def test_a_position_may_have_no_counterpart() -> None:
    chain = team("chain", llm("a"), llm("b"), llm("c"), edges={"a": ("b",), "b": ("c",)})
    two = team("two", llm("x"), llm("y"))
    assert counterparts(chain, two) == {"a": "x", "c": "y"}
    alone = team("alone", llm("z"))
    assert counterparts(alone, two) == {"z": "y"}

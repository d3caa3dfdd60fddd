import pytest

from coterie.schema.edits import AddEdge, GrantTool, Mutation, RevokeTool, SetModel, components

GRANT = GrantTool(agent="a", tool="read_file")
REVOKE = RevokeTool(agent="b", tool="read_file")
MODEL = SetModel(agent="a", model_id="fast")


def test_a_mutation_may_touch_its_component_on_every_agent() -> None:
    assert Mutation(component="tools", edits=(GRANT, REVOKE)).edits == (GRANT, REVOKE)


def test_a_mutation_of_two_components_cannot_be_made() -> None:
    with pytest.raises(ValueError, match=r"edits\[1\].set_model is an edit of model_id; this is a"):
        Mutation(component="tools", edits=(GRANT, MODEL))  # pyright: ignore[reportArgumentType]


def test_a_mutation_changes_something() -> None:
    with pytest.raises(ValueError, match="a mutation of tools without an edit changes nothing"):
        Mutation(component="tools", edits=())


def test_the_components_of_edits() -> None:
    edits = [GRANT, REVOKE, AddEdge(sender="a", receiver="b")]
    assert components(edits) == {"tools", "topology"}
    assert components([]) == frozenset()

"""The edits between two teams: they lead there, and none is too many."""

from dataclasses import replace

import pytest
from hypothesis import given

from coterie.schema import Agent, Team, dump
from coterie.schema.edits import (
    AddAgent,
    AddEdge,
    Edit,
    GrantTool,
    OrderAgents,
    RemoveEdge,
    RenameAgent,
    ReplaceTopology,
    RevokeTool,
    SetModel,
    SetParameter,
    SetPrompt,
    SetTools,
    agent_edits,
    apply,
    changes,
    diff,
    edits_from_json,
    edits_to_json,
)
from coterie.schema.edits._draft import in_canonical_order

from ..edited import made
from ..strategies import CATALOGUE, fewer
from .strategies import exact, relatives
from .test_applying import llm, team


@fewer(2)
@given(relatives())
def test_edits_lead_from_one_team_to_another_and_survive_writing(drawn: tuple[Team, Team]) -> None:
    before, after = drawn
    edits = diff(before, after)
    assert list(edits) == in_canonical_order(edits)
    result = made(before, *edits)
    assert result == after
    assert exact(result) == exact(after)
    assert edits_from_json(edits_to_json(edits)) == edits
    report = {change.component for change in changes(before, after)}
    # What happens to the edges of agents that come and go is part of their coming and going.
    assert {edit.component for edit in edits} | {"topology"} == report | {"topology"}
    same = replace(before, lineage=after.lineage)
    assert diff(before, same) == changes(before, same) == ()


@fewer(3)
@given(relatives())
def test_every_edit_is_needed(drawn: tuple[Team, Team]) -> None:
    before, after = drawn
    edits = diff(before, after)
    for index in range(len(edits)):
        result = apply(before, [*edits[:index], *edits[index + 1 :]], CATALOGUE)
        assert not isinstance(result, Team) or exact(result) != exact(after)


@pytest.mark.parametrize(
    ("after", "edits"),
    [
        (
            team("ab", "bj"),
            [RemoveEdge(sender="a", receiver="j"), AddEdge(sender="a", receiver="b")],
        ),
        (team("bj", "aj"), [ReplaceTopology(reports_to={"b": ("j",), "a": ("j",)})]),
        (team("ja", "ab"), [ReplaceTopology(reports_to={"j": ("a",), "a": ("b",)})]),
        (team("ab"), [ReplaceTopology(reports_to={"a": ("b",)})]),
        (
            team("aj", "bj", "cd", "dj", agents="a b c d j"),
            [
                AddAgent(agent=llm("c"), before="j", reports_to=("d",)),
                AddAgent(agent=llm("d"), before="j", reports_to=("j",)),
            ],
        ),
        (team("xj", "bj", agents="x b j"), [RenameAgent(agent="a", id="x")]),
        (team(agents="b a j"), [OrderAgents(agents=("b", "a", "j"))]),
        (
            team("aj", "bj", "cj", "ca", agents="a c b j"),
            [AddAgent(agent=llm("c"), before="b", reports_to=("j", "a"))],
        ),
    ],
)
def test_changes_of_structure_are_few_edits(after: Team, edits: list[Edit]) -> None:
    if after.reports_to == {"c": ("j", "a"), "a": ("j",), "b": ("j",)}:
        after = replace(after, reports_to={"a": ("j",), "c": ("a", "j"), "b": ("j",)})
        edits = [AddAgent(agent=llm("c"), before="b", reports_to=("a", "j"))]
    assert diff(team(), after) == tuple(edits)


def test_tools_are_granted_and_revoked_where_that_gives_the_list() -> None:
    item = Agent(id="a", tools=("list_files", "search_text"))
    other = replace(item, tools=("list_files", "read_file"))
    assert agent_edits(item, other) == (
        RevokeTool(agent="a", tool="search_text"),
        GrantTool(agent="a", tool="read_file"),
    )
    other = replace(item, tools=("search_text", "list_files"))
    assert agent_edits(item, other) == (SetTools(agent="a", tools=("search_text", "list_files")),)


def test_an_agent_can_take_over_the_fields_of_another() -> None:
    item, other = llm("a"), Agent(id="b", prompt="Check it.", model_id="fast", temperature=0)
    assert agent_edits(item, replace(other, id="a")) == (
        SetModel(agent="a", model_id="fast"),
        SetPrompt(agent="a", prompt="Check it."),
        SetParameter(agent="a", field="temperature", value=0),
    )


def test_the_spelling_of_a_number_is_no_difference_but_its_kind_is() -> None:
    def limited(workers: bool | int, timeout: float) -> Team:
        execution = team().execution
        return team(execution=replace(execution, parallel_workers=workers, timeout=timeout))

    assert diff(limited(True, 60), limited(True, 60.0)) == ()
    assert len(diff(limited(True, 60), limited(1, 60))) == 1


def test_the_order_of_a_schemas_fields_is_a_difference() -> None:
    def answering(*names: str) -> Team:
        schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
        return Team(name="t", agents={"a": llm("a", output_schema=schema)})

    item, other = answering("reason", "answer"), answering("answer", "reason")
    assert item == other
    result = made(item, *diff(item, other))
    assert dump(result) == dump(other)

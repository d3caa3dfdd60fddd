"""What comes of edits: a team that loads, or the reasons why there is none."""

from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from coterie.schema import Agent, Execution, Lineage, Team, dump, parse_team
from coterie.schema.edits import (
    COMPONENTS,
    KINDS,
    AddAgent,
    AddEdge,
    Edit,
    GrantTool,
    OrderAgents,
    RejectedEdits,
    RemoveAgent,
    RemoveEdge,
    RenameAgent,
    ReplaceTopology,
    RevokeTool,
    SetBackend,
    SetExecution,
    SetMetadata,
    SetModel,
    SetNote,
    SetOutput,
    SetParameter,
    SetPrompt,
    SetRole,
    SetTools,
    apply,
)
from coterie.schema.edits._draft import draft
from coterie.schema.edits.components import AGENT_FIELDS, TEAM_FIELDS
from coterie.schema.loading.loading import check_team
from coterie.schema.team.writing import write_team_yaml

from ..edited import made
from ..strategies import CATALOGUE, fewer
from .strategies import exact, teams_and_edits


def llm(agent_id: str, **answer: Any) -> Agent:
    return Agent(id=agent_id, prompt="Solve the task.", **answer)


def team(*edges: str, agents: str = "a b j", **answer: Any) -> Team:
    """A team with these edges: `"aj"` for a that reports to j."""
    reports_to: dict[str, tuple[str, ...]] = {}
    for u, v in edges or ("aj", "bj"):
        reports_to[u] = (*reports_to.get(u, ()), v)
    members = {part: llm(part) for part in agents.split()}
    return replace(Team(name="t", agents=members, reports_to=reports_to), **answer)


def refused(parent: Team, *edits: Edit) -> list[str]:
    """What is said against edits."""
    outcome = apply(parent, edits, CATALOGUE)
    assert isinstance(outcome, RejectedEdits)
    return [str(problem) for problem in outcome.problems]


@fewer(2)
@given(teams_and_edits(), st.randoms(use_true_random=False))
def test_a_child_loads_in_any_order_and_a_refusal_has_the_problems_of_loading(
    drawn: tuple[Team, list[Edit]], random: Any
) -> None:
    parent, edits = drawn
    before = repr(parent), repr(edits)
    outcome = apply(parent, edits, CATALOGUE)
    assert (repr(parent), repr(edits)) == before
    event(type(outcome).__name__)
    if isinstance(outcome, Team):
        assert exact(parse_team(dump(outcome).encode(), "t.yaml", CATALOGUE)) == exact(outcome)
    elif outcome.problems[0].file == "child.yaml":
        text = write_team_yaml(draft(parent, edits)[0])
        assert list(outcome.problems) == check_team(text.encode(), "child.yaml", CATALOGUE)[1]
    else:
        assert {problem.file for problem in outcome.problems} == {"edits"}
    shuffled = apply(parent, random.sample(edits, len(edits)), CATALOGUE)
    if isinstance(outcome, Team) and isinstance(shuffled, Team):
        assert exact(shuffled) == exact(outcome)
    else:
        assert type(shuffled) is type(outcome)


def test_every_field_belongs_to_one_component() -> None:
    assert {field.name for field in fields(Agent)} == {"id", *AGENT_FIELDS, "member"}
    assert {field.name for field in fields(Team)} == {
        *TEAM_FIELDS,
        *("reports_to", "declared_output"),  # what stands under topology
        "lineage",
    } - {"topology"}
    assert {kind.component for kind in KINDS} == set(COMPONENTS)


EVERY_KIND: list[tuple[Edit, dict[str, Any]]] = [
    (SetPrompt(agent="a", prompt="Think first."), {"agents": {"a": {"prompt": "Think first."}}}),
    (SetRole(agent="a", role="solver"), {"agents": {"a": {"role": "solver"}}}),
    (SetModel(agent="a", model_id="fast"), {"agents": {"a": {"model_id": "fast"}}}),
    (SetParameter(agent="a", field="timeout", value=9), {"agents": {"a": {"timeout": 9}}}),
    (SetBackend(backend="llm"), {"backend": "llm"}),
    (SetExecution(field="on_error", value="skip"), {"execution": {"on_error": "skip"}}),
    (SetNote(agent=None, note="constitution", text="Be brief."), {"constitution": "Be brief."}),
    (
        SetNote(agent="a", note="patch", name="units", text="Write units."),
        {"agents": {"a": {"notes": {"patches": {"units": "Write units."}}}}},
    ),
    (
        SetNote(agent="a", note="teammate", name="b", text="Fast."),
        {"agents": {"a": {"notes": {"teammates": {"b": "Fast."}}}}},
    ),
    (
        SetNote(agent="a", note="pair", name="b", text="Ask first."),
        {"agents": {"a": {"notes": {"pairs": {"b": "Ask first."}}}}},
    ),
    (
        SetNote(agent="a", note="skill", name="sum", text="Add.", description="Sums."),
        {"agents": {"a": {"notes": {"skills": {"sum": {"description": "Sums.", "body": "Add."}}}}}},
    ),
    (
        SetNote(agent="a", note="coaching", text="Slow down."),
        {"agents": {"a": {"notes": {"coaching": "Slow down."}}}},
    ),
    (SetMetadata(field="name", value="other"), {"name": "other"}),
    (
        SetMetadata(field="successful_tasks", value=[{"q": "1+1"}]),
        {"successful_tasks": [{"q": "1+1"}]},
    ),
]


@pytest.mark.parametrize(("edit", "now"), EVERY_KIND, ids=lambda item: type(item).__name__)
def test_an_edit_sets_its_field_and_nothing_else(edit: Edit, now: dict[str, Any]) -> None:
    parent = team()
    value, objections = draft(parent, [edit])
    assert not objections
    expected, _ = draft(parent, [])
    for key, item in now.items():
        if key == "agents":
            expected["agents"]["a"] |= item["a"]
        else:
            expected[key] = item
    assert value == expected
    made(parent, edit)


def test_empty_and_none_go_back_to_the_default() -> None:
    parent = team(
        constitution="Be brief.",
        backend="llm",
        declared_output="j",
        agents="a b j",
        execution=Execution(timeout=5),
    )
    parent = made(
        parent, SetRole(agent="a", role="x"), SetParameter(agent="a", field="max_steps", value=3)
    )
    child = made(
        parent,
        SetNote(agent=None, note="constitution"),
        SetBackend(backend=None),
        SetOutput(agent=None),
        SetRole(agent="a", role=""),
        SetParameter(agent="a", field="max_steps", value=None),
        SetExecution(field="timeout", value=None),
    )
    assert child == team()


TOOLS = {"a": Agent(id="a", agent_type="ToolCallingAgent", tools=("list_files", "search_text"))}


def test_a_tool_is_granted_where_the_alphabet_has_it() -> None:
    parent = Team(name="t", agents=TOOLS)
    child = made(parent, GrantTool(agent="a", tool="read_file"))
    assert child.agents["a"].tools == ("list_files", "read_file", "search_text")
    child = made(child, RevokeTool(agent="a", tool="list_files"))
    assert child.agents["a"].tools == ("read_file", "search_text")
    child = made(child, SetTools(agent="a", tools=("search_text", "list_files")))
    assert child.agents["a"].tools == ("search_text", "list_files")


def test_an_edge_stands_where_the_roster_has_it() -> None:
    parent = team("aj", "cj", agents="a b c d j")
    child = made(
        parent,
        AddEdge(sender="b", receiver="j"),
        AddEdge(sender="d", receiver="j"),
        AddEdge(sender="a", receiver="b"),
    )
    assert list(child.reports_to) == ["a", "b", "c", "d"]
    assert child.reports_to["a"] == ("b", "j")


def test_a_removed_agent_takes_its_edges_along() -> None:
    parent = team("ab", "bj", "aj", declared_output="j")
    child = made(parent, RemoveAgent(agent="b"))
    assert child.reports_to == {"a": ("j",)}
    child = made(parent, RemoveAgent(agent="j"))
    assert (child.reports_to, child.declared_output) == ({"a": ("b",)}, None)


def test_a_renamed_agent_keeps_its_place_and_edges() -> None:
    parent = team("aj", "bj", declared_output="j")
    child = made(parent, RenameAgent(agent="a", id="solver"), RenameAgent(agent="j", id="judge"))
    assert list(child.agents) == ["solver", "b", "judge"]
    assert child.reports_to == {"solver": ("judge",), "b": ("judge",)}
    assert child.output == "judge"


def test_agents_may_swap_ids() -> None:
    parent = made(team(), SetModel(agent="a", model_id="fast"))
    child = made(parent, RenameAgent(agent="a", id="b"), RenameAgent(agent="b", id="a"))
    assert (child.agents["b"].model_id, child.agents["a"].model_id) == ("fast", "default")


def test_a_new_agent_comes_with_its_edges_to_its_place() -> None:
    child = made(
        team(),
        AddAgent(agent=llm("c"), before="j", reports_to=("j",), receives_from=("a",)),
        AddAgent(agent=llm("d"), before="j", reports_to=("c",)),
    )
    assert list(child.agents) == ["a", "b", "c", "d", "j"]
    assert child.reports_to == {"a": ("c", "j"), "b": ("j",), "c": ("j",), "d": ("c",)}


def test_an_agent_can_be_exchanged_for_another_of_the_same_id() -> None:
    new = Agent(id="b", agent_type="Function", function="majority")
    place: Any = {"before": "j", "reports_to": ("j",), "receives_from": ("a",)}
    child = made(team(), RemoveAgent(agent="b"), AddAgent(agent=new, **place))
    assert child.agents["b"] == new


def test_who_reported_to_one_that_went_reports_to_the_next_downstream() -> None:
    chain = team("ab", "bc", "cj", agents="a b c j")
    assert made(chain, RemoveAgent(agent="b")).edges == (("a", "c"), ("c", "j"))
    assert made(chain, RemoveAgent(agent="b"), RemoveAgent(agent="c")).edges == (("a", "j"),)
    renamed = made(chain, RemoveAgent(agent="b"), RenameAgent(agent="c", id="d"))
    assert renamed.edges == (("a", "d"), ("d", "j"))


def test_who_is_told_another_receiver_or_has_one_is_not_joined() -> None:
    chain = team("ab", "bc", "cj", agents="a b c j")
    report = made(chain, RemoveAgent(agent="b"), AddEdge(sender="a", receiver="j"))
    assert report.edges == (("a", "j"), ("c", "j"))
    fork = team("ab", "aj", "bj")
    assert made(fork, RemoveAgent(agent="b")).edges == (("a", "j"),)
    assert made(team("ab"), RemoveAgent(agent="j"), RemoveAgent(agent="b")).edges == ()


def test_a_new_output_hears_the_agent_that_gave_the_answer() -> None:
    new = AddAgent(agent=llm("last"), receives_from=("a",), is_output=True)
    for parent in (team(), replace(team(), declared_output="j")):
        child = made(parent, new)
        assert child.declared_output == "last"
        assert child.predecessors["last"] == ("a", "j")
    both = refused(team(), new, SetOutput(agent="a"))
    assert "it sets topology.output, and so does edits[0].add_agent" in both[0]


def test_other_edits_name_agents_by_their_new_ids() -> None:
    child = made(
        team(),
        SetModel(agent="solver", model_id="fast"),
        RenameAgent(agent="a", id="solver"),
        OrderAgents(agents=("j", "solver", "b")),
    )
    assert list(child.agents) == ["j", "solver", "b"]
    assert child.agents["solver"].model_id == "fast"


def test_a_topology_is_replaced_whole() -> None:
    child = made(team(), ReplaceTopology(reports_to={"j": ("a",), "a": ("b",)}, output="b"))
    assert child.levels == (("j",), ("a",), ("b",))
    assert child.declared_output == "b"


def test_a_child_has_no_lineage() -> None:
    assert made(team(lineage=Lineage(operator="seed"))).lineage is None


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        (
            [SetPrompt(agent="c", prompt="Hm.")],
            "edits:1:1: error: edits[0].set_prompt.agent: no agent 'c'. Agents: a, b, j.",
        ),
        (
            [RemoveAgent(agent="worker")],
            "edits:1:1: error: edits[0].remove_agent.agent: no agent 'worker'. Agents: a, b, j.",
        ),
        (
            [RenameAgent(agent="c", id="d")],
            "edits:1:1: error: edits[0].rename_agent.agent: no agent 'c'. Agents: a, b, j.",
        ),
        (
            [SetRole(agent="j", role="x"), RenameAgent(agent="a", id="b")],
            "edits:1:1: error: edits[1].rename_agent.id: there is an agent 'b' already. Choose"
            " another id.",
        ),
        (
            [AddAgent(agent=llm("b"))],
            "edits:1:1: error: edits[0].add_agent.agent: there is an agent 'b' already. Choose"
            " another id.",
        ),
        (
            [AddAgent(agent=llm("c"), before="k")],
            "edits:1:1: error: edits[0].add_agent.before: no agent 'k'. Agents: a, b, j.",
        ),
        (
            [OrderAgents(agents=("a", "b"))],
            "edits:1:1: error: edits[0].order_agents.agents: not each agent of the team once:"
            " a, b, j.",
        ),
        (
            [RemoveEdge(sender="a", receiver="b")],
            "edits:1:1: error: edits[0].remove_edge.receiver: a does not report to 'b'. It reports"
            " to j.",
        ),
        (
            [RemoveEdge(sender="j", receiver="b")],
            "edits:1:1: error: edits[0].remove_edge.receiver: j does not report to 'b'. It has no"
            " receivers.",
        ),
        (
            [RemoveEdge(sender="k", receiver="b")],
            "edits:1:1: error: edits[0].remove_edge.sender: no agent 'k'. Agents: a, b, j.",
        ),
        (
            [RevokeTool(agent="a", tool="read_file")],
            "edits:1:1: error: edits[0].revoke_tool.tool: a has no tool 'read_file'. It has none.",
        ),
        (
            [GrantTool(agent="k", tool="read_file")],
            "edits:1:1: error: edits[0].grant_tool.agent: no agent 'k'. Agents: a, b, j.",
        ),
        (
            [SetModel(agent="a", model_id="fast"), SetModel(agent="a", model_id="default")],
            "edits:1:1: error: edits[1].set_model: it sets agents.a.model_id, and so does"
            " edits[0].set_model. Keep one of them.",
        ),
        (
            [SetExecution(field="timeout", value=9), SetExecution(field="timeout", value=8)],
            "edits:1:1: error: edits[1].set_execution: it sets execution.timeout, and so does"
            " edits[0].set_execution. Keep one of them.",
        ),
        (
            [AddEdge(sender="a", receiver="b"), ReplaceTopology(reports_to={})],
            "edits:1:1: error: edits[1].replace_topology: it sets topology.reports_to.a.b, and"
            " so does edits[0].add_edge. Keep one of them.",
        ),
    ],
)
def test_edits_without_a_place_are_refused(edits: list[Edit], message: str) -> None:
    assert refused(team(), *edits) == [message]


@pytest.mark.parametrize(
    ("edit", "path", "message"),
    [
        (AddEdge(sender="j", receiver="a"), "topology.reports_to.", "a cycle: "),
        (AddEdge(sender="a", receiver="k"), "topology.reports_to.a[1]", "no agent 'k'."),
        (AddEdge(sender="a", receiver="j"), "topology.reports_to.a[1]", "'j' occurs twice."),
        (RemoveEdge(sender="a", receiver="j"), "topology", "2 agents report to no one"),
        (GrantTool(agent="a", tool="shell"), "agents.a", "an agent of type LLM makes one chat"),
        (SetOutput(agent="k"), "topology.output", "no agent 'k'."),
        (SetModel(agent="a", model_id="fats"), "agents.a.model_id", "no model 'fats'"),
        (
            SetParameter(agent="a", field="max_tokens", value="lots"),
            "agents.a.max_tokens",
            "'lots' is not an integer (tokens, 1 to 1000000).",
        ),
        (
            SetParameter(agent="a", field="agent_type", value="CodeAgnt"),
            "agents.a.agent_type",
            "no agent type 'CodeAgnt'. Did you mean 'CodeAgent'?",
        ),
        (SetMetadata(field="name", value=""), "", "name is missing."),
        (SetMetadata(field="description", value=0), "description", "0 is not text"),
        (SetPrompt(agent="a", prompt="x" * 70_000), "agents.a.prompt", "a text of 70000 char"),
        (SetPrompt(agent="a", prompt="\ud800"), "", r"\ud800 is half a character"),
        (SetPrompt(agent="a", prompt="sk-" + "abc123XYZ0" * 4), "agents.a.prompt", "this looks"),
    ],
)
def test_teams_that_do_not_load_are_refused(edit: Edit, path: str, message: str) -> None:
    outcome = apply(team(), [edit], CATALOGUE)
    assert isinstance(outcome, RejectedEdits)
    assert outcome.problems[0].path.startswith(path)
    assert outcome.problems[0].message.startswith(message)
    assert {problem.file for problem in outcome.problems} == {"child.yaml"}


def test_all_objections_are_listed_at_once() -> None:
    many = [SetRole(agent=f"x{number}", role="x") for number in range(12)]
    assert [line.split(": ")[2] for line in refused(team(), *many)] == [
        f"edits[{number}].set_role.agent" for number in range(12)
    ]


@pytest.mark.parametrize(
    ("kind", "field"),
    [(SetParameter, "prompt"), (SetExecution, "tools"), (SetMetadata, "agents")],
)
def test_an_edit_cannot_reach_beyond_its_component(kind: Any, field: str) -> None:
    agent = {"agent": "a"} if kind is SetParameter else {}
    with pytest.raises(ValueError, match=f"{kind.__name__} cannot set '{field}'. It sets "):
        kind(**agent, field=field, value="x")

"""Groups of like agents: what a file says once is the team with all of them written out."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.schema import ConfigError, Team, dump, parse_team
from coterie.schema.edits import AddAgent, RemoveAgent, SetParameter, SetPrompt, rewritten
from coterie.schema.team.groups import expanded_value, folded, members_of
from coterie.schema.team.writing import write_team_yaml

from ..edited import made
from ..edits.test_in_place import lines_that_differ
from ..strategies import CATALOGUE

DEBATE = """\
name: debate
defaults: {temperature: 0.3}
agents:
  # They open.
  debater_*_first:
    count: 3
    role: debater *
    prompt: Open the debate.
  debater_*_again:
    like: debater_*_first
    count: 3
    prompt: Go on with it.
  debater_2_again:
    max_tokens: 77
  judge:
    like: debater_1_first
    role: judge
    temperature: 0
topology:
  reports_to:
    debater_*_first: [debater_*_again]
    debater_*_again: [judge]
execution:
  rounds: {most: 2, hears: [debater_*_again], closing: [judge]}
"""


def load(text: str) -> Team:
    return parse_team(text.encode(), "team.yaml", CATALOGUE)


def edited(*edits: Any) -> Team:
    return made(load(DEBATE), *edits)


def diff_of(team: Team) -> list[str]:
    """What differs in the file, which says the team."""
    text = rewritten(DEBATE, team, CATALOGUE)
    assert dump(load(text)) == dump(team)
    return [line[0] + line[1:].strip() for line in lines_that_differ(DEBATE, text)]


def test_a_group_is_its_members_written_out() -> None:
    team = load(DEBATE)
    first, again = members_of("debater_*_first", 3), members_of("debater_*_again", 3)
    assert [*team.agents] == [*first, *again, "judge"]
    assert [agent.role for agent in team.agents.values()] == [
        *("debater 1", "debater 2", "debater 3") * 2,
        "judge",
    ]
    assert team.reports_to == {
        **dict.fromkeys(first, (*again,)),
        **dict.fromkeys(again, ("judge",)),
    }
    assert {item: agent.max_tokens for item, agent in team.agents.items() if item in again} == {
        "debater_1_again": 4096, "debater_2_again": 77, "debater_3_again": 4096,
    }  # fmt: skip
    assert team.agents["judge"].prompt == "Open the debate."
    assert team.agents["judge"].temperature == 0
    assert team.execution.rounds is not None
    assert team.execution.rounds.hears == (*again,)
    assert load(dump(team)) == team


IDS = st.sampled_from(["a", "b", "worker", "x_*_y"])


@st.composite
def grouped(draw: st.DrawFn) -> dict[str, Any]:
    """A value with groups, each like one before it or not, that report down the list."""
    names = draw(st.lists(IDS, min_size=1, max_size=4, unique=True))
    agents: dict[str, Any] = {}
    for name in names:
        fields: dict[str, Any] = {"prompt": draw(st.sampled_from(["Do it.", "Do it again."]))}
        if agents and draw(st.booleans()):
            fields = {
                "like": draw(st.sampled_from([*agents])),
                **draw(st.sampled_from([{}, fields])),
            }
        if "*" in name or draw(st.booleans()):
            fields |= {"count": draw(st.integers(1, 4)), "role": "worker *"}
        agents[name] = fields
    agents["end"] = {"prompt": "End it."}
    reports_to = {word: [other] for word, other in zip(names, [*names[1:], "end"], strict=True)}
    return {"name": "drawn", "agents": agents, "topology": {"reports_to": reports_to}}


@settings(max_examples=40)
@given(grouped())
def test_expanding_writing_and_loading_is_the_identity(value: dict[str, Any]) -> None:
    text = write_team_yaml(value)
    team = load(text)
    assert load(dump(team)) == team
    assert rewritten(text, team, CATALOGUE) == text
    counts = {item: agent["count"] for item, agent in value["agents"].items() if "count" in agent}
    members = {item: members_of(item, count) for item, count in counts.items()}
    assert folded(expanded_value(value), members)["topology"] == value["topology"]


@pytest.mark.parametrize(
    ("edits", "lines"),
    [
        ([SetParameter(agent="debater_3_again", field="effort", value="low")],
         ["+debater_3_again:", "+effort: low"]),
        ([SetParameter(agent="debater_2_again", field="max_tokens", value=78)],
         ["-max_tokens: 77", "+max_tokens: 78"]),
        ([SetPrompt(agent=member, prompt="Start.") for member in members_of("debater_*_first", 3)],
         ["-prompt: Open the debate.", "+prompt: Start.", "+prompt: Open the debate."]),
        ([RemoveAgent(agent="debater_3_first")], ["-count: 3", "+count: 2"]),
        ([SetParameter(agent="judge", field="temperature", value=1)],
         ["-temperature: 0", "+temperature: 1"]),
    ],
)  # fmt: skip
def test_an_edit_changes_the_lines_that_it_is_about(edits: list[Any], lines: list[str]) -> None:
    assert diff_of(edited(*edits)) == lines


def test_one_more_of_the_same_is_a_higher_count() -> None:
    team = load(DEBATE)
    (last,) = (agent for item, agent in team.agents.items() if item == "debater_3_first")
    new = last.renamed("debater_4_first", {})
    more = AddAgent(
        agent=type(new)(id=new.id, role="debater 4", prompt=new.prompt, temperature=0.3),
        before="debater_1_again",
        reports_to=tuple(members_of("debater_*_again", 3)),
    )
    assert diff_of(edited(more)) == ["-count: 3", "+count: 4"]


def test_a_gap_in_a_group_writes_its_members_out() -> None:
    team = edited(RemoveAgent(agent="debater_2_first"))
    lines = diff_of(team)
    assert "-count: 3" in lines
    assert "+like: debater_1_first" in lines
    assert not any("Go on with it." in line for line in lines)


BAD = """\
name: bad
agents:
  a: {count: 2, prompt: Do it., max_tokens: 0}
  b: {like: c}
  c: {like: b}
  d_*: {prompt: Do it.}
  e: {like: zork, model_id: nope}
  a_2: {count: 3}
  f: {count: 256, prompt: Do it.}
topology:
  reports_to: {a: [a, b]}
"""


def test_what_is_wrong_with_groups_has_its_place() -> None:
    with pytest.raises(ConfigError) as failure:
        load(BAD)
    rows = [
        (problem.place.line, problem.place.column, problem.message)
        for problem in failure.value.problems
    ]
    expected = [
        (2, "written out, 265 agents: at most 256."),
        (3, "0 is out of range"),
        (5, "it is like itself: b -> c -> b."),
        (6, "a name with * is a group."),
        (7, "no agent 'zork'."),
        (7, "no model 'nope'"),
        (8, "a member of 'a' cannot have count or like."),
        (11, "a cycle: "),
    ]
    for line, message in expected:
        assert any(at == line and message in name for at, _, name in rows), (line, message, rows)


def test_neither_many_nor_large_groups_take_time_or_memory() -> None:
    chain = "".join(f"  a{at}: {{like: a{at + 1}}}\n" for at in range(3_000))
    with pytest.raises(ConfigError, match="3001 agents are too many"):
        load(f"name: t\nagents:\n{chain}  a3000: {{prompt: Do it.}}\n")
    chain = "".join(f"  a{at}: {{like: a{at + 1}}}\n" for at in range(200))
    reports = ", ".join(f"a{at}: [a200]" for at in range(200))
    text = f"name: t\nagents:\n{chain}  a200: {{prompt: Do it.}}\n"
    assert load(f"{text}topology: {{reports_to: {{{reports}}}}}\n").agents["a0"].prompt == "Do it."
    long = (
        f"name: t\nagents:\n  a: {{count: 200, prompt: {'x ' * 9000}}}\n  b: {{prompt: Do it.}}\n"
    )
    with pytest.raises(ConfigError, match=r"written out, \d+ characters: at most"):
        load(long + "topology: {reports_to: {a: [b]}}\n")

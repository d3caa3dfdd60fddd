import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from coterie.schema import Agent, Team
from coterie.schema.picture import draw


def test_a_debate_of_19_agents_is_four_rows(debate: Team) -> None:
    assert draw(debate).splitlines() == [
        "debate · 19 agents · 78 edges · 4 levels",
        "",
        "level   agents                 role           works as   model     reports to",
        "1       debater_1..6_round_1   debater 1..6   LLM        default   each to all of",
        " " * 67 + "debater_1..6_round_2",
        "2       debater_1..6_round_2   debater 1..6   LLM        default   each to all of",
        " " * 67 + "debater_1..6_round_3",
        "3       debater_1..6_round_3   debater 1..6   LLM        default   moderator",
        "4       moderator              moderator      LLM        default   ★ the answer",
    ]


def test_no_line_is_wider_than_a_terminal(team: Team) -> None:
    assert max(map(cell_len, draw(team).splitlines())) <= 100


def test_ids_stay_whole_while_roles_wrap(chain: Team) -> None:
    roles = {"engineer": "writes the code, and then some more code until the tests are green again"}
    agents = {
        agent.id: replace(agent, role=roles.get(agent.id, agent.role))
        for agent in chain.agents.values()
    }
    text = draw(replace(chain, agents=agents))
    assert "project_manager" in text
    assert max(map(len, text.splitlines())) <= 100


def test_no_word_of_a_long_team_is_lost(hostile: Team) -> None:
    letters = "".join(draw(hostile).split())
    assert letters.count("y") >= 100
    assert letters.count("x") >= 200 + 2 * 63


def test_markup_of_the_terminal_is_shown_as_it_stands() -> None:
    agent = Agent(id="a", role="[bold]x[/bold] :smile:")
    assert "[bold]x[/bold] :smile:" in draw(Team(name="t", agents={"a": agent}))


def test_columns_without_a_word_are_left_out() -> None:
    vote = Agent(id="a", agent_type="Function", function="concat")
    header = draw(Team(name="t", agents={"a": vote})).splitlines()[2]
    assert re.split(r"\s{2,}", header) == ["level", "agents", "works as", "reports to"]


def test_the_answer_is_marked_and_other_ends_are_not() -> None:
    agents = {agent_id: Agent(id=agent_id) for agent_id in ("a", "b", "c")}
    team = Team(name="t", agents=agents, declared_output="b")
    rows = draw(team).splitlines()[3:]
    assert [row.split()[0] for row in rows if "★" in row] == ["b"]
    assert [row.split()[:2] for row in rows if "★" not in row] == [["1", "a,"]]


def test_tools_are_named_once_for_all_who_have_them(vote: Team) -> None:
    agents = {
        agent.id: replace(agent, tools=("search_text", "read_file"))
        if agent.role == "worker"
        else agent
        for agent in vote.agents.values()
    }
    text = draw(replace(vote, agents=agents))
    assert text.endswith("\n\ntools of worker_1..6: read_file, search_text\n")


def test_the_description_stands_above_the_table(vote: Team) -> None:
    text = draw(replace(vote, description="Six workers answer.\nA vote  decides.\n"))
    assert text.splitlines()[1:3] == ["Six workers answer. A vote decides.", ""]


def test_a_narrow_terminal_changes_nothing(debate: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = draw(debate)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert draw(debate) == wide

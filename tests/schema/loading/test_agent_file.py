"""Agent files and folders: read, written, and used by teams; nothing outside their folder is."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.schema import Agent, Catalogue, ConfigError, InputError, Lineage, Notes, Skill, dump
from coterie.schema.edits import edits_from_json
from coterie.schema.loading.agent_file import AgentFile, load_agent, read_agent, write_agent
from coterie.schema.loading.loading import check_team, load_team, parse_team

from ...support.problems import problems_of
from ..strategies import AGENTS, CATALOGUE

LEARNT = Notes(
    patches={"units": "Write units.\nAlways."},
    teammates={"bob": "Quick."},
    pairs={"bob": "Ask him first."},
    skills={"nines": Skill(description="Casts out nines.", body="Add the digits.\n\nTwice.")},
    coaching="Slow down.",
    taught={"patches/units": "sums_1", "pairs/bob": "sums_2", "skills/nines": "sums_3"},
)
CRITIC = Agent(id="critic", role="critic", prompt="Find the mistake.", notes=LEARNT)


def problems(path: Path, load: Any = load_agent) -> list[str]:
    return [
        problem.replace(f"{path.parent}/", "") for problem in problems_of(load, path, CATALOGUE)
    ]


@pytest.mark.parametrize("name", ["critic.yaml", "critic", "other.yaml", "other"])
def test_what_is_written_is_read(tmp_path: Path, name: str) -> None:
    item = AgentFile(agent=CRITIC, lineage=Lineage(operator="fork", parents=("ada",)))
    write_agent(tmp_path / name, item)
    assert load_agent(tmp_path / name) == read_agent(tmp_path / name) == item
    assert load_agent(tmp_path / name).agent.notes.taught == LEARNT.taught
    if name == "critic":
        assert load_agent(tmp_path / name / "agent.yaml") == item


def test_a_note_that_begins_with_dashes_is_no_front_matter(tmp_path: Path) -> None:
    agent = replace(CRITIC, notes=Notes(coaching="---\nBe brief.", patches={"units": "---\n"}))
    write_agent(tmp_path / "critic", AgentFile(agent=agent))
    assert load_agent(tmp_path / "critic", CATALOGUE).agent == agent


@given(fields=AGENTS, as_folder=st.booleans())
def test_any_agent_survives_writing_and_reading(
    fields: dict[str, Any], as_folder: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    agent = Agent(id="one", **fields)
    agent = replace(agent, notes=agent.notes.following({"one": None}))
    path = tmp_path_factory.mktemp("agents") / ("one" if as_folder else "one.yaml")
    write_agent(path, AgentFile(agent=agent))
    read = load_agent(path, CATALOGUE).agent
    assert (read, read.member) == (agent, agent.member)
    assert read.notes.taught == agent.notes.taught


def test_a_folder_is_written_anew_without_what_is_no_longer_said(tmp_path: Path) -> None:
    path = tmp_path / "critic"
    write_agent(path, AgentFile(agent=CRITIC))
    first = {str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()}
    assert first == {
        "agent.yaml",
        "prompt.md",
        "skills/nines/SKILL.md",
        "notes/coaching.md",
        "notes/patches/units.md",
        "notes/teammates/bob.md",
        "notes/pairs/bob.md",
    }
    assert (path / "skills/nines/SKILL.md").read_text() == (
        "---\nname: nines\ndescription: Casts out nines.\nmetadata:\n  task: sums_3\n---\n\n"
        "Add the digits.\n\nTwice.\n"
    )
    assert (path / "notes/pairs/bob.md").read_text() == "---\ntask: sums_2\n---\n\nAsk him first.\n"
    assert (path / "notes/teammates/bob.md").read_text() == "Quick.\n"
    bare = AgentFile(agent=replace(CRITIC, prompt="solve_step_by_step", notes=Notes()))
    write_agent(path, bare)
    assert [file.name for file in path.rglob("*") if file.is_file()] == ["agent.yaml"]
    assert load_agent(path) == bare


def test_a_prompt_in_a_file_of_its_own_is_text_whatever_it_reads_like(tmp_path: Path) -> None:
    (tmp_path / "critic").mkdir()
    (tmp_path / "critic/agent.yaml").write_text("role: critic\n")
    (tmp_path / "critic/prompt.md").write_text("criticise\n")
    assert load_agent(tmp_path / "critic").agent.prompt == "criticise\n"


def test_every_problem_names_the_file_and_the_line_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "critic"
    write_agent(path, AgentFile(agent=CRITIC))
    (path / "agent.yaml").write_text("role: critic\nprompt: Twice.\nmaxtokens: 3\n")
    (path / "skills/nines/SKILL.md").write_text("---\nname: eights\n---\nAdd.\n")
    (path / "skills/empty").mkdir()
    (path / "skills/empty/SKILL.md").write_text("Add.\n")
    (path / "notes/patches/Bad Name.md").write_text("x\n")
    (path / "notes/coaching.md").write_text("a\n\x00b\n")
    (path / "promt.md").write_text("x\n")
    (path / "notes/patches/units.md").write_text("---\ntsak: x\n---\n\nx\n")
    (path / "notes/pairs/bob.md").write_text("---\ntask: a b\n---\n\nx\n")
    (path / "notes/pairs/ann.md").write_text("---\nx\n")
    (path / "notes/pairs/eve.md").write_text("---\ntask: sums\n---\n")
    texts = problems(path)
    for word in (
        "critic/agent.yaml:2:9: error: prompt: this is in ",
        "critic/agent.yaml:3:1: error: maxtokens: unknown field.",
        "critic/skills/nines/SKILL.md:2:1: error: description is missing.",
        "critic/skills/nines/SKILL.md:2:7: error: name: the skill's folder is called 'nines'.",
        "critic/skills/empty/SKILL.md:1:1: error: it must begin with front matter",
        "critic/notes/patches/units.md:2:1: error: tsak: a note's front matter names the task",
        "critic/notes/pairs/bob.md:2:7: error: 'a b' is not a task id",
        "critic/notes/pairs/ann.md:1:1: error: it must begin with front matter",
        "critic/notes/pairs/eve.md:3:1: error: 0 characters are too few",
        "critic/notes/patches/Bad Name.md:1:1: error: 'Bad Name' is not an id",
        "critic/notes/coaching.md:2:1: error: control character U+0000",
        "critic/promt.md:1:1: error: an agent's folder has no 'promt.md'. Did you mean 'prompt.md'",
    ):
        assert [name for name in texts if name.startswith(word)], word


def test_an_agent_is_checked_as_one_of_a_team_is(tmp_path: Path) -> None:
    path = tmp_path / "Critic 1.yaml"
    path.write_text("prompt: Check it.\ntools: [shell]\nuse: other.yaml\n")
    texts = problems(path)
    assert texts[0].startswith("Critic 1.yaml:1:1: error: the file's name is the agent's id")
    assert "Critic 1.yaml:2:9: error: tools[0]: no tool 'shell'." in texts[1]
    assert "Critic 1.yaml:3:1: error: use: unknown field." in texts[2]
    with pytest.raises(InputError, match=r"no file .* Did you mean 'Critic 1\.yaml'"):
        load_agent(tmp_path / "Critic 2.yaml")


TEAM = """\
name: pair
agents:
  solver: {prompt: Solve it.}
  critic:
    use: USED
    max_tokens: 9
topology: {reports_to: {solver: [critic]}}
"""


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """A team file that uses `agents/critic.yaml`."""
    (tmp_path / "agents").mkdir()
    write_agent(tmp_path / "agents/critic.yaml", AgentFile(agent=CRITIC))
    write_agent(tmp_path / "agents/judge", AgentFile(agent=CRITIC))
    path = tmp_path / "team.yaml"
    path.write_text(TEAM.replace("USED", "agents/critic.yaml"))
    return path


@pytest.mark.parametrize("used", ["agents/critic.yaml", "agents/judge"])
def test_a_team_has_the_fields_of_the_file_under_those_beside_it(pair: Path, used: str) -> None:
    pair.write_text(TEAM.replace("USED", used))
    team = load_team(pair)
    assert team.agents["critic"] == replace(CRITIC, max_tokens=9)
    assert "use" not in dump(team)
    assert parse_team(dump(team).encode(), "team.yaml", CATALOGUE) == team


@pytest.mark.parametrize(
    "used",
    [
        "../critic.yaml",
        "/etc/passwd",
        "agents/../team.yaml",
        "agents\\critic.yaml",
        "C:/critic.yaml",
        ".hidden/critic.yaml",
        "agents/critic.yml",
        "agents",
        "out.yaml",
        "outside/critic.yaml",
        "loop.yaml",
        "team.yaml",
        "[1]",
        "''",
        '"a\\0b"',
    ],
)  # fmt: skip
def test_only_agent_files_below_the_teams_folder_can_be_used(pair: Path, used: str) -> None:
    outside = pair.parent.parent / f"{pair.parent.name}_outside"
    outside.mkdir()
    (outside / "critic.yaml").write_text("prompt: stolen\n")
    (pair.parent / "out.yaml").symlink_to(outside / "critic.yaml")
    (pair.parent / "outside").symlink_to(outside)
    (pair.parent / "loop.yaml").symlink_to(pair.parent / "loop.yaml")
    os.mkfifo(pair.parent / "pipe.yaml")
    pair.write_text(TEAM.replace("USED", used))
    texts = problems(pair, load_team)
    assert texts
    assert all("stolen" not in name for name in texts)


def test_a_pipe_is_not_waited_for(pair: Path) -> None:
    os.mkfifo(pair.parent / "pipe.yaml")
    pair.write_text(TEAM.replace("USED", "pipe.yaml"))
    assert "is not a file" in problems(pair, load_team)[0]


def test_a_fault_in_a_used_file_is_told_there_and_one_in_the_team_file_here(pair: Path) -> None:
    (pair.parent / "agents/critic.yaml").write_text("prompt: Hm.\nlineage: 7\ntemperature: 9\n")
    pair.write_text(TEAM.replace("USED", "agents/critic.yaml").replace("9", "0"))
    first, *rest = problems(pair, load_team)
    assert first.startswith("agents/critic.yaml:3:14: error: temperature: 9 is out of range")
    assert [name.split(": ")[:3] for name in rest] == [
        ["team.yaml:6:17", "error", "agents.critic.max_tokens"]
    ]


def test_an_agent_file_that_uses_another_is_refused(pair: Path) -> None:
    (pair.parent / "agents/critic.yaml").write_text("use: agents/critic.yaml\nprompt: Hm.\n")
    assert "agents/critic.yaml:1:1: error: use: an agent file cannot use another one" in str(
        problems(pair, load_team)
    )


def test_where_there_is_no_file_none_can_be_used() -> None:
    with pytest.raises(ConfigError, match="beside a team file"):
        parse_team(TEAM.encode(), "team.yaml", Catalogue.of_host())
    new = '{"edits": [{"add_agent": {"agent": "n", "fields": {"use": "agents/critic.yaml"}}}]}'
    with pytest.raises(ConfigError, match="a new agent is written out"):
        edits_from_json(new)


def test_a_task_that_taught_no_note_is_told(tmp_path: Path) -> None:
    path = tmp_path / "critic.yaml"
    path.write_text(
        "prompt: Check it.\nnotes:\n  pairs: {critic: Me.}\n"
        "  patches: {units: Write units.}\n  taught: {patches/unit: sums_1, coaching: sums_2}\n"
    )
    for load in (load_agent, lambda path, _: read_agent(path)):
        texts = problems(path, load)
        assert [name.split(" error: ")[0] for name in texts] == [
            "critic.yaml:3:11:",
            "critic.yaml:5:12:",
            "critic.yaml:5:34:",
        ]
        assert "no note 'patches/unit'. Did you mean 'patches/units'?" in texts[1]


def test_a_team_file_read_before_has_what_its_agent_files_say_now(tmp_path: Path) -> None:
    team, agent = tmp_path / "team.yaml", tmp_path / "solver.yaml"
    team.write_text("name: t\nagents: {solver: {use: solver.yaml}}\n")
    for prompt in ("Count.", "Count on."):
        agent.write_text(f"id: solver\nprompt: {prompt}\n")
        assert load_team(team).agents["solver"].prompt == prompt


def test_problems_of_a_text_are_not_those_of_the_next_who_reads_it() -> None:
    for _ in range(2):
        _, problems = check_team(b"name: t\nagents: {a: {promt: x}}\n", "t.yaml", CATALOGUE)
        assert len(problems) == 1
        problems.clear()

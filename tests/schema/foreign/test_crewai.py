"""CrewAI's two files as a team, and what of them has no counterpart."""

from pathlib import Path

import pytest

from coterie.schema import ConfigError, InputError
from coterie.schema.foreign.source import Imported
from coterie.schema.foreign.taking_over import take_over

AGENTS = """\
scout:
  role: >
    {topic} scout
  goal: >
    Find what is new in {topic}
  backstory: >
    You know where to look.
  llm: openai/gpt-4o-mini
  max_execution_time: 60
  verbose: true
editor:
  role: Editor
  goal: Make it readable
  backstory: You cut.
  llm: house_llm
  tools: [search]
ghost: {role: Ghost, goal: Haunt, backstory: Boo.}
"""
TASKS = """\
look:
  description: >
    Look for news about {topic} in {year}.
  expected_output: Ten bullets
  agent: scout
count:
  description: Count them.
  expected_output: A number
  agent: scuot
  async_execution: true
write:
  description: Write it up.
  expected_output: A page
  agent: editor
  markdown: true
  output_file: page.md
polish:
  description: Polish it.
  expected_output: A better page
  agent: editor
  context: [write, nothing, polish]
"""


def taken(folder: Path, agents: str = AGENTS, tasks: str = TASKS, **inputs: str) -> Imported:
    config = folder / "tea_news" / "src" / "tea_news" / "config"
    config.mkdir(parents=True, exist_ok=True)
    (config / "agents.yaml").write_text(agents, encoding="utf-8")
    (config / "tasks.yaml").write_text(tasks, encoding="utf-8")
    return take_over(folder / "tea_news", inputs)


def told(imported: Imported) -> dict[tuple[str, int], str]:
    return {(Path(item.file).name, item.place.line): item.message for item in imported.losses}


def test_each_task_is_an_agents_work_in_the_tasks_order(tmp_path: Path) -> None:
    team = taken(tmp_path, topic="tea", year="2026").team
    assert team.name == "tea_news"
    assert list(team.agents) == ["scout", "scuot", "write", "polish"]
    assert team.predecessors == {
        "scout": (),
        "scuot": (),
        "write": ("scout", "scuot"),
        "polish": ("write",),
    }
    assert team.output == "polish"
    scout = team.agents["scout"]
    assert (scout.role, scout.model_id, scout.timeout) == ("tea scout", "gpt-4o-mini", 60)
    assert scout.prompt == (
        "You know where to look.\n\nYour goal: Find what is new in tea\n\n"
        "Your part of the task:\nLook for news about tea in 2026.\n\n"
        "What is expected of you:\nTen bullets"
    )
    assert team.agents["write"].prompt.endswith("A page\n\nWrite it as Markdown.")
    assert team.agents["polish"].role == "Editor"


def test_placeholders_are_what_the_task_says(tmp_path: Path) -> None:
    imported = taken(tmp_path, year="2026")
    scout = imported.team.agents["scout"]
    assert scout.role == "[topic] scout"
    assert "news about [topic] in 2026." in scout.prompt
    assert scout.prompt.endswith("The task gives the values in brackets: [topic].")
    assert "brackets" not in imported.team.agents["polish"].prompt
    assert any('--query "[topic]: …"' in item for item in imported.advice)


def test_what_has_no_counterpart_is_told_with_its_line(tmp_path: Path) -> None:
    lost = told(taken(tmp_path, year="2026"))
    says = {
        ("agents.yaml", 4): "'{topic}' is filled in by crew.py there",
        ("agents.yaml", 10): "`mas-view --text` shows",
        ("agents.yaml", 15): "'house_llm' is not PROVIDER/NAME",
        ("agents.yaml", 16): "Grant tools by name",
        ("agents.yaml", 17): "it has no task in tasks.yaml",
        ("tasks.yaml", 9): "Did you mean 'scout'? Its agent has the task as its prompt.",
        ("tasks.yaml", 16): "The run's folder has",
        ("tasks.yaml", 21): "",
    }
    assert lost.keys() == says.keys()
    assert all(says[place] in message for place, message in lost.items())


def test_code_beside_the_files_is_not_read_and_that_is_told(tmp_path: Path) -> None:
    assert taken(tmp_path).advice[0].startswith("crew.py is code, and was not read")


def test_work_that_nobody_reads_is_for_the_answer(tmp_path: Path) -> None:
    tasks = TASKS.replace("[write, nothing, polish]", "[look]")
    imported = taken(tmp_path, tasks=tasks)
    assert imported.team.predecessors["polish"] == ("scout", "write")
    assert "write reports to polish" in told(imported)["tasks.yaml", 11]


def test_a_crew_of_one_task_is_a_team_of_one(tmp_path: Path) -> None:
    tasks = "look:\n  description: Look.\n  expected_output: News\n"
    imported = taken(tmp_path, tasks=tasks)
    assert list(imported.team.agents) == ["look"]
    assert "crew.py assigns it" in told(imported)["tasks.yaml", 1]


def test_a_field_of_another_type_is_lost_and_no_other(tmp_path: Path) -> None:
    imported = taken(tmp_path, agents=AGENTS.replace(": 60", ": long"))
    assert "'long' is not a number" in told(imported)["agents.yaml", 9]
    assert imported.team.agents["scout"].timeout is None


def test_several_files_of_tasks_are_one_crew(tmp_path: Path) -> None:
    config = tmp_path / "crew" / "config"
    config.mkdir(parents=True)
    (config / "agents.yaml").write_text(AGENTS)
    (config / "tasks.yaml").write_text(TASKS)
    more = "last:\n  description: End it.\n  expected_output: End\n  agent: ghost\n  odd: 1\n"
    (config / "more_tasks.yaml").write_text(more)
    imported = take_over(tmp_path / "crew")
    assert imported.team.output == "ghost"
    assert "no counterpart" in told(imported)["more_tasks.yaml", 5]
    (config / "more_tasks.yaml").write_text(more.replace("last:", "write:"))
    with pytest.raises(ConfigError, match=r"more_tasks\.yaml:1:1: error: write: 'write' is in"):
        take_over(tmp_path / "crew")


def test_several_crews_of_a_project_are_named(tmp_path: Path) -> None:
    for name in ("one", "two"):
        config = tmp_path / "src" / "flow" / "crews" / name / "config"
        config.mkdir(parents=True)
        (config / "agents.yaml").write_text(AGENTS)
        (config / "tasks.yaml").write_text(TASKS)
    with pytest.raises(
        InputError, match=r"(?s)mas dev import .*crews/one/config\n.*crews/two/config"
    ):
        take_over(tmp_path)


def test_half_of_a_crew_is_told_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "agents.yaml").write_text(AGENTS, encoding="utf-8")
    with pytest.raises(InputError, match=r"tasks\.yaml is missing. A team needs both"):
        take_over(tmp_path / "agents.yaml")
    with pytest.raises(InputError, match="Name the file, or the folder with both"):
        take_over(tmp_path)


def test_models_of_one_name_stay_apart(tmp_path: Path) -> None:
    agents = """\
a: {role: A, goal: G, backstory: B, llm: openai/m}
b: {role: B, goal: G, backstory: B, llm: azure/m}
"""
    tasks = """\
first: {description: D, expected_output: E, agent: a}
last: {description: D, expected_output: E, agent: b}
"""
    imported = taken(tmp_path, agents, tasks)
    named = [imported.models[agent.model_id] for agent in imported.team.agents.values()]
    assert named == [{"model": "openai/m"}, {"model": "azure/m"}]


def test_a_role_that_is_too_long_is_cut_and_told(tmp_path: Path) -> None:
    agents = f"a: {{role: {'r' * 300}, goal: G, backstory: B, max_tokens: 0}}\n"
    tasks = "t: {description: D, expected_output: E, agent: a}\n"
    imported = taken(tmp_path, agents, tasks)
    assert any("0 is out of range" in problem.message for problem in imported.losses)
    assert imported.team.agents["a"].role == "r" * 200
    assert any("The rest is left out" in problem.message for problem in imported.losses)


def test_a_key_in_the_files_is_not_taken_over(tmp_path: Path) -> None:
    agents = AGENTS.replace("You cut.", "You cut. sk-" + "A1b2" * 8)
    with pytest.raises(ConfigError, match="looks like a secret key"):
        taken(tmp_path, agents)

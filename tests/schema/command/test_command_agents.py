"""Commands know agent files, agents' folders, and teams that use them."""

import json
from pathlib import Path

import pytest
from click.testing import Result

from coterie.schema import Agent, Catalogue, Notes, load_team
from coterie.schema.command import diff, explain, fmt, validate
from coterie.schema.loading.agent_file import AgentFile, write_agent

from ...support.commands import ran, refused

CRITIC = Agent(id="critic", role="critic", prompt="Find it.", notes=Notes(patches={"a": "B."}))
TEAM = """\
# yaml-language-server: $schema=team.schema.json
name: pair
agents:
  solver:
    prompt: Solve it.
  critic:
    use: agents/critic.yaml  # shared
    max_tokens: 256
topology:
  reports_to:
    solver: [critic]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a team that uses an agent file, and the agent once more as a folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    write_agent("agents/critic.yaml", AgentFile(agent=CRITIC))
    write_agent("agents/judge", AgentFile(agent=CRITIC))
    Path("team.yaml").write_text(TEAM)
    return tmp_path


def run(command: object, *arguments: str) -> Result:
    return ran(command.main, *arguments)  # type: ignore[attr-defined]


@pytest.mark.usefixtures("folder")
def test_validate_takes_agents_as_files_and_as_folders() -> None:
    done = run(validate, "team.yaml", "agents", "agents/judge")
    assert (done.exit_code, done.stdout) == (0, "4 files: no problems.\n")
    Path("agents/judge/notes/patches/a.md").write_text("")
    Path("agents/critic.yaml").write_text("prompt: 7\n")
    done = run(validate, "--format", "json", "team.yaml", "agents")
    assert done.exit_code == 2
    places = [(load["file"], load["path"]) for load in json.loads(done.stdout)]
    assert places == [("agents/critic.yaml", "prompt"), ("agents/judge/notes/patches/a.md", "")]


def test_a_folder_without_agents_is_refused(tmp_path: Path) -> None:
    assert "no agent files here" in refused(run(validate, str(tmp_path)))


@pytest.mark.usefixtures("folder")
def test_fmt_leaves_what_is_used_as_it_is_written_and_inlines_it_when_told() -> None:
    whole = load_team("team.yaml", Catalogue.of_host())
    assert run(fmt, "team.yaml", "agents").stdout == ""
    assert Path("team.yaml").read_text() == TEAM
    done = run(fmt, "--inline", "team.yaml")
    assert (done.exit_code, done.stdout) == (0, "team.yaml: written\n")
    assert "use" not in Path("team.yaml").read_text()
    assert load_team("team.yaml", Catalogue.of_host()) == whole


@pytest.mark.usefixtures("folder")
def test_fmt_brings_agent_files_into_form() -> None:
    Path("agents/critic.yaml").write_text("prompt: Find it.\nrole:   critic  # why\n")
    assert run(fmt, "agents").stdout == "agents/critic.yaml: written\n"
    assert Path("agents/critic.yaml").read_text() == (
        "# yaml-language-server: $schema=agent.schema.json\nrole: critic  # why\nprompt: Find it.\n"
    )


@pytest.mark.usefixtures("folder")
def test_diff_compares_agents_whatever_their_form_and_their_id() -> None:
    assert run(diff, "agents/critic.yaml", "agents/judge").exit_code == 0
    Path("agents/judge/notes/patches/a.md").write_text("C.\n")
    done = run(diff, "agents/critic.yaml", "agents/judge")
    assert (done.exit_code, done.stdout) == (1, "critic: patch a B. -> C.\n")


def test_explain_gives_the_schema_of_agent_files() -> None:
    schema = json.loads(run(explain, "--schema", "agent").stdout)
    assert {"id", "prompt", "notes", "lineage"} <= schema["properties"].keys()
    assert "use" not in schema["properties"]
    assert run(explain, "agent.notes.coaching").stdout.startswith("agents.<id>.notes.coaching\n")

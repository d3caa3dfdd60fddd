"""What this host lacks: `mas-validate` warns of all that `mas-run` refuses."""

import json
import sys
from pathlib import Path

import pytest

from coterie.runtime.command.doctor import main as mas_doctor
from coterie.runtime.command.run import main as mas_run
from coterie.schema.command.validate import main as mas_validate

from ...support.commands import invoked_in

TEAM = """\
name: trio
agents:
  a: {agent_type: ToolCallingAgent, prompt: "Look.", tools: [gone.act, web.look]}
"""
SERVER = Path(__file__).parents[1] / "tools" / "scripted_server.py"
HAVE = json.dumps([sys.executable, "-I", "-S", str(SERVER), "{}"])
TOOLS = f"""\
servers:
  gone: {{command: [no-such-program], tools: [act]}}
  web: {{url: "https://web.example/mcp", key_env: NO_SUCH_KEY, tools: [look]}}
  here: {{command: {HAVE}, tools: [act, fly]}}
"""


HERE = """\
name: t
agents: {a: {agent_type: ToolCallingAgent, prompt: Act., tools: [here.act, here.fly]}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (tmp_path / "team.yaml").write_text(TEAM)
    (tmp_path / "tools.yaml").write_text(TOOLS)
    (tmp_path / "models.yaml").write_text("models: {default: {model: openai/gpt-4o-mini}}\n")
    return tmp_path


def test_what_a_run_is_refused_for_is_what_validating_warns_of(folder: Path) -> None:
    refused = invoked_in(folder, mas_run, ["team.yaml", "-q", "?"], "mas-run").ended(2)
    lacking = refused.err.removeprefix("error: ").splitlines()
    for missing in ("no-such-program", "NO_SUCH_KEY", "OPENAI_API_KEY"):
        assert sum(missing in line for line in lacking) == 1
    checked = invoked_in(folder, mas_validate, ["team.yaml"], "mas-validate")
    assert (checked.code, checked.out) == (0, "1 file: no problems.\n")
    warned = [f"team.yaml:1:1: warning: this host: {line}" for line in lacking]
    assert checked.err.splitlines() == warned


def test_validating_asks_servers_for_their_tools_where_they_may_be_started(folder: Path) -> None:
    (folder / "team.yaml").write_text(HERE)
    words = ["team.yaml", "--model", "local"]
    assert invoked_in(folder, mas_validate, words, "mas-validate").err == ""
    checked = invoked_in(folder, mas_validate, [*words, "--start-servers"], "mas-validate")
    [line] = checked.err.splitlines()
    assert "team.yaml:1:1: warning: this host: the tool server 'here' has no tool 'fly'. It" in line


def test_the_doctor_names_tools_not_served(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coterie.runtime.jail.battery.run_battery", list)
    done = invoked_in(folder, mas_doctor, ["--json"], "mas doctor")
    tools = done.json["tools"]
    assert tools["here.act"].startswith("of the server at ")
    assert "the tool server 'here' has no tool 'fly'. It has act, explode" in tools["here.fly"]
    assert "needs the program 'no-such-program'" in tools["gone.act"]
    assert "needs the variable NO_SUCH_KEY" in tools["web.look"]
    quick = invoked_in(folder, mas_doctor, ["--json", "--no-probes"], "mas doctor")
    assert quick.json["tools"]["here.fly"].startswith("of the server at ")

"""`mas-doctor`: what this machine has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from coterie.runtime.command.doctor import main
from coterie.runtime.jail import detect


@pytest.fixture(autouse=True)
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAS_HOME", str(tmp_path))
    monkeypatch.delenv("MAS_SWE_AGENT_PYTHON", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def test_the_findings_name_everything_a_team_may_ask_for() -> None:
    done = CliRunner().invoke(main, ["--no-probes", "--json", "--model", "big=openai/m"])
    findings = json.loads(done.stdout)
    assert "OPENAI_API_KEY is not set" in findings["models"]["big"]
    assert findings["models"]["default"].startswith("local (the embedded model)")
    assert findings["backends"]["llm"] == "ready (LLM)"
    assert "MAS_SWE_AGENT_PYTHON" in findings["backends"]["swe-agent"]
    assert {"list_files", "read_file", "search_text"} <= set(findings["tools"])
    assert done.exit_code == (0 if detect().tier else 1)


@pytest.mark.skipif(detect().tier is None, reason="this machine has no jail for agents' code")
def test_the_jail_is_attacked_and_the_count_is_told() -> None:
    done = CliRunner().invoke(main, [])
    assert done.exit_code == 0, done.output
    stopped, _, total = done.stdout.partition("probes: ")[2].split()[:3]
    assert stopped == total
    assert int(total) >= 40

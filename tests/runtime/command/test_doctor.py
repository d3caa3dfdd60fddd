"""`mas doctor`: what this machine has."""

import json
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from coterie.runtime.command.doctor import main
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.jail.battery import run_battery
from coterie.runtime.jail.detect import detect
from coterie.runtime.jail.probes import PROBES

from ...conftest import Draw


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
def test_the_jail_is_attacked_and_counted(drawn: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    probes = drawn(PROBES)
    attacked = partial(run_battery, probes=probes)
    monkeypatch.setattr("coterie.runtime.jail.battery.run_battery", attacked)
    done = CliRunner().invoke(main, [])
    assert done.exit_code == 0, done.output
    assert f"probes: {len(probes)} of {len(probes)} stopped" in done.stdout


def test_a_program_has_its_version(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAS_SWE_AGENT_PYTHON", str(stand_in))
    word = "ready (SWEAgent), tested just now: sweagent 1.1.0, swe-rex 1.4.0 in"
    assert word in backends(monkeypatch)["swe-agent"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (("bin/python", "#!/bin/ls\n"), "and not a Python that can be asked"),
        (("sweagent/run/run_single.py", "raise ValueError('what a day')"), "what a day"),
    ],
)
def test_a_program_that_does_not_work_is_told(
    stand_in: Path, monkeypatch: pytest.MonkeyPatch, damage: tuple[str, str], message: str
) -> None:
    monkeypatch.setenv("MAS_SWE_AGENT_PYTHON", str(stand_in))
    file, text = damage
    (stand_in.parents[1] / file).write_text(text, "utf-8")
    assert message in backends(monkeypatch)["swe-agent"]


def backends(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What is found of backends, without an attack on the jail."""
    monkeypatch.setattr("coterie.runtime.jail.battery.run_battery", list)
    return json.loads(CliRunner().invoke(main, ["--json"]).stdout)["backends"]


def test_a_ping_asks_each_endpoint_and_tells_what_came() -> None:
    with ScriptedModel(Reply(text="Yes.")) as good, ScriptedModel(Reply.error(401)) as bad:
        models = ["--model", f"m@{good.api_base}", "--model", f"other=n@{bad.api_base}"]
        done = CliRunner().invoke(main, ["--ping", *models])
        asked = [len(model.calls) for model in (good, bad)]
    default, other = done.stdout.splitlines()
    assert default.startswith("default = m: m answered in ")
    assert default.endswith("tokens, unpriced")
    assert other.startswith("other = n: ")
    assert "401" in other
    assert (done.exit_code, asked) == (1, [1, 1])


def test_a_ping_tells_programs_and_ends_well_where_all_answer() -> None:
    with ScriptedModel(Reply(text="Yes.")) as model:
        done = CliRunner().invoke(main, ["--ping", "--json", "--model", f"m@{model.api_base}"])
        assert len(model.calls) == 1
    assert done.exit_code == 0
    (result,) = json.loads(done.stdout)
    assert (result["alias"], result["model"], result["answered"]) == ("default", "m", True)


def test_a_ping_of_models_without_an_endpoint_asks_nobody() -> None:
    done = CliRunner().invoke(main, ["--ping"])
    assert (done.exit_code, done.stdout) == (0, "no model has an endpoint to check.\n")


def test_a_key_that_is_missing_is_what_a_ping_tells() -> None:
    done = CliRunner().invoke(main, ["--ping", "--model", "openai/m"])
    assert done.exit_code == 1
    assert "OPENAI_API_KEY is not set" in done.stdout

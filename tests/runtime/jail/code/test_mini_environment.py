"""A mini-swe-agent agent whose commands run in a jail."""

import json
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.jail import Jail


@pytest.fixture(autouse=True)
def quiet_import(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the library from printing, and from reading and making folders of the user."""
    monkeypatch.setenv("MSWEA_SILENT_STARTUP", "1")
    monkeypatch.setenv("MSWEA_GLOBAL_CONFIG_DIR", str(tmp_path_factory.mktemp("mini")))
    pytest.importorskip("minisweagent")


def run(jail: Jail, *commands: str, template: str = "Go.", **options: Any) -> tuple[dict, list]:
    from minisweagent.agents.default import DefaultAgent
    from minisweagent.models.test_models import DeterministicModel, make_output

    from coterie.runtime.jail.code.mini_environment import JailEnvironment

    model = DeterministicModel(
        outputs=[make_output("Next.", [{"command": command}]) for command in commands]
    )
    agent = DefaultAgent(
        model,
        JailEnvironment(jail, **options),
        system_template=template,
        instance_template="{{task}}",
        cost_limit=0,
    )
    ended = agent.run("Repair it.")
    json.dumps(agent.serialize())
    return ended, [message["content"] for message in agent.messages]


SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


def test_an_agent_edits_and_submits_its_patch(jail: Jail) -> None:
    (jail.work / "file").write_text("old\n")
    ended, said = run(
        jail,
        "git init -q . && git add . && git commit -qm start && sed -i s/old/new/ file",
        f"{SUBMIT}; git diff",
    )
    assert ended["exit_status"] == "Submitted"
    assert "-old\n+new\n" in ended["submission"]
    assert "<returncode>0</returncode>" in said[3]


def test_a_failing_submission_is_not_one(jail: Jail) -> None:
    _, said = run(jail, f"{SUBMIT}; exit 1", "echo before; " + SUBMIT, SUBMIT)
    assert "<returncode>1</returncode>" in said[3]
    assert "before" in said[5]


def test_a_command_that_takes_too_long_or_says_too_much_is_cut(jail: Jail) -> None:
    for seconds in (1, 8, 120):  # as many as this machine takes to begin
        _, said = run(
            jail, "echo begun; sleep 3600", "seq 100000", SUBMIT, timeout=seconds, output=1000
        )
        assert f"was stopped: it ran longer than {seconds} seconds." in said[3]
        if "begun" in said[3] and "was stopped" not in said[5]:
            break
    assert "begun" in said[3]
    assert len(said[5]) < 1500
    assert "bytes left out" in said[5]


def test_prompts_see_nothing_of_the_host(jail: Jail, monkeypatch: pytest.MonkeyPatch) -> None:
    from minisweagent.exceptions import Submitted

    from coterie.runtime.jail.code.mini_environment import JailEnvironment

    monkeypatch.setenv("MY_API_KEY", "canary")
    environment = JailEnvironment(jail)
    named = environment.get_template_vars(extra=1)
    assert "canary" not in str(named)
    assert (named["system"], named["node"], named["extra"]) == ("Linux", "jail", 1)
    assert "MY_API_KEY" not in environment.execute({"command": "env"})["output"]
    with pytest.raises(Submitted):
        environment.execute({"command": SUBMIT})


def test_a_command_may_start_in_another_folder(jail: Jail, tmp_path: Path) -> None:
    from coterie.runtime.jail.code.mini_environment import JailEnvironment

    (tmp_path / "inner").mkdir()
    done = JailEnvironment(jail).execute({"command": "pwd"}, cwd=str(tmp_path / "inner"))
    assert done == {"output": f"{tmp_path}/inner\n", "returncode": 0, "exception_info": ""}

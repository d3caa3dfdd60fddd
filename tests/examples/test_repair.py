"""A team with a real mini-swe-agent repairs a real bug of a released package, in the jail."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import inflection
import pytest

from coterie.runtime import Calls, Gateway, Run, Toolbox, Trace, compile, execute
from coterie.runtime.doubles import ScriptedModel, load_script
from coterie.runtime.jail import Jails, detect
from coterie.runtime.trace import Event
from coterie.schema import Catalogue, Model, Task, load_team

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "repair"

# Behaviour of the released package that a repair must not touch.
KEPT = """\
import inflection

def test_the_rest_is_as_it_was():
    words = "post octopus sheep CamelOctopus party bus quiz ox person move child standby lullaby"
    plurals = "posts octopi sheep CamelOctopi parties buses quizzes oxen people moves children"
    for one, many in zip(words.split(), plurals.split()):
        assert inflection.pluralize(one) == many
        assert inflection.singularize(many) == one
    assert inflection.pluralize("standby") == "standbies"
    assert inflection.singularize("lullabies") == "lullaby"
    assert inflection.titleize("man from the boondocks") == "Man From The Boondocks"
"""


def script(name: str):
    """Import one of the example's own files."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The installed release in a fresh git repository, with tests of what works."""
    folder = tmp_path / "inflection"
    folder.mkdir()
    source = Path(str(inflection.__file__)).read_text(encoding="utf-8")
    (folder / "inflection.py").write_text(source, encoding="utf-8")
    (folder / "test_kept.py").write_text(KEPT, encoding="utf-8")
    script("prepare").commit(folder)
    return folder


def repair(repository: Path, events: list[Event]) -> Run:
    query = json.loads((EXAMPLE / "task.json").read_text(encoding="utf-8"))["query"]
    task = Task(id="passersby", query=query, repo=repository)

    async def until_done(api_base: str) -> Run:
        models = {"default": Model(alias="default", model="scripted", api_base=api_base)}
        catalogue = Catalogue.of_host(models=models)
        plan = compile(load_team(ROOT / "seeds" / "code_repair.yaml", catalogue), catalogue)
        async with Gateway(models) as gateway, Toolbox() as toolbox:
            return await execute(
                plan,
                task,
                calls=Calls(gateway=gateway),
                jails=Jails(),
                toolbox=toolbox,
                trace=Trace(events.append),
            )

    with ScriptedModel(load_script(EXAMPLE / "replies.yaml")) as model:
        return asyncio.run(until_done(model.api_base))


def holds(folder: Path) -> bool:
    """Run the tests that the agents did not see, and those of what works."""
    checks = (folder / "test_kept.py", EXAMPLE / "check_passersby.py")
    options = (
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-c",
        "/dev/null",
        "--rootdir",
        ".",
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *map(str, checks)],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode == 0


@pytest.mark.skipif(detect().tier is None, reason="this machine has no jail for agents' code")
def test_the_patch_repairs_the_bug_and_keeps_the_rest(repository: Path) -> None:
    assert not holds(repository)
    events: list[Event] = []
    run = repair(repository, events)
    assert run.status == "done", run.error
    assert run.answer is not None
    assert run.answer.startswith("diff --git a/inflection.py b/inflection.py")
    status = subprocess.run(
        ["git", "status", "--short"], cwd=repository, capture_output=True, check=True
    )
    assert status.stdout == b"", "the user's own repository was touched"
    subprocess.run(["git", "apply", "-"], cwd=repository, input=run.answer, text=True, check=True)
    assert holds(repository)
    (finished,) = [e for e in events if e.type == "agent_finished" and e.agent == "engineer"]
    assert "passed" in str(finished.fields["steps"]), "the agent could run the tests in the jail"

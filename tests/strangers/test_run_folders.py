"""Run folders that strangers altered: no key reaches an address that this host did not name."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from coterie.operators.command.blame import main as blame
from coterie.operators.command.op.command import main as op
from coterie.runtime.command.run import main as run
from coterie.runtime.doubles import Reply, ScriptedModel

from ..support.commands import CommandResult, invoked_in

TEAM = """\
name: chain
agents:
  first: {prompt: "You are [first]."}
  second: {prompt: "You are [second]."}
topology: {reports_to: {first: [second]}}
execution: {max_retries: 0}
"""
KEY, VALUE = "VICTIM_KEY", "the victim's key, word by word"
VARIANTS = 250
COMMANDS = {
    "resume": (run, ["--resume"], ["--quiet"]),
    "replay": (run, ["--replay"], ["--quiet"]),
    "verify": (run, ["--replay"], ["--verify", "--quiet"]),
    "blame": (blame, [], ["--quiet"]),
    "credit": (op, ["credit"], ["--quiet"]),
}


@dataclass
class Stage:
    """A run that stopped half way, a server of the host's, and one of the stranger's."""

    folder: Path
    ours: ScriptedModel
    theirs: ScriptedModel

    def copy(self, number: int) -> Path:
        target = self.folder / f"run-{number}"
        shutil.copytree(self.folder / "kept", target)
        return target


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setenv(KEY, VALUE)
    (tmp_path / "team.yaml").write_text(TEAM)
    (tmp_path / "task.json").write_text(json.dumps({"id": "t", "query": "Count.", "answer": "7"}))
    script = {"[first]": "one", "[second]": Reply.error(401)}
    with ScriptedModel(script) as ours, ScriptedModel("7") as theirs:
        words = ["team.yaml", "task.json", "--model", f"m@{ours.api_base}", "--quiet"]
        assert invoked_in(tmp_path, run, words, "mas-run").code == 1
        (path,) = (tmp_path / "runs").iterdir()
        path.rename(tmp_path / "kept")
        yield Stage(tmp_path, ours, theirs)


def altered(folder: Path, stage: Stage, chance: Random) -> None:
    """Alter a run's folder so that it would send a call, or a key, to the stranger's server."""
    path = folder / "run.json"
    manifest = json.loads(path.read_text())
    address = chance.choice([stage.theirs.api_base, stage.theirs.api_base + "/", "http://[::1]/v1"])
    alias = chance.choice(["default", "default", "first", "second", "meta", "../default"])
    named = chance.choice([KEY, "HOME", "PATH", "OPENAI_API_KEY", "MAS_API_KEY", "USER"])
    fields: dict[str, Any] = {
        "api_base": address,
        "key_env": named,
        "header_env": {"x-stolen": named},
        "headers": {"x-sent": "a stranger's"},
        "model": chance.choice(
            ["m", "openai/gpt-4o", "local:/etc/passwd", "local", "m@" + address]
        ),
        "fallback": [chance.choice(["meta", "second"])],
        "api": chance.choice(["chat", "responses", "anthropic"]),
        "usd_per_mtok_input": 0.0,
        "body": {"user": "stranger"},
    }
    chosen = chance.sample(sorted(fields), chance.randint(1, 5))
    model = {**manifest["models"]["default"], **{name: fields[name] for name in chosen}}
    manifest["models"] = {**manifest["models"], alias: model}
    if alias == "meta":
        manifest["models"]["default"]["fallback"] = ["meta"]
    others: dict[str, Any] = {
        "cache": str(stage.folder / "elsewhere"),
        "pool": str(stage.folder / "elsewhere"),
        "embedder": "meta",
        "budget": {},
        "allow_unpriced": True,
        "unsafe_local": True,
        "on": "ray://127.0.0.1:1",
        "task_file": "/etc/passwd",
    }
    for name in chance.sample(sorted(others), chance.randint(0, 3)):
        manifest[name] = others[name]
    path.write_text(json.dumps(manifest))


@pytest.mark.parametrize("says", ["nothing", "its models"])
def test_nothing_reaches_an_unnamed_address(says: str, stage: Stage, nightly: bool) -> None:
    chance, refused, variants = Random(says), 0, VARIANTS if nightly else VARIANTS // 10
    for number in range(variants):
        folder = stage.copy(number)
        altered(folder, stage, chance)
        name = chance.choice([*COMMANDS])
        command, before, after = COMMANDS[name]
        words = [*before, str(folder), *after]
        if says == "its models":
            words += ["--model", f"m@{stage.ours.api_base}"]
        result: CommandResult = invoked_in(stage.folder, command, words, "mas-run")
        refused += result.code == 2
        assert "Traceback" not in result.err, (name, result.err)
        assert VALUE not in result.out + result.err
        shutil.rmtree(folder)
    assert stage.theirs.calls == ()
    assert not any(VALUE in str(call.headers) for call in stage.ours.calls)
    assert not (stage.folder / "elsewhere").exists()
    assert refused > variants / 10


def test_who_resumes_is_told_what_to_write(stage: Stage) -> None:
    folder = stage.copy(0)
    words = ["--resume", str(folder)]
    result = invoked_in(stage.folder, run, words, "mas-run").ended(2)
    assert f"default was 'm@{stage.ours.api_base}', and is 'local' here" in result.err
    assert "--model default=MODEL" in result.err
    assert len(stage.ours.calls) == 2

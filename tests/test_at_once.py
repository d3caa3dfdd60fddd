"""Commands answer at once: they import what they use, and what only errors need where there is one.

Nothing is timed here, so a slow machine changes nothing: docs/research/performance.md has times.
"""

import json
import re
from pathlib import Path

import pytest

from coterie.runtime.doubles import ScriptedModel

from .support.processes import python

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAIR = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)[0]
"""The team on the first page."""

LOOKING = """
import json, os, sys
from importlib import import_module

def tell():
    print(json.dumps([*sys.modules]), file=sys.stderr, flush=True)

def connecting(event, _):
    if event == "socket.connect" and "{until}" == event:
        tell()
        os._exit(0)

sys.addaudithook(connecting)
try:
    import_module(sys.argv[1]).main(sys.argv[2:])
finally:
    tell()
"""
NEVER = {
    "aiohttp", "email", "importlib.metadata", "jsonschema", "litellm", "networkx", "numpy",
    "openai", "referencing", "rich", "smolagents", "sqlite3",
}  # fmt: skip
"""What no command imports that neither asks a model nor finds fault."""


def imported(command: str, *arguments: str | Path, folder: Path, until: str = "") -> set[str]:
    """What a command has imported at its end, or until it first connects to somebody."""
    done = python("-c", LOOKING.replace("{until}", until), command, *arguments, cwd=folder)
    return {*json.loads(done.stderr.splitlines()[-1])}


def test_help_reads_no_file_and_no_package(tmp_path: Path) -> None:
    texts = imported("coterie.schema.command", "--help", folder=tmp_path)
    assert texts & (NEVER | {"asyncio", "coterie.schema.team.team", "yaml"}) == set()


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    (tmp_path / "prompts").mkdir()
    for name in re.findall(r"prompt: (\w+)\n", PAIR):
        (tmp_path / "prompts" / f"{name}.md").write_text("Do it.")
    (tmp_path / "team.yaml").write_text(PAIR)
    return tmp_path / "team.yaml"


def test_valid_files_are_told_apart_from_others_without_jsonschema(pair: Path) -> None:
    task, models, tools = (pair.with_name(name) for name in ("t.json", "models.yaml", "tools.yaml"))
    task.write_text('{"id": "t", "query": "What is 1 + 1?", "answer": "2"}')
    models.write_text("models: {default: {model: openai/m}}\n")
    tools.write_text("permissions: {read_file: ask}\n")
    agent = pair.with_name("critic.yaml")
    agent.write_text("role: critic\nprompt: Look for a mistake.\n")
    files = (pair, task, models, tools, agent, ROOT / "seeds" / "debate.yaml")
    words = ("coterie.schema.command.validate", "--no-host", *files)
    assert imported(*words, folder=pair.parent) & (NEVER | {"asyncio", "ssl"}) == set()


def test_what_is_wrong_jsonschema_says(pair: Path) -> None:
    pair.write_text(PAIR.replace("role: solver", "rule: solver"))
    texts = imported("coterie.schema.command.validate", pair, folder=pair.parent)
    assert "jsonschema" in texts


def test_a_run_asks_its_model_before_it_imports_what_comes_later(pair: Path) -> None:
    with ScriptedModel("2") as model:
        arguments = (pair, "-q", "What is 1 + 1?", "--quiet", "--model", f"m@{model.api_base}")
        texts = imported(
            "coterie.runtime.command.run", *arguments, folder=pair.parent, until="socket.connect"
        )
        assert "aiohttp" in texts
        assert not model.calls
    assert texts & (NEVER - {"aiohttp", "email", "sqlite3"}) == set()


def test_a_plain_run_imports_only_what_it_uses(pair: Path) -> None:
    """One agent, no code, no tools, no rounds: a bound on our modules, and whole rooms unused."""
    pair.write_text("name: one\nagents:\n  solver: {role: solver, prompt: solve}\n")
    (pair.parent / "prompts" / "solve.md").write_text("Do it.")
    with ScriptedModel("2") as model:
        arguments = (pair, "-q", "What is 1 + 1?", "--model", f"m@{model.api_base}")
        texts = imported("coterie.runtime.command.run", *arguments, folder=pair.parent)
    ours = {name for name in texts if name.split(".")[0] == "coterie"}
    assert "coterie.runtime.runs.whole" in ours
    assert len(ours) <= MODULES_OF_A_RUN, sorted(ours)
    assert not {room for room in UNUSED if f"coterie.runtime.{room}" in ours}


MODULES_OF_A_RUN = 140
UNUSED = (
    *("batch", "cluster", "doubles", "engine.handing_in", "export", "jail.request", "local"),
    *("messages.attached", "otel", "repository.git", "roster", "rounds.declared", "scoring"),
    *("serving", "tools.tool", "view"),
    *("gateway.wires.anthropic", "gateway.wires.responses"),
)
"""Rooms and modules of the interpreter that a plain run has no use for."""


ALL_BACKENDS = """
import importlib, json, sys
from coterie.runtime import compile
from coterie.schema import Agent, Catalogue, Execution, Team
from coterie.schema.host.catalogue import installed, load_named

def imported():
    print(json.dumps(sorted({name.split(".")[0] for name in sys.modules})))

for name in installed("runners"):
    runner = load_named("runners", name)
    list(runner.objections(Agent(id="a"))), runner.calls_at_most(Agent(id="a")), runner()
team = Team(name="t", agents={"a": Agent(id="a")}, execution=Execution(context="ancestors"))
compile(team, Catalogue.of_host())
imported()
for module in sys.argv[1:]:
    importlib.import_module(module)
imported()
"""
WAITING = (
    *("coterie.runtime.command.run", "coterie.operators.command.evolving"),
    *("coterie.benchmarks.command", "coterie.runtime.runs.services"),
    *("coterie.runtime.cluster.opening", "coterie.runtime.tools.servers"),
)
"""Modules that have to do with libraries that a run need not use."""


def test_libraries_are_imported_by_what_uses_them() -> None:
    """Whoever looks at backends, compiles, or could trace, go to a cluster or start a server."""
    done = python("-c", ALL_BACKENDS, *WAITING, check=True)
    looked, waiting = (set(json.loads(line)) for line in done.stdout.splitlines())
    libraries = {"litellm", "minisweagent", "smolagents"}
    assert not looked & (libraries | {"aiohttp", "networkx"})
    assert not waiting & (libraries | {"mcp", "opentelemetry", "ray"})

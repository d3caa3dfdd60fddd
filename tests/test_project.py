"""What holds for the project as a whole: floors, packages, light commands, honest exports."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FLOORS = ("seeds", "schema", "runtime", "pool", "operators", "benchmarks")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MODULES = sorted(
    path
    for floor in FLOORS
    for path in (ROOT / floor).rglob("*.py")
    if "subjects" not in path.parts  # programs that run where coterie may not be installed
)


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("coterie", *(part for part in parts if part != "__init__")))


def test_every_folder_of_code_is_a_package() -> None:
    folders = {path.parent for path in MODULES}
    named = {f"coterie.{'.'.join(folder.relative_to(ROOT).parts)}" for folder in folders}
    assert named == set(PROJECT["tool"]["setuptools"]["packages"])


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_a_floor_imports_only_floors_below_it(path: Path) -> None:
    """Absolute imports of our own packages are not used, and relative ones never go up."""
    here = dotted(path).split(".")
    package = here if path.name == "__init__.py" else here[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert not any(name.name.split(".")[0] == "coterie" for name in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level or (node.module or "").split(".")[0] != "coterie"
            if node.level:
                base = package[: len(package) - node.level + 1]
                target = [*base, *(node.module or "").split(".")]
                assert FLOORS.index(target[1]) <= FLOORS.index(here[1]), (path, target)


CORE = [
    path
    for path in MODULES
    if (parts := path.relative_to(ROOT).parts)[0] in {"schema", "runtime", "pool", "operators"}
    and parts[:2] != ("operators", "strategies")
]


@pytest.mark.parametrize("path", CORE, ids=dotted)
def test_the_core_names_no_strategy(path: Path) -> None:
    """Whoever needs to know what a strategy is like asks it: `Strategy` can say it."""
    names = {point.name for point in entry_points(group="coterie.strategies")}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant):
            assert not isinstance(node.value, str) or node.value not in names
        if isinstance(node, ast.alias):
            assert node.name not in names
        if isinstance(node, ast.ImportFrom):
            assert "strategies" not in (node.module or "").split(".")


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_what_is_private_stays_on_its_floor(path: Path) -> None:
    """No floor imports a module or a name of another one that begins with an underscore."""
    own = dotted(path).split(".")[1]
    depth = len(dotted(path).split(".")) - 1 - (path.name != "__init__.py")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level > depth:
            named = [*(node.module or "").split("."), *(one.name for one in node.names)]
            if named[0] != own:
                assert not [name for name in named if name.startswith("_")], (path, named)


@pytest.mark.parametrize("path", [p for p in MODULES if p.name == "__init__.py"], ids=dotted)
def test_a_package_exports_what_it_says(path: Path) -> None:
    module = importlib.import_module(dotted(path))
    assert module.__doc__
    names = getattr(module, "__all__", [])
    for name in names:
        assert getattr(module, name) is not None


@pytest.mark.parametrize("group", sorted(PROJECT["project"]["entry-points"]))
def test_entry_points_load(group: str) -> None:
    points = {point.name: point for point in entry_points(group=group)}
    declared = PROJECT["project"]["entry-points"][group]
    assert {name: points[name].value for name in declared} == declared
    assert all(points[name].load() is not None for name in declared)


HEAVY = {"aiohttp", "litellm", "minisweagent", "networkx", "openai", "qdrant_client", "smolagents"}


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("coterie.schema.command", ["--help"]),
        ("coterie.schema.command.validate", [str(ROOT / "seeds" / "debate.yaml")]),
        ("coterie.schema.command.graph", [str(ROOT / "seeds" / "debate.yaml")]),
        ("coterie.schema.command.explain", ["agents.max_tokens"]),
        ("coterie.schema.command.fmt", ["--check", str(ROOT / "seeds" / "debate.yaml")]),
        ("coterie.runtime.command.run", ["--help"]),
        ("coterie.runtime.command.doctor", ["--help"]),
        ("coterie.operators.command.evolve", ["--help"]),
        ("coterie.operators.command.op", ["--help"]),
        ("coterie.pool.command", ["--help"]),
        ("coterie.benchmarks.command", ["run", "--help"]),
        ("coterie.benchmarks.command", ["list"]),
    ],
)
def test_commands_that_call_no_model_import_nothing_heavy(
    module: str, arguments: list[str]
) -> None:
    script = (
        "import sys, json, importlib\n"
        "module = importlib.import_module(sys.argv[1])\n"
        "try: module.main(sys.argv[2:])\n"
        "except SystemExit as end: code = end.code\n"
        "names = sorted({name.split('.')[0] for name in sys.modules})\n"
        "print(json.dumps([code, names]), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, module, *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    code, modules = json.loads(done.stderr.splitlines()[-1])
    assert code in {0, None}, done.stdout
    assert set(modules) & HEAVY == set()


def test_no_package_index_is_named() -> None:
    """Whoever installs decides where from; nothing of ours says it."""
    hosts = ("py" + "pi.org", "python" + "hosted.org", "npm" + "js.org")
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    for name in listed.stdout.splitlines():
        content = (ROOT / name).read_bytes() if (ROOT / name).is_file() else b""
        assert not any(host.encode() in content for host in hosts), name


def test_the_lock_has_every_dependency() -> None:
    locked = {
        line.split("==")[0].split("[")[0].lower()
        for line in (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
        if "==" in line and not line.startswith(" ")
    }
    wanted = PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["dev"]
    for extra in PROJECT["project"]["optional-dependencies"].values():
        wanted += extra
    names = {re.split(r"[\[=<>~!]", name)[0].lower() for name in wanted}
    assert names - locked == set()

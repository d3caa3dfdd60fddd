"""What holds for the project as a whole: floors, packages, light commands, honest exports."""

import ast
import importlib
import json
import re
import subprocess
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

import networkx
import pytest

import coterie

from .support.processes import python

ROOT = Path(__file__).parents[1]
FLOORS = ("seeds", "schema", "runtime", "pool", "operators", "benchmarks")
APART = ("studies", "tests")
"""What imports the package and is never imported by it."""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MODULES = sorted(
    path
    for floor in FLOORS
    for path in (ROOT / floor).rglob("*.py")
    if "subjects" not in path.parts  # programs that run where coterie may not be installed
)
STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("coterie", *(part for part in parts if part != "__init__")))


@cache
def imports(path: Path) -> Sequence[ast.Import | ast.ImportFrom]:
    """Return what a module imports, wherever in it: only statements are looked into."""
    waiting: list[ast.AST] = [ast.parse(path.read_bytes())]
    result: list[ast.Import | ast.ImportFrom] = []
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            result.append(node)
        waiting += [item for item in ast.iter_child_nodes(node) if isinstance(item, STATEMENTS)]
    return result


def test_every_folder_of_code_is_a_package() -> None:
    folders = {path.parent for path in MODULES}
    named = {f"coterie.{'.'.join(folder.relative_to(ROOT).parts)}" for folder in folders}
    assert {"coterie", *named} == set(PROJECT["tool"]["setuptools"]["packages"])


def test_the_package_gives_its_public_names() -> None:
    for name in coterie.__all__:
        assert getattr(coterie, name) is not None
    assert set(coterie.__all__) <= set(dir(coterie))
    assert coterie.__version__ == PROJECT["project"]["version"]
    with pytest.raises(AttributeError, match="'coterie' has no attribute 'teem'"):
        coterie.teem  # noqa: B018 - what is tested is that it says so


def test_importing_the_package_imports_nothing_else(tmp_path: Path) -> None:
    """Nor does it find a folder of that name where Python is started, such as a clone's."""
    (tmp_path / "coterie" / "schema").mkdir(parents=True)
    (tmp_path / "coterie" / "schema" / "__init__.py").touch()
    script = (
        "import sys; import coterie; print(coterie.__file__)\n"
        "own = sys.stdlib_module_names | {'__main__', 'sitecustomize', 'coterie'}\n"
        "print(sorted(name for name in sys.modules if name.split('.')[0] not in own))\n"
        "print([name for name in sys.modules if name.startswith('coterie.')])\n"
        "import coterie.schema; print(coterie.schema.__file__)"
    )
    done = python("-c", script, cwd=tmp_path, check=True)
    package, foreign, own, schema = done.stdout.splitlines()
    assert package == coterie.__file__
    assert (foreign, own) == ("[]", "[]")
    assert schema == str(ROOT / "schema" / "__init__.py")


def test_a_floor_imports_only_floors_below_it() -> None:
    """Absolute imports of our own packages are not used, and relative ones never go up."""
    for path in MODULES:
        here = dotted(path).split(".")
        package = here if path.name == "__init__.py" else here[:-1]
        for node in imports(path):
            if isinstance(node, ast.Import):
                names = {name.name.split(".")[0] for name in node.names}
                assert not names & {"coterie", *APART}, path
            elif node.level:
                base = package[: len(package) - node.level + 1]
                target = [*base, *(node.module or "").split(".")]
                assert FLOORS.index(target[1]) <= FLOORS.index(here[1]), (path, target)
            else:
                assert (node.module or "").split(".")[0] not in {"coterie", *APART}, path


def test_no_circle_of_imports_crosses_a_room() -> None:
    """A room is a folder of a floor, or of the methods, with all that is below it; types count."""
    graph = networkx.DiGraph()
    for path in MODULES:
        here = dotted(path).split(".")
        package = here if path.name == "__init__.py" else here[:-1]
        for node in imports(path):
            if isinstance(node, ast.ImportFrom) and node.level:
                base = package[: len(package) - node.level + 1]
                target = room([*base, *(node.module or "").split(".")])
                if target != room(package) and len(target) > 2:
                    graph.add_edge(room(package), target)
    graph.remove_edge(*CHECKED_BY_FORM)
    assert list(networkx.simple_cycles(graph, length_bound=2)) == []
    assert networkx.is_directed_acyclic_graph(graph)


def room(parts: Sequence[str]) -> tuple[str, ...]:
    names = tuple(name for name in parts if name)
    at = 4 if names[1:3] == ("operators", "methods") else 3
    folder = ROOT.joinpath(*names[1:at])
    return names[:at] if folder.is_dir() else names[: at - 1]


CHECKED_BY_FORM = (("coterie", "runtime", "record"), ("coterie", "runtime", "agents"))
"""A journal checks an agent's entry by its class, which is above it; imported at first use."""


def test_contributing_lists_every_folder_with_the_first_sentence_about_it() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `([\w/]+)/` \| (.*) \|$", text, re.MULTILINE))
    for path in MODULES:
        if path.name == "__init__.py" and path.parent.name != "seeds":
            about = ast.get_docstring(ast.parse(path.read_bytes())) or ""
            first = " ".join(about.split("\n\n")[0].split())
            assert listed.pop(path.parent.relative_to(ROOT).as_posix()) == first
    assert set(listed) == {"seeds", "studies"}


CORE = [
    path
    for path in MODULES
    if (parts := path.relative_to(ROOT).parts)[0] in {"schema", "runtime", "pool", "operators"}
    and parts[:2] not in {("operators", "methods"), ("operators", "__init__.py")}
    and parts[:2] != ("operators", "command")
]


def test_the_core_names_no_strategy() -> None:
    """Whoever needs to know what a strategy is like asks it: `Strategy` can say it."""
    names = {point.name for point in entry_points(group="coterie.strategies")}
    for path in CORE:
        text = path.read_text(encoding="utf-8")
        if not any(name in text for name in (*names, "methods")):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant):
                assert not isinstance(node.value, str) or node.value not in names, path
            if isinstance(node, ast.alias):
                assert node.name not in names, path
            if isinstance(node, ast.ImportFrom):
                assert "methods" not in (node.module or "").split("."), path


def test_what_is_private_stays_on_its_floor() -> None:
    """No floor imports a module or a name of another one that begins with an underscore."""
    for path in MODULES:
        own = dotted(path).split(".")[1]
        depth = len(dotted(path).split(".")) - 1 - (path.name != "__init__.py")
        for node in imports(path):
            if isinstance(node, ast.ImportFrom) and node.level > depth:
                named = [*(node.module or "").split("."), *(name.name for name in node.names)]
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


def test_mas_is_there_where_its_script_is_not_on_the_path() -> None:
    done = python("-m", "coterie.schema.command", "run", "--no-such-option")
    assert done.returncode == 2, done.stderr
    assert "No such option" in done.stderr


HEAVY = {"aiohttp", "litellm", "minisweagent", "networkx", "openai", "qdrant_client", "smolagents"}
LATER = {"explain": {"jsonschema", "rich"}, "graph": {"rich"}, "diff": {"jinja2", "rich"}}
"""What else the commands import only where they need it."""


LIGHT = (
    ("coterie.schema.command.diff", ["seed:debate", "seed:debate"]),
    ("coterie.schema.command.graph", ["seed:debate", "--format", "svg"]),
    ("coterie.schema.command.explain", ["agents.max_tokens"]),
    ("coterie.schema.command", ["--help"]),
    ("coterie.schema.command.validate", [str(ROOT / "seeds" / "workshop.yaml")]),
    ("coterie.schema.command.fmt", ["--check", str(ROOT / "seeds" / "debate.yaml")]),
    ("coterie.runtime.command.run", ["--help"]),
    ("coterie.runtime.command.doctor", ["--help"]),
    ("coterie.operators.command.evolve", ["--help"]),
    ("coterie.operators.command.op.command", ["--help"]),
    ("coterie.pool.command", ["--help"]),
    ("coterie.benchmarks.command", ["run", "--help"]),
    ("coterie.benchmarks.command", ["list"]),
)
"""Commands, one after the other in one process; those that are in `LATER` come first."""


def test_commands_that_call_no_model_import_nothing_heavy() -> None:
    script = (
        "import sys, json, importlib\n"
        "for module, words in json.loads(sys.argv[1]):\n"
        "    try: importlib.import_module(module).main(words)\n"
        "    except SystemExit as end: code = end.code\n"
        "    names = sorted({name.split('.')[0] for name in sys.modules})\n"
        "    print(json.dumps([module, code, names]), file=sys.stderr)"
    )
    done = python("-c", script, json.dumps(LIGHT), check=True)
    lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("[")]
    assert [module for module, *_ in lines] == [module for module, _ in LIGHT]
    for module, code, names in lines:
        assert code in {0, None}, (module, done.stdout)
        later = LATER.get(module.rpartition(".")[2], set())
        assert set(names) & (HEAVY | later) == set(), module


def test_no_package_index_is_named() -> None:
    """Whoever installs decides where from; nothing of ours says it."""
    hosts = ("py" + "pi.org", "python" + "hosted.org", "npm" + "js.org")
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    for name in listed.stdout.splitlines():
        content = (ROOT / name).read_bytes() if (ROOT / name).is_file() else b""
        assert not any(host.encode() in content for host in hosts), name


CLOCKS = {
    f"{clock}{unit}"
    for clock in ("monotonic", "perf_counter", "process_time", "thread_time", "time")
    for unit in ("", "_ns")
}
NAMED_CLOCK = re.compile(
    rb"import time|from time|time\.time|monotonic|perf_counter|(process|thread)_time"
)
"""What is written wherever a clock is read, so that other modules need no parsing."""
READ_CLOCKS = {"effort.py", "waiting.py"}
"""The modules of the tests that read clocks: what others need of them is there."""


def read_clocks(path: Path) -> set[str]:
    """Return the clocks of `time` that a module names."""
    names: set[str] = set()
    text = path.read_bytes()
    for node in ast.walk(ast.parse(text)) if NAMED_CLOCK.search(text) else ():
        match node:
            case ast.ImportFrom(module="time"):
                names |= {alias.name for alias in node.names}
            case ast.Attribute(value=ast.Name(id="time")):
                names.add(node.attr)
            case ast.Attribute(attr=name) | ast.Name(id=name) if not name.startswith("time"):
                names.add(name)
            case _:
                pass
    return names & CLOCKS


def test_no_verdict_of_a_test_depends_on_the_speed_of_the_machine() -> None:
    """Tests count; only the modules that compare growth, or wait, for them read a clock."""
    tests = ROOT / "tests"
    readers = {
        path.relative_to(tests).as_posix() for path in tests.rglob("*.py") if read_clocks(path)
    }
    assert readers == READ_CLOCKS


@pytest.mark.parametrize(
    ("line", "clocks"),
    [
        ("from time import monotonic as now", {"monotonic"}),
        ("import time; time.time_ns()", {"time_ns"}),
        ("import time as t; t.perf_counter", {"perf_counter"}),
        ("patch(clock.thread_time)", {"thread_time"}),
        ("'time.monotonic'; loop.time(); time.sleep; time = 1", set()),
    ],
)
def test_a_clock_is_seen_however_it_is_named(line: str, clocks: set[str], tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(line)
    assert read_clocks(module) == clocks


def test_a_test_lies_where_its_module_lies_and_has_its_name_first() -> None:
    """Or its room's name. What is about no one place lies in a folder of its own, or on top."""
    named = {folder: {folder.name} for folder in (path.parent for path in MODULES)}
    for path in MODULES:
        named[path.parent].add(path.stem.strip("_"))
        named.setdefault(path.parent.parent, set()).add(path.parent.name)
    astray = [
        path.relative_to(ROOT).as_posix()
        for floor in FLOORS
        for path in (ROOT / "tests" / floor).rglob("test_*.py")
        if not any(
            f"{path.stem}_".startswith(f"test_{name}_")
            for name in named[ROOT / path.parent.relative_to(ROOT / "tests")]
        )
    ]
    assert astray == []


WALKS = {
    "operators/core/meta.py": "the prompts of this package",
    "benchmarks/comparison/merging.py": "results, links as links: who merges evaluations made them",
    "benchmarks/repair/steering.py": "names in a tree that was unpacked here; no link is followed",
    "pool/folder/agent_folders.py": "a pool, which is looked through for links when it is opened",
    "pool/folder/replacing.py": "the same, and its links would be copied as links",
    "pool/git/upkeep.py": "the same: a ledger, copied beside itself",
    "runtime/jail/workspace.py": "a file of the host's, before the jail is opened",
    "runtime/local/package_client.py": "sizes in a folder of this process; no link is followed",
    "runtime/repository/trees.py": "an index of git's in a folder of this process, made by it",
    "schema/values/beneath.py": "the one door: it copies what it has opened itself",
}
"""The modules that copy or walk by functions that follow links, and why what they touch is ours.

All others go through `schema/values/beneath.py`.
"""
COPYING = {"copy", "copy2", "copyfile", "copyfileobj", "copytree", "move"}
STARTING = {
    "benchmarks/repair/trial.py": "in the jail",
    "runtime/repository/git.py": "the one way to run it",
}
"""The modules that start git themselves, and where."""
GIT = {
    "benchmarks/repair/trial.py": "names of files in a working copy of the benchmark's",
    "benchmarks/repair/working_copies.py": "working copies that the benchmark makes",
    "operators/command/commits.py": "a new repository around a pool",
    "pool/git/driver.py": "where the attributes of a clone are, and its settings",
    "runtime/repository/repository.py": "repositories of strangers, under a control folder of ours",
    "runtime/runners/swe_agent/_running.py": "a repository that the runner makes",
    "runtime/runners/swe_agent/_trial.py": "a repository that the trial makes",
    "runtime/repository/trees.py": "an object store of the run's own",
    "runtime/repository/workspace.py": "a copy of an agent's, which `Repository` made",
}
"""The modules that run git, each with what for. Whoever is given a repository uses `Repository`."""


WAYS = re.compile(rb"shutil|walk|glob|copy(tree|file)|git\b")
"""What is written wherever `doors` finds something, so that other modules need no parsing."""


@cache
def doors(path: Path) -> set[str]:
    """Return which ways to files and repositories a module takes: walks, starts of git, git."""
    texts: set[str] = set()
    text = path.read_bytes()
    for node in ast.walk(ast.parse(text)) if WAYS.search(text) else ():
        match node:
            case ast.Attribute(value=ast.Name(id="shutil"), attr=name) if name in COPYING:
                texts.add("walks")
            case ast.Attribute(value=ast.Name(id="os"), attr="walk" | "fwalk"):
                texts.add("walks")
            case ast.Attribute(attr="rglob" | "copytree" | "copyfile"):
                texts.add("walks")
            case ast.Call(func=ast.Attribute(value=ast.Name(id="ast" | "beneath"), attr="walk")):
                pass
            case ast.Call(func=ast.Attribute(attr="walk")):
                texts.add("walks")
            case ast.ImportFrom(module="shutil", names=names) if any(
                name.name in COPYING for name in names
            ):
                texts.add("walks")
            case ast.ImportFrom(module="os", names=names) if any(
                name.name in {"walk", "fwalk"} for name in names
            ):
                texts.add("walks")
            case (
                ast.List(elts=[ast.Constant(value="git"), *_])
                | ast.Tuple(elts=[ast.Constant(value="git"), _, *_])
            ):
                texts.add("starts")
            case ast.ImportFrom(module=str(module), names=names) if module.split(".")[
                -1
            ] == "git" and any(name.name == "git" for name in names):
                texts.add("git")
            case _:
                pass
    return texts


def test_what_others_made_is_reached_by_one_door() -> None:
    """Elsewhere, a link of a stranger's is followed, or git runs what a stranger's config names."""
    for way, known in (("walks", WALKS), ("starts", STARTING), ("git", GIT)):
        modules = {path.relative_to(ROOT).as_posix() for path in MODULES if way in doors(path)}
        assert modules == set(known), way


@pytest.mark.parametrize(
    ("line", "ways"),
    [
        ("shutil.copytree(a, b)", {"walks"}),
        ("from shutil import copy2 as c", {"walks"}),
        ("os.fwalk(a)", {"walks"}),
        ("from os import walk", {"walks"}),
        ("Path(a).rglob('*')", {"walks"}),
        ("a.walk()", {"walks"}),
        ("run(['git', *words])", {"starts"}),
        ("exec(*('git', 'status'))", {"starts"}),
        ("from ..runtime.git import git as g", {"git"}),
        ("ast.walk(a); beneath.walk(b); shutil.which('git'); NAMES = {'git': 1}; copy(a)", set()),
    ],
)
def test_a_door_is_seen_however_it_is_named(line: str, ways: set[str], tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(line)
    assert doors(module) == ways


def test_no_file_of_the_tests_is_longer_than_500_lines() -> None:
    long = {
        path.relative_to(ROOT).as_posix(): lines
        for path in (ROOT / "tests").rglob("*.py")
        if (lines := path.read_bytes().count(b"\n")) > 500
    }
    assert set(long) <= {"tests/schema/loading/test_loading_bad_inputs.py"}, (
        long
    )  # a table of 63 files


def locked(file: str) -> dict[str, str]:
    """Return the versions that a lock pins, by the names of packages."""
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    pins = (line.split(";")[0].split("==") for line in lines if "==" in line and line[0] != " ")
    return {name.split("[")[0].lower(): pinned.strip(" \\") for name, pinned in pins}


def named(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[=<>~!]", requirement)[0].lower() for requirement in requirements}


def test_the_lock_has_every_dependency() -> None:
    wanted = PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["dev"]
    for extra in PROJECT["project"]["optional-dependencies"].values():
        wanted += extra
    assert named(wanted) - locked("requirements.lock").keys() == set()


def test_who_only_runs_teams_gets_the_same_versions_and_no_tools_of_developers() -> None:
    light, whole = locked("requirements-run.lock"), locked("requirements.lock")
    assert light.items() <= whole.items()
    extras = PROJECT["project"]["optional-dependencies"]
    assert named(PROJECT["project"]["dependencies"] + extras["local"]) <= light.keys()
    assert not (named(PROJECT["dependency-groups"]["dev"]) | {"pandas", "pyarrow"}) & light.keys()

"""A benchmark of one's own: forty lines in an installed package, and every command knows it."""

import json
import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from coterie.runtime.doubles import Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request

from ...support.commands import CommandResult
from ...support.pages import blocks
from ...support.processes import python
from .. import added_benchmark

SOURCE = Path(str(added_benchmark.__file__))
(BLOCK,) = blocks("extend.md", "python", "## A benchmark of your own")
(POINTS,) = blocks("extend.md", "toml", "## A benchmark of your own")
CHANGE = """\
[coterie.benchmarks]
change = change:CHANGE
{more}
[coterie.scorers]
change = change:change
"""
SOLO = 'name: solo\nagents:\n  one: {prompt: "You are alone."}\nexecution: {max_retries: 0}\n'
START = """
import json, sys
from click.testing import CliRunner
from coterie.benchmarks.command import main

for words in json.loads(sys.argv[1]):
    came = CliRunner().invoke(main, words, prog_name="mas-bench")
    print(json.dumps({"code": came.exit_code, "out": came.stdout, "err": came.stderr}))
operators = [name for name in sys.modules if name.startswith("coterie.operators")]
assert not operators, operators
"""


def install(folder: Path, module: str, text: str, entry_points: str) -> None:
    """Lay a package of one module out as an installer does."""
    path = folder.joinpath(*module.split(".")).with_suffix(".py")
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    metadata = folder / "added-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: added\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(entry_points)
    (folder / "solo.yaml").write_text(SOLO)


def install_change(folder: Path, more: str = "") -> None:
    install(folder, "change", SOURCE.read_text(), CHANGE.format(more=more))


def mas_bench(folder: Path, *commands: Sequence[str]) -> list[CommandResult]:
    """Run commands in one process that finds the package, and needs no operator."""
    own = {**os.environ, "MAS_HOME": str(folder), "PYTHONPATH": str(folder)}
    done = python("-c", START, json.dumps(commands), cwd=folder, env=own, check=True)
    return [CommandResult(**json.loads(line)) for line in done.stdout.splitlines()]


def counts(request: Request) -> Reply:
    """Count coins as they should be, but do without the coin of 20."""
    amount = int(re.findall(r"make up (\d+)", message_text(request))[0])
    used = 0
    for coin in (50, 10, 5, 2, 1):
        used, amount = used + amount // coin, amount % coin
    return Reply(text=f"That takes {used}.")


def test_it_takes_forty_lines() -> None:
    assert len(BLOCK.splitlines()) <= 40
    assert len(SOURCE.read_text().splitlines()) <= 40


def test_the_one_of_the_documentation_runs(tmp_path: Path) -> None:
    (points,) = tomllib.loads(POINTS)["project"]["entry-points"].values()
    ((name, value),) = points.items()
    module = value.partition(":")[0]
    install(tmp_path, module, BLOCK, f"[coterie.benchmarks]\n{name} = {value}\n")
    run = ("run", name, "--team", "solo.yaml", "--trials", "1", "--quiet", "--json")
    (tmp_path / "capitals.tsv").write_text("France\tParis\nFinland\tHelsinki\nItaly\tRome\n")
    with ScriptedModel({"France": "paris", "Finland": "Helsinki", "Italy": "Milan"}) as model:
        given = [*run, "--data", ".", "--model", f"m@{model.api_base}"]
        without, done = mas_bench(tmp_path, run, given)
    assert (without.code, "Name its folder with --data" in without.err) == (2, True)
    assert done.code == 0, done.err
    niches = done.json["niches"]
    assert {niche: nich["value"] for niche, nich in niches.items()} == {"F": 1, "I": 0}


def test_one_with_a_scorer_of_its_own_is_listed_described_and_run(tmp_path: Path) -> None:
    install_change(tmp_path)
    with ScriptedModel(counts) as model:
        chosen = ("--model", f"m@{model.api_base}", "--trials", "1", "--seed", "3", "--json")
        run = ("run", "change", "--team", "solo.yaml", *chosen, "--quiet")
        listed, described, done = mas_bench(tmp_path, ["list"], ["list", "change"], run)
    assert "change " in listed.out
    assert "Counting coins." in described.out
    assert done.code == 0, done.err
    report = done.json
    amounts = [
        int(re.findall(r"make up (\d+)", task.query)[0])
        for task in added_benchmark.tasks(added_benchmark.Source(seed=3))
    ]
    wrong = sum(amount % 50 >= 20 for amount in amounts)
    assert 0 < wrong < 20
    assert report["tasks"] == 20
    assert report["headline"]["value"] == pytest.approx(1 - wrong / 20)
    assert report["measures"]["off"]["mean"] > 0


BROKEN = {
    "other": ("change:COINS", "'other' of coterie.benchmarks must be a Benchmark"),
    "misnamed": ("change:CHANGE", "of that name"),
    "missing": ("change:GONE", "cannot be imported"),
    "gone": ("gone:GONE", "cannot be imported"),
}


def test_a_broken_package_is_named(tmp_path: Path) -> None:
    install_change(tmp_path, "\n".join(f"{name} = {place}" for name, (place, _) in BROKEN.items()))
    listed, *report = mas_bench(tmp_path, ["list"], *(["list", name] for name in BROKEN))
    assert listed.code == 0
    assert "bbeh-mini" in listed.out
    assert not BROKEN.keys() & {line.split()[0] for line in listed.out.splitlines()}
    warnings = sorted(listed.err.splitlines())
    assert [line.partition(": ")[0] for line in warnings] == ["warning"] * len(BROKEN)
    for item, (_, message) in zip(report, BROKEN.values(), strict=True):
        assert (item.code, item.out) == (2, "")
        assert message in item.err
        assert "Traceback" not in item.err
        assert any(message in line for line in warnings)

"""Whatever a file holds that a command reads: one clear message, a second, a hundred megabytes.

Law: no file ends a command with our exit code for a bug, and none costs more than `damage` allows.
It stands here because the commands of every floor are held to it. Nightly, thousands are tried.
"""

# ruff: noqa: E501 - sound files, each as it stands on disk

import json
import sys
from collections.abc import Generator, Mapping
from contextlib import chdir, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from coterie.benchmarks.command import main as mas_bench
from coterie.operators.command.evolve import main as mas_evolve
from coterie.pool.command import main as mas_pool
from coterie.runtime.command.run import main as mas_run
from coterie.runtime.command.view import main as mas_view
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.schema.command import main as mas
from coterie.schema.command.validate import main as mas_validate

from .damage import bounded, copied, replaced_in, spoil
from .operators.methods.evochamber.chamber import RECIPE, answering
from .support.commands import CommandResult, invoked

COMMANDS: Mapping[str, Any] = {
    "mas": mas, "mas-bench": mas_bench, "mas-evolve": mas_evolve, "mas-pool": mas_pool,
    "mas-run": mas_run, "mas-validate": mas_validate, "mas-view": mas_view,
}  # fmt: skip
NOWHERE = ("--model", "m@http://127.0.0.1:9/v1")
TEAM = """\
name: pair
constitution: Be brief.
agents:
  one:
    role: solver
    prompt: first
    output_schema:
      type: object
      properties: {answer: {type: string, enum: ["7", "8"]}, why: {type: array, items: {type: string}}}
      required: [answer]
    notes: {patches: {units: Write units.}, skills: {check: {description: Checks., body: Add.}}}
  two: {use: agents/two.yaml, temperature: 0.5}
topology: {reports_to: {one: [two]}}
execution: {max_retries: 0}
"""
FILES = {
    "team.yaml": TEAM,
    "prompts/first.md": "You are [one].\n",
    "agents/two.yaml": 'id: two\nprompt: "You are [two]."\n',
    "task.json": json.dumps({
        "id": "t", "query": "What is 3 + 4?", "answer": "7", "niche": "sums", "context": "c",
        "files": {"a.txt": {"path": "a.txt"}}, "scorer": {"name": "number", "tolerance": 0.5},
    }),
    "a.txt": "text\n",
    "models.yaml": "models:\n  default: {model: openai/m, api_base: http://127.0.0.1:9/v1, fallback: [other]}\n"
    "  other: {model: openai/n, api_base: http://127.0.0.1:9/v1, usd_per_mtok_input: 1}\n",
    "tools.yaml": "servers:\n  s: {command: [nothing], env: [HOME], tools: [look]}\n",
    "policy.yaml": "ceiling: {tools: [read_file], models: [default], agents: 20, max_tokens: 4096}\n",
    "recipe.yaml": "strategy: evomas\nseeds: [solo.yaml]\npolicy: policy.yaml\nsettings: {parents: 1, steps: 1,"
    " instantiate: false, components: [prompts], moves: [mutate], choice: chance, select: statistics,"
    " parent: best, admission: best, memory: 1}\n",
    "solo.yaml": 'name: solo\nagents:\n  one: {prompt: "You are alone."}\nexecution: {max_retries: 0}\n',
    "tasks.jsonl": "".join(json.dumps({"id": f"t{n}", "query": f"{n} + {7 - n}?", "answer": "7"}) + "\n" for n in range(2)),
    "none.yaml": "servers: {}\n",
    "chamber.yaml": json.dumps(RECIPE),
}  # fmt: skip
MODEL = "--model m@MODEL"
CHECKED = "team.yaml task.json models.yaml tools.yaml policy.yaml recipe.yaml tasks.jsonl agents"
SCENES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "what people write": (
        "team.yaml agents/*.yaml prompts/* task.json a.txt models.yaml tools.yaml policy.yaml"
        " recipe.yaml tasks.jsonl solo.yaml",
        (
            f"mas-validate {CHECKED}",
            "mas-run team.yaml task.json --dry-run",
            "mas-evolve recipe.yaml tasks.jsonl --pool new --embedder hashing --dry-run",
            "mas dev fmt --check team.yaml solo.yaml",
        ),
    ),
    "a run": (
        "runs/run/*",
        (
            f"mas-run --replay runs/run --verify {MODEL} --tools none.yaml",
            f"mas-run --resume runs/run --quiet {MODEL} --tools none.yaml",
            f"mas dev blame runs/run --wrong {MODEL} --tools none.yaml",
            "mas-view --text runs/run", "mas-view runs/run -o report.html",
        ),
    ),
    "results": (
        "results/made/*",
        (
            "mas-bench table results/made", "mas-bench compare results/made results/made",
            "mas-view --text results/made arithmetic-1-0-0000", "mas-bench replay results/made",
            f"mas-bench resume results/made --quiet {MODEL}",
            "mas-view --text results/made", "mas-view results/made -o report.html",
        ),
    ),
    "an evolution": (
        "pool/evolutions/recipe/* pool/teams/* pool/ledger.jsonl",
        (
            "mas-view pool --json",
            "mas-pool memory pool", "mas-pool list pool",
            "mas-view pool -o report.html", "mas-view pool/evolutions/recipe -o report.html",
            "mas-view --text pool/evolutions/recipe t0",
            f"mas-evolve recipe.yaml tasks.jsonl --pool pool --embedder hashing --quiet {MODEL}",
        ),
    ),
    "a population": (
        "people/ledger.jsonl people/agents/*/* people/teams/* people/evolutions/chamber/*",
        (
            "mas-pool population people", "mas-pool agents people", "mas-pool memory people", "mas-pool verify people",
            "mas-pool lineage people", "mas-view people -o report.html", "mas-view people --json",
        ),
    ),
}  # fmt: skip
"""Which files are spoilt, and what reads them."""


def answered(request: Any) -> Reply:
    form = request.get("response_format", {}).get("json_schema", {}).get("schema", {})
    if "edits" in form.get("properties", {}):
        edit = {"set_prompt": {"agent": "one", "prompt": "Think."}}
        return Reply.json({"reason": "it did not think", "edits": [edit]})
    return Reply.json({"answer": "7"}) if form else Reply(text="The answer is: 7")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of every kind: what people write, and what commands leave."""
    folder = tmp_path_factory.mktemp("sound")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    with at_home(folder), ScriptedModel(answered) as model:
        chosen = ("--model", f"m@{model.api_base}", "--quiet")
        work = (
            "mas-run team.yaml task.json --tools none.yaml",
            "mas-evolve recipe.yaml tasks.jsonl --pool pool --embedder hashing",
            "mas-bench run arithmetic --team solo.yaml --count 2 --trials 1",
        )
        done = [called(line, *chosen) for line in work]
    with at_home(folder), ScriptedModel(answering) as model:
        work = "mas-evolve chamber.yaml tasks.jsonl --pool people --embedder hashing --quiet"
        done.append(called(work, "--model", f"m@{model.api_base}"))
    assert all(item.code == 0 for item in done), done
    (folder / "runs").joinpath("run").symlink_to(only(folder / "runs"))
    (folder / "results").joinpath("made").symlink_to(only(folder / "results"))
    return folder


@contextmanager
def at_home(folder: Path) -> Generator[None]:
    with chdir(folder), pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "argv", ["mas"])
        patched.setenv("MAS_HOME", str(folder))
        yield


def only(folder: Path) -> str:
    [name] = [path.name for path in folder.iterdir()]
    return name


def called(line: str, *more: str) -> CommandResult:
    name, *words = line.split()
    return invoked(COMMANDS[name], [*words, *more], name)


def told_badly(result: CommandResult) -> str | None:
    """Return what is wrong with what a command said of damage; None where it said it well."""
    text = result.out + result.err
    if result.code not in {0, 1, 2, 3}:
        return f"exit code {result.code}"
    if "Traceback" in text or "bug in coterie" in text:
        return "a traceback"
    if result.code and not text.strip():
        return "nothing said"
    return None if len(result.err) < 30_000 else f"{len(result.err)} characters said"


@pytest.mark.parametrize("scene", SCENES)
def test_any_file_is_read_or_told(scene: str, sound: Path, tmp_path: Path, nightly: bool) -> None:
    files, commands = SCENES[scene]
    with ScriptedModel(answered) as model:
        for number in range(2_000 if nightly else 3):
            chance = Random(f"{scene} {number}")
            folder = copied(sound, tmp_path / "spoilt")
            with at_home(folder):
                paths = sorted(file for name in files.split() for file in Path().glob(name))
                path = chance.choice([file for file in paths if file.is_file()])
                what = f"{number}: {path}: {spoil(path, chance)}"
                for line in commands:
                    with bounded():
                        result = called(line.replace("MODEL", model.api_base))
                    wrong = told_badly(result)
                    assert wrong is None, f"{what}; {line}: {wrong}\n{result.err}"


@pytest.mark.parametrize(
    ("path", "odd", "why"),
    [
        ("candidates.1.usage", "null", "line 1 does not match the episode: candidates[1].usage"),
        ("score", '"x"', "line 1 does not match the episode: score"),
        ("best", "9", "line 1 does not match the episode: best: there is no candidate 9"),
    ],
)
def test_an_edited_line_is_told(path: str, odd: str, why: str, sound: Path, tmp_path: Path) -> None:
    folder = copied(sound, tmp_path / "spoilt")
    turns = folder / "pool" / "evolutions" / "recipe" / "turns.jsonl"
    first, *others = turns.read_text().splitlines(keepends=True)
    *way, last = (int(part) if part.isdecimal() else part for part in f"value.{path}".split("."))
    turns.write_text("".join([replaced_in(first, way, last, odd) + "\n", *others]))
    with at_home(folder):
        for line in ("mas-view --text pool", "mas-view --text pool/evolutions/recipe t0"):
            report = called(line).ended(1)
            assert why in report.err


@pytest.mark.parametrize("where", ["file/pool", "nowhere/pool", "nowhere"])
def test_an_impossible_pool_is_told_for_free(where: str, sound: Path, tmp_path: Path) -> None:
    folder = copied(sound, tmp_path / "spoilt")
    (folder / "file").touch()
    (folder / "nowhere").symlink_to("no such folder/below")
    with at_home(folder), ScriptedModel(answered) as model:
        words = f"mas-evolve recipe.yaml tasks.jsonl --pool {where} --embedder hashing --quiet"
        result = called(words, "--model", f"m@{model.api_base}")
        assert told_badly(result) is None
        assert result.code in {1, 2}
        assert where.split("/", maxsplit=1)[0] in result.err
        assert not model.calls


def test_a_pool_in_folders_that_are_missing_is_made(sound: Path, tmp_path: Path) -> None:
    folder = copied(sound, tmp_path / "spoilt")
    with at_home(folder), ScriptedModel(answered) as model:
        words = "mas-evolve recipe.yaml tasks.jsonl --pool a/b/pool --embedder hashing --quiet"
        assert called(words, "--model", f"m@{model.api_base}").code == 0
    assert (folder / "a" / "b" / "pool" / "ledger.jsonl").exists()

"""A folder to begin with: what `mas init` writes checks out, runs, and is judged in CI."""

import json
import shlex
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from coterie.benchmarks.command import main as bench
from coterie.runtime.command.run import main as mas_run
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.schema import load_models, load_team
from coterie.schema.command import main
from coterie.schema.loading.seeds import seed_files
from studies.doubles import KEY, ProviderDouble, Said
from studies.doubles.openai import OPENAI

from .support.commands import invoked_in
from .support.pages import blocks

FILES = {
    ".github/workflows/team.yml",
    ".gitignore",
    "models.yaml",
    "task.json",
    "tasks.jsonl",
    "team.schema.json",
    "team.yaml",
}


def mas(folder: Path, *words: str) -> Result:
    with chdir(folder):
        return CliRunner().invoke(main, list(words))


def texts(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("seed", ["majority_vote_3", "consultation", "code_repair", "workshop"])
def test_a_seed_becomes_a_folder_that_checks_out(seed: str, tmp_path: Path) -> None:
    done = mas(tmp_path, "init", "mine", "--from", f"seed:{seed}")
    assert (done.exit_code, done.stderr) == (
        0,
        "Try it: cd mine && mas-run team.yaml task.json\n",
    )
    mine = tmp_path / "mine"
    assert {f"mine/{name}" for name in texts(mine)} == set(done.stdout.split())
    assert {name for name in texts(mine) if not name.startswith("prompts/")} == FILES
    assert load_team(mine / "team.yaml") == load_team(seed_files()[seed])
    files = ("team.yaml", "models.yaml", "task.json", "tasks.jsonl")
    assert mas(mine, "validate", *files).stdout == "4 files: no problems.\n"
    assert mas(mine, "dev", "fmt", "--check", "team.yaml").exit_code == 0


def test_it_begins_with_two_agents_in_eleven_lines(tmp_path: Path) -> None:
    assert mas(tmp_path, "init").exit_code == 0
    assert set(texts(tmp_path)) == FILES
    lines = (tmp_path / "team.yaml").read_text().splitlines()
    assert len([line for line in lines if not line.startswith("#")]) == 11
    assert list(load_team(tmp_path / "team.yaml").agents) == ["reader", "judge"]
    files = ("team.yaml", "models.yaml", "task.json", "tasks.jsonl")
    assert mas(tmp_path, "validate", *files).stdout == "4 files: no problems.\n"


def test_the_chosen_model_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAS_MODEL", "qwen3@http://127.0.0.1:11434")
    mas(tmp_path, "init")
    (model,) = load_models(tmp_path / "models.yaml").values()
    assert (model.alias, model.model, model.api_base) == (
        "default",
        "qwen3",
        "http://127.0.0.1:11434",
    )


def test_prompts_of_a_seed_are_there_to_be_changed(tmp_path: Path) -> None:
    mas(tmp_path, "init", "--from", "seed:majority_vote_3")
    (tmp_path / "prompts/label_opinion.md").write_text("Guess.")
    with ScriptedModel(lambda _: Reply.json({"answer": "positive"})) as model:
        words = ("team.yaml", "task.json", "--model", f"scripted@{model.api_base}")
        done = invoked_in(tmp_path, mas_run, words, "mas-run")
    assert (done.code, done.out) == (0, "positive\n")
    assert "score 1" in done.err
    assert any("Guess." in str(call.body) for call in model.calls)


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "models.yaml").write_text("mine")
    done = mas(tmp_path, "init")
    assert done.exit_code == 2
    assert "error: models.yaml: already exists and is not overwritten." in done.stderr
    assert texts(tmp_path) == {"models.yaml": b"mine"}


def test_what_a_repository_has_for_git_stays_and_is_told(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("mine")
    done = mas(tmp_path, "init")
    assert done.exit_code == 0
    assert "note: .gitignore already exists and stays unchanged.\n" in done.stderr
    assert texts(tmp_path)[".gitignore"] == b"mine"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("init", "a_file"), "a_file: not a folder"),
        (("init", "new", "--from", "debate"), "Did you mean 'seed:debate'?"),
        (("init", "new", "--from", "a_file"), "a_file:1:1: error"),
    ],
)
def test_a_failed_init_leaves_nothing(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    (tmp_path / "a_file").write_text("- no team\n")
    done = mas(tmp_path, *words)
    assert done.exit_code == 2
    assert message in done.stderr
    assert set(texts(tmp_path)) == {"a_file"}


def test_the_commands_of_its_ci_are_commands_that_work(tmp_path: Path) -> None:
    mas(tmp_path, "init")
    workflow = yaml.safe_load((tmp_path / ".github/workflows/team.yml").read_text())
    steps = workflow["jobs"]["team"]["steps"]
    check, measure = (shlex.split(step["run"]) for step in steps if "mas-" in step.get("run", ""))
    assert mas(tmp_path, "validate", *check[1:]).exit_code == 0
    with chdir(tmp_path):
        done = CliRunner().invoke(bench, [*measure[1:], "--dry-run"])
    assert done.exit_code == 0
    assert "4 tasks" in done.stdout


def test_seeds_are_listed_with_their_size_and_where_they_are_from(tmp_path: Path) -> None:
    listed = json.loads(mas(tmp_path, "dev", "seeds", "--json").stdout)
    assert [item["name"] for item in listed] == [f"seed:{name}" for name in seed_files()]
    assert {"name", "agents", "description"} == set(listed[0])
    text = mas(tmp_path, "dev", "seeds").stdout
    assert "seed:debate · 19 agents" in text
    assert "(Du et al., 2023)" in text
    assert max(map(len, text.splitlines())) <= 120


def test_three_short_commands_give_the_first_answer_to_someone_with_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (block,) = blocks("install.md", "console", "## A folder to begin with")
    first = block.splitlines()
    install, begin, run = (line.removeprefix("$ ") for line in first if line.startswith("$ "))
    assert max(map(len, (install, begin, run))) <= 80
    assert install == "python -m pip install ../coterie"
    assert mas(tmp_path, *shlex.split(begin)[1:]).exit_code == 0
    provider = replace(OPENAI, model=run.rpartition("/")[2])
    with ProviderDouble(provider, [Said(text='{"answer": "positive"}')] * 3) as double:
        for name, value in provider.variables.items():
            monkeypatch.setenv(name, value.format(origin=double.origin, key=KEY))
        done = invoked_in(tmp_path, mas_run, shlex.split(run)[1:], "mas-run")
    assert (done.code, done.out.splitlines()) == (0, first[-1:]), done.err
    assert "score 1 (right)" in done.err

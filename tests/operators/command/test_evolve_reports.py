"""What mas-evolve commits, reports, and refuses before anything is made."""

import csv
import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.command.starting import check_addresses
from coterie.operators.evolution.folder import Manifest
from coterie.pool import Pool
from coterie.runtime.doubles import Reply
from coterie.runtime.record.journal import Journal
from coterie.schema import AgentError, Catalogue, InputError, Model
from coterie.schema.loading.ceiling import CapabilityPolicy
from coterie.schema.loading.recipe import Recipe

from .conftest import RECIPE, TASKS, Lab, judging
from .test_evolve import FORGETFUL, manifest, start


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_in_a_repository_the_pool_alone_is_committed_there(lab: Lab) -> None:
    git(lab.folder, "init", "-q")
    lab.write("draft.txt", "mine\n")
    git(lab.folder, "add", "draft.txt")
    lab.evolve("--git", "--limit", "2", pool="below/pool").ended(0)
    assert not list(lab.folder.glob("below/**/.git"))
    subjects = git(lab.folder, "log", "--format=%s").splitlines()
    assert [subject.split(":")[0] for subject in subjects] == ["t1", "t0"]
    files = git(lab.folder, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
    assert all(file.startswith("below/pool/") for file in files)
    assert git(lab.folder, "diff", "--cached", "--name-only").splitlines() == ["draft.txt"]


def test_a_pool_that_its_repository_ignores_is_refused(lab: Lab) -> None:
    git(lab.folder, "init", "-q")
    lab.write(".gitignore", "pool\n")
    result = lab.evolve("--git", "--limit", "1")
    assert (result.code, result.calls) == (2, 0)
    assert "git ignores pool" in result.err
    assert not (lab.folder / "pool").exists()


def test_calls_of_a_task_that_is_not_finished_are_counted_too(lab: Lab) -> None:
    first = lab.evolve("--limit", "1", pool="first").calls
    cap = ("--budget", f"calls={first + 2}")
    result = lab.evolve(*cap, "--json")
    assert (result.code, result.calls) == (3, first + 2)
    assert result.json["tasks"] == 1
    spending = result.json["spending"]
    assert sum(item["calls"] for item in spending.values()) == first + 2
    assert spending["unfinished"]["calls"] == 2
    text = lab.evolve(*cap).out
    assert "unfinished: 2 calls, unpriced, without a result yet" in text
    assert "unfinished" not in lab.evolve().out


def test_a_report_spends_nothing_and_says_what_the_command_said(lab: Lab) -> None:
    done = lab.evolve("--limit", "2", "--json")
    report = lab.report("pool", "--json")
    assert (report.code, report.json) == (0, done.json)
    assert lab.evolve("--limit", "1", "--name", "other").code == 0
    several = lab.report("pool").ended(2)
    assert "has 2 evolutions. Name one. Known: other, recipe." in several.err
    assert lab.report("pool", "recipe", "--json").json["tasks"] == 2
    assert lab.report("gone").code == 2


def test_turns_as_csv_have_a_line_for_each_task(lab: Lab) -> None:
    assert lab.evolve("--csv", "turns.csv").code == 0
    with (lab.folder / "turns.csv").open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert [line["task"] for line in lines] == [task["id"] for task in TASKS]
    assert {line["score"] for line in lines} == {"1.0"}
    assert {line["operator"] for line in lines} <= {"mutate", "select"}
    assert lines[0]["component"] == "prompts"
    assert lines[0]["first"] == "0.0"
    assert int(lines[-1]["pool"]) == len(Pool.open("pool").members)
    assert sum(int(line["teams_calls"]) for line in lines) > 0
    assert lines[0]["teams_usd"] == ""
    assert lab.evolve("--csv", "again.csv").calls == 0
    assert (lab.folder / "again.csv").read_text() == (lab.folder / "turns.csv").read_text()


def test_several_seeds_are_one_command_with_intervals_over_them(lab: Lab) -> None:
    words = ("--seeds", "2", "--limit", "2", "--test", "test.jsonl", "--repeats", "1")
    result = lab.evolve(*words, "--json").ended(0)
    report = result.json
    assert [seed["seed"] for seed in report["seeds"]] == [0, 1]
    assert report["held_out"] == {"n": 2, "mean": 1.0, "interval": [1.0, 1.0]}
    assert report["gain"]["mean"] == 1.0
    assert report["chosen_by"] == "the answers"
    assert {path.name for path in (lab.folder / "pool").iterdir()} == {"seed_0", "seed_1"}
    assert manifest(lab, "pool/seed_1")["recipe"]["seed"] == 1
    again = lab.evolve(*words, "--csv", "turns.csv")
    assert (again.code, again.calls) == (0, 0)
    assert "held out, the deployed team" in again.out
    assert "online, chosen by the answers" in again.out
    with (lab.folder / "turns.csv").open(newline="") as stream:
        assert [table["seed"] for table in csv.DictReader(stream)] == ["0", "0", "1", "1"]


def test_seeds_share_one_budget(lab: Lab) -> None:
    alone = lab.evolve("--limit", "2", pool="alone").calls
    stopped = lab.evolve("--limit", "2", "--seeds", "2", "--budget", f"calls={alone + 2}")
    assert (stopped.code, stopped.calls) == (3, alone + 2)
    assert "over 2 seeds" in stopped.out
    assert lab.evolve("--limit", "2", "--seeds", "2").code == 0


def test_each_seed_whose_operators_got_nothing_of_use_is_warned_of(lab: Lab) -> None:
    result = lab.evolve("--limit", "1", "--seeds", "2", script=lambda _: Reply(text="8")).ended(0)
    for seed in (0, 1):
        assert f"warning: seed {seed}: every operator answer was useless: " in result.out


def test_a_pool_is_no_folder_of_pools(lab: Lab) -> None:
    lab.evolved(1)
    result = lab.evolve("--seeds", "2").ended(2)
    assert "pool is a pool" in result.err


def test_who_chose_is_told_of_a_stream_with_and_without_answers(lab: Lab) -> None:
    lab.write("recipe.yaml", RECIPE.replace("evomas", "fixed"))
    lab.tasks("tasks.jsonl", [TASKS[0], {"id": "open", "query": "What is good?"}])

    result = lab.evolve("--json", script=judging(1.0))
    assert result.json["chosen_by"] == "the answers, where a task has one, and a judge"


def test_a_folder_of_task_files_is_a_stream_by_their_names(lab: Lab) -> None:
    (lab.folder / "tasks").mkdir()
    for name, task in zip("ba", TASKS, strict=False):
        lab.write(f"tasks/{name}.json", json.dumps(task))
    words = ("recipe.yaml", "tasks", "--pool", "pool", "--model", "m@http://127.0.0.1:9/v1")
    assert "nothing answers" in lab.command(*words).err
    lab.write("tasks/c.json", json.dumps({"id": "t0", "query": "q"}, indent=1))
    lab.write("tasks/d.json", '{"id": "d",\n "question": 1}')
    result = lab.command(*words).ended(2)
    assert "tasks/c.json:1:1: error: id: two tasks have the id 't0'" in result.err
    assert "tasks/d.json:2:2: error: question" in result.err


def test_a_report_beside_one_that_is_at_work_leaves_out_what_it_cannot_see(lab: Lab) -> None:
    lab.evolved(1)
    with Journal.open(lab.folder / "pool/evolutions/recipe"):
        report = lab.report("pool").ended(0)
    assert "unfinished tasks: another process is working on them" in report.out


def test_the_manifest_says_which_file_the_embedded_model_is_and_prices_that_count(lab: Lab) -> None:
    recipe = Recipe(strategy="fixed", settings=FORGETFUL, seeds=("solo.yaml",))
    local = Model(alias="default", model="local", usd_per_mtok_input=1.0)
    fields: dict[str, Any] = {
        "ceiling": CapabilityPolicy(),
        "embedder": None,
        "tasks": (),
        "command": "mas-evolve",
    }
    free = Manifest.of(recipe=recipe, models=[local], **fields)
    assert "sha256:" in free.models["default"]["weights"]
    cheaper = replace(local, usd_per_mtok_input=0.5)
    assert Manifest.of(recipe=recipe, models=[cheaper], **fields).differences(free) == []
    costly = replace(recipe, beta=1.0, cost_unit="usd")
    was, now = (Manifest.of(recipe=costly, models=[model], **fields) for model in (local, cheaper))
    assert now.differences(was) == [
        "model 'default' (usd_per_mtok_input: 1.0, now 0.5)",
    ]
    halved = [replace(local, batch_price=0.5)]
    batched = Manifest.of(recipe=costly, models=halved, batch=True, **fields)
    assert batched.differences(was) == ["model 'default' (batch_price: null, now 0.5)"]


def test_a_manifest_that_is_none_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no evolution in"):
        Manifest.read(tmp_path)
    (tmp_path / "evolution.json").write_text("[")
    with pytest.raises(InputError, match="cannot be read"):
        Manifest.read(tmp_path)


def test_a_policy_is_the_ceiling(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("ceiling: {agents: 9}\n")
    recipe = Recipe(
        strategy="evomas", settings=FORGETFUL, seeds=("solo.yaml",), policy="policy.yaml"
    )
    begun = start(recipe, tmp_path)
    assert begun.ceiling.agents == 9
    assert begun.outlook is None


def test_a_fallback_or_a_slow_address_is_left_to_its_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = Model(alias="default", model="m", api_base="http://127.0.0.1:9/v1")
    known = Catalogue.of_host(models={"default": replace(nowhere, fallback=("other",))})
    check_addresses(known, {"default"})

    def slow(address: object, timeout: float) -> None:
        raise TimeoutError(address, timeout)

    monkeypatch.setattr("socket.create_connection", slow)
    check_addresses(Catalogue.of_host(models={"default": nowhere}), {"default"})


def test_missing_git_is_said_first(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*words: object) -> str:
        raise AgentError("git is not installed.")

    monkeypatch.setattr("coterie.operators.command.commits.git", missing)
    result = lab.evolve("--git")
    assert (result.code, result.calls) == (2, 0)
    assert "--git: git is not installed." in result.err
    assert not (lab.folder / "pool").exists()


def test_seeds_of_which_none_could_begin_leave_nothing(lab: Lab) -> None:
    words = ("recipe.yaml", "tasks.jsonl", "--pool", "pool", "--seeds", "2", "--quiet")
    result = lab.command(*words, "--model", "m@http://127.0.0.1:9/v1")
    assert (result.code, result.out) == (1, "")
    assert "nothing answers" in result.err
    assert not (lab.folder / "pool").exists()


@pytest.mark.parametrize(
    ("stream", "words"),
    [("tasks", ()), ("tasks", ("--dry-run",)), ("test", ("--test", "test.jsonl"))],
)
def test_an_image_that_no_team_can_see_is_refused_before_anything_is_made(
    lab: Lab, stream: str, words: tuple[str, ...]
) -> None:
    (lab.folder / "plot.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    task = {"id": "t", "query": "?", "answer": "7", "files": ["plot.png"]}
    lab.tasks(f"{stream}.jsonl", [task])
    result = lab.evolve(*words)
    assert (result.code, result.calls) == (2, 0)
    assert "task 't': no agent in solo, pair can read plot.png (image)." in result.err
    assert not (lab.folder / "pool").exists()


def test_an_image_that_some_team_can_see_is_a_task(lab: Lab) -> None:
    seeing = "models: {sighted: {model: m, api_base: http://127.0.0.1:9/v1, inputs: [image]}}"
    lab.write("models.yaml", seeing)
    lab.write("solo.yaml", 'name: solo\nagents: {one: {prompt: "Look.", model_id: sighted}}\n')
    (lab.folder / "plot.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    lab.tasks("tasks.jsonl", [{"id": "t", "query": "?", "answer": "7", "files": ["plot.png"]}])
    assert lab.evolve("--dry-run").code == 0

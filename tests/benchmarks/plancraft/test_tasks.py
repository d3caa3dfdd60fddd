"""The tasks, and how the package's data is come by."""

import json
import sys
from pathlib import Path

import pytest

from coterie.benchmarks.command import main as mas_bench
from coterie.benchmarks.evaluation.benchmark import Source, find_benchmark
from coterie.benchmarks.plancraft import CraftingEpisode, CraftingWorld, package, read_published
from coterie.benchmarks.plancraft.tasks import PLANCRAFT, PLANCRAFT_SMALL
from coterie.schema.values.codec import from_value
from coterie.schema.values.errors import InputError
from studies.plancraft.__main__ import main

from ...support.commands import printed, ran, refused
from ...support.packages import packages_in
from .conftest import write_package


@pytest.fixture
def client(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package client that delivers our package; give what it delivers from."""
    (packages_in(tmp_path, monkeypatch) / "plancraft==0.4.9").symlink_to(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def test_a_split_becomes_tasks_with_the_ids_and_niches_of_the_package(folder: Path) -> None:
    tasks = PLANCRAFT.tasks(Source(data=folder))
    assert [(task.id, task.niche) for task in tasks] == [
        ("TEST0003", "easy"),
        ("TEST0001", "medium"),
        ("TEST0002", "impossible"),
    ]
    assert [task.id for task in PLANCRAFT_SMALL.tasks(Source(data=folder))] == ["TEST0003"]
    assert PLANCRAFT.tasks(Source(data=folder / "plancraft")) == tasks
    assert "Craft an item of type: stick\ninventory:\n - snowball [I2] quantity 9" in tasks[1].query
    assert [task.answer["impossible"] for task in tasks] == [False, False, True]


def test_a_task_brings_all_that_its_episode_needs_and_no_more(folder: Path) -> None:
    task = PLANCRAFT.tasks(Source(data=folder))[1]
    options = json.loads(json.dumps(dict(task.scorer.options)))
    result = {recipe["makes"] for recipe in options["recipes"]}
    assert result == {"oak_planks", "stick", "oak_fence_gate", "charcoal"}
    assert options["stacks"] == {"bucket": 1, "snowball": 16}
    (charcoal,) = (recipe for recipe in options["recipes"] if recipe["makes"] == "charcoal")
    assert charcoal == {"smelted": "oak_log", "makes": "charcoal"}
    episode = CraftingEpisode(from_value(CraftingWorld, options))
    assert "charcoal [I4] quantity 2" in episode.act("smelt: from [I3] to [I4] with quantity 2")


def test_all_splits_are_installed_as_benchmarks() -> None:
    names = ("", "-easy", "-small", "-train", "-val", "-val-easy", "-val-small")
    for name in names:
        assert find_benchmark(f"plancraft{name}").tools == ("plancraft",)


def test_info_says_whose_it_is_and_how_to_come_by_it(folder: Path) -> None:
    out = printed(ran(mas_bench, "list", "plancraft", "--data", folder))
    for words in ("MIT, Copyright (c) 2024 Gautier Dagan", "arXiv:2412.21033", "tasks: 3"):
        assert words in out
    assert "python -m pip install --no-deps --target DIR plancraft==0.4.9" in out


def test_the_package_is_fetched_once_and_one_file_kept(client: Path, tmp_path: Path) -> None:
    fetched = read_published(Source())
    client.rename(tmp_path / "gone")
    package._read.cache_clear()
    assert read_published(Source()) == fetched == read_published(Source(data=tmp_path / "gone"))
    if sys.platform == "linux":
        kept = sorted(path.name for path in (tmp_path / "cache/coterie/benchmarks").iterdir())
        assert kept == [".lock", f"{package.SHA256[:8]}-plancraft.json"]


def test_without_a_network_it_says_what_to_do(client: Path, tmp_path: Path) -> None:
    client.rename(tmp_path / "gone")
    err = refused(ran(main, "random"))
    assert "benchmark plancraft is not installed, and plancraft==0.4.9 could" in err
    assert "`python -m pip install --no-deps --target DIR plancraft==0.4.9`" in err


def test_another_package_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not plancraft==0\.4\.9: the sha256 of its examples"):
        read_published(Source(data=write_package(tmp_path)))


def test_a_folder_without_the_package_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"tags' cannot be read: No such file .* --data DIR"):
        read_published(Source(data=tmp_path))


@pytest.mark.parametrize("text", ["{", "[]", '{"values": 3}'])
def test_a_damaged_file_is_told(tmp_path: Path, text: str) -> None:
    damaged = write_package(tmp_path) / "plancraft" / "environment" / "tags" / "oak_logs.json"
    damaged.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"differs from plancraft==0\.4\.9: "):
        read_published(Source(data=tmp_path))


def test_an_agent_that_acts_at_random_is_measured(folder: Path) -> None:
    arguments = ["random", "--data", str(folder), "--episodes", "3", "--seed", "1"]
    out, again = (printed(ran(main, *arguments)) for _ in range(2))
    assert out == again
    assert "test impossible      0 of      3  0.0000" in out
    assert " of      9  " in out


@pytest.mark.parametrize("command", ["oracle", "verify"])
def test_without_the_package_there_is_nothing_to_compare(folder: Path, command: str) -> None:
    err = refused(ran(main, command, "--package", folder))
    assert "has no plancraft/evaluator.py. Fill it: python -m pip install --no-deps" in err


def test_a_reference_that_cannot_start_says_what_it_lacks(folder: Path) -> None:
    (folder / "plancraft" / "evaluator.py").touch()
    err = refused(ran(main, "verify", "--package", folder))
    assert "the package's evaluator has ended: ModuleNotFoundError" in err

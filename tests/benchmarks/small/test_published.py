"""Benchmarks whose items come from published packages: where from, and what becomes of them."""

import gzip
import hashlib
import json
import os
import shutil
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.benchmarks.evaluation.benchmark import Source, find_benchmark
from coterie.benchmarks.small import gsm8k, humaneval, truthfulqa
from coterie.benchmarks.small.gsm8k import gsm8k_task
from coterie.benchmarks.small.published import PublishedFile
from coterie.benchmarks.small.truthfulqa import truthfulqa_task
from coterie.runtime.local.packaged import PackagedFile
from coterie.schema.values.errors import InputError

from ...scoring import scored
from ...support.packages import packages_in
from .problems import problem

CASE = {
    "id": "gsm8k-test-0000",
    "prompt": "Ida has 1,000 pins and buys 234 more. How many has she?",
    "expected": "1234",
    "upstream_answer": "She had 1000.\n1000 + 234 = <<1000+234=1234>>1234\n#### 1,234",
}


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PublishedFile:
    """A file in a package of its own, which a package client of our own delivers."""
    kit = packages_in(tmp_path, monkeypatch) / "kit==1.0" / "kit"
    kit.mkdir(parents=True)
    (kit / "items.txt").write_bytes(b"items")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    packaged = PackagedFile(
        requirement="kit==1.0",
        member="kit/items.txt",
        bytes=5,
        sha256=hashlib.sha256(b"items").hexdigest(),
    )
    return PublishedFile(benchmark="invented", packaged=packaged, name="kit/items.txt")


def test_a_file_is_fetched_once_and_kept_alone(published: PublishedFile, tmp_path: Path) -> None:
    assert published.read(Source()) == b"items"
    shutil.rmtree(tmp_path / "packages")
    assert published.read(Source()) == b"items"
    if sys.platform == "linux":
        kept = [path.name for path in (tmp_path / "cache/coterie/benchmarks").iterdir()]
        assert sorted(kept) == [".lock", f"{published.packaged.sha256[:8]}-items.txt"]


def test_without_a_network_it_says_what_to_do(published: PublishedFile, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "packages")
    with pytest.raises(InputError) as caught:
        published.read(Source())
    message = str(caught.value)
    assert "benchmark invented is not installed, and kit==1.0 could not be fetched" in message
    assert (
        "--data DIR, where DIR/kit/items.txt is the file kit/items.txt of that package" in message
    )


def test_a_named_folder_is_read_unfetched(published: PublishedFile, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "packages")
    file = tmp_path / "mine" / "kit" / "items.txt"
    with pytest.raises(InputError, match=r"items\.txt' cannot be read: No such file"):
        published.read(Source(data=tmp_path / "mine"))
    file.parent.mkdir(parents=True)
    file.write_bytes(b"items")
    assert published.read(Source(data=tmp_path / "mine")) == b"items"
    file.write_bytes(b"other")
    with pytest.raises(InputError, match="is not the published file: its sha256"):
        published.read(Source(data=tmp_path / "mine"))


def test_an_unwritable_cache_names_the_way_out(published: PublishedFile, tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    with pytest.raises(InputError, match=r"cannot be stored in .* Name a folder that has it"):
        published.read(Source())


def test_a_word_problem_asks_for_a_last_number_and_is_scored_by_it() -> None:
    task = gsm8k_task(CASE)
    assert (task.id, task.niche, task.answer) == ("gsm8k-test-0000", "steps_2", "1234")
    assert CASE["prompt"] in task.query
    for answer in ("1234", "So she has $1,234.", "1000 + 234 = 1234\n#### 1,234", "**1234.00**"):
        assert scored(task, answer).value == 1  # type: ignore[union-attr]
    for answer in ("234", "1234 of 5", "", "many"):
        assert scored(task, answer).value == 0  # type: ignore[union-attr]


def test_choices_are_shuffled_always_alike_and_keep_their_true_one() -> None:
    drawn: Counter[str] = Counter()
    for number in range(40):
        case = {
            "id": f"item-{number}",
            "question": "What is it?",
            "choices": ["true", "false", "nothing", "I have no comment."],
            "expected_index": 0,
        }
        task = truthfulqa_task(case)
        assert task == truthfulqa_task(case)
        assert f"({task.answer}) true" in task.query
        assert task.niche is None
        assert scored(task, f"({task.answer}) true").value == 1  # type: ignore[union-attr]
        drawn[task.answer] += 1
    assert set(drawn) == set("ABCD")


def pinned(file: PublishedFile, content: bytes) -> PublishedFile:
    digest = hashlib.sha256(content).hexdigest()
    return replace(file, packaged=replace(file.packaged, sha256=digest))


@pytest.mark.parametrize(
    ("name", "module", "rows"),
    [
        ("gsm8k-100", gsm8k, [CASE, CASE | {"id": "b"}]),
        (
            "truthfulqa-mc",
            truthfulqa,
            [{"id": "a", "question": "?", "choices": ["x", "y"], "expected_index": 1}],
        ),
        ("humaneval", humaneval, [problem(), problem(task_id="Invented/1")]),
    ],
)
def test_every_line_of_a_file_becomes_a_task(
    name: str, module: Any, rows: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    if name == "humaneval":
        content = gzip.compress(content)
    monkeypatch.setattr(module, "FILE", pinned(module.FILE, content))
    file = tmp_path / module.FILE.name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    result = find_benchmark(name).tasks(Source(data=tmp_path))
    assert len({task.id for task in result}) == len(result) == len(rows)


@pytest.mark.parametrize(
    ("name", "count", "first"),
    [
        ("gsm8k-100", 100, "gsm8k-test-0013"),
        ("truthfulqa-mc", 100, "truthfulqa-mc1-val-0006"),
        ("humaneval", 164, "HumanEval-0"),
    ],
)
def test_the_published_items_are_all_there(name: str, count: int, first: str) -> None:
    folder = os.environ.get("MAS_BENCHMARK_DATA")
    if not folder or not (Path(folder) / "small").is_dir():
        pytest.skip("MAS_BENCHMARK_DATA names no folder with `small`, the files of packages")
    result = find_benchmark(name).tasks(Source(data=Path(folder) / "small"))
    assert len({task.id for task in result}) == len(result) == count
    assert result[0].id == first
    if name == "truthfulqa-mc":
        assert len({task.answer for task in result}) > 4

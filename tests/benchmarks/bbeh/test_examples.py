"""Tasks come out of the published files in each layout, whole or not at all."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from coterie.benchmarks.bbeh.examples import SUBTASKS, full_tasks, mini_tasks
from coterie.benchmarks.evaluation.benchmark import Source
from coterie.schema.values.errors import InputError

from .published import FULL, MINI, clone, packed, task_file


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a clone called bbeh, and one with packed tasks in packed/bbeh."""
    folder = tmp_path_factory.mktemp("published")
    clone(folder / "bbeh")
    (folder / "packed").mkdir()
    packed(folder / "packed" / "bbeh", folder / "bbeh")
    return folder


@pytest.mark.parametrize("data", [".", "bbeh", "bbeh/bbeh", "packed", "packed/bbeh"])
def test_each_layout_gives_the_same_tasks(published: Path, data: str) -> None:
    source = Source(data=published / data)
    tasks = full_tasks(source)
    assert [(task.niche, task.answer) for task in tasks] == [
        (subtask, target) for subtask in SUBTASKS for _, target in FULL[subtask]
    ]
    assert len({task.id for task in tasks}) == len(tasks) == 72
    assert (tasks[0].id, tasks[-1].id) == ("boardgame_qa-0", "zebra_puzzles-2")
    assert {task.scorer.name for task in tasks} == {"bbeh"}
    assert [task.answer for task in mini_tasks(source)] == [target for _, target in MINI]


def test_the_question_asks_for_the_prefix(published: Path) -> None:
    task = full_tasks(Source(data=published))[0]
    question, _ = FULL["boardgame_qa"][0]
    assert task.query.startswith(question)
    assert "The answer is:" in task.query.removeprefix(question)


def test_mini_tasks_are_those_of_the_full_set(published: Path) -> None:
    source = Source(data=published)
    tasks = mini_tasks(source)
    assert [task.id for task in tasks] == [
        "nycc-2",
        "linguini-4",
        "boardgame_qa-0",
        "linguini-5",
        "linguini-3",
    ]
    by_id = {task.id: task for task in full_tasks(source)}
    assert all(by_id[task.id] == task for task in tasks)


Harm = Callable[[Path], object]


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (
            lambda bbeh: shutil.rmtree(bbeh / "benchmark_tasks"),
            "neither benchmark_tasks nor benchmark_tasks.tar.xz is there (the mini set needs them",
        ),
        (
            lambda bbeh: shutil.rmtree(bbeh / "mini"),
            "neither mini.json nor mini/data.json is there",
        ),
        (
            lambda bbeh: shutil.rmtree(bbeh / "benchmark_tasks" / "bbeh_nycc"),
            "no task.json of nycc. A figure needs all 23 subtasks",
        ),
        (lambda bbeh: cut(bbeh / "mini" / "data.json"), "data.json is not a file of BBEH"),
        (
            lambda bbeh: cut(bbeh / "benchmark_tasks" / "bbeh_nycc" / "task.json"),
            "bbeh_nycc/task.json is not a file of BBEH",
        ),
        (
            lambda bbeh: (bbeh / "mini" / "data.json").write_text('{"examples": [{"input": "?"}]}'),
            "data.json is not a file of BBEH, whose examples have an input and a target (KeyError",
        ),
        (lambda bbeh: (bbeh / "mini" / "data.json").write_text("[]"), "(TypeError: "),
        (lambda bbeh: (bbeh / "mini" / "data.json").write_bytes(b"\xff\xff"), "(UnicodeDecodeErr"),
        (
            lambda bbeh: (bbeh / "mini" / "data.json").write_text(task_file([*MINI, MINI[-1]])),
            "has no more examples like number 5 (from 0)",
        ),
        (
            lambda bbeh: ((bbeh / "mini" / "data.json").unlink(), (bbeh / "mini.json").mkdir()),
            "mini.json cannot be read: Is a directory",
        ),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_missing_files_are_told(published: Path, tmp_path: Path, harm: Harm, message: str) -> None:
    data = shutil.copytree(published / "bbeh", tmp_path / "data")
    harm(data / "bbeh")
    with pytest.raises(InputError) as raised:
        mini_tasks(Source(data=data))
    assert message in str(raised.value)
    assert str(data) in str(raised.value)


def test_a_cut_archive_is_never_taken_for_less(published: Path, tmp_path: Path) -> None:
    data = shutil.copytree(published / "packed" / "bbeh", tmp_path / "data")
    archive = data / "benchmark_tasks.tar.xz"
    whole, tasks = archive.read_bytes(), full_tasks(Source(data=data))
    texts: list[str] = []
    for size in range(0, len(whole), 40):
        archive.write_bytes(whole[:size])
        try:
            assert full_tasks(Source(data=data)) == tasks  # only the padding at the end is missing
        except InputError as error:
            texts.append(str(error))
    assert all("benchmark_tasks.tar.xz" in name for name in texts)
    assert len(texts) > len(whole) / 40 / 2


def test_what_is_no_archive_is_told(published: Path, tmp_path: Path) -> None:
    data = shutil.copytree(published / "packed" / "bbeh", tmp_path / "data")
    (data / "benchmark_tasks.tar.xz").write_text("version https://example.org/pointer\n" * 20)
    with pytest.raises(InputError, match="cannot be unpacked: "):
        full_tasks(Source(data=data))


def test_without_a_folder_it_is_said_how_to_get_one() -> None:
    with pytest.raises(InputError, match=r"Clone .* name the clone's folder with --data"):
        full_tasks(Source())


def test_a_folder_with_something_else_is_told_with_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"neither benchmark_tasks nor .*bbeh/bbeh/ below it"):
        full_tasks(Source(data=tmp_path))

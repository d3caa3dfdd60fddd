"""Invented examples, in files as BBEH's are published."""

import json
import tarfile
from collections.abc import Iterable
from pathlib import Path

from coterie.benchmarks.bbeh.examples import SUBTASKS

Example = tuple[str, str]

FULL: dict[str, list[Example]] = {
    subtask: [(f"{subtask}: how much is {n} + 1?", str(n + 1)) for n in range(3)]
    for subtask in SUBTASKS
}
# As in the published files, a question is there three times, with different answers.
FULL["linguini"] += [("What fills the gap?", "sun"), ("What fills the gap?", "moon")]
FULL["linguini"] += [("What fills the gap?", "moon")]

MINI: list[Example] = [
    FULL["nycc"][2],
    ("What fills the gap?", "moon"),
    FULL["boardgame_qa"][0],
    ("What fills the gap?", "moon"),
    ("What fills the gap?", "sun"),
]


def task_file(examples: Iterable[Example]) -> str:
    """Write examples as a task.json has them; some of the real ones have further fields."""
    records = [{"input": name, "target": other, "subtask": "walk"} for name, other in examples]
    return json.dumps({"examples": records, "canary": "keep me"})


def clone(folder: Path) -> Path:
    """Lay the files out as the repository does."""
    for subtask, examples in FULL.items():
        path = folder / "bbeh" / "benchmark_tasks" / f"bbeh_{subtask}" / "task.json"
        path.parent.mkdir(parents=True)
        path.write_text(task_file(examples), encoding="utf-8")
    (folder / "bbeh" / "mini").mkdir()
    (folder / "bbeh" / "mini" / "data.json").write_text(task_file(MINI), encoding="utf-8")
    return folder


def packed(folder: Path, origin: Path) -> Path:
    """Lay the files of a clone out with the tasks packed."""
    folder.mkdir()
    with tarfile.open(folder / "benchmark_tasks.tar.xz", "w:xz") as archive:
        archive.add(origin / "bbeh" / "benchmark_tasks", "benchmark_tasks")
    (folder / "mini.json").write_text(task_file(MINI), encoding="utf-8")
    return folder

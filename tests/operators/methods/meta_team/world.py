"""A team that evolves in a small world on disk, with a model that answers whatever is asked."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..evochamber import chamber

TRIO = """\
name: trio
constitution: |
  - Be brief.
agents:
  planner: {prompt: "You plan the work.", notes: {patches: {first: "Begin at the beginning."}}}
  solver: {prompt: "You do what was planned."}
  checker: {prompt: "You check what was done."}
topology: {reports_to: {planner: [solver], solver: [checker]}}
"""

answering, evolved, told, lines_of, left = (
    chamber.answering, chamber.evolved, chamber.told, chamber.lines_of, chamber.left
)  # fmt: skip


def write_world(folder: Path, tasks: int = 3, workers: int = 1, **settings: Any) -> None:
    """Write a team, a recipe and a stream into a folder."""
    (folder / "trio.yaml").write_text(TRIO)
    write_recipe(folder, settings, workers=workers)
    chamber.write_tasks(folder / "tasks.jsonl", "t", tasks)


def write_recipe(folder: Path, settings: Mapping[str, Any], **more: Any) -> None:
    of = {"strategy": "meta_team", "seeds": ["trio.yaml"], "settings": dict(settings), **more}
    (folder / "recipe.yaml").write_text(json.dumps(of))


def born(pool: Path) -> list[Mapping[str, Any]]:
    """The lines of the teams that came into a pool, in order."""
    return [line for line in lines_of(pool) if line["kind"] == "born"]

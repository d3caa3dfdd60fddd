"""A small evolution by each strategy, for tests of what holds for all of them."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from coterie.runtime.command.run import main as mas_run
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.doubles.script import Request

from ...support.commands import CommandResult, invoked_in
from .. import evolving
from ..consulting import WARD
from ..methods.meta_team.world import TRIO

FILES = {**evolving.TEAMS, "ward": WARD, "trio": TRIO}
SEARCH = {"parents": 1, "steps": 1, "memory": 0}
RECIPES: Mapping[str, Mapping[str, Any]] = {
    "best_of_n": {"seeds": ["solo.yaml"], "settings": SEARCH},
    "evochamber": {"settings": {"pool_size": 3, "structure": "voting"}},
    "evomas": {"seeds": ["solo.yaml"], "settings": {**SEARCH, "instantiate": False}},
    "fixed": {"seeds": ["solo.yaml"]},
    "mattrl": {"seeds": ["ward.yaml"]},
    "meta_team": {"seeds": ["trio.yaml"], "settings": {"scheme": "centralised"}},
    "race": {"seeds": ["solo.yaml"], "settings": {"runs": 16, "kinds": ["hypothesis"]}},
    "tacomas": {"seeds": ["trio.yaml"], "settings": {"most": 2}},
}
"""A recipe of each strategy; what it leaves out is at its default."""


def evolve(
    folder: Path,
    strategy: str,
    script: Callable[[Request], Reply],
    *words: str,
    tasks: int,
    pool: str = "pool",
    **recipe: Any,
) -> CommandResult:
    """Evolve by a strategy on sums that come to 7, with a model that answers by a script.

    Fields of the recipe take the place of those that the strategy usually has here.
    """
    _write(folder, strategy, **recipe)
    lines = [{"id": f"t{n}", "query": f"Add {n} and {7 - n}.", "answer": "7"} for n in range(tasks)]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return evolving.evolve(folder, pool, "--embedder", "hashing", *words, script=script)


def adapt(
    folder: Path, strategy: str, script: Callable[[Request], Reply], *words: str
) -> CommandResult:
    """Let a team adapt by a strategy while it works on one task of a run."""
    _write(folder, strategy)
    (folder / "task.json").write_text('{"id": "t", "query": "Add 3 and 4.", "answer": "7"}')
    with ScriptedModel(script) as model:
        words = (
            *("trio.yaml", "task.json", "--adapt", "recipe.yaml"),
            *("--model", f"m@{model.api_base}", *words),
        )
        return invoked_in(folder, mas_run, words, "mas-run")


def _write(folder: Path, strategy: str, **recipe: Any) -> None:
    for name, text in FILES.items():
        (folder / f"{name}.yaml").write_text(text)
    fields = {"strategy": strategy, **RECIPES[strategy], **recipe}
    (folder / "recipe.yaml").write_text(json.dumps(fields))

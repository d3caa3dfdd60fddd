"""One trial: a strategy evolves in a world, and is tested beside its control."""

from __future__ import annotations

import json
from contextlib import chdir
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from coterie.operators.command.evolve import main as mas_evolve
from coterie.runtime.doubles import ScriptedModel

from ..simulated import in_memory
from .world import World, tasks

if TYPE_CHECKING:
    from collections.abc import Mapping

TEAM = """\
name: pair
agents:
  first: {prompt: Say a code.MEMORY}
  second: {prompt: Say the code.MEMORY}
topology: {reports_to: {first: [second]}}
"""
SMALL = {"parents": 1, "steps": 1, "memory": 0, "components": ["prompts"]}
SEARCH = {"select": "statistics", "instantiate": False, "moves": ["mutate"], "choice": "chance"}
RECIPES: Mapping[str, Mapping[str, Any]] = {
    "evomas": {**SMALL, **SEARCH},
    "fixed": {},
    "best_of_n": {"parents": 1, "steps": 1},
    "mattrl": {},
    "evochamber": {"pool_size": 4, "structure": "voting", "lifecycle": False},
    "meta_team": {"scheme": "partitioned", "retry": False, "pair_level": False},
    "tacomas": {"most": 2, "answer": "last"},
    "race": {"kinds": ["hypothesis"], "components": ["prompts"], "runs": 40},
}
WORLDS: Mapping[str, Mapping[str, Any]] = {
    "gain": {},
    "null": {"untaught": 0.5, "taught": 0.5},
    "sure gain": {"untaught": 0.2, "taught": 1, "is_sure": True},
    "sure null": {"untaught": 0.5, "taught": 0.5, "is_sure": True},
}
"""What each world is; the sure ones suit tests, as no wording moves their chance."""
LEARNT, HELD_OUT, RACED = 8, 24, 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Tested:
    """The result of a trial: scores with what was learnt and without, the gain, and who read it.

    A race that changes nothing has no scores.
    """

    scores: tuple[float, float] | None = None
    gain: float = 0.0
    interval: tuple[float, float] = (0.0, 0.0)
    readers: int = 0


def tried(
    strategy: str, world: str, seed: int, *, learnt: int = LEARNT, held_out: int = HELD_OUT
) -> Tested:
    """Evolve by a strategy in a world, and test it beside its control.

    Args:
        strategy: Its name.
        world: One of `WORLDS`.
        seed: Of the world's chance, and of the evolution's.
        learnt: How many tasks it evolves on; a race takes five times as many.
        held_out: How many tasks it is tested on.
    """
    own = {} if strategy == "evochamber" else {"seeds": ["pair.yaml"]}
    recipe = {"strategy": strategy, "seed": seed, **own, "settings": RECIPES[strategy]}
    memory = ", recall: {kinds: [experience]}" if strategy == "mattrl" else ""
    files = {
        "recipe.yaml": json.dumps(recipe),
        "pair.yaml": TEAM.replace("MEMORY", memory),
        "train.jsonl": tasks(1000 * seed, learnt * (RACED if strategy == "race" else 1)),
        "test.jsonl": tasks(1000 * seed + 500, held_out),
    }
    words = "recipe.yaml train.jsonl --pool pool --test test.jsonl --repeats 1 --json --quiet"
    mind = World(name=f"{strategy} {world} {seed}", **WORLDS[world])
    with in_memory() as folder, ScriptedModel(mind) as model, chdir(folder):
        for name, text in files.items():
            (folder / name).write_text(text)
        words += f" --embedder hashing --model m@{model.api_base}"
        result = CliRunner(env={"MAS_HOME": str(folder)}).invoke(mas_evolve, words.split())
    if result.exit_code:
        raise RuntimeError(f"{strategy}, {world}, {seed}: {result.output}") from result.exception
    report = json.loads(result.stdout)
    return _raced(report.get("last_word")) if strategy == "race" else _tested(report["held_out"])


def _tested(held: Mapping[str, Any]) -> Tested:
    """Read what a report says of the test."""
    first, *_ = held["teams"]
    control = next(team for team in held["teams"] if team["team"] == held["control"])
    readers = (first["read"] or {"agents": 0})["agents"]
    scores, interval = (first["score"], control["score"]), held["gain_interval"]
    return Tested(scores=scores, gain=held["gain"], interval=interval, readers=readers)


def _raced(word: Mapping[str, Any] | None) -> Tested:
    """Read the last word of a race, whose control is the original team; without one, it stays."""
    if word is None:
        return Tested()
    score, control = fmean(word["winner"]), fmean(word["original"])
    interval = (word["low"], word["high"])
    return Tested(scores=(score, control), gain=score - control, interval=interval)

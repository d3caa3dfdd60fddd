"""A pool with a race that a test wrote: three candidates on three tasks, and a last word."""

import json
from dataclasses import replace
from pathlib import Path

from coterie.operators.methods.race.result import Entrant, LastWord, RaceResult
from coterie.pool.teams.pool import Pool
from coterie.runtime.values.usage import Usage
from coterie.schema import Agent, Lineage, Team

RACE = RaceResult(
    entrants=(
        Entrant(number=0, scores=(0, 1, 0, 0.5), mean=0.4, spread=0.1, member="solo"),
        Entrant(
            number=1,
            parent=0,
            kind="examples",
            reason="Show two solved tasks.",
            edits=("prompt of a: +2 lines", "a: temperature 0 -> 0.5"),
            scores=(1, 1, 1, 0, None, 1),
            mean=0.7,
            spread=0.125,
            gain=(-0.25, 0.75),
            usage=Usage(calls=12, prompt_tokens=100),
        ),
        Entrant(
            number=2,
            parent=1,
            kind="vote",
            reason="Let three vote.",
            scores=(0, 0),
            mean=0.1,
            spread=0.2,
            gain=(-1, 0.5),
            state="behind",
        ),
    ),
    tasks=("t0", "t1", "t2"),
    leader=1,
    slots=(0, 0, 1, 0, 1, 2, 2, 1, 0, 1, 1, 1),
    last_word=LastWord(
        tasks=("h0", "h1", "h2"),
        original=(0, 0.5, 1),
        winner=(1, 1, 0),
        low=0.05,
        high=0.6,
        usage=Usage(calls=6),
    ),
    ended="the search ended",
    spent=Usage(calls=30, prompt_tokens=500, usd=0.25),
    operators=Usage(calls=4, usd=0.05),
    dropped=3,
)
GOES_ON = replace(RACE, last_word=None, ended="")


def write_race(pool: Path, result: RaceResult, name: str = "race") -> Path:
    """Write a race into a pool, which is made where there is none; return its folder."""
    if not pool.exists():
        team = Team(name="solo", agents={"a": Agent(id="a", prompt="Hi.")})
        Pool.init(pool).add(team, Lineage(operator="seed"), op="0")
    folder = pool / "evolutions" / name
    folder.mkdir(parents=True)
    manifest = {
        "v": 3,
        "recipe": {"strategy": "race", "workers": 1, "beta": 0},
        "ceiling": {},
        "models": {},
        "embedder": None,
        "tasks": {f"t{n}": ".".join("abcdef") for n in range(8)},
        "commands": ["mas-evolve solo.yaml tasks.jsonl"],
        "coterie": ["1"],
    }
    (folder / "evolution.json").write_text(json.dumps(manifest))
    result.write(folder)
    return folder

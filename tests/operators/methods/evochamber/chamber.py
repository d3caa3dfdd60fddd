"""A population that evolves in a small world on disk, with a model that answers whatever is asked.

Agents are right by a chance that depends on what they read alone, so what they come to depends on
no clock and on no order; operators are given something of the shape that they ask for.
"""

import hashlib
import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from coterie.pool.ledger.ledger import Ledger
from coterie.runtime.doubles import Reply
from coterie.runtime.doubles.script import Request

from ....support.commands import CommandResult
from ...evolving import asked, evolve
from ...hostile import HostileModel

Script = Callable[[Request], Reply]
NICHES = ("sums", "dates", "words")
WORDS = ("count", "twice", "slowly", "again", "check", "first", "last", "sum", "date", "word")
RECIPE: Mapping[str, Any] = {
    "strategy": "evochamber",
    "settings": {"pool_size": 6, "genesis_below": 4, "fork_tasks": 2, "merge_tasks": 4},
}


def answering(request: Request) -> Reply:
    """Answer by what is asked: agents are right one time in two, operators get what fits."""
    text = json.dumps(request["messages"], sort_keys=True)
    digest = hashlib.sha256(f"{text}{request.get('seed')}".encode()).hexdigest()
    chance = random.Random(digest)
    if form := asked(request):
        return Reply.json(fitting(form, chance))
    return Reply(text=f"Answer: {7 if chance.random() < 0.5 else chance.randrange(8, 11)}")


def fitting(form: Mapping[str, Any], chance: random.Random) -> Any:
    """Fill in the fields of an operator's form."""
    texts = [" ".join(chance.choices(WORDS, k=6)) for _ in range(9)]
    model = HostileModel(chance=chance, texts=texts)
    return model.fair({"type": "object", "properties": form})


def write_world(folder: Path, tasks: int = 30, workers: int = 1, **settings: Any) -> Path:
    """Write a recipe and a stream in three niches into a folder."""
    of = {**RECIPE, "workers": workers, "settings": {**RECIPE["settings"], **settings}}
    (folder / "recipe.yaml").write_text(json.dumps(of))
    write_tasks(folder / "tasks.jsonl", "t", tasks)
    return folder


def write_tasks(path: Path, prefix: str, number: int) -> None:
    """Write tasks in three niches, by turns; the answer is always 7."""
    lines = [
        {
            "id": f"{prefix}{n}",
            "query": f"About {niche}: what is {prefix} {n} + {7 - n}?",
            "niche": niche,
            "answer": "7",
            "scorer": {"name": "number"},
        }
        for n in range(number)
        for niche in [NICHES[n % len(NICHES)]]
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def evolved(pool: str, *more: str, script: Script = answering) -> CommandResult:
    """Evolve to the end, in this process and this folder."""
    words = ("--embedder", "hashing", "--quiet", *more)
    return evolve(Path.cwd(), pool, *words, script=script)


def left(pool: Path) -> dict[str, str]:
    """All that an evolution leaves, each file by its path, but for indexes, commands and logs."""
    return {
        str(path.relative_to(pool)): path.read_text()
        for path in sorted(pool.rglob("*"))
        if path.is_file()
        and path.suffix not in {".lock", ".log", ".sqlite"}
        and path.name not in {"evolution.json", "events.jsonl"}
    }


def lines_of(pool: Path) -> list[Mapping[str, Any]]:
    """The lines of the ledger, in order."""
    return [entry.value for entry in Ledger(pool / "ledger.jsonl").read()]


def trials(pool: Path) -> list[Mapping[str, Any]]:
    """The lines that tell of a team at work, in order."""
    return [line for line in lines_of(pool) if line["kind"] == "evaluated"]


def told(pool: Path) -> list[Mapping[str, Any]]:
    """The lines of the episodes, in order."""
    turns = Ledger(pool / "evolutions" / "recipe" / "turns.jsonl")
    return [entry.value for entry in turns.read()]

"""Measures the memory and prints the tables of docs/research/memory-inside.md."""

from __future__ import annotations

import platform
import statistics
import subprocess
import sys
import time
import zlib
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from coterie.pool.embedding import choose_embedder
from coterie.pool.ledger.ledger import line_of
from coterie.pool.memory.memory import Memory
from coterie.pool.memory.shards import VectorShards
from coterie.pool.teams.pool import Pool
from coterie.pool.values.layout import LEDGER
from coterie.schema.command import Command

from .archives import town
from .measures import Retrieval, retrieval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from coterie.pool.embedding import Vector

NICHES = 10
OWNERS = 20
KINDS = ("lesson", "insight", "leadership")
LEVELS = ("task", "subdomain", "cross_domain")
SIZES = (1_000, 10_000, 100_000)
TOLD = ("archive", "recall", "alike", "learn", "learn, half of them")
TOWNS = ((20, 2_000), (1_000, 10_000), (1_000, 100_000))
"""Agents and entries."""
SEARCHES = 40
WANTED = 8
WHERE: Mapping[str, Mapping[str, str]] = {
    "all": {},
    "one niche": {"niche": "niche_3"},
    "one owner": {"owner": "agent_3"},
    "niche, owner": {"niche": "niche_3", "owner": "agent_3"},
    "all four": {
        "niche": "niche_3",
        "owner": "agent_3",
        "kind": KINDS[0],
        "level": LEVELS[0],
    },
}


@dataclass(frozen=True, kw_only=True)
class RandomEmbedder:
    """Vectors without a meaning: what indexing and searching cost does not depend on it."""

    name: str = "random"
    dimension: int = 384

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Make a vector of each text."""
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        import numpy as np

        chance = np.random.default_rng(zlib.crc32(text.encode()))  # the same numbers every time
        vector = chance.standard_normal(self.dimension)
        return (vector / np.linalg.norm(vector)).tolist()


@click.command(cls=Command)
@click.option("--embedders", default="minilm,hashing", show_default=True, help="Which embedders.")
@click.option("--quick", is_flag=True, help="Small sizes: does everything work?")
def main(embedders: str, quick: bool) -> None:
    """Measure recall of paraphrases, loading, embedding and searching; print Markdown."""
    click.echo(f"{platform.machine()}, Python {platform.python_version()}, {_versions()}.\n")
    click.echo("| embedder | R@1 | R@5 | MRR | load s | ms/short text | ms/long text |")
    click.echo("|---|---|---|---|---|---|---|")
    for name in embedders.split(","):
        click.echo(_row(name, retrieval(choose_embedder(name))))
    heads = " | ".join(f"{name}, ms" for name in WHERE)
    click.echo(f"\n| entries | open the pool, s | index from cached vectors, s | {heads} |")
    click.echo("|---|---|---|" + "---|" * len(WHERE))
    for size in (100,) if quick else SIZES:
        click.echo(_speed(size))
    click.echo(
        f"\n| agents | entries | open the pool, s | its archive | {', ms | '.join(TOLD)}, ms |"
    )
    click.echo("|---|---|---|---|" + "---|" * len(TOLD))
    for agents, entries in ((20, 200),) if quick else TOWNS:
        click.echo(_archives(agents, entries))
    click.echo(
        f"\nA search is the median of {SEARCHES} for {WANTED} entries, in (): the slowest. Opening,"
        " indexing and searching are told in the processor's time."
    )


def _versions() -> str:
    packages = ("numpy", "onnxruntime", "tokenizers")
    return ", ".join(f"{package} {version(package)}" for package in packages)


def _row(name: str, result: Retrieval) -> str:
    load, short, long = _in_new_process(name)
    return (
        f"| {name} | {result.at_1:.2f} | {result.at_5:.2f} | {result.reciprocal_rank:.2f}"
        f" | {load} | {short} | {long} |"
    )


def _in_new_process(name: str) -> list[str]:
    command = [sys.executable, "-m", f"{__package__}.alone", name]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def _speed(size: int) -> str:
    with TemporaryDirectory() as folder:
        filled(Path(folder), size).search("", 1)  # fills the cache
        opened = _seconds(lambda: Pool.open(folder))
        memory = Memory(Pool.open(folder), RandomEmbedder(), VectorShards())
        index = _seconds(lambda: memory.search("", 1))
        searches = [partial(memory.search, "", WANTED, **where) for where in WHERE.values()]
        text = " | ".join(map(_measured, searches))
    return f"| {size:,} | {opened:.2f} | {index:.2f} | {text} |"


def filled(folder: Path, size: int) -> Memory:
    """Return the memory of a new pool that has learnt so many entries."""
    Pool.init(folder)
    with (folder / LEDGER).open("ab") as stream:
        stream.writelines(_line(number) for number in range(size))
    return Memory(Pool.open(folder), RandomEmbedder(), VectorShards())


def _archives(agents: int, entries: int) -> str:
    """Measure the archive of the agent that was born last, which has inherited all of it."""
    with TemporaryDirectory() as folder:
        result = town(Path(folder), agents, entries)
        memory, who = Memory(result.pool, RandomEmbedder(), VectorShards()), result.newest
        opened = _seconds(lambda: Pool.open(folder))
        memory.alike("", who, over=0)
        memory.search("", 1)
        has = len(result.pool.learnt.archive(who))
        where: dict[str, Any] = {"kind": "lesson", "niche": "niche_3", "or_no_niche": True}
        works: Sequence[Callable[[], object]] = (
            partial(result.pool.learnt.archive, who),
            partial(memory.search, "", WANTED, owner=who, **where),
            partial(memory.alike, "", who, kind="insight", over=0.85),
            partial(result.learn, who),
            partial(result.learn, *[*result.pool.agents][::2]),
        )
        text = " | ".join(map(_measured, works))
    return f"| {agents:,} | {entries:,} | {opened:.2f} | {has:,} | {text} |"


def _measured(work: Callable[[], object]) -> str:
    times = [_seconds(work) for _ in range(SEARCHES)]
    return f"{1e3 * statistics.median(times):.1f} ({1e3 * max(times):.0f})"


def _line(number: int) -> bytes:
    words = f"Task {number}: " + "how many of them are left when some are given away? " * 5
    entry = {
        "kind": KINDS[number % len(KINDS)],
        "task": words,
        "text": "Voting helped. " * 20,
        "niche": f"niche_{number % NICHES}",
        "owner": f"agent_{number // NICHES % OWNERS}",
        "level": LEVELS[number // (NICHES * OWNERS) % len(LEVELS)],
    }
    return line_of({"kind": "learnt", "entry": entry}, f"task-{number}")


def _seconds(work: Callable[[], object]) -> float:
    """Measure what the processor works, so that others on the machine do not count."""
    started = time.process_time()
    work()
    return time.process_time() - started


if __name__ == "__main__":
    main()

"""Measures the memory and prints the tables of docs/memory.md."""

from __future__ import annotations

import platform
import random
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from ...pool.embedding import choose_embedder
from ...pool.experience import Experience, to_line
from ...pool.memory import FILE, Memory
from ...pool.store import QdrantStore
from ...schema.command import Command
from .measures import Retrieval, retrieval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...pool.embedding import Vector

NICHES = 10
SIZES = (1_000, 10_000)


@dataclass(frozen=True, kw_only=True)
class RandomEmbedder:
    """Vectors without a meaning: what indexing and searching cost does not depend on it."""

    name: str = "random"
    dimension: int = 384

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Make a vector of each text."""
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        chance = random.Random(text)  # noqa: S311 - the same numbers every time
        return [chance.gauss(0, self.dimension**-0.5) for _ in range(self.dimension)]


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
    click.echo("\n| entries | index from cached vectors s | search ms | in one niche ms |")
    click.echo("|---|---|---|---|")
    for size in (100,) if quick else SIZES:
        click.echo(_speed(size))
    click.echo(f"\nThe first search of a process also imports Qdrant's client: {_import()} s.")


def _versions() -> str:
    packages = ("numpy", "onnxruntime", "qdrant-client", "tokenizers")
    return ", ".join(f"{package} {version(package)}" for package in packages)


def _row(name: str, found: Retrieval) -> str:
    load, short, long = _in_new_process(name)
    return (
        f"| {name} | {found.at_1:.2f} | {found.at_5:.2f} | {found.reciprocal_rank:.2f}"
        f" | {load} | {short} | {long} |"
    )


def _in_new_process(name: str) -> list[str]:
    command = [sys.executable, "-m", f"{__package__}.alone", name]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def _import() -> str:
    program = (
        "import time; started = time.perf_counter(); import qdrant_client;"
        " print(f'{time.perf_counter() - started:.2f}')"
    )
    command = [sys.executable, "-c", program]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _speed(size: int) -> str:
    with TemporaryDirectory() as folder:
        pool = Path(folder)
        (pool / FILE).parent.mkdir()
        (pool / FILE).write_bytes(b"".join(to_line(_entry(number)) for number in range(size)))
        Memory(pool, RandomEmbedder(), QdrantStore.in_process()).search("", 1)  # fills the cache
        memory = Memory(pool, RandomEmbedder(), QdrantStore.in_process())
        index = _seconds(lambda: memory.search("", 1))
        plain = _seconds(lambda: memory.search("", 8), times=20)
        niche = _seconds(lambda: memory.search("", 8, niche="niche_3"), times=20)
    return f"| {size:,} | {index:.2f} | {1e3 * plain:.1f} | {1e3 * niche:.1f} |"


def _entry(number: int) -> Experience:
    words = f"Task {number}: " + "how many of them are left when some are given away? " * 5
    return Experience(
        id=f"task-{number}",
        kind="evolution",
        task=words,
        summary="Voting helped. " * 20,
        niche=f"niche_{number % NICHES}",
    )


def _seconds(work: Callable[[], object], times: int = 1) -> float:
    started = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - started) / times


if __name__ == "__main__":
    main()

"""One embedder in a process of its own: seconds to the first vector, ms per short and long text."""

from __future__ import annotations

import sys
import time

import click

from coterie.pool.embedding import choose_embedder

from .pairs import PAIRS

LONG = 8
"""Pairs in a long text: more than the 256 tokens at which the default embedder stops."""


def main() -> None:
    """Print the three numbers of the embedder that the command line names."""
    started = time.perf_counter()
    embedder = choose_embedder(sys.argv[1])
    embedder.embed(["first"])
    load = time.perf_counter() - started
    short = [text for pair in PAIRS for text in pair]
    long = [" ".join(short[start : start + 2 * LONG]) for start in range(0, len(short), 2 * LONG)]
    times: list[float] = []
    for texts in (short, long):
        started = time.perf_counter()
        embedder.embed(texts)
        times.append(1e3 * (time.perf_counter() - started) / len(texts))
    click.echo(f"{load:.2f} {times[0]:.2f} {times[1]:.1f}")


if __name__ == "__main__":
    main()

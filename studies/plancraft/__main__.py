"""`python -m coterie.benchmarks.plancraft`: ceiling, floor, and a comparison with the package."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import click

from coterie.benchmarks.evaluation.benchmark import Source
from coterie.benchmarks.plancraft.package import SPLITS, read_published
from coterie.benchmarks.plancraft.tasks import world_of
from coterie.runtime.doubles import ScriptedModel
from coterie.schema.command import Command, Family
from coterie.schema.values.errors import InputError

from .oracle_model import oracle_reply, plans_of
from .players import played_at_random, played_wildly
from .reference import Played, Reference, difference

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coterie.benchmarks.plancraft.package import PlancraftExample

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_package = click.option(
    "--package", type=_FOLDER, required=True, help="The folder that has the package."
)
_split = click.option(
    "--split", type=click.Choice(SPLITS), default="test", show_default=True, help="Of the package."
)
_seed = click.option("--seed", default=0, show_default=True, help="Of all chance.")


@click.group(cls=Family)
def main() -> None:
    """Tools of the Plancraft adapter."""


@main.command(cls=Command)
@_package
@_split
@click.option(
    "--seconds", default=600.0, show_default=True, help="For each plan; the package gives 30."
)
def oracle(package: Path, split: str, seconds: float) -> None:
    """Have the package's planner play each example of a SPLIT: the ceiling."""
    published = read_published(Source(data=package))
    results: list[tuple[PlancraftExample, Played]] = []
    others = 0
    with Reference(package, seconds=seconds) as reference:
        for example in published.splits[split]:
            world = world_of(example, published)
            played = reference.play(world, impossible=example.impossible, texts=None)
            others += not played.failed and bool(
                difference(world, played, impossible=example.impossible)
            )
            results.append((example, played))
    _show(split, ((example, played.success) for example, played in results))
    for example, played in results:
        if not played.success:
            why = played.failed or f"no success after {played.steps} actions"
            click.echo(f"not solved: {example.id} ({example.complexity}): {why}")
    click.echo(f"{len(results)} episodes played here as well, {others} with another course")


@main.command(cls=Command)
@_package
@_split
@click.option("--port", default=0, help="0 takes a free one.")
def serve(package: Path, split: str, port: int) -> None:
    """Serve the planner as a model that any team can use for the tasks of a SPLIT."""
    published = read_published(Source(data=package))
    with Reference(package) as reference:
        plans = plans_of(split, published, reference)
    try:
        with ScriptedModel(partial(oracle_reply, plans), port=port) as model:
            click.echo(f"--model default=oracle@{model.api_base}")
            threading.Event().wait()
    except OSError as error:
        raise InputError(
            f"port {port} cannot be used: {error.strerror}. Leave --port out to get a free one."
        ) from error


@main.command("random", cls=Command)
@click.option("--data", type=_FOLDER, help="The folder that has the package.")
@_split
@_seed
@click.option("--episodes", default=10, show_default=True, help="Of each example.")
def play_at_random(data: Path | None, split: str, seed: int, episodes: int) -> None:
    """Move and smelt at random in each example of a SPLIT: the floor."""
    published = read_published(Source(data=data))
    results: list[tuple[PlancraftExample, bool]] = []
    for example in published.splits[split]:
        world = world_of(example, published)
        for number in range(episodes):
            # Chance for a game.
            episode = played_at_random(world, Random(f"{seed}/{example.id}/{number}"))  # noqa: S311
            results.append((example, episode.has_succeeded(impossible=example.impossible)))
    _show(split, results)


@main.command(cls=Command)
@_package
@_seed
@click.option("--episodes", default=1000, show_default=True, help="Over all splits.")
def verify(package: Path, seed: int, episodes: int) -> None:
    """Play random episodes here and with the package, and compare every text and verdict."""
    published = read_published(Source(data=package))
    examples = [item for split in ("train", "val", "test") for item in published.splits[split]]
    counts: Counter[str] = Counter()
    with Reference(package) as reference:
        for number in range(episodes):
            chance = Random(f"{seed}/{number}")  # noqa: S311 - chance for a game
            example = chance.choice(examples)
            world = world_of(example, published)
            texts = played_wildly(world, chance)
            played = reference.play(world, impossible=example.impossible, texts=texts)
            other = played.failed or difference(world, played, impossible=example.impossible)
            counts.update(success=played.success, actions=played.steps, other=bool(other))
            if other:
                click.echo(f"episode {number}, {example.id}: {other}")
    click.echo(
        f"{episodes} episodes, {counts['actions']} actions, {counts['success']} successes:"
        f" {counts['other']} with another text or verdict"
    )
    if counts["other"]:
        sys.exit(1)


def _show(split: str, results: Iterable[tuple[PlancraftExample, bool]]) -> None:
    right: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for example, success in results:
        for niche in (example.complexity, "all"):
            right[niche] += success
            count[niche] += 1
    for niche in ("easy", "medium", "hard", "impossible", "all"):
        if count[niche]:
            share = right[niche] / count[niche]
            click.echo(f"{split} {niche:<10} {right[niche]:>6} of {count[niche]:>6}  {share:.4f}")


if __name__ == "__main__":
    main()

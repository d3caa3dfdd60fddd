"""Who a town retires, and whether these lag: `python -m studies.pruning`.

Twenty agents, of whom some lag; nobody learns, and nothing acts on the roster but `prune`. A team
is right with the mean of its members' chances, and they share its reward.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING, Any

import click

from coterie.operators.methods.evochamber.compose import compose
from coterie.operators.methods.evochamber.lifecycle.rules import due
from coterie.operators.methods.evochamber.settings import PopulationSettings
from coterie.pool.ledger.changes import Evaluated
from coterie.pool.ledger.ledger import LedgerEntry
from coterie.pool.population.population import Population, Rates
from coterie.pool.values.statistics import Trial, TrialPart
from coterie.schema.command import Command

from .simulated import head, row

if TYPE_CHECKING:
    from collections.abc import Mapping

SOUND, LAGGING = 0.6, 0.15
NICHES = 3
ONLY_PRUNES: Mapping[str, Any] = {
    "merge_similarity": 1,
    "fork_top": 0,
    "genesis_below": 0,
    "genesis_affinity": 0,
    "specialize_above": 2,
}
RULES = tuple(product(("each_task", "recent_mean"), (10, 6)))


def retired(lagging: int, *, tasks: int, seed: int, **rule: Any) -> Counter[bool]:
    """Count who is retired, by whether they lag.

    Args:
        lagging: How many of the agents lag.
        tasks: How many tasks there are.
        seed: Makes it repeatable.
        rule: Settings of the strategy.
    """
    settings = PopulationSettings(**ONLY_PRUNES, **rule)
    chance, gone = random.Random(seed), Counter[bool]()  # noqa: S311 - guards nothing
    town = Population(rates=Rates.of(settings))
    names = [f"solver_{number}" for number in range(settings.pool_size)]
    for name in names:
        town = _after(town, {"kind": "born", "agent": name})
    slow = frozenset(names[:lagging])
    for number in range(1, tasks + 1):
        town = _after(town, _worked(town, settings, slow, chance).value())
        for event in due(town, settings, chance) if number % settings.tau == 0 else ():
            gone[event.agents[0] in slow] += 1
            town = _after(town, {"kind": "retired", "agent": event.agents[0]})
    return gone


def _after(town: Population, value: Mapping[str, Any]) -> Population:
    return town.after(LedgerEntry(op="", value=dict(value)))


def _worked(
    town: Population, settings: PopulationSettings, slow: frozenset[str], chance: random.Random
) -> Evaluated:
    niche = f"niche_{chance.randrange(NICHES)}"
    team = compose(town, niche, settings.team_size, settings, chance)
    able = fmean(LAGGING if name in slow else SOUND for name in team.values())
    agents = {seat: TrialPart(member=name) for seat, name in team.items()}
    score = float(chance.random() < able)
    trial = Trial(task="t", niche=niche, score=score, agents=agents)
    return Evaluated(member="voting", trial=trial)


@click.command(cls=Command)
@click.option("--towns", default=10, show_default=True, help="Towns for each row.")
@click.option("--tasks", default=380, show_default=True, help="Tasks of each.")
def main(*, towns: int, tasks: int) -> None:
    """Print how many are retired by each rule, those that lag and those that do not."""
    for line in head(
        "prune_by, prune_tasks", "of 4 that lag", "of 16 others", "of 20, none lagging"
    ):
        click.echo(line)
    for by, many in RULES:
        rule: dict[str, Any] = {"prune_by": by, "prune_tasks": many, "tasks": tasks}
        some = [retired(4, seed=seed, **rule) for seed in range(towns)]
        none = [retired(0, seed=seed, **rule) for seed in range(towns)]
        means = fmean(x[True] for x in some), fmean(x[False] for x in some)
        cells = (*means, fmean(x[False] for x in none))
        click.echo(row(f"{by}, {many}", *(f"{cell:.1f}" for cell in cells)))


if __name__ == "__main__":
    main()

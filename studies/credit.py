"""What intervals of sampled Shapley values cover: `python -m studies.credit`.

Games are drawn whose exact values are known, and each interval either holds them or does not. The
unit is the game: what its players' intervals hold goes together. Beside it stands what the usual
interval holds, the mean and 2.58 of its standard errors.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from coterie.benchmarks.comparison.tables import written
from coterie.operators.credit import averaged, orders, shapley, subsets
from coterie.pool.values.intervals import mean_interval
from coterie.schema.command import Command

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coterie.operators.credit import CreditEstimate

    Game = Mapping[frozenset[int], float]

KINDS = ("any", "right or wrong", "quorum", "additive")
ORDERS = (5, 10, 20, 50, 200)
FEWEST, MOST = 2, 6
NORMAL = 2.575829
"""The normal quantile of a 99 % interval."""
HAIR = 1e-9
"""By how much sums of floats may differ."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Coverage:
    """How often intervals held the exact value.

    Attributes:
        games: The share of each game's players whose interval of 99 % did.
        narrow: The share over all games for those of 95 %.
        normal: The same for normal ones of 99 %.
        width: How wide those of 99 % were, on the mean.
    """

    games: tuple[float, ...]
    narrow: float
    normal: float
    width: float

    @property
    def mean(self) -> float:
        """The share over all games for those of 99 %."""
        return sum(self.games) / len(self.games)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of that share."""
        return mean_interval([[game] for game in self.games])


def drawn_game(players: int, kind: str, chance: random.Random) -> Game:
    """Draw a game: a score in [0, 1] for each coalition.

    Args:
        players: How many there are.
        kind: `any`: each score is drawn evenly; `right or wrong`: each is 0 or 1, at a rate that is
            drawn; `quorum`: 1 from a quorum on of votes that are drawn, else 0; `additive`: each
            player adds a share of 1 that is drawn, whoever else is there.
        chance: Where it comes from.
    """
    coalitions = subsets(range(players))
    rate = chance.random()
    votes = [chance.random() for _ in range(players)]
    match kind:
        case "any":
            return {coalition: chance.random() for coalition in coalitions}
        case "right or wrong":
            return {coalition: float(chance.random() < rate) for coalition in coalitions}
        case "quorum":
            share = {
                coalition: sum(votes[player] for player in coalition) for coalition in coalitions
            }
            return {
                coalition: float(share[coalition] >= rate * sum(votes)) for coalition in coalitions
            }
        case _:
            return {
                coalition: sum(votes[player] for player in coalition) / sum(votes)
                for coalition in coalitions
            }


def coverage(kind: str, permutations: int, *, games: int, seed: int = 0) -> Coverage:
    """Measure what intervals of sampled Shapley values cover.

    Args:
        kind: How games are drawn.
        permutations: How many orders are drawn in each.
        games: How many games.
        seed: Makes it repeatable.
    """
    chance = random.Random(f"{seed}/{kind}/{permutations}")  # noqa: S311 - not for secrets
    held: list[list[tuple[bool, bool, bool, float]]] = []
    for _ in range(games):
        players = range(chance.randint(FEWEST, MOST))
        game = drawn_game(len(players), kind, chance)
        exact = shapley(game, players)
        sampled = averaged(game, orders(players, permutations=permutations, rng=chance))
        held.append([_held(sampled[player], exact[player]) for player in players])
    means = [[sum(column) / len(rows) for column in zip(*rows, strict=True)] for rows in held]
    wide, narrow, normal, width = zip(*means, strict=True)
    return Coverage(
        games=wide,
        narrow=sum(narrow) / games,
        normal=sum(normal) / games,
        width=sum(width) / games,
    )


def _held(estimate: CreditEstimate, exact: float) -> tuple[bool, bool, bool, float]:
    """Return whether the exact value is in the intervals of 99 and 95 %, and in a normal one."""
    low, high = estimate.interval(0.99)
    least, most = estimate.interval()
    is_near = abs(exact - estimate.value) <= NORMAL * estimate.error + HAIR
    return low <= exact <= high, least <= exact <= most, is_near, high - low


def _row(kind: str, permutations: int, games: int, seed: int) -> dict[str, str]:
    result = coverage(kind, permutations, games=games, seed=seed)
    low, high = result.interval
    return {
        "scores": kind,
        "orders": str(permutations),
        "99 % holds": f"{result.mean:.3f} [{low:.3f}, {high:.3f}]",
        "95 % holds": f"{result.narrow:.3f}",
        "width of 99 %": f"{result.width:.3f}",
        "normal 99 % holds": f"{result.normal:.3f}",
    }


@click.command("credit", cls=Command)
@click.option("--games", default=1_000, show_default=True, help="Games drawn for a row.")
@click.option("--seed", default=0, show_default=True, help="Makes it repeatable.")
def main(games: int, seed: int) -> None:
    """Print what intervals of sampled Shapley values of 2 to 6 players cover."""
    rows = [_row(kind, permutations, games, seed) for kind in KINDS for permutations in ORDERS]
    click.echo(written(rows, "markdown"))


if __name__ == "__main__":
    main()

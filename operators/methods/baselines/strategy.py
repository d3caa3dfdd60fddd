"""The baselines of evolution, in the same framework and at the same cost."""

from __future__ import annotations

from dataclasses import replace

from ....runtime.plan.plan import Plan
from ...evolution.episode import Episode
from ...evolution.strategy import Need, Strategy
from ..search.search import Search, SearchAttempt
from ..search.settings import SCHEMA, SearchSettings, check, check_recipe


async def fixed(episode: Episode) -> None:
    """Run every seed of the pool unchanged; with one seed, a single team on every task."""
    search = Search(episode=episode)
    seeds = [member for member in search.members.values() if not member.lineage.parents]
    await search.evaluate(
        *(SearchAttempt(number, seed.team, [seed]) for number, seed in enumerate(seeds))
    )
    search.end()


async def best_of_n(episode: Episode) -> None:
    """Run selected teams, unedited, as often as an evolution would run teams, and keep the best.

    The runs cost what EvoMAS's runs cost. The result shows the value of repetition alone.
    """
    search = Search(episode=episode)
    settings = search.settings
    members = await search.selected("statistics", settings.parents)
    runs = range(settings.parents + settings.steps)
    chosen = [(number, members[number % len(members)]) for number in runs]
    await search.evaluate(
        *(SearchAttempt(number, member.team, [member]) for number, member in chosen), again=True
    )
    search.end()


def _needs(_settings: SearchSettings, /) -> frozenset[Need]:
    return frozenset({"teams"})


def calls_at_most(settings: SearchSettings, plan: Plan) -> int:
    """Return an upper bound on the model calls of a task, for runs of a team of this size."""
    runs = settings.parents + settings.steps
    return runs * settings.repeats * plan.calls_at_most


BEST_OF_N = Strategy(
    name="best_of_n",
    episode=best_of_n,
    settings=SearchSettings.of,
    schema=SCHEMA,
    check=check,
    check_recipe=check_recipe,
    needs=_needs,
    leaves_team=True,
    calls_at_most=calls_at_most,
)
FIXED = replace(BEST_OF_N, name="fixed", episode=fixed, calls_at_most=None)

"""A team of the population at work on a task of the stream: what is kept and told of it.

The steps of the loop that are no operator: nobody is asked.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ....pool.ledger.changes import Evaluated, Learnt
from ....pool.ledger.ledger import START, LedgerEntry
from ....pool.values.statistics import TrialPart
from .compose import ANCHOR
from .seating import keep_team

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ....pool.ledger.changes import Change
    from ....pool.population.population import Population
    from ....runtime.agents.outcomes import Run
    from ...evolution.episode import Episode
    from .seating import Seated
    from .settings import PopulationSettings


def evaluation_of(episode: Episode, team: Seated, run: Run, reward: float) -> Evaluated:
    """Return the result of a team's work, and keep the team as a file that can be run again.

    Args:
        run: The result; one that came to no answer is worth nothing, by the team's own doing.
        reward: What it was worth, in [0, 1].
    """
    trial = episode.trial(
        run,
        reward,
        run=keep_team(episode.context.pool.folder, team.team),
        agents={seat: TrialPart(member=name) for seat, name in team.seats.items()},
        structure=team.structure,
    )
    return Evaluated(member=team.structure, trial=trial)


def since(population: Population, changes: Iterable[tuple[Change, str]]) -> Population:
    """Return a population as it will be after what is to happen to it, in order.

    Args:
        changes: Trials and events; each with the name of its operation.
    """
    for change, what in changes:
        if isinstance(change, Learnt):  # numbers know nothing of it, and there are many
            continue
        population = population.after(
            LedgerEntry(op=what, value=change.value(), files=(), end=START)
        )
    return population


def is_lifecycle_due(number: int, settings: PopulationSettings, workers: int) -> bool:
    """Return whether the roster is looked at after a task: every `tau` tasks (EvoChamber §3.5).

    A look has to see the result of the one before it. Where so many tasks are at work at once that
    it would not, there are fewer looks.

    Args:
        number: The task's place in the stream, from 0.
        settings: How often, and whether at all.
        workers: How many tasks are at work at the same time.
    """
    every = settings.tau * math.ceil(workers / settings.tau)
    return settings.lifecycle and (number + 1) % every == 0


def tell(episode: Episode, population: Population, team: Seated, reward: float) -> None:
    """Tell who worked, and the numbers of it that a report shows.

    Args:
        population: As it was when the team was chosen.
        reward: What it was worth, in [0, 1].
    """
    niche = episode.task.niche or ""
    able = {seat: population.agents[name].q(niche) for seat, name in team.seats.items()}
    episode.note(
        "team", structure=team.structure, seats=dict(team.seats), competence=able, reward=reward
    )
    episode.figures["agents"] = float(len(population.agents))
    episode.figures["anchor's competence"] = able[ANCHOR]

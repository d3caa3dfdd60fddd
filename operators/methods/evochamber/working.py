"""The steps of the loop that call no model: trials, figures, and the schedule of the lifecycle."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ....pool.ledger.changes import Evaluated, Learnt
from ....pool.ledger.ledger import LedgerEntry
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
    """Return the trial of a team, and write the team to a file that can be run again.

    Args:
        run: The run; without an answer it is worth 0, by the team's own fault.
        reward: Its reward, in [0, 1].
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
    """Return a population after changes, in order.

    Args:
        changes: Trials and events, each with the name of its operation.
    """
    for change, what in changes:
        if isinstance(change, Learnt):  # entries do not change a population's numbers
            continue
        population = population.after(LedgerEntry(op=what, value=change.value()))
    return population


def is_lifecycle_due(number: int, settings: PopulationSettings, workers: int) -> bool:
    """Return whether a lifecycle pass follows a task: every `tau` tasks (EvoChamber §3.5).

    A pass must see the result of the previous one. With more workers than `tau`, passes are less
    frequent.

    Args:
        number: The task's place in the stream, from 0.
        settings: Only `tau` and `lifecycle` are used.
    """
    every = settings.tau * math.ceil(workers / settings.tau)
    return settings.lifecycle and (number + 1) % every == 0


def tell(episode: Episode, population: Population, team: Seated, reward: float) -> None:
    """Record the team of a task, and its figures for the report.

    Args:
        population: The population when the team was chosen.
        reward: The team's reward, in [0, 1].
    """
    niche = episode.task.niche or ""
    able = {seat: population.agents[name].q(niche) for seat, name in team.seats.items()}
    episode.note(
        "team", structure=team.structure, seats=dict(team.seats), competence=able, reward=reward
    )
    episode.figures["agents"] = float(len(population.agents))
    episode.figures["anchor's competence"] = able[ANCHOR]

"""EvoChamber: a population whose agents specialise, team up by niche, and teach each other.

Each task gets a team of agents and a structure. Members keep what they learn, and after a failure
it also reaches other agents that lack it. From time to time the roster itself changes
(arXiv:2605.11136 §3).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ....pool.population.population import Population, Rates
from ...evolution.strategy import Strategy, read_schema
from .alone import own_attempts
from .attempts import attempts, graded
from .compose import compose
from .cost import calls_at_most
from .dream.dreaming import dream
from .lead_review import review_choice
from .leading import choose_structure
from .lifecycle.founding import begin, check, find, founders, suits
from .lifecycle.lifecycle import live
from .reflecting import reflect_all
from .seating import STRUCTURES, seated
from .settings import PopulationSettings
from .structures import LEADER, build_structures, structures
from .working import evaluation_of, is_lifecycle_due, since, tell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ....runtime.agents.outcomes import Run
    from ...evolution.episode import Episode
    from ...evolution.strategy import Need
    from .leading import StructureChoice
    from .seating import Seated

WORK = "work"


async def evochamber(episode: Episode) -> None:
    """Run a team of the population on a task and, when learning, update the population."""
    population: Population = episode.view.folded
    choice, team = await _team(episode, population)
    run = await episode.run(team.team, WORK)
    if not episode.learning:
        episode.answered(run)
        return
    if outcome := await episode.answer_scored(run, WORK):
        tell(episode, population, team, outcome.value)
        episode.keep(evaluation_of(episode, team, run, outcome.value), "trial")
        await _learn(episode, choice, team, run, outcome.value)


async def _team(episode: Episode, population: Population) -> tuple[StructureChoice, Seated]:
    """Choose the members for a task, and ask their leader for a structure (§3.4)."""
    settings, view = episode.settings, episode.view
    niche, chance = episode.task.niche or "", episode.chance("compose")
    chosen = compose(population, niche, settings.team_size, settings, chance)
    offered = structures(settings, (member.team for member in view.members.values()))
    choice = await choose_structure(episode, population, chosen, offered)
    template = offered[choice.structure]
    members = {seat: view.agents[name].agent for seat, name in chosen.items()}
    catalogue, ceiling = episode.context.catalogue, episode.context.ceiling
    return choice, seated(template, members, settings, catalogue, ceiling)


async def _learn(
    episode: Episode, choice: StructureChoice, team: Seated, run: Run, reward: float
) -> None:
    """Let members and leader learn, share insights with agents in need, and update the roster.

    Deficits are computed with this task's trial included (§3.3 to 3.5).
    """
    answers = await graded(episode, attempts(team, run), _score_of_answer(run, reward))
    compared = await own_attempts(episode, team, answers, reward)
    await episode.side_by_side(
        lambda part: reflect_all(part, team, run, compared, reward),
        lambda part: review_choice(part, choice, team, run, reward=reward, attempts=answers),
    )
    population = since(episode.view.folded, episode.changes)
    await dream(episode, population, team, run, compared, reward=reward)
    if is_lifecycle_due(episode.number, episode.settings, episode.context.recipe.workers):
        await live(episode, population)


def _score_of_answer(run: Run, reward: float) -> Mapping[str, float]:
    """Return the known score of the team's answer, so that equal attempts are not scored again."""
    return {} if run.answer is None else {run.answer: reward}


def _needs(settings: PopulationSettings, /) -> frozenset[Need]:
    needs: set[Need] = {"teams", "agents", "memory"}
    leads = settings.structure == LEADER
    if leads or settings.learning or settings.codream or settings.lifecycle:
        needs.add("meta_model")
    return frozenset(needs)


def _keeps(settings: PopulationSettings, /) -> frozenset[str]:
    learns = settings.learning or settings.codream
    return frozenset({"lesson", "insight"}) if learns else frozenset()


def _fold(settings: PopulationSettings, /) -> Population:
    return Population(rates=Rates.of(settings))


EVOCHAMBER = Strategy(
    name="evochamber",
    episode=evochamber,
    begin=begin,
    settings=PopulationSettings,
    schema=read_schema(Path(__file__).with_name("evochamber.schema.json"), PopulationSettings),
    check=check,
    suits=suits,
    seeds=STRUCTURES,
    agents=founders,
    teams=build_structures,
    needs=_needs,
    keeps=_keeps,
    fold=_fold,
    find=find,
    calls_at_most=calls_at_most,
)

"""Routing in an episode: team and single agent both learn from a case; a test uses one of them.

Both results are an event of the pool, with the case's features (MATTRL §5.2). A test fits
a router to these events, all of which are of learning cases, and follows it.
"""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING

from ....pool.ledger.changes import EventNoted
from ....runtime.agents.outcomes import Run
from ....runtime.values.usage import Usage
from ....schema.values.codec import from_value
from ...core.scoring import cost_of
from ...routing import ROUTED, Case, CaseSpending, RoutingOutcome, cases_of, computed, fit
from .gauge import gauge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....runtime.agents.outcomes import Score
    from ....schema.team.team import Team
    from ...evolution.episode import Episode
    from ...routing import By, Choice, Features, Router

SINGLE = "single"
"""The name of the single agent's run."""


async def compare(
    episode: Episode, single: Team, team: Team, outcome: Score, *, label: str, gauged: bool
) -> None:
    """Let a single agent work on a case as well, and record both results."""
    run = await episode.run(single, SINGLE)
    score = await episode.score(run, SINGLE)
    features, gauging = await _features(episode, gauged=gauged)
    if (single_score := episode.usable(score)) is None:
        return
    case = Case(
        task=episode.task.id,
        features=features,
        single=RoutingOutcome(
            score=single_score.value, spent=_spent(episode, run), name=single.name
        ),
        team=RoutingOutcome(
            score=outcome.value, spent=_spent(episode, episode.recorded_run(label)), name=team.name
        ),
        gauging=gauging,
    )
    noted = case.event()
    episode.keep(noted, ROUTED)
    episode.note(ROUTED, **noted.about)
    episode.figures[SINGLE] = single_score.value


async def choose(episode: Episode, single: Team, *, by: By, gauged: bool) -> Choice:
    """Return who is to work on a case, according to the results of the learning cases.

    Args:
        gauged: Whether a model may assess the case's features; it is called only if the router uses
            them.
    """
    cases = cases_of(episode.view.events_of(ROUTED), single=single.name)
    router = _fitted(_text(cases), by, episode.context.recipe.beta)
    features, _ = await _features(episode, gauged=gauged and router.asks)
    choice = router.choose(features)
    episode.note("route", choice=choice, router=str(router), features={**features})
    return choice


async def _features(episode: Episode, *, gauged: bool) -> tuple[Features, CaseSpending]:
    """Return a case's features, and the cost of assessing them."""
    features = computed(episode.task)
    if not gauged:
        return features, CaseSpending()
    judged = await gauge(episode.meta_model, f"{episode.path}gauge", episode.task)
    took = Run(status="done", usage=episode.spent.get("gauge", Usage()))
    return {**features, **(episode.usable(judged) or {})}, _spent(episode, took)


def _spent(episode: Episode, run: Run) -> CaseSpending:
    return CaseSpending.of(run.usage, cost_of(run, episode.context.recipe))


def _text(cases: Sequence[Case]) -> str:
    return json.dumps([case.event().value() for case in cases])


@functools.lru_cache(maxsize=8)
def _fitted(cases: str, by: By, beta: float) -> Router:
    """Fit a router once for all cases of a test, which see the same events."""
    return fit(
        cases_of(from_value(EventNoted, load) for load in json.loads(cases)), by=by, beta=beta
    )

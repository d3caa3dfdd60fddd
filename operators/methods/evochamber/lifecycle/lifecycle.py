"""The lifecycle: one pass over the roster carries out the events that are due.

All events are decided before any model is called. The personas are written concurrently, and the
results are kept in the order of the decisions (EvoChamber §3.5, App. E.1).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .....pool.ledger.changes import Added, EventNoted
from .....pool.population.population import LIFECYCLE
from .....runtime.values.together import together
from ....core.operator import operator_of
from ....core.proposal import RejectedProposal
from .founding import founder
from .heritage import Heritage, heritage
from .roster import unwritten
from .rules import ORDER, due

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from .....pool.ledger.changes import Change
    from .....pool.population.population import Population
    from .....schema.team.team import Agent
    from ....evolution.episode import Episode
    from ..settings import PopulationSettings
    from .rules import LifecycleEvent

MOST_EXAMPLES = 2
"""The most example tasks of a niche in the prompt for a persona."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Lived:
    event: LifecycleEvent
    changes: tuple[Change, ...]
    rejected: tuple[RejectedProposal, ...]
    heritage: Heritage


async def live(episode: Episode, population: Population) -> None:
    """Run one lifecycle pass over the roster and record it with the episode.

    Each event records its changes first, then an event `lifecycle` with its numbers. Without a
    valid persona, there is no fork, genesis or specialize; the rejection is recorded.
    """
    settings: PopulationSettings = episode.settings
    if not (episode.learning and settings.lifecycle):
        return
    events = due(population, settings, episode.chance(LIFECYCLE))
    result = await together(*(_act(episode, n, event) for n, event in enumerate(events)))
    for number, item in enumerate(result):
        _keep(episode, number, item)
    happened = Counter(entry.event.operator for entry in result if entry.changes)
    episode.figures |= {name: happened[name] for name in ORDER}


async def _act(episode: Episode, number: int, event: LifecycleEvent) -> _Lived:
    """Run the operator of an event and, for a merge, the fusing of two archives."""
    path, agents = f"{episode.path}{LIFECYCLE}/{number} {event.operator}", _agents(episode, event)
    tasks = await _examples(episode, event.niche)
    parts: tuple[Coroutine[Any, Any, Any], ...] = (
        operator_of(event.operator).act(episode.meta_model, path, event, agents, tasks),
        _heritage(episode, f"{path}/", event),
    )
    result, left = await together(*parts)
    if isinstance(result, RejectedProposal):
        changes, lost = unwritten(event, agents), (result,)
    else:
        changes, lost = result, ()
    return _Lived(event=event, changes=changes, rejected=(*lost, *left.rejected), heritage=left)


async def _heritage(episode: Episode, path: str, event: LifecycleEvent) -> Heritage:
    """Return the heritage of a merge; empty for other operators."""
    return await heritage(episode, path, *event.agents) if event.operator == "merge" else Heritage()


def _agents(episode: Episode, event: LifecycleEvent) -> Sequence[Agent]:
    """Return the agents of an event; for a genesis, the founder as the model of a new agent."""
    if event.operator == "genesis":
        stage = episode.context
        return (founder(episode.settings, stage.beside, stage.catalogue),)
    return tuple(episode.view.agents[name].agent for name in event.agents)


async def _examples(episode: Episode, niche: str | None) -> Sequence[str]:
    """Return a few tasks of a niche: the current one, and those that entries were learnt from."""
    if not niche:
        return ()
    hits = await episode.recall(episode.task.text, MOST_EXAMPLES, niche=niche)
    own = [episode.task.text] if episode.task.niche == niche else []
    return [*dict.fromkeys((*own, *(entry.task for entry, _ in hits)))][:MOST_EXAMPLES]


def _keep(episode: Episode, number: int, lived: _Lived) -> None:
    """Record the changes in order, then the event: the fold pairs a birth with the next event."""
    for lost in lived.rejected:
        episode.lose(lost, at=number)
    if not lived.changes:
        return
    what = f"{LIFECYCLE} {number} {lived.event.operator}"
    for place, change in enumerate((*lived.heritage.entries, *lived.changes)):
        episode.keep(_placed(change, episode), f"{what} {place}")
    about = _about(episode, lived)
    episode.keep(EventNoted(what=LIFECYCLE, about=about), f"{what} told")
    episode.note(LIFECYCLE, **about)


def _placed(change: Change, episode: Episode) -> Change:
    """Add the task and the evolution to the lineage of a new agent."""
    if not isinstance(change, Added):
        return change
    where = replace(change.lineage, task=episode.task.id, run=episode.context.name)
    return replace(change, lineage=where)


def _about(episode: Episode, lived: _Lived) -> dict[str, Any]:
    event, left = lived.event, lived.heritage
    fused = {"fused": len(left.entries), "left": left.left} if event.operator == "merge" else {}
    return {
        **event.about,
        "numbers": {**event.numbers, **fused},
        "task": episode.task.id,
    }

"""The operators of the lifecycle: what becomes of agents that something is due for.

Each gives the changes of the pool that it comes to, and makes none. A model writes personas and
nothing else: whatever an agent may do, and whom it has its archive from, is said here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .....pool.ledger.changes import Added, Retired, Revised
from .....schema.team.team import Lineage
from ....core.operator import Operator
from ....core.proposal import RejectedProposal
from .personas import Persona, persona

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from .....pool.ledger.changes import Change
    from .....schema.team.team import Agent
    from ....core.meta import OperatorModel
    from .rules import LifecycleEvent

Changes = tuple["Change", ...]


def _with_persona(
    changes: Callable[[LifecycleEvent, Persona, Sequence[Agent]], Changes],
) -> Callable[..., Coroutine[Any, Any, Changes | RejectedProposal]]:
    """Make an operator of what comes of an event once a model has written a persona for it."""

    async def act(
        meta: OperatorModel,
        path: str,
        event: LifecycleEvent,
        agents: Sequence[Agent],
        tasks: Sequence[str] = (),
    ) -> Changes | RejectedProposal:
        made = await persona(meta, path, event, agents, tasks)
        return made if isinstance(made, RejectedProposal) else changes(event, made, agents)

    return act


def _forked(event: LifecycleEvent, made: Persona, agents: Sequence[Agent]) -> Changes:
    """Make a twin of an agent, whose persona puts weight on a niche (EvoChamber App. E.1).

    It begins with the agent's archive and competence, and with no tasks. The agent stays as it is.
    """
    return (_born(event, made, agents),)


def _merged(event: LifecycleEvent, made: Persona, agents: Sequence[Agent]) -> Changes:
    """Make one agent of two, which are retired (EvoChamber App. E.1).

    It begins with both archives, and is as the first of them is but for its persona.
    """
    why = f"merged: {event.why}"
    return (_born(event, made, agents), *(Retired(member=agent.id, reason=why) for agent in agents))


def _founded(event: LifecycleEvent, made: Persona, _founder: Sequence[Agent]) -> Changes:
    """Make a new agent for a niche, like the founder, with nothing in its archive (App. E.1)."""
    return (_born(event, made, ()),)


def _specialized(event: LifecycleEvent, made: Persona, agents: Sequence[Agent]) -> Changes:
    """Nudge an agent's persona towards a niche (EvoChamber §3.5). It stays who it is."""
    return (Revised(agent=agents[0].id, to=made.agent, reason=_reason(event, made)),)


def unwritten(event: LifecycleEvent, agents: Sequence[Agent]) -> Changes:
    """Give what is done without the persona that nobody wrote.

    Two are merged all the same, under the persona of the first. Nothing comes of anything else.
    """
    if event.operator != "merge":
        return ()
    return _merged(event, Persona(agent=agents[0], reason=""), agents)


async def prune(
    meta: OperatorModel,
    path: str,
    event: LifecycleEvent,
    agents: Sequence[Agent],
    tasks: Sequence[str] = (),
) -> Changes:
    """Retire an agent; nobody is asked. Its folder and its lessons stay, for whoever reads them.

    Args:
        meta: Not asked.
        path: Not used.
        event: Why.
        tasks: None.
    """
    del meta, path, tasks
    return tuple(Retired(member=agent.id, reason=f"pruned: {event.why}") for agent in agents)


def _born(event: LifecycleEvent, made: Persona, parents: Sequence[Agent]) -> Added:
    names = tuple(parent.id for parent in parents)
    lineage = Lineage(operator=event.operator, parents=names, reason=_reason(event, made))
    return Added(member=replace(made.agent, member=None), lineage=lineage, inherits=names)


def _reason(event: LifecycleEvent, made: Persona) -> str:
    return f"{event.why}. {made.reason}" if made.reason else event.why


FORK = Operator(
    name="fork",
    scale="roster",
    act=_with_persona(_forked),
    about="Let a model write a twin of an agent that specialises further in its niche. The twin"
    " inherits the agent's memory.",
    inputs={"event": "niche_event", "agents": "pool_agent"},
    gives="changes",
)
MERGE = Operator(
    name="merge",
    scale="roster",
    act=_with_persona(_merged),
    about="Let a model merge two agents of a pool into one. The new agent inherits both memories;"
    " all but its persona is the first agent's. The two retire.",
    inputs={"event": "pair_event", "agents": "pool_pair"},
    gives="changes",
)
PRUNE = Operator(
    name="prune",
    scale="roster",
    act=prune,
    about="Report how an agent of a pool performed, and retire it with --keep. Its folder and its"
    " lessons stay, and `mas-pool restore` brings it back.",
    inputs={"event": "agent_event", "agents": "pool_agent"},
    asks="nobody",
    gives="changes",
)
GENESIS = Operator(
    name="genesis",
    scale="roster",
    act=_with_persona(_founded),
    about="Let a model write a new agent for a pool, with an empty memory.",
    inputs={"event": "founding_event", "agents": "founders"},
    gives="changes",
)
SPECIALIZE = Operator(
    name="specialize",
    scale="agent",
    act=_with_persona(_specialized),
    about="Let a model nudge the persona of an agent of a pool towards its strengths.",
    inputs={"event": "niche_event", "agents": "pool_agent"},
    gives="changes",
)

"""The operators of the lifecycle, one for each kind of event.

Each returns changes of the pool, and applies none. A model writes only personas; capabilities and
inherited archives are decided here.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .....pool.ledger.agents import check_agent
from .....pool.ledger.changes import Added, Retired, Revised
from .....schema.edits.offer.strict import ANY_TEXT, closed, free_text
from .....schema.team.team import Lineage, is_prompt_id
from .....schema.values.errors import ConfigError
from .....schema.values.secrets import scrubbed
from .....schema.values.terminal import on_one_line
from ....core.answers import InvalidAnswer, reason_schema, sentences, structured
from ....core.material import clip, fenced, material, prompt_of
from ....core.meta import Question, prompt
from ....core.operator import Operator
from ....core.proposal import RejectedProposal

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from .....pool.ledger.changes import Change
    from .....schema.host.catalogue import Catalogue
    from .....schema.team.team import Agent
    from ....core.bounds import Bounds
    from ....core.meta import OperatorModel
    from .rules import LifecycleEvent


LONGEST_TITLE = 60
"""The most characters; the same holds for the next constants."""
LONGEST_PERSONA = 1_200
LONGEST_NICHE = 128


@dataclass(frozen=True, kw_only=True, slots=True)
class Persona:
    """An agent with a new persona."""

    agent: Agent
    reason: str


async def persona(
    model: OperatorModel,
    path: str,
    event: LifecycleEvent,
    agents: Sequence[Agent],
    tasks: Sequence[str] = (),
) -> Persona | RejectedProposal:
    """Ask for a persona, for a lifecycle event.

    Args:
        event: The event. Its operator's name is also the name of the prompt.
        agents: The agents whose personas are shown, at least one; the first one's is rewritten.
    """
    limits = model.limits
    fields = _fields(limits)
    question = Question(
        operator=event.operator,
        instructions=prompt(
            event.operator,
            has_niche=bool(event.niche),
            **{k: v["maxLength"] for k, v in fields.items()},
        ),
        material=material(
            *(_shown(agent, model.catalogue, limits) for agent in agents),
            fenced("niche", (event.niche or "")[:LONGEST_NICHE]),
            *(
                fenced("example", clip(task, limits.task_characters // len(tasks)))
                for task in tasks
            ),
        ),
        schema=closed(reason=reason_schema(limits), **fields),
        read=functools.partial(_read, model, event, agents),
        parents=event.agents,
        inputs={"event": event, "agents": agents, "tasks": tasks},
    )
    return await model.ask(path, question)


def _fields(bounds: Bounds) -> dict[str, Any]:
    longest = {"title": LONGEST_TITLE, "persona": min(LONGEST_PERSONA, bounds.characters)}
    return {name: free_text(most) for name, most in longest.items()}


def _shown(agent: Agent, catalogue: Catalogue, bounds: Bounds) -> str:
    first, rest = _parts(agent, catalogue)
    return material(
        fenced("persona", material(agent.role, clip(first, bounds.characters)), agent.id),
        fenced("stays", clip(rest, bounds.characters), agent.id),
    )


def _parts(agent: Agent, catalogue: Catalogue) -> tuple[str, str]:
    first, _, rest = prompt_of(agent, catalogue).strip().partition("\n\n")
    return first, rest.strip()


def _read(
    model: OperatorModel, event: LifecycleEvent, agents: Sequence[Agent], text: str
) -> Persona:
    """Parse a persona; texts over their limits are cut."""
    limits = model.limits
    shape = closed(reason=ANY_TEXT, title=ANY_TEXT, persona=ANY_TEXT)
    fields = structured(text, shape, limits)
    texts = {
        name: scrubbed(on_one_line(fields[name]))[: field["maxLength"]].strip()
        for name, field in _fields(limits).items()
    }
    if empty := [name for name, text in texts.items() if not any(map(str.isalnum, text))]:
        raise InvalidAnswer(f"{' and '.join(empty)}: nothing is said there. Write some words.")
    first, rest = _parts(agents[0], model.catalogue)
    if event.operator != "merge" and texts["persona"] == on_one_line(first):
        raise InvalidAnswer("persona: this is the one that was shown. Write another one.")
    agent = replace(agents[0], role=texts["title"], prompt=material(texts["persona"], rest))
    return Persona(agent=_checked(agent, model), reason=fields["reason"])


def _checked(agent: Agent, model: OperatorModel) -> Agent:
    """Return an agent, or raise `InvalidAnswer` if it is invalid."""
    if is_prompt_id(agent.prompt):
        raise InvalidAnswer("persona: one word is none. Write sentences.")
    try:
        check_agent(agent, model.catalogue, model.ceiling)
    except ConfigError as error:
        raise InvalidAnswer(*sentences(error.problems)) from None
    return agent


Changes = tuple["Change", ...]


def _with_persona(
    changes: Callable[[LifecycleEvent, Persona, Sequence[Agent]], Changes],
) -> Callable[..., Coroutine[Any, Any, Changes | RejectedProposal]]:
    """Return an operator that asks for a persona and then calls `changes` with it."""

    async def act(
        model: OperatorModel,
        path: str,
        event: LifecycleEvent,
        agents: Sequence[Agent],
        tasks: Sequence[str] = (),
    ) -> Changes | RejectedProposal:
        result = await persona(model, path, event, agents, tasks)
        return result if isinstance(result, RejectedProposal) else changes(event, result, agents)

    return act


def _forked(event: LifecycleEvent, new_persona: Persona, agents: Sequence[Agent]) -> Changes:
    """Return a twin of an agent, with a persona for a niche (EvoChamber App. E.1).

    It inherits the agent's archive and competence, but no tasks. The agent itself stays unchanged.
    """
    return (_addition(event, new_persona, agents),)


def _merged(event: LifecycleEvent, new_persona: Persona, agents: Sequence[Agent]) -> Changes:
    """Return one agent made of two, and the retirement of both (EvoChamber App. E.1).

    It inherits both archives. Everything but its persona is the first agent's.
    """
    why = f"merged: {event.why}"
    return (
        _addition(event, new_persona, agents),
        *(Retired(member=agent.id, reason=why) for agent in agents),
    )


def _founded(event: LifecycleEvent, new_persona: Persona, _founder: Sequence[Agent]) -> Changes:
    """Return a new agent for a niche, like the founder, with an empty archive (App. E.1)."""
    return (_addition(event, new_persona, ()),)


def _specialized(event: LifecycleEvent, new_persona: Persona, agents: Sequence[Agent]) -> Changes:
    """Return a revision of an agent's persona for a niche (EvoChamber §3.5). Its id stays."""
    return (Revised(agent=agents[0].id, to=new_persona.agent, reason=_reason(event, new_persona)),)


def unwritten(event: LifecycleEvent, agents: Sequence[Agent]) -> Changes:
    """Return the changes of an event whose persona was not written.

    A merge still takes place, with the first agent's persona. No other event does.
    """
    if event.operator != "merge":
        return ()
    return _merged(event, Persona(agent=agents[0], reason=""), agents)


async def prune(
    model: OperatorModel,
    path: str,
    event: LifecycleEvent,
    agents: Sequence[Agent],
    tasks: Sequence[str] = (),
) -> Changes:
    """Return the retirement of an agent, without a model call. Its folder and lessons stay.

    Args:
        tasks: Unused.
    """
    del model, path, tasks
    return tuple(Retired(member=agent.id, reason=f"pruned: {event.why}") for agent in agents)


def _addition(event: LifecycleEvent, new_persona: Persona, parents: Sequence[Agent]) -> Added:
    names = tuple(parent.id for parent in parents)
    lineage = Lineage(operator=event.operator, parents=names, reason=_reason(event, new_persona))
    return Added(member=replace(new_persona.agent, member=None), lineage=lineage, inherits=names)


def _reason(event: LifecycleEvent, new_persona: Persona) -> str:
    return f"{event.why}. {new_persona.reason}" if new_persona.reason else event.why


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

"""The operators of the lifecycle: what becomes of agents that something is due for.

Each gives the changes of the pool that it comes to, and makes none. A model writes personas and
nothing else: whatever an agent may do, and whom it has its archive from, is said here.
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
from ....core.material import clip, fenced, material
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
"""Characters, as the next one."""
LONGEST_PERSONA = 1_200
LONGEST_NICHE = 128


@dataclass(frozen=True, kw_only=True, slots=True)
class Persona:
    """Who an agent is to be.

    Attributes:
        reason: Why, in the words of who wrote it.
    """

    agent: Agent
    reason: str


async def persona(
    model: OperatorModel,
    path: str,
    event: LifecycleEvent,
    agents: Sequence[Agent],
    tasks: Sequence[str] = (),
) -> Persona | RejectedProposal:
    """Have a persona written once, for what is due.

    Args:
        event: What is due. The prompt is called as its operator is.
        agents: Whose personas are shown, at least one; the first one's is written anew.
        tasks: Tasks of the niche that it is for, to see what that means.
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
    """Return the first paragraph of an agent's prompt, and the rest."""
    text = catalogue.prompt(agent.prompt) if is_prompt_id(agent.prompt) else agent.prompt
    first, _, rest = (text or "").strip().partition("\n\n")
    return first, rest.strip()


def _read(
    model: OperatorModel, event: LifecycleEvent, agents: Sequence[Agent], text: str
) -> Persona:
    """Read a persona; what is longer than its room is cut."""
    limits = model.limits
    shape = closed(reason=ANY_TEXT, title=ANY_TEXT, persona=ANY_TEXT)
    fields = structured(text, shape, limits)
    title, words = (
        scrubbed(on_one_line(fields[name]))[: field["maxLength"]].strip()
        for name, field in _fields(limits).items()
    )
    if empty := [name for name, word in (("title", title), ("persona", words)) if not _says(word)]:
        raise InvalidAnswer(f"{' and '.join(empty)}: nothing is said there. Write some words.")
    first, rest = _parts(agents[0], model.catalogue)
    if event.operator != "merge" and words == on_one_line(first):
        raise InvalidAnswer("persona: this is the one that was shown. Write another one.")
    agent = replace(agents[0], role=title, prompt=material(words, rest))
    return Persona(agent=_checked(agent, model), reason=fields["reason"])


def _says(text: str) -> bool:
    return any(map(str.isalnum, text))


def _checked(agent: Agent, model: OperatorModel) -> Agent:
    """Make sure that an agent may be so."""
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
    """Make an operator of what comes of an event once a model has written a persona for it."""

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
    """Make a twin of an agent, whose persona puts weight on a niche (EvoChamber App. E.1).

    It begins with the agent's archive and competence, and with no tasks. The agent stays as it is.
    """
    return (_addition(event, new_persona, agents),)


def _merged(event: LifecycleEvent, new_persona: Persona, agents: Sequence[Agent]) -> Changes:
    """Make one agent of two, which are retired (EvoChamber App. E.1).

    It begins with both archives, and is as the first of them is but for its persona.
    """
    why = f"merged: {event.why}"
    return (
        _addition(event, new_persona, agents),
        *(Retired(member=agent.id, reason=why) for agent in agents),
    )


def _founded(event: LifecycleEvent, new_persona: Persona, _founder: Sequence[Agent]) -> Changes:
    """Make a new agent for a niche, like the founder, with nothing in its archive (App. E.1)."""
    return (_addition(event, new_persona, ()),)


def _specialized(event: LifecycleEvent, new_persona: Persona, agents: Sequence[Agent]) -> Changes:
    """Nudge an agent's persona towards a niche (EvoChamber §3.5). It stays who it is."""
    return (Revised(agent=agents[0].id, to=new_persona.agent, reason=_reason(event, new_persona)),)


def unwritten(event: LifecycleEvent, agents: Sequence[Agent]) -> Changes:
    """Return what is done without the persona that nobody wrote.

    Two are merged all the same, under the persona of the first. Nothing comes of anything else.
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
    """Retire an agent; nobody is asked. Its folder and its lessons stay, for whoever reads them.

    Args:
        tasks: None.
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

"""Personas: what an agent is told that it is, written anew while the agent stays what it may do.

The persona is the first paragraph of an agent's prompt; its title is its role. Whatever follows
that paragraph, like the form in which it is to answer, is not the persona's and stays, as do its
model, its tools and its limits.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .....pool.ledger.agents import check_agent
from .....schema.team.team import is_prompt_id
from .....schema.values.errors import ConfigError
from .....schema.values.secrets import scrubbed
from .....schema.values.terminal import on_one_line
from ....core.answers import InvalidAnswer, closed, reason_schema, structured, told
from ....core.material import clip, fenced, material
from ....core.meta import Question, prompt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .....schema.host.catalogue import Catalogue
    from .....schema.team.team import Agent
    from ....core.bounds import Bounds
    from ....core.meta import OperatorModel
    from ....core.proposal import RejectedProposal
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
    meta: OperatorModel,
    path: str,
    event: LifecycleEvent,
    agents: Sequence[Agent],
    tasks: Sequence[str] = (),
) -> Persona | RejectedProposal:
    """Have a persona written once, for what is due.

    Args:
        path: Which question this is: `task 12/lifecycle/0 fork`.
        event: What is due. The prompt is called as its operator is.
        agents: Whose personas are shown, at least one; the first one's is written anew.
        tasks: Tasks of the niche that it is for, to see what that means.
    """
    limits = meta.limits
    fields = _fields(limits)
    question = Question(
        operator=event.operator,
        instructions=prompt(
            event.operator,
            has_niche=bool(event.niche),
            **{k: v["maxLength"] for k, v in fields.items()},
        ),
        material=material(
            *(_shown(agent, meta.catalogue, limits) for agent in agents),
            fenced("niche", (event.niche or "")[:LONGEST_NICHE]),
            *(
                fenced("example", clip(task, limits.task_characters // len(tasks)))
                for task in tasks
            ),
        ),
        schema=closed(reason=reason_schema(limits), **fields),
        read=functools.partial(_read, meta, event, agents),
        parents=event.agents,
        inputs={"event": event, "agents": agents, "tasks": tasks},
    )
    return await meta.ask(path, question)


def _fields(bounds: Bounds) -> dict[str, Any]:
    longest = {"title": LONGEST_TITLE, "persona": min(LONGEST_PERSONA, bounds.characters)}
    return {
        name: {"type": "string", "minLength": 1, "maxLength": most}
        for name, most in longest.items()
    }


def _shown(agent: Agent, catalogue: Catalogue, bounds: Bounds) -> str:
    first, rest = _parts(agent, catalogue)
    return material(
        fenced("persona", material(agent.role, clip(first, bounds.characters)), agent.id),
        fenced("stays", clip(rest, bounds.characters), agent.id),
    )


def _parts(agent: Agent, catalogue: Catalogue) -> tuple[str, str]:
    """Give the first paragraph of an agent's prompt, and the rest."""
    text = catalogue.prompt(agent.prompt) if is_prompt_id(agent.prompt) else agent.prompt
    first, _, rest = (text or "").strip().partition("\n\n")
    return first, rest.strip()


def _read(
    meta: OperatorModel, event: LifecycleEvent, agents: Sequence[Agent], text: str
) -> Persona:
    """Read a persona; what is longer than its room is cut."""
    limits, anything = meta.limits, {"type": "string"}
    shape: Mapping[str, Any] = closed(reason=anything, title=anything, persona=anything)
    said = structured(text, shape, limits)
    title, words = (
        scrubbed(on_one_line(said[name]))[: field["maxLength"]].strip()
        for name, field in _fields(limits).items()
    )
    if empty := [name for name, one in (("title", title), ("persona", words)) if not _says(one)]:
        raise InvalidAnswer(f"{' and '.join(empty)}: nothing is said there. Write some words.")
    first, rest = _parts(agents[0], meta.catalogue)
    if event.operator != "merge" and words == on_one_line(first):
        raise InvalidAnswer("persona: this is the one that was shown. Write another one.")
    agent = replace(agents[0], role=title, prompt=material(words, rest))
    return Persona(agent=_checked(agent, meta), reason=said["reason"])


def _says(text: str) -> bool:
    return any(map(str.isalnum, text))


def _checked(agent: Agent, meta: OperatorModel) -> Agent:
    """Make sure that an agent may be so."""
    if is_prompt_id(agent.prompt):
        raise InvalidAnswer("persona: one word is none. Write sentences.")
    try:
        check_agent(agent, meta.catalogue, meta.ceiling)
    except ConfigError as error:
        raise InvalidAnswer(*told(error.problems)) from None
    return agent

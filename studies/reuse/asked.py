"""Counts the calls of a child that runs after its parent, by the team and the kind of edit.

What counts is who reads something else than before, whatever the task is. So the model is made up:
it answers in the form that is asked for, and the same to the same under the same seed.
"""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from coterie.operators.core.proposal import Parent, RejectedProposal
from coterie.operators.methods.evomas.crossover import can_cross, crossover
from coterie.operators.methods.search.chance import Chance, chance
from coterie.operators.methods.search.components import MUTABLE
from coterie.pool.teams.sources import load_source
from coterie.runtime.gateway import ChatAnswer, ToolRequest
from coterie.runtime.plan.plan import compile
from coterie.runtime.record.journal import Journal
from coterie.runtime.runs.parent_reuse import ParentRunReuse
from coterie.runtime.runs.whole import perform
from coterie.runtime.values.usage import Usage
from coterie.schema import Catalogue, Model, Task
from coterie.schema.loading.ceiling import CapabilityPolicy
from coterie.schema.loading.seeds import SEED, seed_files

from ..gateways import OfflineGateway
from ..simulated import in_memory, services_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from coterie.operators.core.proposal import Proposal
    from coterie.runtime.gateway import ChatRequest
    from coterie.runtime.runs.services import Services
    from coterie.schema import Team
    from coterie.schema.edits import Component

CROSSOVER = "crossover"
KINDS = (*MUTABLE, CROSSOVER)
ALIASES = ("default", "small", "large")
TASK = Task(id="one", query="What is 3 + 4?")
WORDS = ("3 + 4", "7", "8 - 1", "8", "answer: 7")
IN_REPOSITORY = frozenset({"mini-swe-agent", "swe-agent"})
HALF = 0.5
END = "final_answer"
"""The tool by which agents of a library end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Calls:
    """The calls of a child.

    Attributes:
        asked: Those that were made.
        whole: Those that its run is made of, whoever made them.
    """

    asked: int
    whole: int


@cache
def teams() -> Mapping[str, Team]:
    """Return the seed teams, but for those that work in a repository."""
    known = _catalogue()
    table = {name: load_source(f"{SEED}{name}", known) for name in seed_files()}
    return {name: item for name, item in table.items() if not _backends(item) & IN_REPOSITORY}


def _backends(team: Team) -> set[str]:
    return {team.backend_of(agent) for agent in team.agents.values()}


def asked(name: str, kind: str, number: int) -> Calls | None:
    """Run a child after its parent; None, where this kind of edit has nothing to change.

    Args:
        name: The seed team.
        kind: What is changed of it: a component, or a crossover with another seed team.
        number: Which child: where chance comes from.
    """
    return asyncio.run(_asked(name, kind, number))


async def _asked(name: str, kind: str, number: int) -> Calls | None:
    first = teams()[name]
    pair = await _crossed(first, number) if kind == CROSSOVER else _mutated(first, kind, number)
    if pair is None:
        return None
    proposal, others = pair
    with in_memory() as folder, Journal.open(folder) as journal:
        gateway = _Simulated(_catalogue().models)
        services = services_of(gateway, seed=number)
        parents = [
            await _run(team, f"candidate {place}/", (), services, journal)
            for place, team in enumerate([proposal.base, *others])
        ]
        before = gateway.calls
        child = await _run(proposal.child, "child/", parents, services, journal)
    count = gateway.calls - before
    return Calls(asked=count, whole=count + child.saved.calls)


async def _run(
    team: Team, place: str, parents: Iterable[ParentRunReuse], services: Services, journal: Journal
) -> ParentRunReuse:
    """Run a team; give its descent, which knows what it was spared."""
    plan = compile(team, _catalogue())
    takes_seed = services.gateway.takes_seed
    await services.prepare(plan)
    descent = ParentRunReuse.of(journal, place, plan, [*parents], takes_seed=takes_seed)
    await perform(plan, TASK, services.context(journal=descent), path=place)
    return descent


def _mutated(team: Team, kind: str, number: int) -> tuple[Proposal, list[Team]] | None:
    components: dict[str, Component] = {item: item for item in MUTABLE}
    result = chance(
        team, components[kind], _catalogue(), _ceiling(), path=f"{team.name}/{kind}", seed=number
    )
    return None if isinstance(result, RejectedProposal) else (result, [])


async def _crossed(team: Team, number: int) -> tuple[Proposal, list[Team]] | None:
    partners = [item for item in teams().values() if item is not team and can_cross(team, item)]
    if not partners:
        return None
    source = random.Random(f"{team.name}/{number}")  # noqa: S311 - guards nothing
    other = source.choice(partners)
    drawn = Chance(catalogue=_catalogue(), ceiling=_ceiling(), seed=number)
    first, second = Parent(team=team), Parent(team=other)
    result = await crossover(drawn, f"{team.name}/crossover", TASK, first, second)
    if isinstance(result, RejectedProposal):
        return None
    return result, [item for item in (team, other) if item != result.base]


@cache
def _catalogue() -> Catalogue:
    models = {alias: Model(alias=alias, model=f"simulated/{alias}") for alias in ALIASES}
    return Catalogue.of_host(models=models)


@cache
def _ceiling() -> CapabilityPolicy:
    return replace(CapabilityPolicy.of(*teams().values()), models=frozenset(ALIASES))


class _Simulated(OfflineGateway):
    """A gateway that asks nobody, and counts. An answer is a function of the request."""

    def __init__(self, models: Mapping[str, Model]) -> None:
        super().__init__(models, environment={})
        self.calls = 0

    def takes_seed(self, alias: str) -> bool:
        """Answer the same to the same, under the same seed."""
        return alias in self.models

    async def chat(self, request: ChatRequest, *_: Any, **__: Any) -> ChatAnswer:
        """Answer in the form that is asked for."""
        self.calls += 1
        shown = json.dumps([request.model, request.temperature, *map(dict, request.messages)])
        source = random.Random(f"{request.seed}/{shown}")  # noqa: S311 - guards nothing
        text, called = source.choice(WORDS), ()
        if request.schema is not None:
            text = json.dumps(_fitting(request.schema, source))
        elif any(tool["function"]["name"] == END for tool in request.tools):
            called = (ToolRequest(id="call", name=END, arguments=json.dumps({"answer": text})),)
        elif END in shown:
            text = f"It is easy.\n```python\n{END}({text!r})\n```"
        usage = Usage(calls=1, prompt_tokens=len(shown), completion_tokens=len(text))
        return ChatAnswer(
            text=text, tool_calls=called, usage=usage, model=request.model, alias=request.model
        )


def _fitting(form: Mapping[str, Any], source: random.Random) -> Any:
    """Draw a value of a form that seed teams ask for."""
    drawn: Any = source.choice(WORDS)
    match form:
        case {"anyOf": forms}:
            drawn = _fitting(source.choice(forms), source)
        case {"const": value}:
            drawn = value
        case {"enum": values}:
            drawn = source.choice(values)
        case {"type": "object", "properties": fields}:
            drawn = {name: _fitting(field, source) for name, field in fields.items()}
        case {"type": "array", "items": items}:
            least = form.get("minItems", 0)
            count = min(source.randint(least, least + 2), form.get("maxItems", least + 2))
            drawn = [_fitting(items, source) for _ in range(count)]
        case {"type": "integer" | "number"}:
            drawn = source.randint(int(form.get("minimum", 0)), int(form.get("maximum", 9)))
        case {"type": "boolean"}:
            drawn = source.random() < HALF
        case _:
            pass
    return drawn

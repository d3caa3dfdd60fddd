"""An operator at work with a scripted model, and what it told and asked."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from coterie.operators import Bounds, MetaModel, Parent, RejectedProposal
from coterie.runtime import Budget, Calls, Caps, Gateway, Journal
from coterie.runtime.doubles import Call, Replies, ScriptedModel
from coterie.schema import Agent, Catalogue, Model, Task, Team, load_team
from coterie.schema.loading.ceiling import CapabilityPolicy

Result = TypeVar("Result")

TASK = Task(id="apples", query="How many apples?", context="There were 7.", answer="7 or so")
ALIASES = ("default", "fast")
NOTHING: Mapping[str, str] = {}


def catalogue(**models: Model) -> Catalogue:
    known = {alias: Model(alias=alias, model=f"openai/{alias}") for alias in ALIASES}
    return Catalogue.of_host(models={**known, **models})


def seed(name: str) -> Team:
    return load_team(f"seeds/{name}.yaml", catalogue())


def llm(agent_id: str, **fields: Any) -> Agent:
    given: dict[str, Any] = {"prompt": f"You are [{agent_id}]. Answer.", **fields}
    return Agent(id=agent_id, **given)


def team(name: str, *agents: Agent, edges: Mapping[str, tuple[str, ...]] | None = None) -> Team:
    """A team; by default, all report to the last."""
    *workers, last = (agent.id for agent in agents)
    given = dict.fromkeys(workers, (last,)) if edges is None else edges
    return Team(name=name, agents={agent.id: agent for agent in agents}, reports_to=given)


PAIR = team("pair", llm("worker", role="worker"), llm("judge", role="judge"))


def ceiling_of(*teams: Team) -> CapabilityPolicy:
    """The teams' own ceiling, but for models and size."""
    return replace(CapabilityPolicy.of(*teams), models=frozenset(ALIASES), agents=None, edges=None)


@dataclass(frozen=True, kw_only=True)
class Asked(Generic[Result]):
    """What came of it.

    Attributes:
        result: The operator's result.
        events: What it told: type and fields.
        calls: What the model was asked.
    """

    result: Result
    events: list[tuple[str, dict[str, Any]]]
    calls: list[Call]

    def events_of(self, event: str) -> list[dict[str, Any]]:
        """The fields of the events of a type."""
        return [fields for name, fields in self.events if name == event]


def asking(
    replies: Replies,
    work: Callable[[MetaModel], Awaitable[Result]],
    *,
    ceiling: CapabilityPolicy | None = None,
    bounds: Bounds | None = None,
    journal: Journal | None = None,
    budget: str = "",
    notes: Mapping[str, str] = NOTHING,
    scrub: Callable[[str], str] = lambda text: text,
) -> Asked[Result]:
    """Let an operator do its work with a scripted model."""
    events: list[tuple[str, dict[str, Any]]] = []

    def tell(event: str, /, **fields: Any) -> None:
        events.append((event, fields))

    with ScriptedModel(replies) as model:
        here = {
            aliase: Model(
                alias=aliase, model=aliase, api_base=model.api_base, notes=notes.get(aliase, "")
            )
            for aliase in ALIASES
        }

        async def until_done() -> Result:
            async with Gateway(here, seed=0, environment={}) as gateway:
                meta = MetaModel(
                    calls=Calls(gateway=gateway, journal=journal, seed=1, scrub=scrub),
                    catalogue=catalogue(**here),
                    ceiling=ceiling or ceiling_of(PAIR),
                    budget=Budget(Caps.parse(budget)) if budget else None,
                    tell=tell,
                    bounds=bounds,
                )
                return await work(meta)

        result = asyncio.run(until_done())
    return Asked(result=result, events=events, calls=list(model.calls))


def dropped(
    ask: Callable[..., Asked[Any]], bad: Any, good: Any, **options: Any
) -> RejectedProposal:
    """See that a bad answer is repaired once, and dropped if it stays bad; return with what."""
    assert not isinstance(ask(bad, good, **options).result, RejectedProposal)
    lost = ask(bad, bad, **options)
    assert isinstance(lost.result, RejectedProposal)
    assert len(lost.calls) == 2
    [event] = lost.events_of("operator_dropped")
    assert event["operator"] == lost.result.operator
    return lost.result


def parent(of: Team = PAIR, **fields: Any) -> Parent:
    return Parent(team=of, **fields)

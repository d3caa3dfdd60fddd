"""Runs of teams on virtual time: what happens when is exact."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from coterie.runtime import Budget, Calls, Caps, Context, Run, Toolbox, Trace, compile, perform
from coterie.runtime.gateway import CallError, ChatAnswer
from coterie.runtime.record.trace import Event
from coterie.schema import Catalogue, Model, Team

from ..provider import Behaviour, Provider, answer, gateway_to, model
from ..virtual_time import run_virtually, virtual_clock
from .conftest import TASK, UNUSED, Scripted

FOR_EVER = 1e9
"""Seconds; more than any limit here."""


def run(
    team: Team,
    model_of_all: Behaviour | Provider,
    scripts: Mapping[str, Scripted] | None = None,
    *,
    on_event: Callable[[Event], None] = lambda _: None,
    batched: bool = False,
    caps: Caps | None = None,
    **fields: Any,
) -> tuple[Run, float]:
    """Run a team on virtual time; give what came of it and the seconds that passed."""
    known: Mapping[str, Model] = {"default": model(**fields)}
    plan = compile(team, Catalogue.of_host(models=known))
    scripted = {
        name: replace(plan.agents[name], runner=item) for name, item in (scripts or {}).items()
    }
    is_whole = isinstance(model_of_all, Provider)
    provider = model_of_all if is_whole else Provider(model_of_all)

    async def done() -> tuple[Run, float]:
        async with gateway_to(provider, *known.values()) as gateway, Toolbox() as toolbox:
            result = await perform(
                replace(plan, agents={**plan.agents, **scripted}),
                TASK,
                Context(
                    calls=Calls(gateway=gateway, are_batched=batched),
                    budget=Budget(caps or Caps(), clock=virtual_clock),
                    jails=UNUSED,
                    toolbox=toolbox,
                    trace=Trace(on_event),
                ),
            )
            return result, virtual_clock()

    return run_virtually(done())


def always(seconds: float) -> Behaviour:
    """Answer after so many seconds."""
    return by_agent({"": seconds})


def by_agent(
    seconds: Mapping[str, float], failing: Mapping[str, CallError] | None = None
) -> Behaviour:
    """Answer an agent after its seconds, or fail; `""` stands for all others."""

    async def behave(_model: str, body: Mapping[str, Any]) -> ChatAnswer:
        prompt = body["messages"][0]["content"]
        await asyncio.sleep(next(time for name, time in seconds.items() if _asks(name, prompt)))
        for name, error in (failing or {}).items():
            if _asks(name, prompt):
                raise error
        return answer()

    return behave


def _asks(name: str, prompt: str) -> bool:
    return not name or f"[{name}]" in prompt

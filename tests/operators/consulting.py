"""Teams that consult in rounds, and rounds that they made."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from coterie.operators.utterances import Utterance
from coterie.runtime import AgentOutcome, Run, compile
from coterie.runtime.carry import Carry
from coterie.runtime.declared import declared, repeating
from coterie.runtime.rounds import Next, Round, rounds
from coterie.schema import Agent, Execution, Rounds, Team

from .asking import catalogue, llm, team
from .rounds import did

Said = Mapping[tuple[str, int], AgentOutcome]
NOTHING: Said = {}


def consultation(*more: Agent, most: int = 2) -> Team:
    """Two doctors who repeat, one who reports to the other, and somebody who decides."""
    of = team(
        "ward",
        llm("heart", role="cardiology"),
        llm("brain", role="neurology"),
        llm("chief", role="decides"),
        *more,
        edges={"heart": ("brain", "chief"), "brain": ("chief",)},
    )
    rules = Rounds(most=most, until="never", closing=("chief",))
    return replace(of, execution=Execution(rounds=rules))


def made(of: Team, said: Said = NOTHING, *, settled: frozenset[str] = frozenset()) -> list[Round]:
    """The passes of a team whose agents say what is written, or who they are and in which round."""
    plan = compile(of, catalogue())
    between = declared(plan)

    async def one_pass(coming: Next, number: int) -> Run:
        agents = {
            one: coming.given.get(one) or said.get((one, number), did(f"{one} in {number}"))
            for one in coming.plan.agents
        }
        return Run(status="done", answer="7", answered_by=of.output, agents=agents)

    async def follow(done: tuple[Round, ...], /) -> Next | None:
        coming = await between(done)
        if coming is None or coming.is_closing or not settled:
            return coming
        given = {one: done[-1].run.agents[one] for one in settled}
        return replace(coming, given=given, carry=replace(coming.carry, bulletin="nothing new"))

    return list(asyncio.run(rounds(repeating(plan), one_pass, follow, most=between.most)))


def once(of: Team) -> list[Round]:
    """The only pass of a team that makes no rounds."""
    plan = compile(of, catalogue())
    agents = {one: did(f"{one} here") for one in of.agents}
    return [Round(number=1, plan=plan, carry=Carry(), run=Run(status="done", agents=agents))]


def utterance(agent: str = "heart", number: int = 1, said: str = "", read: str = "") -> Utterance:
    return Utterance(
        agent=agent,
        role=f"role of {agent}",
        round=number,
        read=read,
        said=said or f"{agent} in {number}",
    )

"""Teams that consult in rounds, and rounds that they made."""

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from coterie.operators.core.utterances import Utterance
from coterie.runtime import AgentOutcome, Run, compile
from coterie.runtime.agents.round_state import RoundState
from coterie.runtime.doubles import Reply, message_text
from coterie.runtime.doubles.script import Request
from coterie.runtime.rounds.declared import declared
from coterie.runtime.rounds.rounds import Next, Round, rounds
from coterie.schema import Agent, Execution, Rounds, Team

from .asking import catalogue, llm, team
from .evolving import asked
from .rounds import did

FORGETFUL = """\
name: ward
agents:
  heart: {role: cardiology, prompt: "You are [heart]."}
  brain: {role: neurology, prompt: "You are [brain]."}
  chief: {role: decides, prompt: "You are [chief]."}
topology: {reports_to: {heart: [brain, chief], brain: [chief]}}
execution: {rounds: {most: 2, until: never, closing: [chief]}}
"""
"""The file of a team that consults."""

RECALLED = "recall: {k: 2, kinds: [experience]}"
WARD = FORGETFUL.replace('[heart]."}', f'[heart].", {RECALLED}}}')
"""The same, where one of those who consult recalls its experience."""

Said = Mapping[tuple[str, int], AgentOutcome]
NOTHING: Said = {}


def chance_of(request: Request) -> float:
    """A number in [0, 1) that depends on what is asked alone."""
    text = json.dumps(request["messages"], sort_keys=True)
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 16**8


def doctors(request: Request) -> Reply:
    """Agents are right more often than not; judges and whoever distils answer in form."""
    wanted, chance = asked(request), chance_of(request)
    if "agents" in wanted:
        names = [*wanted["agents"]["properties"]]
        scores = {
            name: {"reason": f"{name} so", "score": round((chance * (place + 3)) % 1, 1)}
            for place, name in enumerate(names)
        }
        return Reply.json({"reason": "r", "agents": scores})
    if "rationale" in wanted:
        [who] = re.findall(r"of the agent (\w+)", message_text(request))
        fields = {"context": f"Two numbers, {who}.", "action": "Add.", "rationale": "It was right."}
        return Reply.json(fields)
    return Reply(text="7" if chance < 0.6 else "8")


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


def made(of: Team, answer: Said = NOTHING, *, settled: frozenset[str] = frozenset()) -> list[Round]:
    """The passes of a team whose agents say what is written, or who they are and in which round."""
    plan = compile(of, catalogue())
    between = declared(plan)

    async def one_pass(coming: Next, number: int) -> Run:
        agents = {
            agent: coming.preset.get(agent)
            or answer.get((agent, number), did(f"{agent} in {number}"))
            for agent in coming.plan.agents
        }
        return Run(status="done", answer="7", answered_by=of.output, agents=agents)

    async def follow(done: Sequence[Round], /) -> Next | None:
        coming = await between(done)
        if coming is None or coming.kind == "closing" or not settled:
            return coming
        given = {name: done[-1].run.agents[name] for name in settled}
        return replace(coming, preset=given, state=replace(coming.state, bulletin="nothing new"))

    return list(asyncio.run(rounds(between.first, one_pass, follow, most=between.most)))


def once(of: Team) -> list[Round]:
    """The only pass of a team that makes no rounds."""
    plan = compile(of, catalogue())
    agents = {agent: did(f"{agent} here") for agent in of.agents}
    return [Round(number=1, plan=plan, state=RoundState(), run=Run(status="done", agents=agents))]


def utterance(
    agent: str = "heart", number: int = 1, message: str = "", read: str = ""
) -> Utterance:
    return Utterance(
        agent=agent,
        role=f"role of {agent}",
        round=number,
        read=read,
        text=message or f"{agent} in {number}",
    )

"""Who took part in a run, what each of them read and said, and who read whose words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from .....runtime.agents.outcomes import AgentOutcome, Run
from .....runtime.gateway import Message
from .....runtime.messages.conversation import MEMORY, earlier
from .....schema.team.team import Team

SPEECH = frozenset({"message", "answer", "start"})
"""What is posted on the bus of an open roster that one agent says to another."""


def conversation(team: Team, outcome: AgentOutcome) -> tuple[Message, ...]:
    """Return what an agent read and said, as its model takes it when it goes on.

    Its instructions stay ahead, as they were; of a long conversation the oldest is left out.

    Args:
        team: The team, which says how much of it an agent is shown.
        outcome: The result of the agent, with its dialogue.
    """
    messages = outcome.dialogue
    roster = team.execution.roster
    instructions = messages[:1] if messages and messages[0]["role"] == "system" else ()
    return (*instructions, *earlier(messages, roster.memory if roster else MEMORY))


def speakers(team: Team, run: Run) -> tuple[str, ...]:
    """Name the agents that took part and can look back: those with a conversation."""
    return tuple(
        agent for agent in team.agents if agent in run.agents and run.agents[agent].dialogue
    )


def interactions(team: Team, run: Run) -> tuple[tuple[str, str], ...]:
    """Find who really exchanged messages: pairs of which one read what the other said.

    In an open roster that is who sent whom a message; elsewhere a report counts, where there was
    one and its reader came to read it. Agents that ask no model have nothing to settle.

    Returns:
        The pairs, each once, in the order in which the agents stand in the team.
    """
    place = {speaker: number for number, speaker in enumerate(speakers(team, run))}
    pairs = {
        (min(name, peer, key=place.__getitem__), max(name, peer, key=place.__getitem__))
        for name, peer in _read(team, run)
        if name != peer and {name, peer} <= place.keys()
    }
    return tuple(sorted(pairs, key=lambda pair: (place[pair[0]], place[pair[1]])))


def colleagues(team: Team, run: Run, agent: str) -> tuple[str, ...]:
    """Name those that an agent exchanged messages with."""
    pairs = interactions(team, run)
    return tuple(peer for pair in pairs if agent in pair for peer in pair if peer != agent)


def _read(team: Team, run: Run) -> Iterator[tuple[str, str]]:
    """Yield whose words reached whom, as far as both took part."""
    yield from ((message.sender, message.to) for message in run.bus if message.kind in SPEECH)
    for reader, senders in team.visible.items():
        for name in senders:
            outcome = run.agents.get(name)
            if outcome is not None and outcome.result is not None:
                yield name, reader
    consulting = [agent.id for agent in team.agents.values() if agent.consults]
    yield from product(consulting, consulting)

"""The participants of a run, their conversations, and who read whose messages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from .....runtime.agents.outcomes import AgentOutcome, Run
from .....runtime.gateway import Message
from .....runtime.messages.conversation import MEMORY, earlier
from .....schema.team.team import Team

SPEECH = frozenset({"message", "answer", "start"})
"""The kinds of bus messages in an open roster that count as one agent talking to another."""


def conversation(team: Team, outcome: AgentOutcome) -> tuple[Message, ...]:
    """Return an agent's conversation, in the form in which its model continues it.

    The instructions stay first and unchanged; the oldest messages of a long conversation are left
    out.

    Args:
        team: The team, which limits the length of the conversation.
    """
    messages = outcome.dialogue
    roster = team.execution.roster
    instructions = messages[:1] if messages and messages[0]["role"] == "system" else ()
    return (*instructions, *earlier(messages, roster.memory if roster else MEMORY))


def speakers(team: Team, run: Run) -> tuple[str, ...]:
    """Return the agents that can look back: those with a conversation."""
    return tuple(
        agent for agent in team.agents if agent in run.agents and run.agents[agent].dialogue
    )


def interactions(team: Team, run: Run) -> tuple[tuple[str, str], ...]:
    """Return the pairs of agents of which one really read a message of the other.

    In an open roster, these are the senders and receivers of messages. Elsewhere a report counts if
    it exists and its reader worked. Agents that call no model are left out.

    Returns:
        The pairs, each once, in the order of the team's agents.
    """
    place = {speaker: number for number, speaker in enumerate(speakers(team, run))}
    pairs = {
        (min(name, peer, key=place.__getitem__), max(name, peer, key=place.__getitem__))
        for name, peer in _read(team, run)
        if name != peer and {name, peer} <= place.keys()
    }
    return tuple(sorted(pairs, key=lambda pair: (place[pair[0]], place[pair[1]])))


def colleagues(team: Team, run: Run, agent: str) -> tuple[str, ...]:
    """Return the agents that exchanged messages with an agent."""
    pairs = interactions(team, run)
    return tuple(peer for pair in pairs if agent in pair for peer in pair if peer != agent)


def _read(team: Team, run: Run) -> Iterator[tuple[str, str]]:
    """Yield the sender and the reader of each message."""
    yield from ((message.sender, message.to) for message in run.bus if message.kind in SPEECH)
    for reader, senders in team.visible.items():
        for name in senders:
            outcome = run.agents.get(name)
            if outcome is not None and outcome.result is not None:
                yield name, reader
    consulting = [agent.id for agent in team.agents.values() if agent.consults]
    yield from product(consulting, consulting)

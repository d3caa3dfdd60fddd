"""An agent's conversation that goes on in a further turn: what it is shown of its earlier ones.

It consists of text: what a turn read and said, as `as_dialogue` keeps it. Nothing of it depends
on the backend, which sends its own messages and never sees the earlier ones: they are put in by the
agent's line to its model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..gateway import Message
from ..gateway.chat.messages import WORDLESS

MEMORY = 150
"""Messages of its conversation that an agent is shown (Meta-Team Table 5)."""


def earlier(dialogue: Sequence[Message], most: int = MEMORY) -> tuple[Message, ...]:
    """Return a conversation as it is gone on with: without instructions, which are given anew.

    What tools gave is what the user says, because the calls are text, too; and who speaks twice
    says it in one message. So it is what any endpoint takes, whatever backend it began with: what
    the user says and what the agent says take turns.

    Args:
        dialogue: What was said, as `AgentOutcome.dialogue` has it.
    """
    joined: list[tuple[str, list[str]]] = []
    for message in dialogue:
        if (role := message["role"]) == "system":
            continue
        speaker = "assistant" if role == "assistant" else "user"
        if not joined or joined[-1][0] != speaker:
            joined.append((speaker, []))
        joined[-1][1].append(str(message.get("content") or WORDLESS))
    records = [{"role": role, "content": "\n\n".join(texts)} for role, texts in joined]
    return shortened(records, most)


def shortened(messages: Sequence[Message], most: int = MEMORY) -> tuple[Message, ...]:
    """Leave the oldest out of a conversation that is too long.

    How it begins stays: the instructions, and the first question. A call and its results stay, or
    go, together: what the agent said, and what it was answered.

    Args:
        messages: The conversation, text only or as a chat API has it.
    """
    if len(messages) <= most:
        return tuple(messages)
    begun = _beginning(messages)
    rest: list[Message] = []
    for pair in reversed(_pairs(messages[begun:])):
        if begun + len(rest) + len(pair) > most:
            break
        rest = [*pair, *rest]
    return (*messages[: min(begun, most)], *rest)


def continued(messages: Sequence[Message], before: Sequence[Message]) -> Sequence[Message]:
    """Put an earlier conversation between the instructions and what is said now."""
    if not before:
        return messages
    instructions = _instructions(messages)
    return [*messages[:instructions], *before, *messages[instructions:]]


def _instructions(messages: Iterable[Message]) -> int:
    """Count the instructions that messages begin with."""
    count = 0
    for message in messages:
        if message["role"] != "system":
            break
        count += 1
    return count


def _beginning(messages: Sequence[Message]) -> int:
    """Count the messages that a conversation begins with: instructions, and one question."""
    count = _instructions(messages)
    return count + (messages[count]["role"] == "user" if count < len(messages) else 0)


def _pairs(messages: Sequence[Message]) -> list[list[Message]]:
    """Part messages into what stays together: what was said, and its results.

    Results are what tools gave; where calls are text, it is what the user says next.
    """
    pairs: list[list[Message]] = []
    last = ""
    for message in messages:
        role = message["role"]
        answers = role == "tool" or (role == "user" and last == "assistant")
        if answers and pairs:
            pairs[-1].append(message)
        else:
            pairs.append([message])
        last = role
    return pairs

"""An agent's conversation across turns: what it is shown of its earlier ones.

It consists of text: the input and output of a turn, as kept by `as_dialogue`. It does not depend on
the backend, which sends its own messages and never sees the earlier ones: the agent's model client
inserts them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..gateway import Message
from ..gateway.chat.messages import WORDLESS

MEMORY = 150
"""Messages of its conversation that an agent is shown (Meta-Team Table 5)."""


def earlier(dialogue: Sequence[Message], most: int = MEMORY) -> tuple[Message, ...]:
    """Return a conversation to continue, without its instructions, which are given anew.

    Tool results become the user's messages, because calls are text, too, and consecutive messages
    of one role become one. So user and agent take turns, and any endpoint accepts the conversation,
    whatever backend began it.

    Args:
        dialogue: The conversation, in the form of `AgentOutcome.dialogue`.
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
    """Remove the oldest messages of a conversation that is too long.

    Its beginning stays: the instructions and the first question. A call and its results stay or
    go together.

    Args:
        messages: The conversation, as text only or in a chat API's form.
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
    """Insert an earlier conversation between the instructions and the new messages."""
    if not before:
        return messages
    instructions = _instructions(messages)
    return [*messages[:instructions], *before, *messages[instructions:]]


def _instructions(messages: Iterable[Message]) -> int:
    """Count the instructions at the beginning of messages."""
    count = 0
    for message in messages:
        if message["role"] != "system":
            break
        count += 1
    return count


def _beginning(messages: Sequence[Message]) -> int:
    """Count the messages at the beginning of a conversation: instructions, and one question."""
    count = _instructions(messages)
    return count + (messages[count]["role"] == "user" if count < len(messages) else 0)


def _pairs(messages: Sequence[Message]) -> list[list[Message]]:
    """Split messages into groups that stay together: an agent's message, and its results.

    Results are tool messages; if calls are text, they are the user's next message.
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

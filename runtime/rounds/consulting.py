"""Consulting: agents state what is new in their opinion until none has anything new (MATTRL §3.1).

An agent's opinion is the set of its statements so far, and an increment is what its latest
utterance adds to that set (MATTRL Eq. 5). A repeated statement is never new, whatever the agent
calls it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...schema.values.json_text import dumps
from ...schema.values.values import is_list
from ..values.structured import object_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..agents.outcomes import AgentOutcome
    from .rounds import Round

LONGEST_BULLETIN = 4_000
LONGEST_STATEMENT = 400
"""Characters of a statement; a longer one is cut, and the bulletin says so."""


def increment(outcome: AgentOutcome) -> tuple[str, ...]:
    """Return the statements that an utterance gives as new, each on one line."""
    items = _value(outcome).get("increment")
    statements = (_one_line(item) for item in items) if is_list(items) else ()
    return tuple(statement for statement in statements if statement)


def increments(past: Sequence[Round], agent: str) -> Mapping[int, tuple[str, ...]]:
    """Return the new statements of each of an agent's utterances, by round number.

    Args:
        agent: The agent that consults. A round in which it was preset or absent has no utterance.
    """
    statements: set[str] = set()
    new: dict[int, tuple[str, ...]] = {}
    for item in _uttered(past, agent):
        fresh: list[str] = []
        for statement in increment(item.run.agents[agent]):
            if (key := _normalised(statement)) not in statements:
                statements.add(key)
                fresh.append(statement)
        new[item.number] = tuple(fresh)
    return new


def has_converged(past: Sequence[Round], agent: str) -> bool:
    """Return whether an agent's latest utterance added nothing new (MATTRL §3.1).

    An agent that failed has not converged.
    """
    uttered = [*_uttered(past, agent)]
    if not uttered or uttered[-1].run.agents[agent].status != "done":
        return False
    return not increments(past, agent)[uttered[-1].number]


def news(past: Sequence[Round], agents: Iterable[str]) -> tuple[str, ...]:
    """Return the agents that stated something new in the last round."""
    number = max((item.number for item in past if item.kind == "round"), default=0)
    return tuple(agent for agent in agents if increments(past, agent).get(number))


def opinion(past: Sequence[Round], agent: str) -> str:
    """Write an agent's whole opinion and the remaining fields of its latest utterance."""
    texts = [f"- {name}" for new in increments(past, agent).values() for name in new]
    return "\n".join([*texts, *_others(past, agent)])


def whole(past: Sequence[Round], agent: str) -> AgentOutcome | None:
    """Replace the agent's latest utterance by its whole opinion, by round (MATTRL Eq. 7).

    Returns:
        Its last successful outcome with that content; None if it has none.
    """
    outcomes = [item.run.agents[agent] for item in _uttered(past, agent)]
    last = next((outcome for outcome in reversed(outcomes) if outcome.result is not None), None)
    if last is None or last.result is None:
        return None
    lines: list[str] = []
    for number, new in increments(past, agent).items():
        lines += [f"In round {number}:", *(f"- {name}" for name in new)] if new else []
    content = "\n".join([*lines, *_others(past, agent)])
    return replace(last, result=replace(last.result, content=content or "Nothing."))


def bulletin(past: Sequence[Round], agents: Sequence[str]) -> str:
    """Merge the increments of all rounds by rule (MATTRL Eq. 6).

    Statements that differ only in case and spaces are merged, with all their authors. The oldest
    statements are left out if the bulletin would be too long.
    """
    fields: dict[str, tuple[str, list[str]]] = {}
    for agent, statement in _by_round(past, agents):
        _, speakers = fields.setdefault(_normalised(statement), (statement, []))
        speakers += [agent] if agent not in speakers else []
    lines = [f"- {_cut(text)} ({', '.join(speakers)})" for text, speakers in fields.values()]
    return _bounded(lines)


def _bounded(lines: Sequence[str]) -> str:
    count, room = 0, LONGEST_BULLETIN
    for line in reversed(lines):
        room -= len(line) + 1
        if room < 0:
            break
        count += 1
    left = len(lines) - count
    first = [f"({left} earlier statement{'s' if left > 1 else ''} left out.)"] if left else []
    return "\n".join([*first, *lines[left:]])


def _by_round(past: Sequence[Round], agents: Sequence[str]) -> Iterator[tuple[str, str]]:
    new = {agent: increments(past, agent) for agent in agents}
    for number in sorted({number for by_round in new.values() for number in by_round}):
        for agent in agents:
            yield from ((agent, name) for name in new[agent].get(number, ()))


def _uttered(past: Sequence[Round], agent: str) -> Iterator[Round]:
    """Yield the rounds in which an agent worked."""
    for item in past:
        if item.kind == "round" and agent in item.run.agents and agent not in item.preset:
            yield item


def _others(past: Sequence[Round], agent: str) -> Sequence[str]:
    """Write the fields of an agent's latest utterance other than its increment."""
    records = [_value(item.run.agents[agent]) for item in _uttered(past, agent)]
    last = next((fields for fields in reversed(records) if fields), {})
    others = {name: item for name, item in last.items() if name != "increment"}
    return [dumps(others, ensure_ascii=False)] if others else []


def _value(outcome: AgentOutcome) -> dict[str, Any]:
    return object_in(outcome.result.content) if outcome.result else {}


def _one_line(item: Any) -> str:
    text = item if isinstance(item, str) else dumps(item, ensure_ascii=False)
    return " ".join(text.split())


def _normalised(statement: str) -> str:
    return statement.casefold()


def _cut(statement: str) -> str:
    short = statement[:LONGEST_STATEMENT]
    return statement if short == statement else f"{short} […]"

"""The steps of a recorded run, extracted from its events: what each agent said, did, and returned.

A run that was interrupted and resumed repeats the events that its journal answered. Such a step
counts once, at its first place. If its repetition differs, the repetition replaces it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...runtime.agents.outcomes import INFRASTRUCTURE
from ...schema.values.json_text import dumps
from .trace import RunStep

FUNCTION = "function"
"""The backend of agents that are user code, which is never blamed."""
INPUT_ROLES = frozenset({"user", "tool"})
"""The roles of messages that an agent did not write itself."""
PLACES = ("turn", "round")
"""The fields of an event that locate it in the run."""

Key = tuple[Any, ...]


def steps_of(events: Iterable[Mapping[str, Any]]) -> tuple[RunStep, ...]:
    """Return the steps of a run, by number."""
    reader = _StepFold()
    for event in events:
        reader.take(event)
    return tuple(step.step for step in sorted(reader.steps.values(), key=lambda item: item.number))


def blamable(events: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the agents of a run that can be blamed, in the order in which they started."""
    began = (event for event in events if event["type"] == "agent_started")
    backends = {fields["agent"]: fields.get("backend") for fields in began}
    return tuple(agent for agent, backend in backends.items() if backend != FUNCTION)


def outage_of(events: Iterable[Mapping[str, Any]], error: str) -> str | None:
    """Return the model outage that a run's error contains; None without one."""
    failures = (event["error"] for event in events if _is_outage(event))
    return next((failure for failure in failures if failure and failure in error), None)


def _is_outage(event: Mapping[str, Any]) -> bool:
    return event["type"] == "model_error" and event.get("kind") in INFRASTRUCTURE


@dataclass(kw_only=True, slots=True)
class _OpenStep:
    """A step under construction: its outcome follows later, or is in the steps of its tools."""

    number: int
    agent: str
    kind: str
    where: str
    text: str
    read: str = ""
    outcome: str = ""
    calls_tools: bool = False
    is_told_apart: bool = False

    @property
    def step(self) -> RunStep:
        words = f"\n\nWhat came of it:\n{self.outcome}" if self.outcome else ""
        kind = "action" if self.outcome and self.kind == "answer" else self.kind
        return RunStep(
            number=self.number,
            agent=self.agent,
            text=self.text + words,
            kind=kind,
            where=self.where,
            read=self.read,
        )


@dataclass(kw_only=True, slots=True)
class _StepFold:
    """Folds events into steps.

    Attributes:
        steps: The steps so far, by the fields that distinguish them.
        last: The last step of each agent, by part of the run.
        turn: The steps of each agent since it last took its mail, if there is mail.
        broke: The outages that hit an agent, by part of the run.
        counts: The number of equal steps of an agent since the process started.
    """

    steps: dict[Key, _OpenStep] = field(default_factory=dict[Key, _OpenStep])
    last: dict[Key, _OpenStep] = field(default_factory=dict[Key, _OpenStep])
    turn: dict[str, list[_OpenStep]] = field(default_factory=dict[str, list[_OpenStep]])
    messages: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    broke: dict[Key, str] = field(default_factory=dict[Key, str])
    counts: Counter[Key] = field(default_factory=Counter[Key])

    def take(self, event: Mapping[str, Any]) -> None:
        """Add the next event."""
        if event["type"] == "run_started":
            self.counts.clear()
        if "agent" not in event or "operator" in event:
            return
        match event["type"]:
            case "model_call":
                self._keep_message(event)
            case "model_error" if _is_outage(event):
                self.broke[_part(event)] = event["error"]
            case "tool_call":
                self._used(event)
            case "step_failed":
                self._counted(event, "failure", f"step failed: {event['error']}")
            case "agent_finished":
                self._ended(event)
            case "mail_taken":
                self.turn.pop(event["agent"], None)
            case "message_posted":
                self._posted(event)
            case _:
                pass

    def _keep_message(self, event: Mapping[str, Any]) -> None:
        part, agent = _part(event), event["agent"]
        attempt, _, call = event["path"].rpartition("/")
        news = list(_news(event["messages"]))
        read, last = "", self.last.get(part)
        if call == "call 1":
            read = "\n\n".join(name for name in news if name not in self.messages[agent])
        elif last is not None and not last.is_told_apart:
            last.outcome = "\n\n".join(news)
        self.messages[agent].update(news)
        step = _OpenStep(
            number=event["n"],
            agent=agent,
            kind="action" if event["tool_calls"] else "answer",
            calls_tools=bool(event["tool_calls"]),
            where=_where(event, attempt),
            text="\n".join(_spoken(event)),
            read=read,
        )
        self._keep(("said", event["path"]), part, step)

    def _used(self, event: Mapping[str, Any]) -> None:
        if (last := self.last.get(_part(event))) is not None:
            last.is_told_apart = last.calls_tools
        arguments = dumps(event["arguments"], ensure_ascii=False)
        text = f"failed: {event['error']}" if event.get("error") else f"gave: {event.get('result')}"
        self._counted(event, "tool", f"{event['tool']} {arguments}\n{text}")

    def _ended(self, event: Mapping[str, Any]) -> None:
        part, content = _part(event), event.get("content")
        if event["status"] == "failed" and event["attempts"] and not self._is_excused(event):
            self._counted(event, "failure", f"failed: {event['error']}")
        elif content and content.strip() not in self._last_text(part):
            self._counted(event, "outcome", content)

    def _posted(self, event: Mapping[str, Any]) -> None:
        """Add a sent message, unless the step that sent it contains its text."""
        text = event["text"]
        written = dumps(text, ensure_ascii=False)[1:-1]
        words = "\n".join(item.text for item in self.turn.get(event["agent"], ()))
        if text and text not in words and written not in words:
            to = f" to {event['to']}" if event.get("to") else ""
            self._counted(event, "message", f"{event['kind']}{to}: {text}")

    def _is_excused(self, event: Mapping[str, Any]) -> bool:
        """Return whether an agent failed because of an outage."""
        error = self.broke.get(_part(event))
        return error is not None and error in (event["error"] or "")

    def _last_text(self, part: Key) -> str:
        """Return what an agent wrote and read last, which mostly contains its result."""
        last = self.last.get(part)
        return f"{last.text}\n{last.outcome}" if last else ""

    def _counted(self, event: Mapping[str, Any], kind: str, text: str) -> None:
        """Keep a step that is identified by its content and the number of equal steps before it."""
        part = _part(event)
        alike = (kind, *part, text)
        self.counts[alike] += 1
        step = _OpenStep(
            number=event["n"], agent=event["agent"], kind=kind, where=_where(event), text=text
        )
        self._keep((*alike, self.counts[alike]), part, step)

    def _keep(self, key: Key, part: Key, step: _OpenStep) -> None:
        """Keep a step; an earlier one with the same key stays, unless its text differs."""
        before = self.steps.get(key)
        if before is None or before.text != step.text:
            self.steps.pop(key, None)
            self.steps[key] = before = step
        self.turn.setdefault(step.agent, []).append(before)
        if step.kind in {"answer", "action"}:
            self.last[part] = before


def _part(event: Mapping[str, Any]) -> Key:
    """Return the agent and the part of the run of an event."""
    return (event["agent"], *(event.get(place) for place in PLACES))


def _where(event: Mapping[str, Any], path: str = "") -> str:
    """Return the part of the run in words, with the agent's attempt unless it is the first."""
    named = ((place, event[place]) for place in PLACES if place in event)
    texts = [f"{place} {at}" if isinstance(at, int) else str(at) for place, at in named]
    attempt = path.rpartition("/")[2]
    return ", ".join([*texts, *([attempt] if attempt not in {"", "attempt 1"} else [])])


def _spoken(event: Mapping[str, Any]) -> Iterator[str]:
    if event["text"].strip():
        yield event["text"]
    for call in event["tool_calls"]:
        yield f"calls {call['name']} {call['arguments']}"


def _news(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the messages that an agent got since its last answer."""
    spoke = [place for place, fields in enumerate(messages, 1) if fields["role"] == "assistant"]
    for message in messages[spoke[-1] if spoke else 0 :]:
        if message["role"] in INPUT_ROLES and (text := _text(message.get("content"))):
            yield text


def _text(content: object) -> str:
    """Return the text of a message, which some backends write in parts."""
    if isinstance(content, str):
        return content
    parts: list[Any] = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if part.get("type") == "text")

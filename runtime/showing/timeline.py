"""Who worked when in a run, what waited for whom, and which chain of work took all the time."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

SAME = 0.005
"""Seconds that may lie between the end of one's work and the start of what waited for it."""

WORKS = {
    "model_call": "model",
    "model_error": "model",
    "model_retried": "model",
    "tool_call": "tool",
}
"""The events that tell of a call, and what was called."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TimelineCall:
    """A call of a model or of a tool within somebody's work.

    Attributes:
        kind: `model` or `tool`.
        start: Seconds since the start of the run.
        number: That of the event which told it.
    """

    kind: str
    start: float
    end: float
    number: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A time in which an agent worked.

    Attributes:
        start: Seconds since the start of the run.
        end: The same; where it has no end, the last that is known of the run.
        received: Whose reports it read, or whose messages.
        round: The round that it is of; empty where there are none.
        waited_for: Who was the last that it waited for; empty, where it waited for nobody.
        is_critical: Whether the run would have ended sooner had this taken less time.
        took: How long it took, as the event of its end says it; None: nothing says so.
    """

    agent: str
    start: float
    end: float
    is_open: bool
    received: tuple[str, ...] = ()
    round: str = ""
    waited_for: str = ""
    is_critical: bool = False
    took: float | None = None

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.end - self.start if self.took is None else self.took


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """The times of a run. A run that was gone on with is told as one, its pauses left out.

    Attributes:
        spans: When each agent worked, in the order of their starts.
        times: For each event by its number, when it happened.
        breaks: When the run was gone on with.
        end: The last that is known; all in seconds.
    """

    spans: Sequence[Span]
    works: Mapping[str, Sequence[TimelineCall]]
    times: Mapping[int, float]
    breaks: Sequence[float]
    end: float

    @classmethod
    def of(cls, events: Iterable[Mapping[str, Any]]) -> Timeline:
        """Read it off the events of a run."""
        reading = _TimelineFold()
        for event in events:
            reading.read(event)
        return cls(
            spans=_marked(sorted(reading.ended(), key=lambda span: span.start)),
            works=reading.works,
            times=reading.times,
            breaks=reading.breaks,
            end=reading.now,
        )

    def of_agent(self, agent: str) -> Sequence[Span]:
        """Return the times in which an agent worked."""
        return self._by_agent.get(agent, ())

    @cached_property
    def _by_agent(self) -> Mapping[str, list[Span]]:
        by_agent: defaultdict[str, list[Span]] = defaultdict(list)
        for span in self.spans:
            by_agent[span.agent].append(span)
        return by_agent

    def seconds_of(self, agent: str) -> float:
        """Return how long an agent worked in all: the one figure that is shown of it everywhere.

        That is from its start to its end, in all rounds and turns, with what it waited for models,
        tools and retries. Work that an interruption cut short counts; what was only taken from a
        journal or from a parent's run does not count again.
        """
        return sum(span.seconds for span in self.of_agent(agent))

    def seconds(self, agent: str, kind: str) -> float:
        """Sum up how long an agent waited for models, or for tools; what overlaps counts once."""
        works = [call for call in self.works.get(agent, ()) if call.kind == kind]
        total = reached = 0.0
        for work in sorted(works, key=lambda call: call.start):
            total += max(0.0, work.end - max(work.start, reached))
            reached = max(reached, work.end)
        return total


@dataclass(eq=False)
class _TimelineFold:
    """What is known after some events."""

    offset: float = 0.0
    now: float = 0.0
    at_work: dict[str, Span] = field(default_factory=dict[str, Span])
    spans: list[Span] = field(default_factory=list[Span])
    works: dict[str, list[TimelineCall]] = field(default_factory=lambda: defaultdict(list))
    times: dict[int, float] = field(default_factory=dict[int, float])
    breaks: list[float] = field(default_factory=list[float])
    last_turns: dict[str, float] = field(default_factory=dict[str, float])
    mail: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def read(self, event: Mapping[str, Any]) -> None:
        """Take an event."""
        agent, kind = event.get("agent", ""), event["type"]
        if kind == "run_started" and self.times:  # its clock begins again
            self.spans += self.ended()
            self.at_work.clear()
            self.offset = self.now
            self.breaks.append(self.now)
        # What a damaged clock says never leads back.
        self.now = max(self.now, self.offset + float(event["t"]))
        self.times[event["n"]] = self.now
        if kind == "mail_taken":
            self.mail[agent] = tuple(str(message["sender"]) for message in event["messages"])
        elif kind == "agent_started":
            self.at_work[agent] = Span(
                agent=agent,
                start=self.now,
                end=self.now,
                is_open=True,
                received=(*event["received"], *self.mail.pop(agent, ())),
                round=str(event.get("round", "")),
            )
        elif kind == "agent_finished" and agent in self.at_work:
            took = None if "source" in event else event.get("seconds")
            span = self.at_work.pop(agent)
            self.spans.append(replace(span, end=self.now, is_open=False, took=took))
        elif kind in WORKS and "source" not in event:
            self.works[agent].append(self._work(event))
        self.last_turns[agent] = self.now

    def _work(self, event: Mapping[str, Any]) -> TimelineCall:
        """Return the time that a call took; of one that failed, since its agent was heard last."""
        agent, kind = event.get("agent", ""), WORKS[event["type"]]
        if event["type"] in {"model_retried", "model_error"}:
            start = self.last_turns.get(agent, self.now)
        else:
            start = self.now - float(event.get("seconds") or 0.0)
        end = self.now + float(event.get("wait") or 0.0)
        return TimelineCall(kind=kind, start=max(self.offset, start), end=end, number=event["n"])

    def ended(self) -> list[Span]:
        """Return all times of work, those without an end until now."""
        return [*self.spans, *(replace(span, end=self.now) for span in self.at_work.values())]


def _marked(spans: list[Span]) -> list[Span]:
    """Return who waited for whom, and follow that back from the last end: the critical path."""
    before = _waited_for(spans)
    critical: set[int] = set()
    last = max(range(len(spans)), key=lambda index: spans[index].end, default=None)
    while last is not None and last not in critical:
        critical.add(last)
        last = before[last]
    return [
        replace(
            span,
            waited_for=spans[earlier].agent if (earlier := before[index]) is not None else "",
            is_critical=index in critical,
        )
        for index, span in enumerate(spans)
    ]


def _waited_for(spans: Sequence[Span]) -> list[int | None]:
    """Return what each span waited for: the end of a sender, or of a span of another round."""
    by_agent: defaultdict[str, list[int]] = defaultdict(list)
    for index, span in enumerate(spans):
        by_agent[span.agent].append(index)
    by_end = sorted(range(len(spans)), key=lambda index: (spans[index].end, -index))
    ends = [spans[index].end for index in by_end]
    has_rounds = len({span.round for span in spans}) > 1

    def waited_for(span: Span) -> int | None:
        ended = bisect_right(ends, span.start + SAME)
        senders = [
            index
            for agent in dict.fromkeys(span.received)
            for index in by_agent.get(agent, ())
            if spans[index].round == span.round
            and spans[index].end <= span.start + SAME
            and spans[index].start < span.start
        ]
        if senders:
            return max(senders, key=lambda index: (spans[index].end, -index))
        earlier = (
            index
            for index in (by_end[place] for place in reversed(range(ended if has_rounds else 0)))
            if spans[index].round != span.round and spans[index].start < span.start
        )
        return next(earlier, None)

    return [waited_for(span) for span in spans]

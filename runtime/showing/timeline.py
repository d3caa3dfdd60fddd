"""When each agent of a run worked and waited, and the critical path of the run."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

SAME = 0.005
"""The most seconds between the end of one span and the start of a span that waited for it."""

WORKS = {
    "model_call": "model",
    "model_error": "model",
    "model_retried": "model",
    "tool_call": "tool",
}
"""The types of events that report a call, and what was called."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TimelineCall:
    """A model call or tool call within an agent's work.

    Attributes:
        kind: `model` or `tool`.
        start: Seconds since the start of the run.
        number: The number of the event that reports it.
    """

    kind: str
    start: float
    end: float
    number: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A span of time in which an agent worked.

    Attributes:
        start: Seconds since the start of the run.
        end: The same; for unfinished work, the time of the run's last event.
        received: The agents whose reports or messages it read.
        round: The round that it belongs to; empty if there are none.
        waited_for: The last agent that it waited for; empty if it waited for none.
        is_critical: Whether the run would have ended sooner had this taken less time.
        took: Its duration according to the event of its end; None if unknown.
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
    """The times of a run. A resumed run is shown as one, without its pauses.

    Attributes:
        spans: When each agent worked, in the order of their starts.
        times: The time of each event, by its number.
        breaks: When the run was resumed.
        end: The time of the last event; all in seconds.
    """

    spans: Sequence[Span]
    works: Mapping[str, Sequence[TimelineCall]]
    times: Mapping[int, float]
    breaks: Sequence[float]
    end: float

    @classmethod
    def of(cls, events: Iterable[Mapping[str, Any]]) -> Timeline:
        """Derive the timeline from the events of a run."""
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
        """Return the spans in which an agent worked."""
        return self._by_agent.get(agent, ())

    @cached_property
    def _by_agent(self) -> Mapping[str, list[Span]]:
        by_agent: defaultdict[str, list[Span]] = defaultdict(list)
        for span in self.spans:
            by_agent[span.agent].append(span)
        return by_agent

    def seconds_of(self, agent: str) -> float:
        """Return how long an agent worked in all: the one figure that is shown everywhere.

        This is the time from its start to its end, in all rounds and turns, including its waits for
        models, tools and retries. Interrupted work counts; results that were taken from a journal
        or from a parent's run do not count again.
        """
        return sum(span.seconds for span in self.of_agent(agent))

    def seconds(self, agent: str, kind: str) -> float:
        """Return how long an agent waited for models, or for tools; overlaps count once."""
        works = [call for call in self.works.get(agent, ()) if call.kind == kind]
        total = reached = 0.0
        for work in sorted(works, key=lambda call: call.start):
            total += max(0.0, work.end - max(work.start, reached))
            reached = max(reached, work.end)
        return total


@dataclass(eq=False)
class _TimelineFold:
    """The timeline after some of the events."""

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
        """Add an event."""
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
        """Return the time of a call; a failed call starts at its agent's previous event."""
        agent, kind = event.get("agent", ""), WORKS[event["type"]]
        if event["type"] in {"model_retried", "model_error"}:
            start = self.last_turns.get(agent, self.now)
        else:
            start = self.now - float(event.get("seconds") or 0.0)
        end = self.now + float(event.get("wait") or 0.0)
        return TimelineCall(kind=kind, start=max(self.offset, start), end=end, number=event["n"])

    def ended(self) -> list[Span]:
        """Return all spans; unfinished ones end now."""
        return [*self.spans, *(replace(span, end=self.now) for span in self.at_work.values())]


def _marked(spans: list[Span]) -> list[Span]:
    """Return the spans with their waits and the critical path, followed back from the last end."""
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

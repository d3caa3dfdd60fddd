"""Spans from the events of a run: which agent worked when, within what, and with which result."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from opentelemetry.trace import Link, SpanKind, Status, StatusCode, set_span_in_context

from .attributes import (
    call_content,
    call_result,
    clean,
    described,
    event_attributes,
    tool_content,
    used,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from opentelemetry.context import Context
    from opentelemetry.trace import Span, SpanContext, Tracer

    from ...schema.host.models import Model
    from ..record.trace import Event

Key = tuple[Any, ...]

WHOLE: Key = ("whole",)
NS = 1_000_000_000
GOOD = frozenset({"done", None})
DURING_CALLS = frozenset({"model_retried", "model_fallback", "parameter_adapted"})
"""Events that happen in a call before its answer."""


@dataclass(eq=False, kw_only=True, slots=True)
class _Open:
    """An open span and its start, in nanoseconds since 1970."""

    span: Span
    began: int
    above: Key | None
    is_run: bool = False


@dataclass(eq=False, kw_only=True)
class Spans:
    """A listener that makes spans of one run's or one episode's events.

    It is called in one thread. Its errors are passed to `failed` and to nothing else.

    Attributes:
        content: Whether spans contain the input and output of models and tools.
        began: When the events began, in seconds since 1970. None: they happen now.
    """

    tracer: Tracer
    parent: Context
    models: Mapping[str, Model]
    scrub: Callable[[str], str]
    content: bool
    attributes: Mapping[str, Any]
    failed: Callable[[str], None]
    began: float | None = None
    _open: dict[Key, _Open] = field(default_factory=dict[Key, _Open])
    _ended: dict[Key, SpanContext] = field(default_factory=dict[Key, "SpanContext"])
    _written: dict[Key, list[str]] = field(default_factory=dict[Key, list[str]])
    _during: dict[str, list[tuple[Key | None, str, dict[str, Any], int]]] = field(
        default_factory=dict[str, list[tuple[Key | None, str, dict[str, Any], int]]]
    )
    _start: int | None = None
    _last: int = 0

    def __call__(self, event: Event) -> None:
        """Add an event."""
        try:
            if self._start is None:
                now = time.time_ns() - int(event.seconds * NS)
                self._start = now if self.began is None else int(self.began * NS)
            self._last = max(self._last, self._start + int(event.seconds * NS))
            self._hear(event.type, event.agent, event.fields, self._last)
        except Exception as error:  # noqa: BLE001 - no run fails by what is told of it
            self.failed(f"{event.type}: {error!r}")

    def begin(self, name: str, **attributes: Any) -> None:
        """Open a span around all later events; see `end`."""
        self._last = time.time_ns()
        self._begin(WHOLE, name, attributes, self._last)

    def end(self, **attributes: Any) -> None:
        """End all open spans at the time of the last event, and record the result of the whole."""
        for key in reversed([*self._open]):
            if key == WHOLE:
                self._end(key, self._last, attributes)
            else:
                is_cut = key[0] in {"run", "round", "agent"}
                self._end(key, self._last, {"error.type": "interrupted" if is_cut else None})

    def _hear(self, kind: str, agent: str | None, fields: Mapping[str, Any], now: int) -> None:
        run, part = fields.get("run"), fields.get("round")
        match kind:
            case "task_given":
                task = fields["task"]["id"]
                self._begin(WHOLE, "turn", {"coterie.task": task}, now)
            case "team_given" | "run_started":
                self._begin_run(("run", run), fields, now)
            case "round_started":
                above = self._within(("run", run))
                self._begin(("round", run, part), "round", {"coterie.round": part}, now, above)
            case "agent_started" if agent is not None:
                self._begin_agent(agent, fields, now)
            case "run_finished":
                self._end(("run", run), now, _ending(fields, content=self.content))
            case "round_finished":
                self._end(("round", run, part), now, _ending(fields, content=self.content))
            case "agent_finished" if ("agent", run, part, agent) in self._open:
                key = ("agent", run, part, agent)
                self._ended[run, agent] = self._open[key].span.get_span_context()
                self._end(key, now, _ending(fields, content=self.content))
            case "operator_answered" | "operator_dropped":
                self._end_operator(kind, fields, now)
            case "model_call" | "model_error":
                self._call(agent, fields, now)
            case "tool_call":
                self._tool(agent, fields, now)
            case _:
                self._note(kind, agent, fields, now)

    def _begin_run(self, key: Key, fields: Mapping[str, Any], now: int) -> None:
        """Begin a run; a run with a recruited team may report its beginning twice."""
        earlier = self._open.get(key)
        attributes = {
            "coterie.task": fields.get("task"),
            "coterie.content_hash": fields.get("content_hash"),
        }
        if earlier is not None and not earlier.is_run:
            earlier.is_run = True
            earlier.span.set_attributes(clean(attributes, self.scrub))
            return
        if earlier is not None:  # it was killed, and is gone on with
            self._end(key, now, {"error.type": "interrupted"})
        name = fields["team"]
        workflow = {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.agent.name": name,
            "gen_ai.workflow.name": name,
            "coterie.candidate": key[1],
        }
        above = None if key[1] is None else self._within(("run", None))
        self._begin(key, f"invoke_workflow {name}", {**workflow, **attributes}, now, above)
        self._open[key].is_run = "task" in fields

    def _begin_agent(self, agent: str, fields: Mapping[str, Any], now: int) -> None:
        run, part = fields.get("run"), fields.get("round")
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": agent,
            "coterie.round": fields.get("round"),
            "coterie.level": fields.get("level"),
            "coterie.backend": fields.get("backend"),
            "coterie.left_out": fields.get("left_out"),
        }
        read = [*fields.get("received", ()), *self._written.pop((run, agent), ())]
        links = [
            Link(self._ended[run, fromkey], {"coterie.edge": "reports_to"})
            for fromkey in dict.fromkeys(read)
            if (run, fromkey) in self._ended
        ]
        above = self._within(("round", run, part), ("run", run))
        key = ("agent", run, part, agent)
        self._begin(key, f"invoke_agent {agent}", attributes, now, above, links=links)

    def _call(self, agent: str | None, fields: Mapping[str, Any], now: int) -> None:
        """Make the span of a model call, which is reported when it has ended."""
        began = _beginning(fields, now)
        above = self._above(agent, fields, began)
        alias = str(fields.get("alias", ""))
        request = described(alias, self.models.get(alias), str(fields.get("model", "")))
        attributes = {
            "gen_ai.operation.name": "chat",
            **request,
            **call_result(fields),
            "gen_ai.agent.name": agent,
            "error.type": fields.get("kind"),
            **(call_content(fields) if self.content else {}),
        }
        name = f"chat {request['gen_ai.request.model']}"
        over = self._open[above] if above is not None else None
        span = self._span(name, attributes, over, began, SpanKind.CLIENT)
        for _, what, told_then, then in self._during.pop(str(fields.get("path")), ()):
            span.add_event(what, told_then, then)
        if "kind" in fields:
            span.set_status(self._failure(fields.get("error")))
        span.end(now)

    def _tool(self, agent: str | None, fields: Mapping[str, Any], now: int) -> None:
        above, name = self._above(agent, fields, now), fields["tool"]
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.type": "function",
            "gen_ai.agent.name": agent,
            "coterie.source": fields.get("source"),
            "error.type": "tool_error" if "error" in fields else None,
            **(tool_content(fields) if self.content else {}),
        }
        over = self._open[above] if above is not None else None
        span = self._span(f"execute_tool {name}", attributes, over, _beginning(fields, now))
        if "error" in fields:
            span.set_status(self._failure(fields["error"]))
        span.end(now)

    def _end_operator(self, kind: str, fields: Mapping[str, Any], now: int) -> None:
        """End an operator's question; one without a model call has taken no time."""
        key = self._operator(fields, now)
        dropped = {"error.type": "dropped"} if kind == "operator_dropped" else {}
        self._end(key, now, {**event_attributes(fields, content=self.content), **dropped})

    def _operator(self, fields: Mapping[str, Any], began: int) -> Key:
        """Return the span of an operator's question, opened if necessary."""
        run, name = fields.get("run"), fields.get("operator")
        key = (
            "operator",
            run,
            str(fields.get("path", "")).rpartition("/call ")[0] or fields["path"],
        )
        if key not in self._open:
            above = self._within(("run", run))
            self._begin(key, f"operator {name}", {"coterie.operator": name}, began, above)
        return key

    def _note(self, kind: str, agent: str | None, fields: Mapping[str, Any], now: int) -> None:
        """Add an event to its span; an event in a call waits until the call is reported."""
        if kind == "mail_taken":
            senders = [item["sender"] for item in fields.get("messages", ())]
            self._written.setdefault((fields.get("run"), agent), []).extend(senders)
        above = self._above(agent, fields, now)
        attributes = clean(event_attributes(fields, content=self.content), self.scrub)
        name = f"coterie.{kind}"
        if kind in DURING_CALLS and "path" in fields:
            during = self._during.setdefault(fields["path"], [])
            during.append((above, name, attributes, now))
        elif above is not None:
            if agent is not None and above[0] != "agent":
                attributes["coterie.agent"] = agent
            self._open[above].span.add_event(name, attributes, now)

    def _above(self, agent: str | None, fields: Mapping[str, Any], began: int) -> Key | None:
        """Return the span in which an event happens."""
        run, part = fields.get("run"), fields.get("round")
        if agent is None and "operator" in fields and "path" in fields:
            return self._operator(fields, began)
        return self._within(("agent", run, part, agent), ("round", run, part), ("run", run))

    def _within(self, *keys: Key) -> Key | None:
        """Return the first of some spans that is open; otherwise the outermost span."""
        return next((item for item in (*keys, ("run", None), WHOLE) if item in self._open), None)

    def _begin(
        self,
        key: Key,
        name: str,
        attributes: Mapping[str, Any],
        now: int,
        above: Key | None = None,
        *,
        links: Sequence[Link] = (),
    ) -> None:
        over = self._open.get(above or WHOLE)
        span = self._span(name, attributes, over, now, links=links)
        began = now if over is None else max(now, over.began)
        self._open[key] = _Open(span=span, began=began, above=above)

    def _span(
        self,
        name: str,
        attributes: Mapping[str, Any],
        over: _Open | None,
        began: int,
        kind: SpanKind = SpanKind.INTERNAL,
        *,
        links: Sequence[Link] = (),
    ) -> Span:
        """Make a span that lies within its parent, whatever the clocks say."""
        return self.tracer.start_span(
            name,
            self.parent if over is None else set_span_in_context(over.span, self.parent),
            kind=kind,
            attributes=clean(
                {**(self.attributes if over is None else {}), **attributes}, self.scrub
            ),
            links=links,
            start_time=began if over is None else max(began, over.began),
        )

    def _end(self, key: Key, now: int, attributes: Mapping[str, Any]) -> None:
        """End a span, after the open spans within it."""
        item = self._open.get(key)
        if item is None:
            return
        for within in [inner for inner, open_ in self._open.items() if open_.above == key]:
            self._end(within, now, {"error.type": "interrupted"})
        for path, told_then in [*self._during.items()]:  # of calls that never got to their end
            if told_then[0][0] == key:
                for _, what, fields, then in self._during.pop(path):
                    item.span.add_event(what, fields, then)
        del self._open[key]
        item.span.set_attributes(clean(attributes, self.scrub))
        if (score := attributes.get("coterie.score")) is not None:
            result = {"gen_ai.evaluation.name": "score", "gen_ai.evaluation.score.value": score}
            item.span.add_event("gen_ai.evaluation.result", result, now)
        if attributes.get("error.type"):
            item.span.set_status(self._failure(attributes.get("coterie.error")))
        item.span.end(max(now, item.began))

    def _failure(self, words: Any) -> Status:
        """Return the status of a failure; its text may quote a question or an answer."""
        is_told = self.content and words is not None
        return Status(StatusCode.ERROR, self.scrub(str(words)) if is_told else None)


def _beginning(fields: Mapping[str, Any], now: int) -> int:
    """Return when an event that has just ended began; a recorded one took no time."""
    return now - int((0 if "source" in fields else fields.get("seconds", 0)) * NS)


def _ending(fields: Mapping[str, Any], *, content: bool) -> dict[str, Any]:
    """Return the attributes of a span's end."""
    status = fields.get("status")
    names = ("status", "attempts", "score", "source", "seconds")
    ended = {name: fields[name] for name in names if name in fields}
    return {
        **{f"coterie.{name}": item for name, item in ended.items()},
        **used(fields.get("usage", {})),
        "coterie.error": fields.get("error") if content else None,
        "error.type": None if status in GOOD else status,
    }

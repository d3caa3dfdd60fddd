"""Exports traces: makes spans, sends them, and reports what could not be sent."""

from __future__ import annotations

import logging
import os
import threading
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from ...schema.values.terminal import counted
from .attributes import clean
from .spans import Spans

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from opentelemetry.sdk.trace import ReadableSpan

    from ...schema.host.models import Model

GRACE = 5.0
"""Seconds that the end of a command waits for spans that are not sent yet."""
SERVICE = "coterie"
LONGEST_ERROR = 400


class Telemetry:
    """Makes spans of runs' events, and sends them from its own thread.

    No error in here reaches a run: errors are counted, and reported at the end.

    Args:
        content: Whether spans contain the input and output of models and tools.
    """

    def __init__(self, exporter: SpanExporter, *, content: bool) -> None:
        self._content = content
        self._log = _Log()
        self._exporter = _CountingExporter(exporter)
        self._processor = BatchSpanProcessor(self._exporter)
        self._spans_made = _SpanCounter()
        named = {} if _names_service() else {"service.name": SERVICE}
        resource = Resource.create({**named, "service.version": version("coterie")})
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(self._spans_made)
        self._provider.add_span_processor(self._processor)
        self._tracer = self._provider.get_tracer("coterie", version("coterie"))
        headers = {name: os.environ.get(name.upper(), "") for name in ("traceparent", "tracestate")}
        self._parent = TraceContextTextMapPropagator().extract(headers)
        self._failures: list[str] = []

    @contextmanager
    def around(self, name: str, **attributes: Any) -> Generator[None]:
        """Wrap the block in a span.

        Args:
            attributes: The span's attributes; those that are None are left out.
        """
        outer = self._parent
        span = self._tracer.start_span(
            name, outer, kind=SpanKind.INTERNAL, attributes=clean(attributes, str)
        )
        self._parent = set_span_in_context(span, outer)
        try:
            yield
        except BaseException as error:
            span.set_attribute("error.type", type(error).__qualname__)
            span.set_status(Status(StatusCode.ERROR))
            raise
        finally:
            self._parent = outer
            span.end()

    def listener(
        self,
        models: Mapping[str, Model],
        scrub: Callable[[str], str],
        attributes: Mapping[str, Any],
        *,
        began: float | None = None,
    ) -> Spans:
        """Return a listener that makes spans of one run's events.

        Args:
            attributes: Attributes of its outermost spans; those that are None are left out.
            began: When the run began, in seconds since 1970. None: it begins now.
        """
        return Spans(
            tracer=self._tracer,
            parent=self._parent,
            models=models,
            scrub=scrub,
            content=self._content,
            attributes=attributes,
            failed=self._failures.append,
            began=began,
        )

    def close(self) -> str:
        """Send the remaining spans, for `GRACE` seconds at most; report what was lost."""
        sending = threading.Thread(target=self._processor.shutdown, daemon=True)
        sending.start()
        sending.join(GRACE)
        self._log.end()
        if sending.is_alive():
            self._exporter.shutdown()  # it gives up what it would try again
        result, sent, texts = self._spans_made.count, self._exporter.sent, list[str]()
        if sent < result:
            why = self._exporter.error or self._log.error or f"{GRACE:g} seconds were not enough."
            texts.append(
                f"{result - sent} of {counted(result, 'span')} could not be exported: {why}"
            )
        if self._failures:
            many = counted(len(self._failures), "event")
            texts.append(f"the trace lacks {many}, which is a bug of coterie: {self._failures[0]}")
        return "; ".join(name[:LONGEST_ERROR] for name in texts)


def _names_service() -> bool:
    """Return whether the environment names the service."""
    attributes = os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    return bool(os.environ.get("OTEL_SERVICE_NAME")) or "service.name=" in attributes


class _SpanCounter(SpanProcessor):
    """Counts the spans to export."""

    count = 0

    def on_end(self, span: ReadableSpan) -> None:
        """Count a span."""
        context = span.get_span_context()
        self.count += context is not None and context.trace_flags.sampled


class _CountingExporter(SpanExporter):
    """An exporter that counts sent spans, and contains its errors."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self.sent = 0
        self.error = ""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send spans."""
        try:
            result = self._exporter.export(spans)
        except Exception as error:  # noqa: BLE001 - whatever an exporter raises, no run fails by it
            self.error = f"{type(error).__name__}: {error}"
            return SpanExportResult.FAILURE
        if result is SpanExportResult.SUCCESS:
            self.sent += len(spans)
        return result

    def shutdown(self) -> None:
        """End it."""
        self._exporter.shutdown()


class _Log(logging.Handler):
    """Keeps OpenTelemetry's first log message, to be shown after a run's progress."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.error = ""
        self._logger = logging.getLogger("opentelemetry")
        self._propagated = self._logger.propagate
        self._logger.propagate = False
        self._logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a message if it is the first."""
        self.error = self.error or record.getMessage()

    def end(self) -> None:
        """Restore the log."""
        self._logger.removeHandler(self)
        self._logger.propagate = self._propagated
